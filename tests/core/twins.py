"""The core's run for an engine's spec, and the two side by side."""

from typing import Any

import torch

from grokkit import core
from grokkit.engine import RunSpec
from grokkit.engine.optimizers import OptimizerSpec
from grokkit.tasks import SparseParity, Task

RULES = {
    "modular_addition": "a+b",
    "modular_subtraction": "a-b",
    "modular_multiplication": "ab",
    "modular_quadratic": "a^2+ab+b^2",
}


def core_task(task: Task) -> core.Task | core.Parity:
    """The same task in the core."""
    if isinstance(task, SparseParity):
        return core.Parity(task.bits, task.k, task.positions, task.n_inputs, task.train_fraction)
    settings: Any = {name: getattr(task, name) for name in vars(core.Task()) if name != "rule"}
    rule = getattr(task, "function", "").replace("x", "a").replace("y", "b")
    settings["alphabet"] = settings["alphabet"] or 4
    return core.Task(rule or RULES[task.kind], **settings)


def core_optimizer(spec: OptimizerSpec) -> core.Optimizer:
    """The same optimizer in the core."""
    return getattr(core, type(spec).__name__)(**vars(spec))


def core_prior(spec: RunSpec) -> core.Prior:
    """The same prior in the core."""
    settings = dict(vars(spec.prior))
    assert settings.pop("penalty_gradient") == "true"
    return core.Prior(spec.prior.kind, settings.pop(f"{spec.prior.kind}_strength"), **settings)


def core_run(spec: RunSpec, **changes: Any) -> core.Run:
    """The same run in the core."""
    model = {name: getattr(spec.model, name) for name in vars(core.Model())}
    return core.Run(
        task=core_task(spec.task),
        model=core.Model(**model),
        optimizer=core_optimizer(spec.optimizer),
        prior=core_prior(spec),
        seed=spec.seed,
        epochs=spec.epochs,
        batch_size=spec.batch_size,
        record_every=spec.record_every,
        stop_after=spec.stop_after,
        mlp_radius=spec.controls.mlp_radius,
        qk_penalty=spec.controls.qk_penalty,
        dtype=torch.float64 if spec.precision == "float64" else torch.float32,
        **changes,
    )
