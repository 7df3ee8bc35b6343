"""The runs of a row, arm by arm: what a claim is judged by."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.experiments.times import Times
from grokkit.training import RunSpec, specs_of

if TYPE_CHECKING:
    import xarray as xr


class MissingArm(LookupError):
    """A claim asks for runs that are not there."""


class Evidence:
    """The History of a row, by arm; it notes which arms were asked for.

    Args:
        history: runs of these arms, in any order; None: there are none.
        arms: the specs of each arm, one for each seed.
    """

    def __init__(self, history: "xr.Dataset | None", arms: Mapping[str, Sequence[RunSpec]]) -> None:
        self.arms = arms
        self.used: list[str] = []
        self._at = {} if history is None else {s: i for i, s in enumerate(specs_of(history))}
        self._history = history
        self._cut: dict[str, xr.Dataset] = {}

    @property
    def seeds(self) -> int:
        """The number of seeds: of the arms that were asked for, the fewest."""
        return min((len(self.arms[name]) for name in self.used), default=0)

    def arm(self, name: str) -> "xr.Dataset":
        """The runs of one arm, in the order of their seeds, without records that none has.

        Raises:
            MissingArm: not all runs of that arm are there.
        """
        if name not in self.used:
            self.used.append(name)
        if name not in self._cut:
            if name not in self.arms or any(spec not in self._at for spec in self.arms[name]):
                raise MissingArm(name)
            assert self._history is not None
            chosen = self._history.isel(run=[self._at[spec] for spec in self.arms[name]])
            recorded = chosen.train_loss.notnull().any("run")
            self._cut[name] = chosen.isel(epoch=recorded.values)
        return self._cut[name]

    def runs(self, name: str) -> "list[xr.Dataset]":
        """Each run of an arm alone, without records after its end or of other runs."""
        arm = self.arm(name)
        return [
            one.isel(epoch=one.train_loss.notnull().values)
            for one in (arm.isel(run=i) for i in range(arm.sizes["run"]))
        ]

    def has(self, *names: str) -> bool:
        """Whether all runs of these arms are there; asking does not count as use."""
        return all(
            name in self.arms and all(spec in self._at for spec in self.arms[name])
            for name in names
        )

    def grokked(self, name: str, accuracy: float = 0.99) -> Times:
        """The epoch at which each run of an arm reaches a test accuracy."""
        arm = self.arm(name)
        return self._times(grok_epoch(arm, accuracy), arm)

    def memorised(self, name: str) -> Times:
        """The epoch at which each run of an arm reaches a train accuracy of 0.99."""
        arm = self.arm(name)
        return self._times(memorise_epoch(arm), arm)

    def final(self, name: str, variable: str) -> np.ndarray:
        """The last record of a variable, for each run of an arm; float64."""
        return np.array([float(one[variable].values[-1]) for one in self.runs(name)])

    def at(self, name: str, variable: str, times: Times) -> np.ndarray:
        """A variable at an epoch of each run's own; ``nan`` where that epoch never came."""
        values = []
        for one, epoch in zip(self.runs(name), times.values, strict=True):
            there = one.epoch.values == epoch
            values.append(float(one[variable].values[there][0]) if there.any() else np.nan)
        return np.array(values)

    def settings(self) -> str:
        """What the runs that were asked for have in common, in words."""
        return common([spec for name in self.used for spec in self.arms.get(name, ())])

    def _times(self, epochs: "xr.DataArray", arm: "xr.Dataset") -> Times:
        return Times(np.asarray(epochs.values, dtype=float), arm.ended.values.astype(float))


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


def common(specs: Sequence[RunSpec]) -> str:
    """The task and the settings of :data:`NAMED` in words; where runs differ, ``various``."""
    if not specs:
        return "no training"
    settings = [spec.settings() for spec in specs]
    tasks = dict.fromkeys(one["task"].replace("_", " ") for one in settings)
    words = [" / ".join(tasks)]
    for name, text in NAMED.items():
        values = dict.fromkeys(one[name] for one in settings if name in one)
        if len(values) == 1:
            words.append(text.format(*values))
        elif len(values) > 1 and name == "distractors":
            words.append(text.format(" / ".join(values)))
    return ", ".join(words)
