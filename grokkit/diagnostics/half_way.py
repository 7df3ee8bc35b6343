"""When a slow signal "happens": the epoch at which it has gone half of its way.

Two signals of one run can be ordered only if one rule dates both, whatever their units. A
signal's *way* leads from its value when the train set was memorised to its last value; its
*mark* is a share of the way along,

    mark = start + share (end - start),   share = 1/2 where nothing else is said,

and it *arrives* at the first record from which it never again falls behind its mark. The
share is a choice, and so is "never again": another ruler may give another order, so whoever
says what came first must say by which.

A way is measured with hindsight, from the end of the run. No arrival can be used to stop a
run early, or to foretell anything.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Num

from grokkit.errors import check_number, refuse


@dataclass(frozen=True)
class Way:
    """From where to where a signal goes.

    Attributes:
        start: its value at the record at which its run had memorised.
        end: its last value.
    """

    start: float | int
    end: float | int

    @property
    def length(self) -> float | int:
        """How far it is, with its sign: below 0 for a signal that falls."""
        return self.end - self.start

    def mark(self, share: float | int = 0.5) -> float | int:
        """The value at which a share of the way is done."""
        return self.start + share * self.length

    def share(self, values: Num[np.ndarray, " epoch"]) -> Num[np.ndarray, " epoch"]:
        """How much of the way is done at each value: 0 at the start, 1 at the end.

        ``nan`` where there is no way to go.
        """
        gone = np.asarray(values, dtype=float) - self.start
        return gone / self.length if self.length else np.full(gone.shape, np.nan)


def way(
    epoch: Num[np.ndarray, " epoch"], values: Num[np.ndarray, " epoch"], since: float | int
) -> Way:
    """The way of one signal of one run.

    Args:
        epoch: of the records.
        values: of the signal, at each record.
        since: the epoch of the record at which the way begins.

    Raises:
        SettingError: there is no record at that epoch.
    """
    there = np.flatnonzero(np.asarray(epoch) == since)
    if not len(there):
        refuse("since", since, "the epoch of a record")
    return Way(float(values[there[0]]), float(values[-1]))


def arrival(
    epoch: Num[np.ndarray, " epoch"],
    values: Num[np.ndarray, " epoch"],
    along: Way,
    share: float | int = 0.5,
    lasting: bool = True,
) -> float:
    """The epoch at which a signal has gone a share of a way, its own or another run's.

    Args:
        epoch: of the records.
        values: of the signal, at each record.
        along: the way; where its length is 0 nothing arrives.
        share: of the way, above 0 and at most 1.
        lasting: whether it must keep to it up to the last record; otherwise the first
            record at the mark or beyond it counts.

    Returns:
        An epoch; ``nan`` if it does not arrive.

    Raises:
        SettingError: the share is not above 0 and at most 1.
    """
    if check_number("share", share, strict=True) > 1:
        refuse("share", share, "a number above 0, at most 1")
    beyond = along.share(values) >= share
    if lasting:
        beyond = np.logical_and.accumulate(beyond[::-1])[::-1]
    return float(epoch[np.argmax(beyond)]) if beyond.any() else float("nan")
