"""Kinds of specs, and what each kind brings: its settings by name, its JSON and its trainer.

A :class:`grokkit.engine.RunSpec` describes the training of a transformer. Another package may
train something else by specs of its own. It registers the class of its specs and the class of
its trainers here, and then ``train``, ``sweep``, checkpoints, stores and diagnostics take its
runs as they take all others::

    @register_spec("images")
    @dataclass(frozen=True)
    class ImageSpec(Spec): ...

    @register_trainer("images")
    class ImageTrainer(GroupTrainer): ...

The JSON of a spec names its kind; where it names none it is that of a RunSpec, as all were
before there was another.
"""

import dataclasses
import difflib
import functools
import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from math import prod
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
import torch

from grokkit.engine.group import GroupTrainer
from grokkit.errors import SettingDropped, check_int, refuse
from grokkit.registry import Registry
from grokkit.settings import earlier, plain, reading

MOST_RUNS = 1_000_000
"""More runs than this in one grid are a slip of the pen."""


TRANSFORMER = "transformer"
"""The kind of a spec whose JSON names none."""

spec_kinds: Registry[Any] = Registry(
    "spec", homes={"images": "grokkit.images", "operators": "grokkit.operators"}
)
"""The classes of specs by kind; a file may hold runs of a kind that nobody has imported yet."""

register_spec = spec_kinds.register
"""A class decorator that adds a frozen dataclass of settings to the kinds of specs."""

N = TypeVar("N", bound="Spec")


