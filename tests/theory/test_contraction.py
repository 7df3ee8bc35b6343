"""Definition 3.2, Propositions B.1 and B.2, and what (5) does and does not say."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    adamw_update_bound,
    contracted_norm_bound,
    contraction_rate,
    muon_update_bound,
    norm_floor,
    norm_growth,
    plateau_bracket,
    plateau_length_claimed,
    sign_update_bound,
)
from tests.theory.inputs import seeds

rates = st.floats(1e-4, 0.99)


@given(seed=seeds, lr=rates, weight_decay=st.floats(0.01, 10))
def test_proposition_b_1_a_decayed_step_is_norm_contractive(seed, lr, weight_decay):
    a = lr * weight_decay
    assume(a < 1)
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=(3, 4))
    # An update along the weight is the worst case; it makes Young's inequality tight.
    update = rng.normal(size=(3, 4)) if rng.random() < 0.5 else -weight * rng.exponential()
    after = (1 - a) * weight - lr * update
    growth = norm_growth(lr, weight_decay, float(np.linalg.norm(update)))
    bound = contracted_norm_bound(float(np.linalg.norm(weight)), a, growth)
    assert np.linalg.norm(after) <= bound * (1 + 1e-12)


def test_proposition_b_1_is_attained():
    lr, weight_decay = 0.1, 0.5
    # norm(update) = (a / eta) norm(W), along -W: W' = W, and the bound allows no less.
    growth = norm_growth(lr, weight_decay, weight_decay * 2.0)
    assert contracted_norm_bound(2.0, lr * weight_decay, growth) == pytest.approx(2.0)


@given(norm=st.floats(0.1, 100), update=st.floats(0.1, 100), decay=st.floats(0.1, 5))
def test_proposition_b_2_the_norm_must_fall_above_the_floor_only(norm, update, decay):
    lr = 0.01
    floor = norm_floor(update, decay)
    assume(abs(norm / floor - 1) > 1e-6)
    worst = (1 - lr * decay) * norm + lr * update
    assert (worst < norm) == (norm > floor)


def test_equation_39_bounds_a_whole_trajectory_from_above(rng):
    lr, decay, bound = 0.1, 0.5, 3.0
    weight = rng.normal(size=20) * 10
    start, growth = float(np.linalg.norm(weight)), norm_growth(lr, decay, bound)
    for step in range(1, 200):
        update = rng.normal(size=20)
        weight = (1 - lr * decay) * weight - lr * bound * update / np.linalg.norm(update)
        assert np.linalg.norm(weight) <= contracted_norm_bound(start, lr * decay, growth, step)


def adamw_steps(gradients, beta1, beta2):
    """AdamW's steps U = m_hat / sqrt(v_hat), one after another."""
    first = second = 0.0
    for step, g in enumerate(gradients, 1):
        first = beta1 * first + (1 - beta1) * g
        second = beta2 * second + (1 - beta2) * g * g
        yield first / (1 - beta1**step) / np.sqrt(second / (1 - beta2**step))


def test_torch_adamw_takes_these_steps(rng):
    weight = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    optimizer = torch.optim.AdamW([weight], lr=1.0, weight_decay=0.0, eps=1e-30)
    gradients = rng.normal(size=(20, 3))
    for g, step in zip(gradients, adamw_steps(gradients, 0.9, 0.999), strict=True):
        before = weight.detach().clone()
        weight.grad = torch.tensor(g)
        optimizer.step()
        np.testing.assert_allclose((before - weight.detach()).numpy(), step, rtol=1e-9)


def test_adamw_bound_is_approached_by_a_growing_gradient_and_never_passed():
    bound = adamw_update_bound(1)
    assert bound == pytest.approx(7.27, abs=0.005)
    # Growth by beta2 / beta1 makes Cauchy-Schwarz tight. Bias correction takes thousands of
    # steps to fade, so start as small as float64 allows.
    steps = list(adamw_steps((1e-150 * (0.999 / 0.9) ** n for n in range(6700)), 0.9, 0.999))
    assert max(steps) == pytest.approx(7.266, abs=0.001)
    assert max(steps) <= bound


@given(
    seed=seeds,
    beta1=st.sampled_from([0.0, 0.5, 0.9]),
    beta2=st.sampled_from([0.9, 0.95, 0.999]),
)
def test_adamw_steps_stay_under_the_bound_with_bias_correction(seed, beta1, beta2):
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=(40, 6)) * rng.choice([1, 1e3], size=(40, 1))
    for step in adamw_steps(gradients, beta1, beta2):
        assert np.linalg.norm(step) <= adamw_update_bound(6, beta1, beta2) * (1 + 1e-12)


def test_adamw_has_no_bound_when_the_second_moment_forgets_too_fast():
    with pytest.raises(SettingError, match=r"beta1: got 0\.9; .*beta1\^2 below beta2"):
        adamw_update_bound(1, 0.9, 0.81)


