"""Theorem 5.2 as the paper has it: what is exact, and what holds near the oracle only."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    divergence_claimed,
    kl_divergence,
    kl_flow,
    kl_score_gradient,
    oracle_attention,
    pl_constant,
    pl_constant_claimed,
    softmax,
    time_claimed,
)
from tests.theory.inputs import lengths, seeds


def penalty_gradient(scores, oracle, attention_of, kl_strength):
    """The gradient of beta KL(alpha* || alpha) at the scores, by torch in float64."""
    variable = torch.tensor(scores, requires_grad=True)
    support = torch.tensor(oracle > 0)
    star = torch.tensor(oracle)[support]
    divergence = (star * (star.log() - attention_of(variable)[support].log())).sum()
    (gradient,) = torch.autograd.grad(kl_strength * divergence, variable)
    return gradient.numpy()


@given(seed=seeds, length=lengths, kl_strength=st.floats(0, 5))
def test_equation_45_is_the_gradient_of_the_penalty(seed, length, kl_strength):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=length)
    oracle = oracle_attention(np.arange(length) < rng.integers(1, length + 1))
    expected = penalty_gradient(scores, oracle, lambda x: x.softmax(0), kl_strength)
    own = kl_score_gradient(oracle, softmax(scores), kl_strength)
    np.testing.assert_allclose(own, expected, atol=1e-13)
    assert own.sum() == pytest.approx(0, abs=1e-12)


def test_the_penalty_pulls_the_same_whatever_the_loss():
    # Equation (8): with the task's gradient gone, the penalty's is what is left.
    oracle, attention = np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(kl_score_gradient(oracle, attention, 2.0), [-0.6, -0.4, 1.0])


@given(seed=seeds, length=lengths)
def test_the_corrected_equation_50_holds_for_every_attention(seed, length):
    rng = np.random.default_rng(seed)
    oracle, attention = softmax(rng.normal(size=(2, length)) * 3)
    gap = ((attention - oracle) ** 2).sum()
    assert gap >= pl_constant(oracle, attention) * kl_divergence(oracle, attention) - 1e-15


def test_equation_50_fails_far_from_a_full_oracle():
    oracle, attention = np.array([0.5, 0.5]), np.array([1e-12, 1 - 1e-12])
    gap = ((attention - oracle) ** 2).sum()
    divergence = kl_divergence(oracle, attention)
    assert gap == pytest.approx(0.5)
    assert pl_constant_claimed(oracle) * divergence == pytest.approx(13.1, abs=0.05)
    assert gap >= pl_constant(oracle, attention) * divergence


def test_equation_52_fails_early_for_a_full_oracle_that_is_far_away():
    oracle = np.array([0.5, 0.5])
    flow = kl_flow(np.array([-14.0, 14.0]), oracle, 1.0, np.array([0.0, 2.0]))
    claimed = divergence_claimed(flow.times, flow.divergence[0], oracle, 1.0)
    assert flow.divergence[1] > 5 * claimed[1]


def test_a_sparse_oracle_has_no_constant_in_50():
    oracle = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    assert pl_constant(oracle, np.full(5, 0.2)) == 0
    assert pl_constant_claimed(oracle) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_divergence_never_rises_along_the_flow(seed):
    rng = np.random.default_rng(seed)
    oracle = oracle_attention(np.arange(6) < rng.integers(1, 6))
    for gram in (None, (lambda e: e @ e.T)(rng.normal(size=(6, 3)))):
        flow = kl_flow(rng.normal(size=6) * 3, oracle, 1.0, np.linspace(0, 30, 60), gram)
        assert (np.diff(flow.divergence) <= 1e-9).all()
        np.testing.assert_allclose(flow.attention, softmax(flow.scores))
        np.testing.assert_allclose(
            flow.divergence, kl_divergence(oracle, flow.attention), atol=1e-12
        )


def test_the_flow_depends_on_rate_times_time_alone():
    oracle, start = np.array([0.5, 0.5, 0.0]), np.array([0.3, -1.0, 2.0])
    times = np.linspace(0, 20, 9)
    slow, fast = kl_flow(start, oracle, 0.1, times * 10), kl_flow(start, oracle, 1.0, times)
    np.testing.assert_allclose(slow.divergence, fast.divergence, rtol=1e-6)
    assert time_claimed(2.0, 0.5, 0.1) == pytest.approx(10 * time_claimed(2.0, 0.5, 1.0))


def test_the_flow_keeps_the_sum_of_the_scores_and_starts_where_it_is_told():
    start = np.array([0.3, -1.0, 2.0])
    flow = kl_flow(start, np.array([0.5, 0.5, 0.0]), 1.0, np.array([0.0, 1.0, 100.0]))
    np.testing.assert_allclose(flow.scores[0], start)
    np.testing.assert_allclose(flow.scores.sum(axis=1), start.sum(), atol=1e-8)
    only = kl_flow(start, np.array([0.5, 0.5, 0.0]), 1.0, np.array([0.0]))
    np.testing.assert_array_equal(only.scores, [start])


def test_positions_with_equal_embeddings_stall_the_divergence():
    # A distractor that looks like an informative token: the flow can't tell them apart.
    embedding = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    oracle = np.array([1.0, 0.0, 0.0])
    flow = kl_flow(np.zeros(3), oracle, 1.0, np.array([0.0, 1e3, 1e4]), embedding @ embedding.T)
    np.testing.assert_allclose(flow.attention[:, 0], flow.attention[:, 1])
    assert flow.divergence[-1] == pytest.approx(np.log(2), abs=1e-3)
    ideal = kl_flow(np.zeros(3), oracle, 1.0, flow.times)
    assert ideal.divergence[-1] < 1e-3


def test_the_claimed_time_is_zero_past_the_threshold():
    assert time_claimed(0.1, 0.2, 1.0) == 0
    np.testing.assert_allclose(time_claimed(np.array([0.1, np.e]), 1.0, 0.5), [0, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda: kl_score_gradient(np.array([1.0]), np.array([1.0]), -1.0),
        lambda: kl_flow(np.zeros(2), np.array([1.0, 0.0]), -1.0, np.array([1.0])),
        lambda: kl_flow(np.zeros(2), np.array([1.0, 0.0]), 1.0, np.array([2.0, 1.0])),
        lambda: kl_flow(np.zeros(2), np.array([1.0, 0.0]), 1.0, np.array([-1.0, 1.0])),
        lambda: kl_flow(np.zeros(2), np.array([1.0, 0.0]), 1.0, np.zeros(0)),
        lambda: time_claimed(1.0, 0.0, 1.0),
        lambda: time_claimed(1.0, 0.5, 0.0),
    ],
)
def test_settings_outside_a_formula_are_refused(call):
    with pytest.raises(SettingError):
        call()
