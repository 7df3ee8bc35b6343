"""The gradient of a network that has memorised everything: tiny, and still right.

A constant that reaches every position alike has no influence on attention. It cancels in
exact arithmetic; in floating point its rounding errors would drown a starved gradient.
"""

import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.autograd_step import AutogradStep
from grokkit.tasks import ModularAddition


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_constant_in_the_values_leaves_no_noise_in_the_score_gradient(heads, precision):
    spec = RunSpec(task=ModularAddition(p=7, train_fraction=0.5), precision=precision)
    spec = spec.with_(d_model=8, d_mlp=16, heads=heads)
    trainer = Trainer([spec])
    with torch.no_grad():
        # All that is left of a decayed network: a bias, and values that are next to nothing.
        trainer.weights["b_1"].fill_(3.0)
        for name in ("W_V", "W_Q", "W_K"):
            trainer.weights[name].mul_(1e-9)
    ours = trainer.step(0, record=True).score_gradient
    penalty = spec.prior.start([spec], trainer.train)
    general = AutogradStep(spec.model, trainer.train, trainer.weights, penalty)
    truth = general(0, record=True).score_gradient
    assert ours is not None and truth is not None
    assert truth.abs().max() < 1e-8
    assert torch.allclose(ours, truth, rtol=1e-3, atol=1e-4 * float(truth.abs().max()))


def test_the_starvation_bounds_hold_on_a_network_that_decay_has_emptied():
    spec = RunSpec(task=ModularAddition(p=7, train_fraction=0.5), epochs=150, record_every=50)
    trainer = Trainer([spec.with_(d_model=8, d_mlp=16, weight_decay=100.0)])
    trainer.advance()
    for name in ("starvation_worst", "starvation_worst_linear"):
        worst = torch.stack(trainer.records.values[name]).nan_to_num(0)
        assert (worst <= 1.001).all(), name


def test_what_a_run_records_does_not_depend_on_slots_that_only_its_mates_use():
    spec = RunSpec(precision="float64", epochs=2, record_every=1).with_(
        task="marked_addition", p=5, length=5, alphabet=3, d_model=8, d_mlp=16
    )
    alone = Trainer([spec])
    group = Trainer([spec, spec.with_(seed=1), spec.with_(seed=5)])
    alone.advance()
    group.advance()
    for name, values in alone.records.values.items():
        together = group.records.values[name]
        for one, many in zip(values, together, strict=True):
            assert torch.allclose(one[0], many[0], rtol=1e-9, equal_nan=True), name
