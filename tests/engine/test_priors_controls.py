"""What may stand in for a penalty's gradient."""

import pytest
import torch

from grokkit.engine import KLPrior, RunSpec
from grokkit.engine.autograd_step import AutogradStep
from grokkit.engine.priors import ScheduledPenalty
from grokkit.engine.priors.controls import Control
from tests.model.cases import MODELS, SEEDS, TASKS, group

MODEL = MODELS["2 heads softmax classifier"]
STRENGTHS = (0.0, 0.5, 2.0)
CONTROLLED = ("W_Q", "W_K")
MOVED = (*CONTROLLED, "token_embedding", "position_embedding")
"""What the penalty moves in a model of one layer."""
REACH = {"noise": CONTROLLED, "shuffled": CONTROLLED, "noise-all": MOVED, "shuffled-all": MOVED}


def gradients(epoch: int = 0, dtype: torch.dtype = torch.float64, **settings) -> dict:
    """The whole gradient of three runs, by parameter."""
    batch, weights = group(TASKS["alphabet"], MODEL, dtype)
    # A schedule of a prior without strength is refused.
    strengths = (0.1, *STRENGTHS[1:]) if "schedule" in settings else STRENGTHS
    specs = [
        RunSpec(prior=KLPrior(beta, **settings), model=MODEL, seed=seed)
        for beta, seed in zip(strengths, SEEDS, strict=True)
    ]
    AutogradStep(MODEL, batch, weights, ScheduledPenalty(specs, batch))(epoch)
    return {name: weights.gradient[name].clone() for name in weights}


def norms(value: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(value.flatten(1), dim=1)


@pytest.fixture(scope="module")
def plain():
    batch, weights = group(TASKS["alphabet"], MODEL)
    specs = [RunSpec(model=MODEL)] * 3
    AutogradStep(MODEL, batch, weights, ScheduledPenalty(specs, batch))(0)
    return {name: weights.gradient[name].clone() for name in weights}


@pytest.mark.parametrize("control", REACH)
def test_a_control_has_the_norm_of_the_penaltys_gradient_and_another_direction(plain, control):
    true, instead = gradients(), gradients(penalty_gradient=control)
    for name in plain:
        pulled, given = true[name] - plain[name], instead[name] - plain[name]
        if name not in REACH[control]:
            assert given.abs().max() < 1e-15, name
            continue
        torch.testing.assert_close(norms(given), norms(pulled), rtol=1e-12, atol=0)
        assert given[0].abs().max() == 0  # no strength, no control
        cosine = (pulled * given).flatten(1).sum(dim=1)[1:] / norms(given)[1:].square()
        assert cosine.abs().max() < 0.6
    # Nothing that the penalty moves is left out of MOVED, and nothing else is in it.
    assert {name for name in plain if not torch.equal(true[name], plain[name])} == set(MOVED)


def test_the_penalty_on_w_q_and_w_k_alone_is_its_own_gradient_there(plain):
    true, alone = gradients(), gradients(penalty_gradient="true-qk")
    for name in plain:
        wanted = true[name] if name in CONTROLLED else plain[name]
        torch.testing.assert_close(alone[name], wanted, rtol=1e-12, atol=1e-15)


def test_shuffled_signs_keep_every_magnitude_and_last(plain):
    true = gradients()
    before, after = (gradients(epoch, penalty_gradient="shuffled") for epoch in (0, 7))
    for name in CONTROLLED:
        pulled, given = true[name] - plain[name], before[name] - plain[name]
        torch.testing.assert_close(given.abs(), pulled.abs(), rtol=1e-9, atol=1e-15)
        flipped = (pulled[1:] * given[1:] < 0).double().mean()
        assert 0.35 < flipped < 0.65
        assert torch.equal(before[name], after[name])


def test_noise_is_fresh_at_every_step_and_the_same_again_for_the_same_epoch():
    first, second = (gradients(epoch, penalty_gradient="noise") for epoch in (0, 1))
    again = gradients(0, penalty_gradient="noise")
    for name in CONTROLLED:
        assert torch.equal(first[name], again[name])
        assert not torch.equal(first[name][1:], second[name][1:])


def test_a_schedule_scales_the_control():
    half = gradients(5, penalty_gradient="noise", schedule="annealed", schedule_epochs=10)
    whole = gradients(5, penalty_gradient="noise")
    none = gradients(10, penalty_gradient="noise", schedule="annealed", schedule_epochs=10)
    for name in CONTROLLED:
        torch.testing.assert_close(
            (half[name] - none[name])[1:],
            (whole[name] - none[name])[1:] / 2,
            rtol=1e-9,
            atol=1e-14,
        )


def test_runs_have_streams_of_their_own():
    like = {"W_Q": torch.ones(2, 4, 4), "W_K": torch.ones(2, 4, 4)}
    for kind in ("noise", "shuffled"):
        both = Control(kind, [5, 6])(like, 3)
        alone = Control(kind, [6])({name: value[1:] for name, value in like.items()}, 3)
        for name in like:
            assert torch.equal(both[name][1:], alone[name])
            assert not torch.equal(both[name][0], both[name][1])
        assert not torch.equal(both["W_Q"], both["W_K"])


def test_the_steps_of_an_epoch_have_noise_of_their_own():
    like = {"W_Q": torch.ones(1, 3, 3)}
    control = Control("noise", [0])
    whole = control(like, 4)["W_Q"]
    first, second = (control.take()(like, 4)["W_Q"] for _ in range(2))
    assert not torch.equal(first, second) and not torch.equal(whole, first)
    control.take()(like, 5)
    resumed = Control("noise", [0])
    assert torch.equal(resumed(like, 4)["W_Q"], whole)
    assert torch.equal(resumed.take()(like, 4)["W_Q"], first)
