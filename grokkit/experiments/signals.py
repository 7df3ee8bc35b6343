"""The signals of three accounts of grokking, and one rule that dates them all.

A signal has arrived when it has gone half of its way from memorising to the end of the run,
for good (:mod:`grokkit.diagnostics.order`). The mark is that of the *baseline* of the same
seed, so that a control, or a network that was told where to look, is asked for the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from grokkit.diagnostics import Transition, half_rise_epoch, measure_transition
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.times import Times

if TYPE_CHECKING:
    import xarray as xr

BASE = "baseline"
"""The arm whose ways set the marks."""


@dataclass(frozen=True)
class Signal:
    """What one instrument shows of a run.

    Attributes:
        account: whose signal it is.
        variable: of the History.
        at: where on the axes that it has besides run and epoch.
    """

    account: str
    variable: str
    at: Mapping[str, str] = field(default_factory=dict)

    def of(self, one: "xr.Dataset") -> np.ndarray:
        """Its values in one run, a value for each record."""
        return one[self.variable].sel(self.at).values.astype(float)


SIGNALS: Mapping[str, Signal] = MappingProxyType(
    {
        "KL": Signal("structure", "kl"),
        "entropy": Signal("features", "map_entropy"),
        "effective rank": Signal("features", "effective_rank", {"feature_set": "train"}),
        "alpha": Signal("features", "alpha", {"feature_set": "train"}),
        "best step": Signal("uniformity", "best_med", {"order": "natural"}),
        "Fourier": Signal("none of the three", "fourier_concentration"),
        "norm": Signal("none of the three", "mlp_norm"),
        "unseen pairs": Signal("grokking", "unmirrored_accuracy"),
    }
)
"""The signals by a short name; the last is what all of them are held against."""

FALLING = ("KL", "effective rank", "alpha", "best step")
"""One or two of each account, of which its paper says which way they go: down."""

RANKED = ("KL", "entropy", "effective rank", "alpha", "best step")
"""The signals of the three accounts."""


def ways(evidence: Evidence, name: str, arm: str = BASE) -> list[Transition | None]:
    """The way of a signal in each run of an arm, from memorising to the end.

    None for a run that has not memorised, or not reached a test accuracy of 0.95: what would
    have been the end of its way is not known.
    """
    starts = evidence.memorised(arm).values
    ends = evidence.grokked(arm, 0.95).values
    return [
        None
        if np.isnan(start) or np.isnan(end)
        else measure_transition(one.epoch.values, SIGNALS[name].of(one), start)
        for one, start, end in zip(evidence.runs(arm), starts, ends, strict=True)
    ]


def arrivals(
    evidence: Evidence, name: str, arm: str = BASE, share: float = 0.5, lasting: bool = True
) -> Times:
    """When a signal comes to the mark that the *baseline* of the same seed sets.

    Args:
        evidence: the runs.
        name: of the signal.
        arm: whose arrivals.
        share: of the baseline's way, where the mark is.
        lasting: whether it must keep to it; otherwise the first time from memorising on.
    """
    starts = evidence.memorised(arm).values
    epochs = []
    for one, along, start in zip(evidence.runs(arm), ways(evidence, name), starts, strict=True):
        # A first time that comes before memorising is one of the initial weights.
        seen = one if lasting else one.isel(epoch=~(one.epoch.values < start))
        values = SIGNALS[name].of(seen)
        if along is None or not len(values):
            epochs.append(np.nan)
        else:
            epochs.append(half_rise_epoch(seen.epoch.values, values, along, share, lasting))
    return evidence.times(arm, evidence.arm(arm).seed.copy(data=np.array(epochs, dtype=float)))


def gone(evidence: Evidence, name: str, arm: str) -> np.ndarray:
    """How far a signal of a control has gone from memorising to its end, in baseline's ways.

    1 is as far as in the baseline of the same seed, and in the same direction.
    """
    shares = []
    memorised, whole = evidence.memorised(arm).values, evidence.whole(arm)
    runs = evidence.runs(arm)
    for one, along, start, ended in zip(runs, ways(evidence, name), memorised, whole, strict=True):
        if along is None or not along.length or np.isnan(start) or not ended:
            shares.append(np.nan)
            continue
        own = measure_transition(one.epoch.values, SIGNALS[name].of(one), start)
        shares.append(own.length / along.length)
    return np.array(shares)
