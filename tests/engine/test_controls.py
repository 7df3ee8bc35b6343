"""Norm-matching and the targeted L2 do what they say, and nothing else."""

import math

import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.controls import Controls
from grokkit.errors import SettingError
from grokkit.model import MLP_WEIGHTS
from grokkit.runtime import train
from tests.engine.small import SMALL, same

MODELS = {
    "classifier": SMALL,
    "autograd": SMALL.with_(attention="relu"),
    "residual": SMALL.with_(readout="residual"),
}


def test_by_default_nothing_is_held_fixed_and_nothing_is_spent():
    assert RunSpec().controls == Controls(mlp_radius=None, qk_penalty=0.0)
    trainer = Trainer([SMALL])
    assert trainer._sphere is None and trainer._qk_penalty is None


@pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS)
def test_after_every_step_the_mlp_is_on_its_sphere(spec):
    group = [spec.with_(mlp_radius=radius) for radius in (0.5, 7.0)]
    trainer = Trainer(group)
    columns = trainer.weights.columns(MLP_WEIGHTS)
    for _ in range(5):
        trainer.advance(1)
        norms = trainer.weights.flat[:, columns].norm(dim=1)
        torch.testing.assert_close(norms, torch.tensor([0.5, 7.0]))
    trainer.advance(1)  # records epoch 5
    torch.testing.assert_close(trainer.records.values["mlp_norm"][1], torch.tensor([0.5, 7.0]))


def test_the_projection_keeps_the_direction_and_all_other_weights():
    plain, held = Trainer([SMALL]), Trainer([SMALL.with_(mlp_radius=2.0)])
    plain.advance(1)
    held.advance(1)
    columns = plain.weights.columns(MLP_WEIGHTS)
    rest = torch.ones(plain.weights.flat.shape[1], dtype=torch.bool)
    rest[columns] = False
    assert held.weights.flat[:, rest].equal(plain.weights.flat[:, rest])
    free, kept = plain.weights.flat[:, columns], held.weights.flat[:, columns]
    torch.testing.assert_close(kept / 2.0, free / free.norm())


def test_an_mlp_of_zeros_stays_where_it_is():
    trainer = Trainer([SMALL.with_(mlp_radius=2.0, learning_rate=0.0)])
    trainer.weights.flat[:, trainer.weights.columns(MLP_WEIGHTS)] = 0.0
    trainer.advance(1)
    assert trainer.weights.flat.isfinite().all()


@pytest.mark.parametrize("batch_size", [None, 5])
@pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS)
def test_the_targeted_l2_is_the_gradient_of_what_its_docstring_says(spec, batch_size):
    """With the sum of gradients in a step of plain SGD the difference is the penalty's."""
    spec = spec.with_(
        optimizer="sgd", momentum=0.0, weight_decay=0.0, warmup=0, clip=math.inf,
        learning_rate=1.0, precision="float64", batch_size=batch_size,
    )  # fmt: skip
    strengths = (0.0, 0.5, 2.0)
    trainer = Trainer([spec.with_(qk_penalty=strength) for strength in strengths])
    weights = trainer.weights
    rows = torch.arange(5).expand(3, 5)
    step = trainer.step if batch_size is None else trainer.step.take(rows)
    step(0)
    bare = weights.flat_grad.clone()
    trainer._differentiate(step)
    added = weights.flat_grad - bare
    strength = torch.tensor(strengths, dtype=torch.float64)
    norms = (weights[name].square().sum(dim=(1, 2)) for name in ("W_Q", "W_K"))
    penalty = (strength * sum(norms)).sum()
    expected = torch.autograd.grad(penalty, [weights["W_Q"], weights["W_K"]])
    for name, slope in zip(("W_Q", "W_K"), expected, strict=True):
        place = next(place for other, place, _ in weights.layout.slices() if other == name)
        torch.testing.assert_close(added[:, place], slope.flatten(1))
        added[:, place] = 0
    assert not added.any(), "and no other parameter has it"
    assert trainer._differentiate(step).loss.isfinite().all()


def test_the_targeted_l2_makes_queries_and_keys_shorter_and_counts_in_the_gradient_norm():
    plain, shrunk = train(SMALL), train(SMALL.with_(qk_penalty=0.5))
    assert (shrunk.gradient_norm[0, 0] != plain.gradient_norm[0, 0]).item()
    assert (shrunk.W_Q_gradient[0, 0] == plain.W_Q_gradient[0, 0]).item(), "of the CE alone"
    both = Trainer([SMALL.with_(qk_penalty=strength) for strength in (0.0, 0.5)])
    both.advance()
    lengths = both.weights["W_Q"].norm(dim=(1, 2)) + both.weights["W_K"].norm(dim=(1, 2))
    assert lengths[1] < lengths[0]


def test_a_group_may_differ_in_radius_and_strength_but_not_in_having_a_sphere():
    specs = [SMALL.with_(qk_penalty=strength, mlp_radius=3.0) for strength in (0.0, 0.3)]
    together = train(specs).drop_vars("qk_penalty")
    for run, spec in enumerate(specs):
        assert same(train(spec), together.isel(run=[run]))
    with pytest.raises(SettingError, match=r"^specs: "):
        Trainer([SMALL, SMALL.with_(mlp_radius=3.0)])


@pytest.mark.parametrize(
    ("name", "value"),
    [("mlp_radius", 0.0), ("mlp_radius", math.inf), ("qk_penalty", -0.5), ("qk_penalty", math.nan)],
)
def test_settings_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(SettingError) as refused:
        SMALL.with_(**{name: value})
    assert refused.value.field == name