class Spec:
    """Everything that decides a run, in one frozen value; equal specs, equal runs.

    The base of every kind of spec: a frozen dataclass of settings, some of which are parts with
    settings of theirs. All settings have different names, so that each is known by its own name
    alone.

    Attributes:
        PARTS: the parts by name, and what each of them must be.
        FAMILIES: the parts that come in several kinds, and where these are registered.
        seed: names all that is random in the run.
        epochs: the number of passes over the train set, unless the run stops early.
        record_every: the number of epochs between two records.
        stop_after: how many epochs to go on once the run has grokked; None: to the end.
    """

    PARTS: ClassVar[Mapping[str, type[Any]]]
    FAMILIES: ClassVar[Mapping[str, Registry[Any]]] = {}
    kind: ClassVar[str]

    seed: int
    epochs: int
    record_every: int
    stop_after: int | None

    def __post_init__(self) -> None:
        for part in self.PARTS:
            self._check_part(part, getattr(self, part))
        if check_int("seed", self.seed, 0) >= 2**63:
            refuse("seed", self.seed, "a whole number, 0 or more and below 2**63")
        check_int("epochs", self.epochs, 1)
        check_int("record_every", self.record_every, 1)
        if self.stop_after is not None:
            check_int("stop_after", self.stop_after, 0)

    # What each kind of spec says.

    def check(self) -> None:
        """Refuse what a trainer would refuse, as far as that can be known without data."""
        raise NotImplementedError

    def group_key(self) -> tuple[object, ...]:
        """Specs with equal keys can be trained together, along one run axis."""
        raise NotImplementedError

    def epoch_seconds(self) -> float:
        """About the seconds of an epoch on one core, within a factor of three."""
        raise NotImplementedError

    # What all have in common.

    def with_(self: N, /, **changes: Any) -> N:
        """A copy with some settings changed, each by its own name.

        A part itself may be changed too, as a whole (``task=SparseParity()``) or, where it
        comes in several kinds, by the name of a kind (``task="sparse_parity"``). By name, the
        settings that differ from the defaults of the old kind are kept where the new kind has
        them, and all others are the new kind's defaults: p = 43 stays p = 43 in another
        modular task. To begin anew, give a part as a whole. NumPy's numbers are taken as
        Python's.

        >>> from grokkit.engine import presets
        >>> presets["live"].with_(optimizer="lion").optimizer.learning_rate
        0.005

        Raises:
            SettingError: no setting of this spec has that name, or a value is refused.

        Warns:
            SettingDropped: the new kind lacks a setting that was set.
        """
        known = {*_names(self)}
        for part in self.PARTS:
            old = getattr(self, part)
            new, kept = changes.get(part, old), {}
            make: Callable[..., Any] = functools.partial(dataclasses.replace, new)
            if part in self.FAMILIES and isinstance(new, str):
                new = make = self.FAMILIES[part][new]
                kept = _changed_settings(old)
                _warn_of_dropped(part, new, {n: kept.pop(n) for n in kept.keys() - {*_names(new)}})
            else:
                self._check_part(part, new)
            names = _names(new)
            known.update(names)
            given = {name: _python(changes.pop(name)) for name in names if name in changes}
            changes[part] = make(**kept | given)
        for name in [name for name in changes if name not in known]:
            self._refuse_unknown(name, changes[name], known)
        own = {name: _python(value) for name, value in changes.items()}
        return dataclasses.replace(self, **own)  # pyright: ignore[reportArgumentType]

    @classmethod
    def kinds_with(cls, name: str) -> list[str]:
        """The kinds that have a setting: ``["optimizer adam", "optimizer adamw"]``."""
        kinds = ((part, kind, one) for part, of in cls.FAMILIES.items() for kind, one in of.items())
        return sorted(f"{part} {kind}" for part, kind, one in kinds if name in _names(one))

    def _refuse_unknown(self, name: str, value: Any, known: Iterable[str]) -> NoReturn:
        """Refuse a setting that a spec does not have."""
        if others := self.kinds_with(name):
            refuse(name, value, f"a setting of {', '.join(others)} only")
        near = difflib.get_close_matches(name, known, n=1)
        nearest = f"; nearest: {near[0]}" if near else ""
        refuse(name, value, f"these settings: {', '.join(sorted(known))}{nearest}")

    def settings(self) -> dict[str, Any]:
        """Every setting by its own name; of each part that has a kind, the kind."""
        parts = {part: getattr(self, part) for part in self.PARTS}
        flat = {part: one.kind for part, one in parts.items() if hasattr(one, "kind")}
        for one in (*parts.values(), self):
            flat |= {name: getattr(one, name) for name in _names(one) if name not in parts}
        return flat

    def to_dict(self) -> dict[str, Any]:
        """The spec as plain values, for JSON; kinds are named.

        A setting that came later (:mod:`grokkit.settings`) is left out at its default, so a
        spec that does not use it reads as it did before.
        """
        written = plain(self) | {part: plain(getattr(self, part)) for part in self.PARTS}
        for family in self.FAMILIES:
            written[family] = {"kind": getattr(self, family).kind, **written[family]}
        return written if self.kind == TRANSFORMER else {"kind": self.kind, **written}

    def to_json(self) -> str:
        """The spec as one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls: type[N], written: Any) -> N:
        """The spec that :meth:`to_dict` described."""
        rest = _mapping("spec", written)
        kind = rest.pop("kind", TRANSFORMER)
        if kind != cls.kind:
            refuse("kind", kind, cls.kind)
        with reading():
            made = _known(cls, "", rest)
            for part in cls.PARTS.keys() & made.keys():
                inner, made_by = _mapping(part, made[part]), cls.PARTS[part]
                if part in cls.FAMILIES:
                    kind = inner.pop("kind", None)
                    if not isinstance(kind, str):
                        refuse(f"{part}.kind", kind, ", ".join(cls.FAMILIES[part]))
                    made_by = cls.FAMILIES[part][kind]
                made[part] = made_by(**earlier(made_by) | _known(made_by, f"{part}.", inner))
            return cls(**made)

    @classmethod
    def from_json(cls: type[N], text: str) -> N:
        """The spec that :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def _check_part(cls, part: str, value: object) -> None:
        kinds = f", or one of {', '.join(cls.FAMILIES[part])}" if part in cls.FAMILIES else ""
        if not isinstance(value, cls.PARTS[part]):
            refuse(part, value, f"settings of a {part}{kinds}")
        if part in cls.FAMILIES and not hasattr(value, "kind"):
            refuse(part, value, f"a class decorated with @register_{part}(NAME)")


