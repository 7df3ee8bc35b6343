"""Every optimizer, step by step against somebody else's."""

import dataclasses
import math
from collections.abc import Sequence

import pytest
import torch

from grokkit.core.optimizers import NEWTON_SCHULZ
from grokkit.engine.optimizers import (
    SGD,
    Adam,
    AdamW,
    Lion,
    Muon,
    Optimizer,
    OptimizerSpec,
    hidden_matrices,
    optimizers,
    orthogonalise,
)
from grokkit.errors import SettingError
from grokkit.model import Layout, ModelSpec, Parameters
from tests.engine.references import Reference

SIZES = ModelSpec(d_model=4, d_mlp=6, output_projection=True)
LAYOUT = Layout.of(SIZES, n_tokens=5, length=3, n_classes=9)
RESIDUAL = Layout.of(dataclasses.replace(SIZES, readout="residual"), 5, 3, 9)

# Two runs of each kind that differ in every number, and one that only decays, or not even.
SETTINGS: dict[str, list[OptimizerSpec]] = {
    "adamw": [
        AdamW(),
        AdamW(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, beta1=0.5, beta2=0.98),
        AdamW(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, eps=1e-3, beta1=0.0),
        AdamW(learning_rate=0.0, weight_decay=1.0, warmup=3, clip=2.0),
    ],
    "adam": [
        Adam(weight_decay=0.01),
        Adam(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, beta1=0.5, beta2=0.98),
        Adam(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, eps=1e-3, beta1=0.0),
        Adam(learning_rate=0.0),
    ],
    "sgd": [
        SGD(weight_decay=0.01),
        SGD(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, momentum=0.0),
        SGD(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, momentum=0.5),
        SGD(learning_rate=0.0),
    ],
    "lion": [
        Lion(),
        Lion(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, beta1=0.3, beta2=0.5),
        Lion(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, beta1=0.0, beta2=0.9),
        Lion(learning_rate=0.0),
    ],
    "muon": [
        Muon(),
        Muon(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, momentum=0.5),
        Muon(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, eps=1e-3, momentum=0.0),
        Muon(learning_rate=0.0),
    ],
}
NARROW = {"adamw": 1e-5, "adam": 1e-5, "sgd": 1e-5}
"""Kinds that are compared in float32 too, and how closely.

Lion's sign and Muon's iteration make much of a last bit.
"""


def start(runs: int, dtype: torch.dtype, layout: Layout = LAYOUT) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    shape = (runs, layout.size)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def gradients(
    runs: int, steps: int, dtype: torch.dtype, layout: Layout = LAYOUT
) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    shape = (runs, layout.size)
    # Of many sizes, so that some are clipped and some are not.
    return [
        (10 ** (step % 5 - 3) * torch.randn(shape, generator=generator, dtype=torch.float64)).to(
            dtype
        )
        for step in range(steps)
    ]


@pytest.fixture
def exact_muon(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's Muon without its rounding to bfloat16."""
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("this version of PyTorch has no Muon")
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda tensor: tensor.clone())


def check(
    settings: Sequence[OptimizerSpec], layout: Layout, dtype: torch.dtype, tolerance: float
) -> Optimizer:
    ours = Parameters(layout, start(len(settings), dtype, layout))
    optimizer = settings[0].start(settings, ours)
    theirs = [Reference(spec, layout, ours.flat[run]) for run, spec in enumerate(settings)]
    for step, gradient in enumerate(gradients(len(settings), 50, dtype, layout), start=1):
        ours.flat_grad.copy_(gradient)
        optimizer.step()
        for run, reference in enumerate(theirs):
            error = (ours.flat[run] - reference.step(gradient[run])).abs().max().item()
            assert error <= tolerance, (step, run)
    return optimizer


def test_every_kind_is_checked():
    assert set(SETTINGS) == set(optimizers)


@pytest.mark.usefixtures("exact_muon")
@pytest.mark.parametrize("kind", SETTINGS)
def test_a_group_equals_one_trusted_optimizer_for_each_run_over_50_steps(kind):
    optimizer = check(SETTINGS[kind], LAYOUT, torch.float64, 1e-11)
    assert optimizer.steps == 50
    still = [spec.learning_rate == 0 for spec in SETTINGS[kind]].index(True)
    # At learning rate 0 there is no decay either.
    assert optimizer.weights.flat[still].equal(start(4, torch.float64)[still])


@pytest.mark.parametrize("kind", NARROW)
def test_and_so_it_does_in_float32(kind):
    check(SETTINGS[kind], LAYOUT, torch.float32, NARROW[kind])


@pytest.mark.usefixtures("exact_muon")
@pytest.mark.parametrize("layout", [LAYOUT, RESIDUAL], ids=["classifier", "residual"])
@pytest.mark.parametrize(
    "settings",
    [{"update_scale": "spectral"}, {"nesterov": False}, {"muon_readout": True}],
    ids=str,
)
def test_muon_in_all_its_forms_equals_pytorchs(settings, layout):
    group = [dataclasses.replace(one, **settings) for one in SETTINGS["muon"]]
    check(group, layout, torch.float64, 1e-11)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_run_alone_is_the_run_in_its_group_bit_for_bit(kind):
    settings = SETTINGS[kind]
    group = Parameters(LAYOUT, start(4, torch.float32))
    optimizer = settings[0].start(settings, group)
    alone = [group.run(run) for run in range(4)]
    singles = [spec.start([spec], alone[run]) for run, spec in enumerate(settings)]
    # Batched matrix products may round otherwise in a batch of another size.
    tolerance = 2e-4 if kind == "muon" else 0.0
    for gradient in gradients(4, 20, torch.float32):
        group.flat_grad.copy_(gradient)
        optimizer.step()
        for run, single in enumerate(singles):
            alone[run].flat_grad.copy_(gradient[run : run + 1])
            single.step()
            assert (alone[run].flat[0] - group.flat[run]).abs().max() <= tolerance


