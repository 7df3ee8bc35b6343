"""The strength of a prior from epoch to epoch."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grokkit.engine import EntropyPrior, RunSpec, Trainer
from grokkit.engine.priors import ScheduledPenalty
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from tests.engine.small import SMALL

BASE = SMALL.with_(kl_strength=1.0, epochs=12, record_every=12)


def penalty_of(schedule: Any, strengths: list[float], turns: list[int | None]) -> ScheduledPenalty:
    priors = [
        EntropyPrior(strength, schedule=schedule, schedule_epochs=turn)
        for strength, turn in zip(strengths, turns, strict=True)
    ]
    specs = [SimpleNamespace(prior=prior) for prior in priors]
    return ScheduledPenalty(specs, Trainer([SMALL]).train)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", {0: 1.0, 3: 1.0, 4: 1.0, 10**6: 1.0}),
        ("annealed", {0: 1.0, 1: 0.75, 3: 0.25, 4: 0.0, 10**6: 0.0}),
        ("early", {0: 1.0, 3: 1.0, 4: 0.0, 10**6: 0.0}),
        ("late", {0: 0.0, 3: 0.0, 4: 1.0, 10**6: 1.0}),
    ],
)
def test_the_strength_at_an_epoch(schedule, expected):
    turn = None if schedule == "constant" else 4
    penalty = penalty_of(schedule, [2.0, 0.5, 0.0], [turn] * 3)
    for epoch, factor in expected.items():
        assert penalty.strength(epoch).tolist() == [2.0 * factor, 0.5 * factor, 0.0]


def test_every_run_has_a_turn_of_its_own():
    penalty = penalty_of("annealed", [1.0, 1.0], [2, 10])
    assert penalty.strength(1).tolist() == pytest.approx([0.5, 0.9])


@pytest.mark.parametrize("path", ["analytic", "autograd"])
def test_a_schedule_is_constant_while_it_is_on_and_nothing_while_it_is_off(path):
    base = BASE if path == "analytic" else BASE.with_(attention="relu")
    always, never = Trainer([base]), Trainer([base.with_(kl_strength=0.0)])
    early = Trainer([base.with_(schedule="early", schedule_epochs=6)])
    late = Trainer([base.with_(schedule="late", schedule_epochs=6)])
    assert early.path == path
    for trainer in (always, never, early, late):
        trainer.advance(6)
    assert torch.equal(early.weights.flat, always.weights.flat)
    assert torch.equal(late.weights.flat, never.weights.flat)
    # The gradient at epoch 6 makes the weights of epoch 7.
    for trainer in (always, never, early, late):
        trainer.advance(1)
    assert not torch.equal(early.weights.flat, always.weights.flat)
    assert not torch.equal(late.weights.flat, never.weights.flat)


def test_an_early_prior_that_outlives_the_run_is_constant():
    constant, outlived = (
        Trainer([BASE]),
        Trainer([BASE.with_(schedule="early", schedule_epochs=99)]),
    )
    constant.advance()
    outlived.advance()
    assert torch.equal(constant.weights.flat, outlived.weights.flat)


@pytest.mark.parametrize(
    "changes",
    [
        dict(schedule="annealed", schedule_epochs=9),
        dict(schedule="late", schedule_epochs=5),
        dict(penalty_gradient="noise"),
        dict(penalty_gradient="shuffled", schedule="early", schedule_epochs=8),
    ],
)
@pytest.mark.parametrize("batch_size", [None, 5])
def test_a_resumed_run_goes_on_bit_for_bit(tmp_path, changes, batch_size):
    spec = BASE.with_(batch_size=batch_size, **changes)
    whole = Trainer([spec])
    whole.advance()
    half = Trainer([spec])
    half.advance(7)
    again = load_checkpoint(save_checkpoint(half, tmp_path / "half.safetensors"))
    again.advance()
    assert torch.equal(whole.weights.flat, again.weights.flat)


@pytest.mark.parametrize("changes", [dict(), dict(penalty_gradient="noise")])
def test_looking_changes_nothing(changes):
    spec: RunSpec = BASE.with_(batch_size=5, **changes)
    often, rarely = Trainer([spec.with_(record_every=3)]), Trainer([spec])
    often.advance()
    rarely.advance()
    assert torch.equal(often.weights.flat, rarely.weights.flat)