_trainers: dict[str, Callable[..., GroupTrainer]] = {}

T = TypeVar("T", bound=Callable[..., GroupTrainer])


def register_trainer(kind: str) -> Callable[[T], T]:
    """A class decorator: this trains the specs of that kind, ``Trainer(specs, device, first)``."""

    def add(trainer: T) -> T:
        _trainers[kind] = trainer
        return trainer

    return add


def start_trainer(
    specs: Sequence[Spec], device: torch.device | str = "cpu", first: int = 0
) -> GroupTrainer:
    """A trainer for a group of specs of one kind, before its first epoch.

    Args:
        specs: the runs.
        device: where they are trained.
        first: the number of the first run, for messages.
    """
    kind = getattr(specs[0], "kind", type(specs[0]).__name__)
    if kind not in _trainers:
        refuse("specs", kind, ", ".join(sorted(_trainers)))
    return _trainers[kind](specs, device, first)


def spec_from_dict(written: Any) -> Spec:
    """The spec, of any kind, that its ``to_dict`` described."""
    return spec_kinds[_mapping("spec", written).get("kind", TRANSFORMER)].from_dict(written)


def read_spec(text: str) -> Spec:
    """The spec, of any kind, that its ``to_json`` wrote; raises as :func:`spec_from_dict`."""
    return spec_from_dict(json.loads(text))


S = TypeVar("S", bound=Spec)


def grid(spec: S, /, **axes: Any) -> list[S]:
    """Every combination of some settings, the last axis fastest.

    ``grid(spec, weight_decay=[0.5, 1, 2], seed=range(5))`` is 15 specs.

    Raises:
        SettingError: no setting has such a name, an axis is empty, there are more than
            a million runs, or a value is refused.
    """
    values: dict[str, list[Any]] = {}
    for name, axis in axes.items():
        if isinstance(axis, str) or not isinstance(axis, Iterable):
            refuse(name, axis, f"several values, as in {name}=[{axis!r}]")
        values[name] = list(itertools.islice(axis, MOST_RUNS + 1))
        if not values[name]:
            refuse(name, axis, "at least one value")
        if prod(map(len, values.values())) > MOST_RUNS:
            refuse(name, axis, f"so few values that there are at most {MOST_RUNS} runs")
    rows = itertools.product(*values.values())
    return [spec.with_(**dict(zip(values, row, strict=True))) for row in rows]  # pyright: ignore[reportReturnType]


def _names(settings: Any) -> list[str]:
    return [field.name for field in fields(settings)]


def _changed_settings(part: Any) -> dict[str, Any]:
    """The settings of a part that differ from the defaults of its kind."""
    values = {f: getattr(part, f.name) for f in fields(part)}
    return {f.name: value for f, value in values.items() if value != f.default}


def _warn_of_dropped(part: str, kind: Any, dropped: Mapping[str, Any]) -> None:
    if dropped:
        values = ", ".join(f"{name} = {value!r}" for name, value in sorted(dropped.items()))
        line = f"{part} {kind.kind} lacks these settings, which are dropped: {values}"
        warnings.warn(line, SettingDropped, stacklevel=3)  # names the caller of with_


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        refuse(name, value, "settings by name")
    return dict(value)


def _known(cls: type[Any], prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, each of which must be that of a field of the class."""
    known = _names(cls)
    for name, value in values.items():
        if name not in known:
            refuse(f"{prefix}{name}", value, ", ".join(known))
    return {name: _frozen(value) for name, value in values.items()}


def _frozen(value: Any) -> Any:
    """Lists, which is what JSON makes of tuples, as tuples again: a spec must be hashable."""
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


def _python(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's numbers and tuples."""
    if isinstance(value, np.ndarray | np.generic):
        return _frozen(value.tolist())
    return tuple(_python(one) for one in value) if isinstance(value, tuple) else value
