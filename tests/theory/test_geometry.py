"""Appendix A.3: identities and bounds for two inputs that differ at one position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    gap_lower_bound,
    gap_upper_bound,
    pooled_difference,
    pooled_difference_rearranged,
    relu_attention,
    rest_centroid,
    softmax,
    squared_gap_terms,
    value_spread,
)
from tests.theory.inputs import lengths, random_change, seeds

changes = st.builds(random_change, seeds, lengths, st.sampled_from(["softmax", "relu"]))
TINY = 1e-12


def spread_of(change):
    centroid = change.centroid[None]
    return value_spread(np.concatenate([change.values, change.values_other]), centroid)


def separation_of(change):
    return float(np.linalg.norm(change.value - change.value_other))


def vectors_of(change):
    return (
        change.mass, change.mass_other, change.value, change.value_other, change.centroid
    )  # fmt: skip


@given(changes)
def test_equation_13_the_centroid_of_the_rest_is_common_to_both_inputs(change):
    other = rest_centroid(change.attention_other, change.values_other, change.position)
    np.testing.assert_allclose(other, change.centroid, atol=TINY)
    radius = np.linalg.norm(np.delete(change.values, change.position, axis=0), axis=1).max()
    assert np.linalg.norm(change.centroid) <= radius + TINY


@given(changes)
def test_equation_14_the_closed_form_is_the_difference(change):
    np.testing.assert_allclose(pooled_difference(*vectors_of(change)), change.difference, atol=TINY)


@given(changes)
def test_equation_17_the_rearranged_form_is_the_difference(change):
    np.testing.assert_allclose(
        pooled_difference_rearranged(*vectors_of(change)), change.difference, atol=TINY
    )


@given(changes)
def test_equation_16_attention_is_a_bottleneck(change):
    gap = np.linalg.norm(change.difference)
    measured = spread_of(change)
    assert gap <= gap_upper_bound(change.mass, change.mass_other, measured) + TINY


@given(changes)
def test_equation_18_bounds_the_gap_from_below_with_the_larger_mass(change):
    bound = gap_lower_bound(
        change.mass, change.mass_other, separation_of(change), spread_of(change)
    )
    smaller = min(change.mass, change.mass_other) * separation_of(change)
    papers = smaller - abs(change.mass - change.mass_other) * spread_of(change)
    assert papers <= bound + TINY
    assert np.linalg.norm(change.difference) >= bound - TINY


@given(changes)
def test_equation_19_is_an_identity(change):
    first, second = squared_gap_terms(*vectors_of(change))
    np.testing.assert_allclose(first + second, np.sum(change.difference**2), atol=TINY)


def test_equations_hold_for_a_position_without_attention():
    scores = np.array([-1.0, 2.0, 1.0])
    attention = relu_attention(scores)
    values = np.array([[5.0], [1.0], [4.0]])
    assert attention[0] == 0
    centroid = rest_centroid(attention, values, 0)
    np.testing.assert_allclose(centroid, attention @ values)
    assert gap_upper_bound(0.0, 0.0, 3.0) == 0
    difference = pooled_difference(0.0, 0.0, values[0], values[0] * 2, centroid)
    np.testing.assert_array_equal(difference, [0.0])


def test_equal_rows_pool_to_the_same_point():
    value = np.array([1.0, 2.0])
    first, second = squared_gap_terms(0.3, 0.3, value, value, np.zeros(2))
    assert first == second == 0
    assert gap_lower_bound(0.3, 0.3, 0.0, 1.0) == 0


def test_the_centroid_stays_exact_next_to_full_attention():
    attention = softmax(np.array([34.0, 0.0, 0.0]))
    values = np.array([[0.0], [1.0], [2.0]])
    np.testing.assert_allclose(rest_centroid(attention, values, 0), [1.5], rtol=1e-14)


def test_attention_on_one_position_alone_is_refused():
    attention = relu_attention(np.array([3.0, 0.0, -1.0]))
    with pytest.raises(SettingError, match=r"attention\[position\]: got 1\.0"):
        rest_centroid(attention, np.zeros((3, 2)), 0)
    with pytest.raises(SettingError, match=r"mass_other: got 1\.0; allowed: .*\[0, 1\)"):
        gap_upper_bound(0.5, 1.0, 1.0)
    with pytest.raises(SettingError, match=r"mass: got -0\.1"):
        gap_upper_bound(-0.1, 0.5, 1.0)
    with pytest.raises(SettingError, match="separation"):
        gap_lower_bound(0.1, 0.5, -1.0, 1.0)


def test_bounds_take_a_whole_batch_at_once():
    mass, other = np.array([0.1, 0.2]), np.array([0.3, 0.2])
    np.testing.assert_allclose(gap_upper_bound(mass, other, 2.0), [0.8, 0.8])
    value = np.ones((2, 3))
    assert pooled_difference(mass, other, value, -value, np.zeros((2, 3))).shape == (2, 3)
