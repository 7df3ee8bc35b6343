"""Rival accelerators, against their authors' rules in somebody else's code."""

from dataclasses import dataclass

import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.accelerators import (
    Accelerator,
    AcceleratorSpec,
    Grokfast,
    NoAccelerator,
    OrthogonalGradient,
    accelerators,
    register_accelerator,
)
from grokkit.errors import SettingError
from grokkit.model import Layout, ModelSpec, Parameters
from grokkit.runtime import train
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from tests.engine.small import SMALL, same

LAYOUT = Layout.of(ModelSpec(d_model=4, d_mlp=6), n_tokens=5, length=3, n_classes=5)
DECAYS, GAINS = (0.98, 0.5, 0.0), (2.0, 0.0, 5.0)
GROUP = [Grokfast(filter_decay=d, filter_gain=g) for d, g in zip(DECAYS, GAINS, strict=True)]


def random(seed: int, runs: int = 3, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(runs, LAYOUT.size, generator=generator, dtype=dtype)


def module_of(weights: Parameters, run: int) -> torch.nn.ParameterDict:
    """One run as the parameters of a module, with its gradients."""
    made = torch.nn.ParameterDict({name: weights[name][run].detach().clone() for name in weights})
    for name, parameter in made.items():
        parameter.grad = weights.gradient[name][run].clone()
    return made


def test_grokfast_is_the_published_filter():
    from pytorch_optimizer.optimizer.grokfast import gradfilter_ema

    weights = Parameters(LAYOUT, random(0))
    accelerator = GROUP[0].start(GROUP, weights)
    means: list[dict[str, torch.Tensor] | None] = [None] * 3
    for step in range(20):
        weights.flat_grad.copy_(random(step + 1))
        modules = [module_of(weights, run) for run in range(3)]
        accelerator()
        for run, module in enumerate(modules):
            means[run] = gradfilter_ema(
                module, grads=means[run], alpha=DECAYS[run], lamb=GAINS[run]
            )
            for name, parameter in module.items():
                error = (weights.gradient[name][run] - parameter.grad).abs().max()
                assert error <= 1e-12, (step, run, name)


def test_the_orthogonal_gradient_is_the_published_projection():
    from pytorch_optimizer import OrthoGrad

    weights = Parameters(LAYOUT, random(0))
    with torch.no_grad():
        weights["b_1"].zero_()
        weights["W_1"][1].zero_()
    weights.flat_grad.copy_(random(1))
    weights.gradient["W_2"][2].copy_(3 * weights["W_2"][2].detach())  # parallel: none is left
    before = weights.flat_grad.clone()
    modules = [module_of(weights, run) for run in range(3)]
    group = [OrthogonalGradient()] * 3
    group[0].start(group, weights)()
    for run, module in enumerate(modules):
        OrthoGrad(torch.optim.SGD(module.values(), lr=0.0)).step()
        for name, parameter in module.items():
            assert (weights.gradient[name][run] - parameter.grad).abs().max() <= 1e-12, name
    for name, place, _ in LAYOUT.slices():
        w, g = weights.flat[:, place], weights.flat_grad[:, place]
        assert (w * g).sum(dim=1).abs().max() <= 1e-11, "orthogonal"
        lengths = g.norm(dim=1), before[:, place].norm(dim=1)
        parallel = torch.tensor([False, False, name == "W_2"])
        torch.testing.assert_close(lengths[0], lengths[1].masked_fill(parallel, 0.0))
    assert weights.gradient["b_1"].flatten(1).equal(Parameters(LAYOUT, before)["b_1"].detach())


@pytest.mark.parametrize(
    "group", [GROUP, [OrthogonalGradient()] * 3], ids=["grokfast", "orthogonal"]
)
def test_a_run_alone_is_the_run_in_its_group_bit_for_bit(group):
    weights = Parameters(LAYOUT, random(0, dtype=torch.float32))
    together = group[0].start(group, weights)
    alone = [weights.run(run) for run in range(3)]
    singles = [one.start([one], alone[run]) for run, one in enumerate(group)]
    for step in range(5):
        gradient = random(step + 1, dtype=torch.float32)
        weights.flat_grad.copy_(gradient)
        together()
        for run, single in enumerate(singles):
            alone[run].flat_grad.copy_(gradient[run : run + 1])
            single()
            assert alone[run].flat_grad[0].equal(weights.flat_grad[run])


def test_the_default_is_none_and_costs_nothing():
    assert RunSpec().accelerator == NoAccelerator()
    assert Trainer([SMALL]).accelerator is None
    assert RunSpec().with_(accelerator="grokfast").accelerator == Grokfast(0.98, 2.0)


def test_a_gain_of_0_is_none():
    assert same(train(SMALL), train(SMALL.with_(accelerator="grokfast", filter_gain=0.0)))


def test_gradients_are_filtered_before_they_are_clipped():
    """An accelerator that makes them a thousand times longer does not make steps longer."""
    sgd = SMALL.with_(optimizer="sgd", momentum=0.0, weight_decay=0.0, clip=0.5, learning_rate=1.0)
    one = Trainer([sgd.with_(accelerator="grokfast", filter_gain=1e4, warmup=0)])
    before = one.weights.flat.clone()
    one.advance(1)
    assert (one.weights.flat - before).norm() <= 0.5001


def test_runs_of_a_group_may_differ_in_numbers_only():
    spec = SMALL.with_(accelerator="grokfast")
    Trainer([spec, spec.with_(filter_decay=0.5, filter_gain=1.0)])
    with pytest.raises(SettingError, match=r"^specs: "):
        Trainer([spec, SMALL])


@pytest.mark.parametrize("kind", ["grokfast", "orthogonal"])
def test_a_resumed_run_is_the_run_that_was_never_stopped(kind, tmp_path):
    spec = SMALL.with_(accelerator=kind)
    whole, stopped = Trainer([spec]), Trainer([spec])
    whole.advance()
    stopped.advance(7)
    resumed = load_checkpoint(save_checkpoint(stopped, tmp_path / "run.safetensors"))
    resumed.advance()
    assert resumed.weights.flat.equal(whole.weights.flat)


def test_one_of_your_own():
    @register_accelerator("test_sign")
    @dataclass(frozen=True)
    class Sign(AcceleratorSpec):
        size: float = 1.0

        def start(self, group, weights):
            return Running(group, weights)

    class Running(Accelerator):
        def __call__(self):
            grad = self.weights.flat_grad
            grad.copy_(self.setting["size"] * grad.sign())

    try:
        spec = SMALL.with_(accelerator="test_sign", size=0.5, clip=float("inf"))
        assert RunSpec.from_json(spec.to_json()) == spec
        one = Trainer([spec])
        one.advance(1)
        assert one.weights.flat_grad.abs().unique().tolist() in ([0.0, 0.5], [0.5])
    finally:
        del accelerators._members["test_sign"]


@pytest.mark.parametrize(
    ("name", "value"), [("filter_decay", 1.0), ("filter_decay", -0.1), ("filter_gain", -1.0)]
)
def test_settings_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(SettingError) as refused:
        SMALL.with_(accelerator="grokfast", **{name: value})
    assert refused.value.field == name
