"""The core's run for a spec of the engine's, to be timed or compared side by side."""

from typing import Any

import torch

from grokkit import core
from grokkit.engine import RunSpec
from grokkit.errors import refuse
from grokkit.tasks import LongerAddition, SparseParity, Task
from grokkit.tasks.arithmetic import RuleTask


def core_run(spec: RunSpec) -> core.Run:
    """The same run in the core; equal data, initial weights and training.

    Raises:
        SettingError: the core does not know the task, the optimizer or the prior, or a setting
            differs from the core's fixed value for it.
    """
    for name, value in vars(spec.model).items():
        usual = getattr(type(spec.model)(), name)
        if name not in vars(core.Model()) and value != usual:
            refuse(name, value, f"{usual} in the core")
    prior = dict(vars(spec.prior))
    strength = prior.pop(f"{spec.prior.kind}_strength", None)
    if strength is None or prior.pop("penalty_gradient") != "true":
        refuse("prior", spec.prior, "kl, entropy, sparsity with their true gradient in the core")
    if type(spec.optimizer).direction is core.Optimizer.direction:
        refuse("optimizer", spec.optimizer.kind, "adamw, adam, sgd, lion, muon in the core")
    return core.Run(
        task=core_task(spec.task),
        model=spec.model,
        optimizer=spec.optimizer,
        prior=core.Prior(spec.prior.kind, strength, **prior),
        seed=spec.seed,
        epochs=spec.epochs,
        batch_size=spec.batch_size,
        record_every=spec.record_every,
        stop_after=spec.stop_after,
        mlp_radius=spec.controls.mlp_radius,
        qk_penalty=spec.controls.qk_penalty,
        dtype=torch.float64 if spec.precision == "float64" else torch.float32,
    )


def core_task(task: Task) -> core.Task | core.Parity:
    """The same task in the core."""
    if type(task) is SparseParity:
        return core.Parity(task.bits, task.k, task.positions, task.n_inputs, task.train_fraction)
    known = isinstance(task, RuleTask) and not isinstance(task, LongerAddition)
    if not known or getattr(task, "hole", "none") != "none":
        refuse("task", task, "sparse_parity, or one of two operands by a rule of the core, no hole")
    settings: Any = {name: getattr(task, name) for name in vars(core.Task())}
    return core.Task(**settings | {"alphabet": settings["alphabet"] or 4})
