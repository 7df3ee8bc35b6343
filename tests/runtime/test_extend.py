"""A task, a prior and an optimizer of one's own, each in a few lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from grokkit.engine import (
    KLPrior,
    Optimizer,
    OptimizerSpec,
    Prior,
    RunSpec,
    Trainer,
    register_optimizer,
    register_prior,
)
from grokkit.engine.optimizers import optimizers
from grokkit.engine.priors import priors
from grokkit.errors import SettingError
from grokkit.registry import Registry
from grokkit.runtime import load_history, save_history, specs_of, train
from grokkit.tasks import ModularTask, register_task, tasks
from tests.engine.small import SMALL, same


@pytest.fixture(autouse=True)
def registries_as_before() -> Iterator[None]:
    families: tuple[Registry, ...] = (tasks, priors, optimizers)
    before = [dict(family._members) for family in families]
    yield
    for family, members in zip(families, before, strict=True):
        for kind in set(family) - set(members):
            del family._members[kind]


def test_a_task(tmp_path):
    @register_task("test_larger")
    @dataclass(frozen=True)
    class Larger(ModularTask):
        """Which of two numbers is larger."""

        def label(self, operands):
            return operands.amax(dim=1)

    spec = SMALL.with_(task="test_larger", p=6, train_fraction=0.5)
    history = train(spec)
    assert history.train_loss[0, -1] < history.train_loss[0, 0]
    loaded = load_history(save_history(history, tmp_path / "own.nc"))
    assert specs_of(loaded) == [spec]
    assert isinstance(specs_of(loaded)[0].task, Larger)


def test_a_prior():
    @register_prior("test_uniform")
    @dataclass(frozen=True)
    class Uniform(Prior):
        """Pulls attention towards uniform."""

        pull: float = 1.0

        def penalty(self, seen, batch):
            return self.pull * (seen.attention * seen.attention.log()).sum(dim=2).mean()

    base = SMALL.with_(prior="test_uniform", epochs=40)
    specs = [base.with_(pull=strength) for strength in (0.0, 30.0)]
    history = train(specs)
    assert history.attrs["gradient"] == "autograd"
    weak, strong = history.attention_entropy.values[:, -1]
    assert strong > weak
    assert history.pull.values.tolist() == [0.0, 30.0]
    assert [spec.settings()["prior"] for spec in specs_of(history)] == ["test_uniform"] * 2


def test_a_prior_that_inherits_from_the_kl_prior_is_not_taken_for_it():
    @register_prior("test_nothing")
    @dataclass(frozen=True)
    class Nothing(KLPrior):
        def penalty(self, seen, batch):
            return 0 * seen.scores.sum()

    silent = train(SMALL.with_(prior=Nothing(5.0)))
    assert silent.attrs["gradient"] == "autograd"
    np.testing.assert_allclose(silent.kl, train(SMALL).kl, rtol=1e-4)
    assert not np.allclose(silent.kl, train(SMALL.with_(kl_strength=5.0)).kl, rtol=1e-3)


class _Momentum(Optimizer):
    def __init__(self, group, weights) -> None:
        super().__init__(group, weights)
        self.velocity = torch.zeros_like(weights.flat)
        self.nesterov = getattr(group[0], "nesterov")  # noqa: B009

    def state(self) -> dict[str, torch.Tensor]:
        return {"velocity": self.velocity}

    def direction(self, grad: torch.Tensor) -> torch.Tensor:
        momentum = self.setting["momentum"].to(grad)
        self.velocity.mul_(momentum).add_(grad)
        return grad + momentum * self.velocity if self.nesterov else self.velocity


def momentum_kind() -> type[OptimizerSpec]:
    @register_optimizer("test_momentum")
    @dataclass(frozen=True)
    class Momentum(OptimizerSpec):
        momentum: float = 0.9
        nesterov: bool = False

        def start(self, group: Sequence[OptimizerSpec], weights) -> Optimizer:
            return _Momentum(group, weights)

    return Momentum


@pytest.mark.parametrize("nesterov", [False, True])
def test_an_optimizer(nesterov):
    momentum_kind()
    spec = RunSpec.from_json(
        SMALL.with_(
            optimizer="test_momentum",
            nesterov=nesterov,
            learning_rate=0.1,
            weight_decay=0.0,
            warmup=0,
            clip=float("inf"),
            precision="float64",
        ).to_json()
    )
    trainer = Trainer([spec, spec.with_(momentum=0.5)])
    start = trainer.weights.flat.clone()
    twins = [torch.nn.Parameter(row.clone()) for row in start]
    theirs = [
        torch.optim.SGD([twin], lr=0.1, momentum=momentum, nesterov=nesterov)
        for twin, momentum in zip(twins, (0.9, 0.5), strict=True)
    ]
    for _ in range(5):
        with torch.no_grad():
            for run, twin in enumerate(twins):
                trainer.weights.flat[run] = twin
        trainer.step(0)
        for run, twin in enumerate(twins):
            twin.grad = trainer.weights.flat_grad[run].clone()
            theirs[run].step()
        trainer.optimizer.step()
        for run, twin in enumerate(twins):
            assert (trainer.weights.flat[run] - twin.detach()).abs().max() < 1e-14
    assert train(spec).sizes["epoch"] == 5


def test_runs_of_a_group_may_differ_in_numbers_only():
    momentum_kind()
    spec = SMALL.with_(optimizer="test_momentum")
    Trainer([spec, spec.with_(momentum=0.1)])
    with pytest.raises(SettingError, match=r"^specs: "):
        Trainer([spec, spec.with_(nesterov=True)])


def test_registering_again_replaces():
    momentum_kind()
    again = momentum_kind()
    assert optimizers["test_momentum"] is again
    assert isinstance(SMALL.with_(optimizer="test_momentum").optimizer, again)


def test_others_are_not_disturbed_by_what_is_registered():
    before = train(SMALL)
    momentum_kind()
    assert same(train(SMALL), before)
