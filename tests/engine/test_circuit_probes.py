"""What is recorded of the kernel and of the circuit."""

import pytest
import torch

from grokkit.engine import Trainer
from grokkit.engine.circuit_probes import MEANING
from grokkit.errors import SettingError
from tests.engine.small import SMALL, plain_watched_and_resumed

SPEC = SMALL.with_(precision="float64", circuits=True)


def test_they_begin_at_0_change_no_training_and_a_resumed_run_has_them_too():
    plain, watched, resumed = plain_watched_and_resumed(SPEC, "circuits")
    assert torch.equal(watched.weights.flat, plain.weights.flat)
    assert set(MEANING) <= set(watched.records.values)
    for name in MEANING:
        values, again = watched.records.values[name], resumed.records.values[name]
        torch.testing.assert_close(torch.stack(values), torch.stack(again))
    for name in ("kernel_drift", "kernel_turn"):
        first, *later = (float(one) for one in watched.records.values[name])
        assert abs(first) < 1e-12 and min(later) > 0


def test_frozen_attention_has_symmetric_gradients_and_the_patch_changes_nothing():
    trainer = Trainer([SPEC.with_(attention="oracle")])
    trainer.advance()
    values = trainer.records.values
    for record, symmetry in enumerate(values["gradient_symmetry"]):
        assert float(symmetry) == pytest.approx(1, abs=1e-12)
        for part in ("train", "test"):
            patched = float(values[f"patched_{part}_accuracy"][record])
            assert patched == pytest.approx(float(values[f"{part}_accuracy"][record]))


@pytest.mark.slow
def test_they_are_for_sums_in_one_layer():
    for settings in ({"task": "modular_subtraction"}, {"readout": "residual", "layers": 2}):
        with pytest.raises(SettingError, match="circuits"):
            SPEC.with_(**settings)