@pytest.mark.parametrize("kind", SETTINGS)
def test_state_and_steps_are_all_that_a_copy_needs(kind):
    settings = SETTINGS[kind]
    weights = Parameters(LAYOUT, start(4, torch.float64))
    optimizer = settings[0].start(settings, weights)
    first, second = gradients(4, 2, torch.float64)
    weights.flat_grad.copy_(first)
    optimizer.step()
    copy = Parameters(LAYOUT, weights.flat.clone())
    resumed = settings[0].start(settings, copy)
    resumed.steps = optimizer.steps
    for name, value in resumed.state().items():
        value.copy_(optimizer.state()[name])
    for one, its_optimizer in ((weights, optimizer), (copy, resumed)):
        one.flat_grad.copy_(second)
        its_optimizer.step()
    assert copy.flat.equal(weights.flat)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_broken_run_leaves_the_others_alone(kind):
    settings = SETTINGS[kind]
    weights = Parameters(LAYOUT, start(4, torch.float32))
    healthy = weights.run(1)
    optimizer = settings[0].start(settings, weights)
    single = settings[1].start([settings[1]], healthy)
    for gradient in gradients(4, 5, torch.float32):
        weights.flat_grad.copy_(gradient)
        weights.flat_grad[0] = math.nan
        weights.flat_grad[2] = math.inf
        optimizer.step()
        healthy.flat_grad.copy_(gradient[1:2])
        single.step()
    assert weights.flat[1].isfinite().all()
    assert (weights.flat[1] - healthy.flat[0]).abs().max() <= (2e-4 if kind == "muon" else 0)
    assert not weights.flat[0].isfinite().all(), "what is broken must be seen to be"


def test_the_rate_is_that_of_the_latest_step():
    settings = [AdamW(learning_rate=0.1, warmup=4), AdamW(learning_rate=0.3, warmup=0)]
    optimizer = settings[0].start(settings, Parameters(LAYOUT, start(2, torch.float32)))
    for step in range(1, 7):
        optimizer.step()
        expected = [0.1 * min(1, step / 4), 0.3]
        assert optimizer.rate.squeeze(1).tolist() == pytest.approx(expected)


def test_where_the_gradient_starves_adam_with_l2_forgets_all_weights_at_one_speed():
    """What its docstring says: every weight falls by eta, whatever its size."""
    weights = Parameters(LAYOUT, torch.linspace(1, 9, LAYOUT.size, dtype=torch.float64)[None])
    before = weights.flat.clone()
    adam = Adam(learning_rate=0.01, weight_decay=0.5, warmup=0)
    optimizer = adam.start([adam], weights)
    for _ in range(10):
        weights.flat_grad.zero_()
        optimizer.step()
    torch.testing.assert_close(
        before - weights.flat, torch.full_like(before, 0.1), rtol=0.02, atol=0
    )


# --- Newton and Schulz --------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 5), (3, 8), (8, 3), (1, 6)], ids=str)
def test_the_iteration_acts_on_singular_values_alone(shape):
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(3, *shape, generator=generator, dtype=torch.float64)
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    s = s / s.norm(dim=1, keepdim=True)
    for a, b, c in NEWTON_SCHULZ:
        s = a * s + b * s**3 + c * s**5
    torch.testing.assert_close(orthogonalise(matrix), u @ (s[..., None] * v), rtol=0, atol=1e-12)


def test_singular_values_come_near_1_and_a_starved_gradient_is_as_good_as_another():
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(40, 16, 24, generator=generator, dtype=torch.float64)
    for scale in (1.0, 1e-6):
        values = torch.linalg.svdvals(orthogonalise(scale * matrix, eps=1e-8))
        assert values.min() > 0.67 and values.max() < 1.21
    nothing = orthogonalise(torch.zeros(2, 3, 4))
    assert nothing.equal(torch.zeros(2, 3, 4))


def test_which_matrices_are_hidden():
    assert hidden_matrices(LAYOUT) == ("W_Q", "W_K", "W_V", "W_O", "W_1")
    assert hidden_matrices(LAYOUT, readout=True) == ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2")
    assert hidden_matrices(RESIDUAL) == ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2")
    assert hidden_matrices(RESIDUAL, readout=True)[-1] == "W_U"


# --- what makes no sense ------------------------------------------------------------------


SENSELESS = [
    ("learning_rate", -1e-3),
    ("learning_rate", math.nan),
    ("learning_rate", math.inf),
    ("weight_decay", -0.1),
    ("warmup", -1),
    ("clip", 0.0),
    ("clip", math.nan),
    ("beta1", 1.0),
    ("beta2", 1.5),
    ("beta2", -0.1),
    ("eps", 0.0),
    ("momentum", 1.0),
    ("momentum", -0.5),
]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [(kind, *one) for kind in SETTINGS for one in SENSELESS if hasattr(optimizers[kind], one[0])],
)
def test_settings_that_make_no_sense_are_refused_by_name(kind, field, value):
    with pytest.raises(SettingError) as refused:
        optimizers[kind](**{field: value})
    assert refused.value.field == field


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("field", "value"), [("update_scale", "rmsnorm"), ("nesterov", 1), ("muon_readout", "W_2")]
)
def test_so_are_muons_own(field, value):
    with pytest.raises(SettingError) as refused:
        Muon(**{field: value})
    assert refused.value.field == field
