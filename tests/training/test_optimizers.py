"""AdamW with warm-up and clipping, step by step against PyTorch's."""

import dataclasses
import math

import pytest
import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR

from grokkit.errors import SettingError
from grokkit.model import Layout, ModelSpec, Parameters
from grokkit.training import AdamW

LAYOUT = Layout.of(ModelSpec(d_model=4, d_mlp=6), n_tokens=5, length=3, n_classes=5)

SETTINGS = [
    AdamW(),
    AdamW(learning_rate=0.1, weight_decay=0.0, warmup=0, clip=math.inf, beta1=0.5, beta2=0.98),
    AdamW(learning_rate=3e-3, weight_decay=2.5, warmup=25, clip=0.3, eps=1e-3, beta1=0.0),
    AdamW(learning_rate=0.0, weight_decay=1.0, warmup=3, clip=2.0),
]


def start(dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    shape = (len(SETTINGS), LAYOUT.size)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def gradients(steps: int, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    shape = (len(SETTINGS), LAYOUT.size)
    # Of many sizes, so that some are clipped and some are not.
    return [
        (10 ** (step % 5 - 3) * torch.randn(shape, generator=generator, dtype=torch.float64)).to(
            dtype
        )
        for step in range(steps)
    ]


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)], ids=str
)
def test_a_group_equals_one_torch_optimizer_for_each_run_over_50_steps(dtype, tolerance):
    ours = Parameters(LAYOUT, start(dtype))
    optimizer = SETTINGS[0].start(SETTINGS, ours)
    theirs, optimizers, schedules = [], [], []
    for run, spec in enumerate(SETTINGS):
        parameter = torch.nn.Parameter(start(dtype)[run])
        adamw = torch.optim.AdamW(
            [parameter],
            lr=spec.learning_rate,
            betas=(spec.beta1, spec.beta2),
            eps=spec.eps,
            weight_decay=spec.weight_decay,
        )
        theirs.append(parameter)
        optimizers.append(adamw)

        def warm(done: int, warmup: int = spec.warmup) -> float:
            return min(1.0, (done + 1) / warmup) if warmup else 1.0

        schedules.append(LambdaLR(adamw, warm))

    for step, gradient in enumerate(gradients(50, dtype), start=1):
        ours.flat_grad.copy_(gradient)
        optimizer.step()
        for run, spec in enumerate(SETTINGS):
            theirs[run].grad = gradient[run].clone()
            clip_grad_norm_([theirs[run]], spec.clip)
            optimizers[run].step()
            schedules[run].step()
            error = (ours.flat[run] - theirs[run].detach()).abs().max().item()
            assert error <= tolerance, (step, run)
    assert optimizer.steps == 50
    assert ours.flat[3].equal(start(dtype)[3])  # learning rate 0: no decay either


def test_a_run_alone_is_the_run_in_its_group_bit_for_bit():
    group = Parameters(LAYOUT, start(torch.float32))
    optimizer = SETTINGS[0].start(SETTINGS, group)
    alone = [group.run(run) for run in range(len(SETTINGS))]
    singles = [spec.start([spec], alone[run]) for run, spec in enumerate(SETTINGS)]
    for gradient in gradients(20, torch.float32):
        group.flat_grad.copy_(gradient)
        optimizer.step()
        for run, single in enumerate(singles):
            alone[run].flat_grad.copy_(gradient[run : run + 1])
            single.step()
            assert alone[run].flat[0].equal(group.flat[run])


def test_state_and_steps_are_all_that_a_copy_needs():
    weights = Parameters(LAYOUT, start(torch.float64))
    optimizer = SETTINGS[0].start(SETTINGS, weights)
    first, second = gradients(2, torch.float64)
    weights.flat_grad.copy_(first)
    optimizer.step()
    copy = Parameters(LAYOUT, weights.flat.clone())
    resumed = SETTINGS[0].start(SETTINGS, copy)
    resumed.steps = optimizer.steps
    for name, value in resumed.state().items():
        value.copy_(optimizer.state()[name])
    for one, its_optimizer in ((weights, optimizer), (copy, resumed)):
        one.flat_grad.copy_(second)
        its_optimizer.step()
    assert copy.flat.equal(weights.flat)


def test_a_broken_run_leaves_the_others_alone():
    weights = Parameters(LAYOUT, start(torch.float32))
    healthy = weights.run(1)
    optimizer = SETTINGS[0].start(SETTINGS, weights)
    single = SETTINGS[1].start([SETTINGS[1]], healthy)
    for gradient in gradients(5, torch.float32):
        weights.flat_grad.copy_(gradient)
        weights.flat_grad[0] = math.nan
        weights.flat_grad[2] = math.inf
        optimizer.step()
        healthy.flat_grad.copy_(gradient[1:2])
        single.step()
    assert weights.flat[1].equal(healthy.flat[0])


@pytest.mark.parametrize(
    ("field", "value"),
    [
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
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(field, value):
    with pytest.raises(SettingError) as refused:
        dataclasses.replace(AdamW(), **{field: value})
    assert refused.value.field == field
