"""The sparse oracle: no exponential decay, and the 1/t law that holds instead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    delta_necessary,
    divergence_claimed,
    kappa_guaranteed,
    kappa_uniform,
    kl_divergence,
    kl_flow,
    late_divergence,
    oracle_attention,
    pl_constant_claimed,
    softmax,
    sparse_divergence,
    sparse_time,
    squared_gap_bound,
    time_claimed,
)
from tests.theory.inputs import seeds

# The example of the course: 5 positions, 2 of them informative, a uniform start.
T, K = 5, 2
ORACLE = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
D0 = float(np.log(T / K))

sizes = st.integers(2, 8).flatmap(lambda t: st.tuples(st.just(t), st.integers(1, t - 1)))


def sparse_oracle(length, k):
    return oracle_attention(np.arange(length) < k)


@given(sizes, seeds, st.sampled_from([0.1, 1.0, 5.0]))
def test_the_squared_gap_is_bounded_through_kappa_for_every_attention(size, seed, scale):
    oracle = sparse_oracle(*size)
    attention = softmax(np.random.default_rng(seed).normal(size=size[0]) * scale)
    divergence = kl_divergence(oracle, attention)
    gap = ((attention - oracle) ** 2).sum()
    assert gap >= squared_gap_bound(divergence, kappa_guaranteed(*size)) - 1e-15


@given(sizes, st.floats(0.001, 0.999))
def test_the_squared_gap_is_known_exactly_for_uniform_parts(size, eps):
    length, k = size
    attention = np.where(np.arange(length) < k, (1 - eps) / k, eps / (length - k))
    oracle = sparse_oracle(*size)
    gap = ((attention - oracle) ** 2).sum()
    divergence = kl_divergence(oracle, attention)
    assert gap == pytest.approx(squared_gap_bound(divergence, kappa_uniform(*size)))


@given(sizes)
def test_equation_50_fails_at_once_from_a_uniform_start(size):
    oracle, uniform = sparse_oracle(*size), np.full(size[0], 1 / size[0])
    gap = ((uniform - oracle) ** 2).sum()
    claimed = pl_constant_claimed(oracle) * kl_divergence(oracle, uniform)
    assert gap < claimed / 2


@given(sizes, st.floats(1e-6, 1e-3))
def test_near_the_oracle_the_divergence_is_first_order_and_the_gap_second(size, eps):
    length, k = size
    attention = np.where(np.arange(length) < k, (1 - eps) / k, eps / (length - k))
    oracle = sparse_oracle(*size)
    assert kl_divergence(oracle, attention) == pytest.approx(eps, rel=1e-2)
    assert ((attention - oracle) ** 2).sum() <= 2.001 * eps**2


@given(seeds, st.integers(1, 2), st.integers(3, 6))
def test_with_one_or_two_informative_positions_50_fails_for_every_attention(seed, k, length):
    oracle = sparse_oracle(length, k)
    attention = softmax(np.random.default_rng(seed).normal(size=length) * 2)
    gap = ((attention - oracle) ** 2).sum()
    assert gap < pl_constant_claimed(oracle) * kl_divergence(oracle, attention)


def test_with_three_informative_positions_50_can_hold_for_a_while_and_fails_in_the_end():
    oracle = sparse_oracle(4, 3)
    # One informative position ahead of the other two, next to nothing on the distractor.
    start = np.log(np.array([0.45, 0.2749, 0.2749, 0.0002]))
    times = np.array([0.0, 1.0, 3.0, 30.0, 100.0])
    flow = kl_flow(start, oracle, 1.0, times)
    gap = ((flow.attention - oracle) ** 2).sum(axis=1)
    assert gap[0] > pl_constant_claimed(oracle) * flow.divergence[0]
    assert gap[-1] < pl_constant_claimed(oracle) * flow.divergence[-1]
    above = flow.divergence > divergence_claimed(times, flow.divergence[0], oracle, 1.0)
    np.testing.assert_array_equal(above[1:], [False, False, True, True])


def test_with_one_crowded_distractor_50_can_hold_far_from_the_oracle():
    oracle, attention = sparse_oracle(6, 5), np.array([0.02] * 5 + [0.9])
    gap = ((attention - oracle) ** 2).sum()
    assert gap > pl_constant_claimed(oracle) * kl_divergence(oracle, attention)


def test_equation_52_fails_at_once_from_a_uniform_start():
    times = np.array([0.0, 0.1, 1.0, 10.0])
    flow = kl_flow(np.zeros(T), ORACLE, 1.0, times)
    claimed = divergence_claimed(times, D0, ORACLE, 1.0)
    assert (flow.divergence[1:] > claimed[1:]).all()
    assert flow.divergence[-1] > 1e3 * claimed[-1]


def test_from_a_uniform_start_the_law_is_the_trajectory():
    times = np.geomspace(0.01, 1e4, 30)
    flow = kl_flow(np.zeros(T), ORACLE, 1.0, times)
    law = sparse_divergence(times, D0, kappa_uniform(T, K), 1.0)
    np.testing.assert_allclose(flow.divergence, law, rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_from_any_start_the_trajectory_stays_below_the_guaranteed_law(seed):
    rng = np.random.default_rng(seed)
    length = int(rng.integers(3, 7))
    k = int(rng.integers(1, length))
    times = np.geomspace(0.01, 1e3, 20)
    flow = kl_flow(rng.normal(size=length) * 3, sparse_oracle(length, k), 0.7, times)
    start = kl_flow(flow.scores[0], sparse_oracle(length, k), 0.7, np.array([0.0]))
    later = times - times[0]
    law = sparse_divergence(later, float(start.divergence[0]), kappa_guaranteed(length, k), 0.7)
    assert (flow.divergence <= law * (1 + 1e-6)).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_divergence_falls_like_one_over_time_from_any_start(seed):
    start = np.random.default_rng(seed).normal(size=T)
    flow = kl_flow(start, ORACLE, 1.0, np.array([1e4]))
    assert flow.divergence[0] == pytest.approx(late_divergence(1e4, T, K, 1.0), rel=0.01)


def test_time_times_divergence_at_ten_thousand_is_1_2012():
    flow = kl_flow(np.zeros(T), ORACLE, 1.0, np.array([1e4]))
    assert 1e4 * flow.divergence[0] == pytest.approx(1.2012, abs=1e-4)
    assert 1e4 * late_divergence(1e4, T, K, 1.0) == pytest.approx(1.2)


def test_the_wait_is_6_15_where_the_paper_claims_1_41_and_16_4_is_guaranteed():
    delta = delta_necessary(K, 0.4)
    claimed = time_claimed(D0, delta, 1.0)
    true = sparse_time(D0, delta, kappa_uniform(T, K), 1.0)
    guaranteed = sparse_time(D0, delta, kappa_guaranteed(T, K), 1.0)
    assert claimed == pytest.approx(1.41, abs=0.005)
    assert true == pytest.approx(6.15, abs=0.005)
    assert guaranteed == pytest.approx(16.4, abs=0.05)
    flow = kl_flow(np.zeros(T), ORACLE, 1.0, np.array([claimed, true]))
    assert flow.divergence[0] > 2 * delta
    assert flow.divergence[1] == pytest.approx(delta, rel=1e-6)


@given(
    size=sizes, divergence0=st.floats(0.01, 20), share=st.floats(0.001, 0.99),
    kl_rate=st.floats(0.01, 10),
)  # fmt: skip
def test_the_time_to_a_threshold_inverts_the_law(size, divergence0, share, kl_rate):
    for kappa in (kappa_guaranteed(*size), kappa_uniform(*size)):
        delta = divergence0 * share
        wait = sparse_time(divergence0, delta, kappa, kl_rate)
        assert sparse_divergence(wait, divergence0, kappa, kl_rate) == pytest.approx(delta)
        assert sparse_time(divergence0, delta, kappa, 10 * kl_rate) == pytest.approx(wait / 10)


@given(sizes)
def test_the_guaranteed_kappa_is_never_above_the_exact_one(size):
    length, k = size
    assert kappa_guaranteed(length, k) <= kappa_uniform(length, k) * (1 + 1e-12)
    if k == 1:
        assert kappa_guaranteed(length, k) == pytest.approx(kappa_uniform(length, k))


def test_for_a_small_threshold_the_wait_goes_as_one_over_it():
    waits = [sparse_time(1.0, delta, 1.0, 1.0) * delta for delta in (1e-3, 1e-6)]
    np.testing.assert_allclose(waits, 1, rtol=1e-2)


def test_extreme_divergences_neither_overflow_nor_stick():
    assert sparse_divergence(0.0, 2000.0, 0.5, 1.0) == pytest.approx(2000.0)
    assert sparse_divergence(1e12, 5.0, 0.5, 1.0) == pytest.approx(2e-12, rel=1e-6)
    assert sparse_time(0.1, 0.2, 1.0, 1.0) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: kappa_uniform(5, 5),
        lambda: kappa_guaranteed(5, 6),
        lambda: kappa_guaranteed(1, 1),
        lambda: sparse_divergence(-1.0, 1.0, 1.0, 1.0),
        lambda: sparse_divergence(1.0, 0.0, 1.0, 1.0),
        lambda: sparse_divergence(1.0, 1.0, 1.0, -1.0),
        lambda: sparse_time(1.0, 0.0, 1.0, 1.0),
        lambda: squared_gap_bound(-0.1, 1.0),
        lambda: late_divergence(0.0, 5, 2, 1.0),
    ],
)
def test_settings_outside_a_formula_are_refused(call):
    with pytest.raises(SettingError):
        call()
