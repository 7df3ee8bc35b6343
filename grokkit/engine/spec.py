"""RunSpec: everything that decides a run, in one frozen value.

The same spec and the same seed give the same run. A spec is made of the settings of each
room: the task, the model, the optimizer, the prior, the accelerator, the controls. Their
field names are all different, so a setting is known by its own name alone:
``spec.with_(p=43, weight_decay=2.0)``.
"""

import dataclasses
import difflib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from grokkit.engine.accelerators import AcceleratorSpec, NoAccelerator, accelerators
from grokkit.engine.controls import Controls
from grokkit.engine.optimizers import AdamW, OptimizerSpec, optimizers
from grokkit.engine.precision import PRECISIONS, Precision
from grokkit.engine.priors import KLPrior, Prior, priors
from grokkit.engine.spec_kinds import TRANSFORMER, register_spec
from grokkit.errors import check_choice, check_int, refuse
from grokkit.model.spec import ModelSpec
from grokkit.registry import Registry
from grokkit.settings import LATER, earlier, plain
from grokkit.tasks import ModularAddition, Task, tasks

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
class RunSpec:
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
        record_every: the number of epochs between two records of the History.
        stop_after: stop this many epochs after the test accuracy has reached 0.99 and
            stayed there at every record; None: never stop early.
        features: whether to record what other accounts of grokking look at, too:
            :mod:`grokkit.engine.feature_probes`. It changes no training.
        updates: whether to record how far a step moves each part of the model, too:
            :mod:`grokkit.engine.update_probes`. It changes no training.
        precision: ``float32``; ``float64``; ``tf32``: float32 with a GPU's TF32 products;
            ``bf16``: float32 with the largest products in bfloat16.
    """

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
    features: bool = field(default=False, metadata=LATER)
    updates: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        for part in PARTS:
            _check_part(part, getattr(self, part))
        if check_int("seed", self.seed, 0) >= 2**63:
            refuse("seed", self.seed, "a whole number, 0 or more and below 2**63")
        check_int("epochs", self.epochs, 1)
        if self.batch_size is not None:
            check_int("batch_size", self.batch_size, 1)
        check_int("record_every", self.record_every, 1)
        if self.stop_after is not None:
            check_int("stop_after", self.stop_after, 0)
        check_choice("precision", self.precision, PRECISIONS)
        for name in ("features", "updates"):
            if not isinstance(getattr(self, name), bool):
                refuse(name, getattr(self, name), "True, False")
        self.prior.check(self)

    def with_(self, /, **changes: Any) -> "RunSpec":
        """A copy with some settings changed, each by its own name.

        A part itself may be changed too, as a whole (``task=SparseParity()``) or by the
        name of a kind (``task="sparse_parity"``, with that kind's default settings).

        Raises:
            SettingError: no setting of this spec has that name, or a value is refused.
        """
        parts = {part: getattr(self, part) for part in PARTS}
        own: dict[str, Any] = {}
        for name in [name for name in changes if name in PARTS]:
            value = changes.pop(name)
            known = name in FAMILIES and isinstance(value, str)
            parts[name] = FAMILIES[name][value]() if known else value
            _check_part(name, parts[name])
        inner: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
        top = {f.name for f in fields(self)} - set(PARTS)
        for name, value in changes.items():
            owner = next((p for p in PARTS if name in _field_names(parts[p])), None)
            if owner is not None:
                inner[owner][name] = value
            elif name in top:
                own[name] = value
            else:
                allowed = sorted(
                    top | set(PARTS) | {n for p in PARTS for n in _field_names(parts[p])}
                )
                near = difflib.get_close_matches(name, allowed, n=1)
                nearest = f"; nearest: {near[0]}" if near else ""
                refuse(name, value, f"these settings: {', '.join(allowed)}{nearest}")
        changed = {part: dataclasses.replace(parts[part], **inner[part]) for part in PARTS}
        return dataclasses.replace(self, **changed, **own)

    def settings(self) -> dict[str, Any]:
        """Every setting by its own name; of each family in ``FAMILIES``, the kind."""
        flat: dict[str, Any] = {part: getattr(self, part).kind for part in FAMILIES}
        for part in PARTS:
            one = getattr(self, part)
            flat |= {name: getattr(one, name) for name in _field_names(one)}
        return flat | {f.name: getattr(self, f.name) for f in fields(self) if f.name not in PARTS}

    def to_dict(self) -> dict[str, Any]:
        """The spec as plain values, for JSON; kinds are named.

        A setting that came later (:mod:`grokkit.settings`) is left out at its default, so a
        spec that does not use it reads as it did before.
        """
        written: dict[str, Any] = plain(self)
        for part in PARTS:
            written[part] = plain(getattr(self, part))
        for family in FAMILIES:
            written[family] = {"kind": getattr(self, family).kind, **written[family]}
        return written

    def to_json(self) -> str:
        """The spec as one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, written: Any) -> "RunSpec":
        """The spec that :meth:`to_dict` described.

        Raises:
            SettingError: a kind or a setting is unknown here, or a value is refused.
        """
        made: dict[str, Any] = {}
        known = {f.name for f in fields(cls)}
        if not isinstance(written, Mapping):
            refuse("spec", written, "settings by name")
        for name, value in written.items():
            if name not in known:
                refuse(name, value, ", ".join(sorted(known)))
            if name in PARTS:
                if not isinstance(value, Mapping):
                    refuse(name, value, "settings by name")
                value = dict(value)
                if name in FAMILIES and not isinstance(value.get("kind"), str):
                    refuse(f"{name}.kind", value.get("kind"), ", ".join(FAMILIES[name]))
                part = FAMILIES[name][value.pop("kind")] if name in FAMILIES else PARTS[name]
                for inner in value:
                    if inner not in _field_names(part):
                        refuse(f"{name}.{inner}", value[inner], ", ".join(_field_names(part)))
                inner = {name: _frozen(one) for name, one in value.items()}
                value = part(**earlier(part) | inner)
            made[name] = value
        return cls(**made)

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """The spec that :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))


def _frozen(value: Any) -> Any:
    """Lists, which is what JSON makes of tuples, as tuples again: a spec must be hashable."""
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


def _check_part(part: str, value: object) -> None:
    if not isinstance(value, PARTS[part]):
        kinds = f", or one of {', '.join(FAMILIES[part])}" if part in FAMILIES else ""
        refuse(part, value, f"settings of a {part}{kinds}")
    if part in FAMILIES and not hasattr(value, "kind"):
        refuse(part, value, f"a class decorated with @register_{part}(NAME)")


def _field_names(part: Any) -> list[str]:
    return [f.name for f in fields(part)]


def grid(spec: RunSpec, /, **axes: Any) -> list[RunSpec]:
    """Every combination of some settings, the last axis fastest.

    ``grid(spec, weight_decay=[0.5, 1, 2], seed=range(5))`` is 15 specs.

    Args:
        spec: what the rest of the settings are.
        axes: for each setting that varies, its values.

    Raises:
        SettingError: no setting has such a name, an axis is empty, or a value is refused.
    """
    for name, axis in axes.items():
        if isinstance(axis, str) or not isinstance(axis, Iterable):
            refuse(name, axis, f"several values, as in {name}=[{axis!r}]")
    values = {name: list(axis) for name, axis in axes.items()}
    for name, axis in values.items():
        if not axis:
            refuse(name, axis, "at least one value")

    def combinations() -> Iterator[RunSpec]:
        for chosen in itertools.product(*values.values()):
            yield spec.with_(**dict(zip(values, chosen, strict=True)))

    return list(combinations())
