"""Conjectures E.1 and E.2, as far as they are theorems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    bilinear_scores,
    cancelling_heads,
    gap_upper_bound,
    logit_variance,
    logit_variance_bound,
    multi_head_pooled,
    pooled,
    softmax,
    value_spread,
)
from tests.theory.inputs import random_change, seeds


@given(seed=seeds, scale=st.sampled_from([1e-3, 1.0, 10.0]))
def test_conjecture_e_1_the_norm_of_the_interaction_bounds_the_score_variance(seed, scale):
    rng = np.random.default_rng(seed)
    w_q, w_k = rng.normal(size=(2, 3, 6)) * scale
    query, embedding = rng.normal(size=6), rng.normal(size=(5, 6))
    bound = logit_variance_bound(
        float(np.linalg.norm(w_q.T @ w_k)),
        float(np.linalg.norm(query)),
        float(np.linalg.norm(embedding, axis=1).max()),
        3,
    )
    assert logit_variance(bilinear_scores(query, embedding, w_q, w_k)) <= bound


def test_conjecture_e_1_the_bound_is_attained():
    # One direction that queries and keys share, and embeddings at both of its ends.
    w = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    embedding = np.array([[1.5, 0.0], [-1.5, 0.0]])
    variance = logit_variance(bilinear_scores(embedding[0], embedding, w, w))
    assert variance == pytest.approx(logit_variance_bound(4.0, 1.5, 1.5, 3))


def test_conjecture_e_1_no_variance_means_uniform_attention():
    scores = np.full(4, 3.0)
    assert logit_variance(scores) == 0
    np.testing.assert_array_equal(softmax(scores), np.full(4, 0.25))
    assert logit_variance_bound(0.0, 1.0, 1.0, 8) == 0


def test_equation_54_is_a_sum_over_heads():
    rng = np.random.default_rng(0)
    attention, values = softmax(rng.normal(size=(7, 3, 4))), rng.normal(size=(7, 3, 4, 2))
    total = sum(pooled(attention[:, h], values[:, h]) for h in range(3))
    np.testing.assert_allclose(multi_head_pooled(attention, values), total)


@given(seed=seeds, n_heads=st.integers(1, 4))
def test_conjecture_e_2_summed_masses_are_necessary(seed, n_heads):
    # Each head has its own scores and values; the same position changes in all of them.
    heads = [random_change(seed + h, 4, "softmax", position=2, embed=3) for h in range(n_heads)]
    h = multi_head_pooled(
        np.stack([c.attention for c in heads]), np.stack([c.values for c in heads])
    )
    other = multi_head_pooled(
        np.stack([c.attention_other for c in heads]), np.stack([c.values_other for c in heads])
    )
    spread = [
        value_spread(np.concatenate([c.values, c.values_other]), c.centroid[None]) for c in heads
    ]
    masses = np.array([(c.mass, c.mass_other) for c in heads]).T
    bound = gap_upper_bound(masses[0], masses[1], np.array(spread)).sum()
    assert np.linalg.norm(h - other) <= bound + 1e-12


def test_conjecture_e_2_summed_masses_are_not_sufficient():
    heads = cancelling_heads()
    h, other = (multi_head_pooled(heads.attention, v) for v in heads.values)
    np.testing.assert_allclose(h, other, atol=1e-15)
    assert (heads.values[0] != heads.values[1]).any()
    assert heads.attention[:, 0].sum() == pytest.approx(1.8)  # of 2, on the position that differs


def test_settings_outside_a_formula_are_refused():
    with pytest.raises(SettingError, match="d_head"):
        logit_variance_bound(1.0, 1.0, 1.0, 0)
