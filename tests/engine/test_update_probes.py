"""How far a step moves each part of the model."""

import pytest
import torch

from grokkit.engine.trainer import Trainer
from grokkit.engine.update_probes import MEANING, PARTS
from grokkit.model import of_kinds
from tests.engine.small import SMALL, plain_watched_and_resumed

SPEC = SMALL.with_(precision="float64", updates=True, weight_decay=0.5)


def parts(trainer: Trainer, flat: torch.Tensor) -> dict[str, float]:
    return {
        part: float(flat[0, trainer.weights.columns(of_kinds(trainer.weights, kinds))].norm())
        for part, kinds in PARTS.items()
    }


@pytest.mark.parametrize("settings", [{}, {"optimizer": "sgd", "learning_rate": 0.1}])
def test_a_move_is_the_step_without_its_decoupled_decay(settings):
    trainer = Trainer([SPEC.with_(**settings)])
    trainer.advance(4)
    before = trainer.weights.flat.clone()
    trainer.advance(1)
    decay = float(trainer.optimizer.rate) * SPEC.optimizer.weight_decay
    kept = before * (1 - decay) if trainer.optimizer.decoupled else before
    wanted = parts(trainer, trainer.weights.flat - kept)
    sizes = parts(trainer, trainer.weights.flat)
    trainer.advance(1)  # the record of epoch 5
    for part in PARTS:
        recorded = {
            name: float(trainer.records.values[f"{part}_{name}"][1]) for name in ("move", "size")
        }
        assert recorded["move"] == pytest.approx(wanted[part], rel=1e-12)
        assert recorded["size"] == pytest.approx(sizes[part], rel=1e-12)


def test_the_pulls_together_are_the_whole_gradient():
    trainer = Trainer([SPEC])
    trainer.advance(1)
    values = trainer.records.values
    pulls = sum(float(values[f"{part}_pull"][0]) ** 2 for part in PARTS)
    assert pulls**0.5 == pytest.approx(float(values["gradient_norm"][0]), rel=1e-12)
    assert all(torch.isnan(values[f"{part}_move"][0]).all() for part in PARTS)  # no step yet
    assert set(MEANING) <= set(values)


def test_they_change_no_training_and_a_resumed_run_has_them_too():
    plain, watched, resumed = plain_watched_and_resumed(SPEC, "updates")
    assert torch.equal(watched.weights.flat, plain.weights.flat)
    for name, values in watched.records.values.items():
        again = torch.stack(resumed.records.values[name])
        assert torch.stack(values).nan_to_num(-1).equal(again.nan_to_num(-1)), name