@given(seed=seeds, rows=st.integers(1, 6), columns=st.integers(1, 6))
def test_muon_steps_stay_under_the_bound(seed, rows, columns):
    step = np.random.default_rng(seed).normal(size=(rows, columns))
    step /= np.linalg.norm(step)
    for _ in range(5):
        gram = step @ step.T
        step = 3.4445 * step - 4.7750 * gram @ step + 2.0315 * gram @ gram @ step
    assert np.linalg.norm(step, 2) <= muon_update_bound(1)
    assert np.linalg.norm(step) <= muon_update_bound(min(rows, columns))


def test_the_largest_singular_value_after_newton_schulz_is_below_1_21():
    x = np.linspace(0, 1, 100_001)
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
        assert x.max() == pytest.approx(1.2024, abs=1e-3)


def test_torch_muon_stays_under_the_bound():
    weight = torch.nn.Parameter(torch.zeros(16, 8))
    optimizer = torch.optim.Muon([weight], lr=1.0, weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    for _ in range(10):
        before = weight.detach().clone()
        weight.grad = torch.randn(16, 8, generator=generator)
        optimizer.step()
        # Its step is scaled by sqrt(rows / columns) where that is above 1.
        assert (weight - before).norm() <= muon_update_bound(8, float(np.sqrt(2)))


def test_sign_steps_have_the_norm_of_the_bound(rng):
    assert np.linalg.norm(np.sign(rng.normal(size=(5, 7)))) == sign_update_bound(35)


@given(
    norm0=st.floats(1, 50),
    ratio=st.floats(0.05, 0.99),
    floor=st.floats(0, 20),
    a=st.floats(1e-3, 0.5),
)
def test_the_bracket_holds_and_is_attained_by_helping_and_opposing_updates(norm0, ratio, floor, a):
    target = norm0 * ratio
    assume(abs(floor - target) > 1e-2)
    bracket = plateau_bracket(norm0, target, a, floor)
    assert bracket.earliest <= bracket.latest
    assert np.isinf(bracket.latest) == (floor > target)
    fastest, steps = norm0, 0
    while fastest > target:
        fastest, steps = (1 - a) * fastest - a * floor, steps + 1
    assert abs(steps - bracket.earliest) <= 1
    if floor < target:
        slowest, steps = norm0, 0
        while slowest > target:
            slowest, steps = (1 - a) * slowest + a * floor, steps + 1
        assert abs(steps - bracket.latest) <= 1


def test_equation_5_is_no_upper_bound_on_the_wait():
    # Norm 10 to 5 with B / w = 4.5 and a = 0.001, the update opposing the decay.
    claimed = plateau_length_claimed(10.0, 5.0, 0.001)
    norm, steps = 10.0, 0
    while norm > 5.0:
        norm, steps = (1 - 0.001) * norm + 0.001 * 4.5, steps + 1
    assert steps == 2397
    assert claimed == pytest.approx(1386.3, abs=0.1)
    assert np.ceil(plateau_bracket(10.0, 5.0, 0.001, 4.5).latest) == steps


def test_equation_5_is_no_lower_bound_either_pure_decay_takes_half_of_it():
    claimed = plateau_length_claimed(10.0, 5.0, 0.001)
    norm, steps = 10.0, 0
    while norm > 5.0:
        norm, steps = (1 - 0.001) * norm, steps + 1
    assert steps == 693
    assert steps < claimed
    bracket = plateau_bracket(10.0, 5.0, 0.001, 0.0)
    assert bracket.earliest == bracket.latest == pytest.approx(claimed / 2, rel=1e-3)
    assert np.ceil(bracket.latest) == steps


@given(norm0=st.floats(2, 50), a=st.floats(1e-5, 1e-3))
def test_every_form_of_the_wait_goes_as_one_over_the_decay(norm0, a):
    claimed = plateau_length_claimed(norm0, 1.0, a) / plateau_length_claimed(norm0, 1.0, 2 * a)
    assert claimed == pytest.approx(2)
    bracket, doubled = (plateau_bracket(norm0, 1.0, x, 0.5) for x in (a, 2 * a))
    np.testing.assert_allclose(np.divide(bracket, doubled), 2, rtol=2e-3)


def test_there_is_no_wait_for_a_norm_that_is_already_small():
    assert plateau_length_claimed(3.0, 5.0, 0.01) == 0
    assert plateau_bracket(3.0, 5.0, 0.01, 9.0) == (0, 0)


def test_the_wait_is_computed_for_a_whole_array_of_runs():
    bracket = plateau_bracket(np.array([10.0, 3.0, 10.0]), 5.0, 0.001, np.array([4.5, 4.5, 6.0]))
    np.testing.assert_array_equal(np.ceil(bracket.latest), [2397, 0, np.inf])


@pytest.mark.parametrize(
    "call",
    [
        lambda: contraction_rate(0.001, 0.0),
        lambda: contraction_rate(2.0, 0.5),
        lambda: contracted_norm_bound(1.0, 1.0, 0.0),
        lambda: norm_growth(0.1, 1.0, -1.0),
        lambda: norm_floor(1.0, 0.0),
        lambda: plateau_bracket(10.0, 0.0, 0.1, 0.0),
        lambda: plateau_length_claimed(float("nan"), 1.0, 0.1),
        lambda: sign_update_bound(0),
    ],
)
def test_settings_outside_a_formula_are_refused(call):
    with pytest.raises(SettingError):
        call()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
