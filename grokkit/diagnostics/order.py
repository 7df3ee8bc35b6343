"""What comes first: half-rise epochs of slow signals, and whether seeds agree on an order.

Two signals of one run can be ordered only if one rule dates both, whatever their units. A
signal's *transition* goes from its value when the train set was memorised to its last value.
Its *mark* is a share of the transition,

    mark = start + share (end - start),   share = 1/2 where nothing else is said,

and its *half-rise epoch* is the first record from which it never again falls behind its mark.
The share is a choice, and so is "never again". Another choice may give another order, so state
the rule with every order.

A transition is measured with hindsight, from the end of the run. So a half-rise epoch can
neither stop a run early nor predict anything.

**Kendall's W** tells whether several judges put things in the same order. Here the judges are
seeds, and the things are signals, ranked by their half-rise epochs. With m judges, n things,
and R_i the sum of the ranks of thing i,

    W = S / S_max,   S = sum_i (R_i - m (n + 1) / 2)^2,   S_max = (m^2 (n^3 - n) - m T) / 12,

1 if all judges agree, and about 1/m if they order blindly. Things that a judge cannot tell
apart share the mean of their ranks, and T is the sum over all such ties of t^3 - t, t their
number.

**The null**: each judge's ranks are dealt out anew, all orders being equally likely, and each
judge by itself. For few judges and things it need not be simulated. Only the sums of the
ranks matter, and not which thing has which, so the sums are kept sorted: their distribution
is made exactly, judge by judge, from a few thousand cases instead of (n!)^m.

(m (n - 1) W is Friedman's chi-squared. Its usual approximation is for many judges.)

Source: M. G. Kendall and B. Babington Smith, "The problem of m rankings", 1939.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from jaxtyping import Float, Int, Num

from grokkit.errors import check_int, check_number, refuse


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
    """
    if check_number("share", share, strict=True) > 1:
        refuse("share", share, "a number above 0, at most 1")
    beyond = transition.share(values) >= share
    if lasting:
        beyond = np.logical_and.accumulate(beyond[::-1])[::-1]
    return float(epoch[np.argmax(beyond)]) if beyond.any() else float("nan")


LARGEST = 6
"""The largest number of judges, and of things, for which the null is made exactly."""


@dataclass(frozen=True, eq=False)
class Concordance:
    """How far judges agree.

    Attributes:
        w: Kendall's W, from 0 to 1; ``nan`` if no judge tells any two things apart.
        p_value: the chance of a W as large or larger by the null.
        mean_ranks: of each thing; the least comes first.
    """

    w: float
    p_value: float
    mean_ranks: Float[np.ndarray, " thing"]


def kendall_w(values: Num[np.ndarray, "judge thing"]) -> Concordance:
    """Kendall's W of things that each judge orders by a number.

    Args:
        values: such as epochs; ``nan`` is later than all others.

    Raises:
        SettingError: there are fewer than two judges or things, or more than
            :data:`LARGEST`.
    """
    judges, things = np.shape(values)
    check_int("judges", judges, 2, LARGEST)
    check_int("things", things, 2, LARGEST)
    ranked = midranks(values)
    # Twice a mean of whole ranks is a whole number: sums are compared without rounding.
    doubled = (2 * ranked).round().astype(np.int64)
    ties = sum((row == rank).sum() ** 3 - (row == rank).sum() for row in doubled for rank in {*row})
    largest = (judges**2 * (things**3 - things) - judges * ties) / 12
    if largest == 0:
        return Concordance(float("nan"), 1.0, ranked.mean(axis=0))
    w = _spread(doubled.sum(axis=0)[None], judges)[0] / 4 / largest
    return Concordance(float(w), _chance(doubled), ranked.mean(axis=0))


def midranks(values: Num[np.ndarray, "judge thing"]) -> Float[np.ndarray, "judge thing"]:
    """Each judge's ranks from 1 up, the least value first; equal ones share their mean.

    ``nan`` is later than all others.
    """
    known = np.nan_to_num(np.asarray(values, dtype=float), nan=np.inf, posinf=np.inf)
    mine, its = known[:, :, None], known[:, None, :]
    return (its < mine).sum(axis=2) + ((its == mine).sum(axis=2) + 1) / 2


def _spread(sums: Int[np.ndarray, "case thing"], judges: int) -> Int[np.ndarray, " case"]:
    """Four times S, from sums of doubled ranks."""
    return ((sums - judges * (sums.shape[1] + 1)) ** 2).sum(axis=1)


def _chance(doubled: Int[np.ndarray, "judge thing"]) -> float:
    """The chance that S is at least what it is, each judge's ranks being dealt out anew."""
    judges, things = doubled.shape
    seen = _spread(doubled.sum(axis=0)[None], judges)
    base = (judges * 2 * things + 1) ** np.arange(things)
    sums, chances = np.sort(doubled[:1], axis=1), np.ones(1)
    for number, row in enumerate(doubled[1:], start=2):
        orders = np.array(sorted(set(permutations(row.tolist()))))
        dealt = (sums[:, None] + orders).reshape(-1, things)
        chances = np.repeat(chances / len(orders), len(orders))
        if number == judges:
            return float(chances[_spread(dealt, judges) >= seen].sum())
        # Which thing has which sum does not matter any more: sorted, most cases are the same.
        dealt = np.sort(dealt, axis=1)
        _, first, case = np.unique(dealt @ base, return_index=True, return_inverse=True)
        sums, chances = dealt[first], np.bincount(case, chances)
    raise AssertionError("two judges or more")
