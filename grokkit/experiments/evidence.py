"""The runs of a row, arm by arm: what a claim is judged by."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.engine import RunSpec, Spec
from grokkit.experiments.times import Times
from grokkit.runtime import any_specs_of

if TYPE_CHECKING:
    import xarray as xr


class MissingArm(LookupError):
    """A claim asks for runs that are not there."""


class NoRecord(LookupError):
    """A claim asks for a run that has no record: its loss was not finite from the start."""


class Evidence:
    """The History of a row, by arm; it notes which arms were asked for since :meth:`forget`.

    Args:
        history: runs of these arms, in any order; None: there are none.
        arms: the specs of each arm, one for each seed.
    """

    def __init__(self, history: "xr.Dataset | None", arms: Mapping[str, Sequence[Spec]]) -> None:
        self.arms = arms
        self.used: list[str] = []
        self._at = {} if history is None else {s: i for i, s in enumerate(any_specs_of(history))}
        self._history = history
        self._cut: dict[str, xr.Dataset] = {}
        self._runs: dict[str, list[xr.Dataset]] = {}
        self._times: dict[tuple[str, float | None], Times] = {}

    def forget(self) -> None:
        """Note anew which arms are asked for: one evidence serves all claims of a row."""
        self.used = []

    @property
    def seeds(self) -> int:
        """The number of seeds: of the arms that were asked for, the fewest."""
        return min((len(self.arms[name]) for name in self.used), default=0)

    def arm(self, name: str) -> "xr.Dataset":
        """The runs of one arm, in the order of their seeds, without records that none has.

        Raises:
            MissingArm: not all runs of that arm are there.
            NoRecord: one of them has no record.
        """
        if name not in self.used:
            self.used.append(name)
        if name not in self._cut:
            if name not in self.arms or any(spec not in self._at for spec in self.arms[name]):
                raise MissingArm(name)
            assert self._history is not None
            chosen = self._history.isel(run=[self._at[spec] for spec in self.arms[name]])
            if not chosen.train_loss.notnull().any("epoch").all():
                raise NoRecord(f"a run of {name} has no finite loss")
            recorded = chosen.train_loss.notnull().any("run")
            self._cut[name] = chosen.isel(epoch=recorded.values)
        return self._cut[name]

    def runs(self, name: str) -> "list[xr.Dataset]":
        """Each run of an arm alone, without records after its end or of other runs."""
        arm = self.arm(name)
        if name not in self._runs:
            self._runs[name] = [
                one.isel(epoch=one.train_loss.notnull().values)
                for one in (arm.isel(run=i) for i in range(arm.sizes["run"]))
            ]
        return self._runs[name]

    def has(self, *names: str) -> bool:
        """Whether all runs of these arms are there; asking does not count as use."""
        return all(
            name in self.arms and all(spec in self._at for spec in self.arms[name])
            for name in names
        )

    def grokked(self, name: str, accuracy: float = 0.99) -> Times:
        """The epoch at which each run of an arm reaches a test accuracy."""
        arm = self.arm(name)
        if (name, accuracy) not in self._times:
            self._times[name, accuracy] = self.times(name, grok_epoch(arm, accuracy))
        return self._times[name, accuracy]

    def memorised(self, name: str) -> Times:
        """The epoch at which each run of an arm reaches a train accuracy of 0.99."""
        arm = self.arm(name)
        if (name, None) not in self._times:
            self._times[name, None] = self.times(name, memorise_epoch(arm))
        return self._times[name, None]

    def times(self, name: str, epochs: "xr.DataArray") -> Times:
        """Epochs of the runs of an arm (``nan``: not seen), with what is known of the others."""
        ended = self.arm(name).ended.values.astype(float)
        return Times(np.asarray(epochs.values, dtype=float), ended, self.whole(name))

    def first(self, name: str, seen: "xr.DataArray") -> Times:
        """The first epoch of each run of an arm at which something is seen, (run, epoch)."""
        return self.times(name, self.arm(name).epoch.where(seen).min("epoch"))

    def each(self, name: str, look: Callable[..., Any], *times: Times) -> np.ndarray:
        """A number of each run of an arm: of the run, and an epoch of each of ``times``.

        ``nan`` where one of these epochs never came.
        """
        given = zip(self.runs(name), *(one.values for one in times), strict=True)
        values = [np.nan if np.isnan(at).any() else float(look(one, *at)) for one, *at in given]
        return np.array(values, dtype=float)

    def final(self, name: str, variable: str, **at: str) -> np.ndarray:
        """The last record of a variable, for each run of an arm; float64.

        ``nan`` for a run that was cut short: what it would have come to is not known. ``at``
        names the place on every further axis that the variable has.
        """
        last = self.each(name, lambda one: one[variable].sel(at).values[-1])
        return np.where(self.whole(name), last, np.nan)

    def least_after(self, name: str, accuracy: float) -> np.ndarray:
        """For each run of an arm, the least test accuracy since it came to one; ``nan``: never."""
        grokked = self.grokked(name, accuracy)
        return self.each(
            name, lambda one, at: one.test_accuracy.sel(epoch=slice(at, None)).min(), grokked
        )

    def whole(self, name: str) -> np.ndarray:
        """For each run of an arm, whether it came to its end: by its spec, or having grokked."""
        arm = self.arm(name)
        epochs = np.array([spec.epochs for spec in self.arms[name]])
        return (arm.ended.values == epochs) | np.isfinite(grok_epoch(arm).values)

    def at(self, name: str, variable: str, times: Times) -> np.ndarray:
        """A variable at an epoch of each run's own; ``nan`` where that epoch never came."""
        return self.each(name, lambda one, epoch: one[variable].sel(epoch=epoch), times)

    def settings(self) -> str:
        """What the runs that were asked for have in common, in words."""
        return common([spec for name in self.used for spec in self.arms.get(name, ())])


NAMED = {
    "p": "p {}",
    "bits": "{} bits",
    "degree": "S_{}",
    "train_fraction": "fraction {:g}",
    "distractors": "distractors {}",
    "learning_rate": "rate {:g}",
    "weight_decay": "decay {:g}",
}
"""The settings that a table names, and how."""


def _told(spec: Spec) -> dict[str, Any]:
    """The settings of a run, without the kind of distractors where a sequence has no room."""
    told = spec.settings()
    operands = getattr(spec.task, "n_operands", 2) if isinstance(spec, RunSpec) else 0
    if told.get("length") == operands + 1:
        told.pop("distractors", None)
    return told


def common(specs: Sequence[Spec]) -> str:
    """The task and the settings of :data:`NAMED` in words; where runs differ, all values."""
    if not specs:
        return "no training"
    settings = [_told(spec) for spec in specs]
    tasks = dict.fromkeys(one["task"].replace("_", " ") for one in settings)
    words = [" / ".join(tasks)]
    for name, text in NAMED.items():
        values = dict.fromkeys(one[name] for one in settings if name in one)
        if len(values) == 1:
            words.append(text.format(*values))
        elif len(values) > 1:
            each = sorted(values) if name != "distractors" else values
            shown = " / ".join(f"{v:g}" if isinstance(v, int | float) else str(v) for v in each)
            words.append(re.sub(r"\{.*\}", shown, text))
    return ", ".join(words)
