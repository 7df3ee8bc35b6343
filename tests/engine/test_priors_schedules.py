"""The strength of a prior from epoch to epoch."""

import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.priors.base import ScheduledStrength
from grokkit.runtime import train
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from tests.engine.small import SMALL, same

CPU = torch.device("cpu")
BASE = SMALL.with_(kl_strength=1.0, epochs=12, record_every=1)


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
    strength = ScheduledStrength(schedule, [2.0, 0.5, 0.0], [turn] * 3, CPU)
    for epoch, factor in expected.items():
        assert strength(epoch).tolist() == [2.0 * factor, 0.5 * factor, 0.0]


def test_every_run_has_a_turn_of_its_own():
    strength = ScheduledStrength("annealed", [1.0, 1.0], [2, 10], CPU)
    assert strength(1).tolist() == pytest.approx([0.5, 0.9])


@pytest.mark.parametrize("path", ["analytic", "autograd"])
def test_a_schedule_is_constant_while_it_is_on_and_nothing_while_it_is_off(path):
    base = BASE if path == "analytic" else BASE.with_(attention="relu")
    always, never = train(base), train(base.with_(kl_strength=0.0))
    early = train(base.with_(schedule="early", schedule_epochs=6))
    late = train(base.with_(schedule="late", schedule_epochs=6))
    assert early.attrs["gradient"] == path

    # The gradient at epoch t makes the weights of epoch t + 1.
    def first(part: int):
        return slice(0, part)

    names = ["train_loss", "kl", "mlp_norm"]
    assert same(early[names].isel(epoch=first(7)), always[names].isel(epoch=first(7)))
    assert same(late[names].isel(epoch=first(7)), never[names].isel(epoch=first(7)))
    assert not same(early[names].isel(epoch=first(8)), always[names].isel(epoch=first(8)))
    assert not same(late[names].isel(epoch=first(8)), never[names].isel(epoch=first(8)))


def test_an_early_prior_that_outlives_the_run_is_constant():
    assert same(train(BASE), train(BASE.with_(schedule="early", schedule_epochs=500)))


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
    often, rarely = Trainer([spec]), Trainer([spec.with_(record_every=12)])
    often.advance()
    rarely.advance()
    assert torch.equal(often.weights.flat, rarely.weights.flat)
