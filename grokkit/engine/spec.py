"""RunSpec: everything that decides a run, in one frozen value.

The same spec and the same seed give the same run. A spec is made of the settings of each
room: the task, the model, the optimizer, the prior, the accelerator, the controls. Their
field names are all different, so a setting is known by its own name alone:
``spec.with_(p=43, weight_decay=2.0)``.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

from grokkit.engine.accelerators import AcceleratorSpec, NoAccelerator, accelerators
from grokkit.engine.controls import Controls
from grokkit.engine.files import check_file
from grokkit.engine.optimizers import AdamW, OptimizerSpec, is_number, optimizers
from grokkit.engine.precision import PRECISIONS, Precision
from grokkit.engine.priors import KLPrior, Prior, priors
from grokkit.engine.spec_kinds import TRANSFORMER, Spec, grid, register_spec
from grokkit.errors import check_choice, check_int, refuse
from grokkit.model.spec import ModelSpec
from grokkit.registry import Registry
from grokkit.settings import OMIT_IF_DEFAULT
from grokkit.tasks import ModularAddition, Task, tasks

__all__ = ["FAMILIES", "PARTS", "RunSpec", "grid"]

FAMILIES: Mapping[str, Registry[Any]] = {
    "task": tasks,
    "optimizer": optimizers,
    "prior": priors,
    "accelerator": accelerators,
}
"""The parts of a spec that come in several kinds."""

PARTS: Mapping[str, type[Any]] = {
    "task": Task,
    "model": ModelSpec,
    "optimizer": OptimizerSpec,
    "prior": Prior,
    "accelerator": AcceleratorSpec,
    "controls": Controls,
}
"""The parts of a spec, and what each of them must be."""


@register_spec(TRANSFORMER)
@dataclass(frozen=True)
class RunSpec(Spec):
    """One training run.

    Attributes:
        task: what is learned, and on which data.
        model: the architecture.
        optimizer: how it is trained.
        prior: what is added to the loss.
        accelerator: what is done to the gradient before the optimizer sees it.
        controls: what is held fixed.
        seed: names the split, the distractors, the initial weights and the minibatches.
        epochs: the number of passes over the train set; one optimizer step each, unless
            there is a batch_size.
        batch_size: the number of examples that an optimizer step sees: an epoch is then
            train examples / batch_size steps, the last one with what is left. None: all
            examples, one step an epoch. Records see all examples either way.
        stop_after: stop this many epochs after the test accuracy has reached 0.99 and
            stayed there at every record; None: never stop early.
        features: whether to record what other accounts of grokking look at, too:
            :mod:`grokkit.engine.feature_probes`. It changes no training.
        updates: whether to record how far a step moves each part of the model, too:
            :mod:`grokkit.engine.update_probes`. It changes no training.
        circuits: whether to record how the tangent kernel turns and by which circuit sums are
            made, too: :mod:`grokkit.engine.circuit_probes`. It changes no training; it is for
            modular addition in one layer.
        precision: ``float32``; ``float64``; ``tf32``: float32 with a GPU's TF32 products;
            ``bf16``: float32 with the largest products in bfloat16.
    """

    PARTS: ClassVar[Mapping[str, type[Any]]] = PARTS
    FAMILIES: ClassVar[Mapping[str, Registry[Any]]] = FAMILIES

    task: Task = field(default_factory=ModularAddition)
    model: ModelSpec = field(default_factory=ModelSpec)
    optimizer: OptimizerSpec = field(default_factory=AdamW)
    prior: Prior = field(default_factory=KLPrior)
    accelerator: AcceleratorSpec = field(default_factory=NoAccelerator)
    controls: Controls = field(default_factory=Controls)
    seed: int = 0
    epochs: int = 10_000
    batch_size: int | None = None
    record_every: int = 25
    stop_after: int | None = None
    precision: Precision = "float32"
    features: bool = field(default=False, metadata=OMIT_IF_DEFAULT)
    updates: bool = field(default=False, metadata=OMIT_IF_DEFAULT)
    circuits: bool = field(default=False, metadata=OMIT_IF_DEFAULT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size is not None:
            check_int("batch_size", self.batch_size, 1)
        check_choice("precision", self.precision, PRECISIONS)
        for name in ("features", "updates", "circuits"):
            if not isinstance(getattr(self, name), bool):
                refuse(name, getattr(self, name), "True, False")
        if self.circuits and not (type(self.task) is ModularAddition and self.model.layers == 1):
            refuse("circuits", True, "False unless the task is modular_addition, in one layer")
        self.prior.check(self)

    def check(self) -> None:
        """Refuse what a trainer would refuse, as far as that can be known without data."""
        for name, file in (
            ("ticket", self.controls.ticket),
            ("teacher", getattr(self.prior, "teacher", None)),
        ):
            if file is not None:
                check_file(name, file)
        if self.batch_size is not None and self.batch_size >= self._most_examples():
            most = self._most_examples() - 1
            refuse("batch_size", self.batch_size, f"1..{most:.0f}, or None for all examples")

    def group_key(self) -> tuple[object, ...]:
        """Specs with equal keys can be trained as one group: seeds and numbers may differ."""
        parts: tuple[Any, ...] = (self.optimizer, self.prior, self.accelerator, self.controls)
        kinds = [type(one) for one in parts]
        fixed = [tuple(v for v in astuple(one) if not is_number(v)) for one in parts]
        rest = (self.epochs, self.batch_size, self.record_every, self.stop_after, self.precision)
        looks = (self.features, self.updates, self.circuits)
        return (self.task, self.model, *kinds, *fixed, *rest, *looks)

    def epoch_seconds(self) -> float:
        """About the seconds of an epoch on one core, within a factor of three.

        By the hidden -> class product, the largest one, and a fixed cost for each step.
        """
        classes = getattr(self.task, "n_classes", 100)
        examples = min(self._most_examples(), 1e6) * getattr(self.task, "train_fraction", 0.5)
        return 6e-4 + 2e-10 * examples * self.model.d_mlp * classes

    def _most_examples(self) -> int | float:
        """No fewer examples than are trained on; infinite where the task does not say."""
        inputs = getattr(self.task, "n_inputs", float("inf"))
        return inputs * getattr(self.task, "draws", 1)


def _owner(family: str, name: str) -> str | None:
    """What has a setting of this name already, outside of a family."""
    if name in {f.name for f in fields(RunSpec)}:
        return "a run"
    for part, base in PARTS.items():
        kinds = FAMILIES[part].values() if part in FAMILIES else [base]
        if part != family and any(name in {f.name for f in fields(kind)} for kind in kinds):
            return f"the {part}"
    return None


for _family, _registry in FAMILIES.items():
    _registry.owner_elsewhere = partial(_owner, _family)
