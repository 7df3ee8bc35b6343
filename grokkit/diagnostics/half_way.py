"""The epoch at which a slow signal has passed half of its transition.

Two signals of one run can be ordered only if one rule dates both, whatever their units. A
signal's *transition* goes from its value when the train set was memorised to its last value.
Its *mark* is a share of the transition,

    mark = start + share (end - start),   share = 1/2 where nothing else is said,

and its *half-rise epoch* is the first record from which it never again falls behind its mark.
The share is a choice, and so is "never again". Another choice may give another order, so state
the rule with every order.

A transition is measured with hindsight, from the end of the run. So a half-rise epoch can
neither stop a run early nor predict anything.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Num

from grokkit.errors import check_number, refuse


@dataclass(frozen=True)
class Transition:
    """The start and the end value of a signal.

    Attributes:
        start: its value at the record at which its run had memorised.
        end: its last value.
    """

    start: float | int
    end: float | int

    @property
    def length(self) -> float | int:
        """End - start: below 0 for a signal that falls."""
        return self.end - self.start

    def mark(self, share: float | int = 0.5) -> float | int:
        """The value start + share (end - start)."""
        return self.start + share * self.length

    def share(self, values: Num[np.ndarray, " epoch"]) -> Num[np.ndarray, " epoch"]:
        """The share of the transition that each value has passed: 0 at the start, 1 at the end.

        ``nan`` where start and end are equal.
        """
        gone = np.asarray(values, dtype=float) - self.start
        return gone / self.length if self.length else np.full(gone.shape, np.nan)


def measure_transition(
    epoch: Num[np.ndarray, " epoch"], values: Num[np.ndarray, " epoch"], since: float | int
) -> Transition:
    """The transition of one signal of one run.

    Args:
        epoch: of the records.
        values: of the signal, at each record.
        since: the epoch of the record at which the transition starts.

    Raises:
        SettingError: there is no record at that epoch.
    """
    there = np.flatnonzero(np.asarray(epoch) == since)
    if not len(there):
        refuse("since", since, "the epoch of a record")
    return Transition(float(values[there[0]]), float(values[-1]))


def half_rise_epoch(
    epoch: Num[np.ndarray, " epoch"],
    values: Num[np.ndarray, " epoch"],
    transition: Transition,
    share: float | int = 0.5,
    lasting: bool = True,
) -> float:
    """The epoch at which a signal has passed half, or another share, of a transition.

    The transition may be that of another run.

    Args:
        epoch: of the records.
        values: of the signal, at each record.
        transition: from start to end; where its length is 0 the result is ``nan``.
        share: of the transition, above 0 and at most 1.
        lasting: whether every later record must be beyond the mark too; otherwise the first
            record at the mark or beyond it counts.

    Returns:
        An epoch; ``nan`` if the signal does not reach the mark.

    Raises:
        SettingError: the share is not above 0 and at most 1.
    """
    if check_number("share", share, strict=True) > 1:
        refuse("share", share, "a number above 0, at most 1")
    beyond = transition.share(values) >= share
    if lasting:
        beyond = np.logical_and.accumulate(beyond[::-1])[::-1]
    return float(epoch[np.argmax(beyond)]) if beyond.any() else float("nan")
