"""Checks of the exercises on chapter 13: dates, ranks, agreement, and a signal that is none."""

import itertools
import math

import numpy as np

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import any_of, as_array, expect, require
from grokkit.diagnostics import arrival, kendall_w, midranks, way

Array = np.ndarray

EPOCHS = np.array([0, 50, 100, 200, 300, 500, 700, 1000])
"""Records that are not evenly spaced."""


# --- 13.1 when does it happen? ------------------------------------------------------------

ex_13_1 = Exercise(
    "ex_13_1",
    answers=("half_way",),
    hints=(
        "Bring the signal on a scale of its own: 0 at `since`, 1 at the end. Then "
        "rising and falling signals look alike.",
        '"For good" is easier from behind: which is the *last* record at which it is less than '
        "half-way?",
        "The record after that one is the answer; the last record of all is never behind its mark.",
    ),
    afterword="One rule for all signals, stated before anybody looks: that is what makes an order.",
)


def dated(values: Array, since: int) -> float:
    """The package's own date."""
    return arrival(EPOCHS, values, way(EPOCHS, values, since))


@ex_13_1.property("a signal that rises steadily")
def _(half_way):
    values = np.array([9.0, 4.0, 2.0, 3.0, 5.0, 6.0, 9.0, 10.0])  # from 2: its mark is 6
    expect(
        half_way(EPOCHS.copy(), values.copy(), 100),
        500,
        cause="From 2 at epoch 100 it goes to 10; half-way is 6, and 6 itself is enough.",
        mistakes={
            "The mark itself is enough: at it *or* beyond it.": 700,
            "This is the last record behind the mark; it arrives at the next.": 300,
            "It is the epoch that is asked for, not the number of the record.": 5,
            "The way begins at `since`, not at the first record.": any_of(1000, 50, 100, 0),
        },
    )


@ex_13_1.property("a signal that falls, below zero")
def _(half_way):
    values = np.array([5.0, 1.0, -1.0, -2.0, -2.5, -4.0, -6.0, -7.0])  # from -1: its mark is -4
    expect(
        half_way(EPOCHS.copy(), values.copy(), 100),
        500,
        cause="It falls from -1 to -7. At its mark or beyond means -4 or less here.",
        mistakes={
            "Records before `since` do not count; and this signal falls.": any_of(0, 50, 100),
        },
    )


@ex_13_1.property("only for good counts")
def _(half_way):
    values = np.array([0.0, 9.0, 0.0, 7.0, 3.0, 8.0, 4.9, 10.0])
    expect(
        half_way(EPOCHS.copy(), values.copy(), 100),
        1000,
        cause="It is beyond 5 at epochs 200 and 500 and falls behind again; it stays from 1000 on.",
        mistakes={
            "The first time does not count: it falls behind its mark again.": 200,
            "A first time before `since` does not count at all.": 50,
            "It falls behind its mark once more after that.": 500,
        },
    )


@ex_13_1.property("from the record at `since` on, whichever it is")
def _(half_way):
    values = np.array([8.0, 0.0, 1.0, 3.0, 6.0, 8.0, 9.0, 12.0])
    for since in (50, 300):
        expect(
            half_way(EPOCHS.copy(), values.copy(), since),
            dated(values, since),
            cause=f"The way begins with the value at epoch {since}.",
        )


@ex_13_1.property("a signal that ends where it began goes no way")
def _(half_way):
    values = np.array([0.0, 3.0, 2.0, 5.0, 1.0, 4.0, 3.0, 2.0])
    with np.errstate(all="ignore"):
        got = half_way(EPOCHS.copy(), values.copy(), 100)
    expect(
        got,
        math.nan,
        cause="It ends where it began, so there is no half-way: nan.",
    )


# --- 13.2 who was first? ------------------------------------------------------------------

ex_13_2 = Exercise(
    "ex_13_2",
    answers=("rank_signals",),
    hints=(
        "For one signal of one seed: how many came sooner? That number plus 1 is its rank, if "
        "no other came with it.",
        "If k signals come together after s others, their ranks are s + 1, ..., s + k, the mean of "
        "which is s + (k + 1) / 2.",
        "Put infinity for nan first: two infinities are equal, two nan are not.",
    ),
    afterword="In every seed the ranks of n signals add up to n (n + 1) / 2, ties or not.",
)


def ranked(epochs: Array, tie: str = "mean") -> Array:
    """Ranks of each seed in which equal epochs get the mean, least or greatest rank."""
    late = np.where(np.isnan(epochs), np.inf, epochs)
    sooner = (late[:, None, :] < late[:, :, None]).sum(axis=2)
    alike = (late[:, None, :] == late[:, :, None]).sum(axis=2)
    return sooner + {"mean": (alike + 1) / 2, "least": 1.0, "greatest": alike}[tie]


@ex_13_2.property("each seed by itself, 1 for the first")
def _(rank_signals):
    epochs = np.array([[300.0, 100, 200, 900], [5000.0, 8000, 6000, 7000]])
    right = midranks(epochs)
    expect(
        rank_signals(epochs.copy()),
        right,
        cause="In the first seed the second signal comes first, then the third, then the first.",
        mistakes={
            "Ranks begin with 1.": right - 1,
            "The latest has rank 1; it should be the first.": 5 - right,
            "This is the order (which signal is first, ...), not the rank of each signal.": (
                any_of(np.argsort(epochs, axis=1) + 1, np.argsort(epochs, axis=1))
            ),
            "All seeds are ranked together.": np.argsort(np.argsort(epochs.ravel())).reshape(2, 4)
            + 1,
            "The seeds are ranked, for each signal; rank the signals, in each seed.": (
                np.argsort(np.argsort(epochs, axis=0), axis=0) + 1
            ),
        },
    )


@ex_13_2.property("signals that come together share the mean of their ranks")
def _(rank_signals):
    epochs = np.array([[200.0, 100, 200, 300, 200], [100.0, 100, 50, 400, 500]])
    later = np.argsort(np.argsort(epochs, axis=1, kind="stable"), axis=1, kind="stable") + 1.0
    expect(
        rank_signals(epochs.copy()),
        midranks(epochs),
        cause="In the first seed three signals take places 2, 3 and 4 together: 3 for each.",
        mistakes={
            "Ties are broken by the order in the array; they share a mean.": later,
            "Ties get the least of their ranks; they share the mean.": ranked(epochs, "least"),
            "Ties get the greatest of their ranks; they share the mean.": ranked(
                epochs, "greatest"
            ),
        },
    )


@ex_13_2.property("those that never arrive share the last ranks")
def _(rank_signals):
    epochs = np.array([[math.nan, 100, math.nan, 300]])
    expect(
        rank_signals(epochs.copy()),
        midranks(epochs),
        cause="nan is later than all: two of them share places 3 and 4.",
        mistakes={
            "nan is equal to nothing, not even to itself: put infinity for it first.": any_of(
                np.array([[0.5, 1.0, 0.5, 2.0]]),
                np.array([[1.0, 1.0, 1.0, 2.0]]),
                np.array([[3.0, 1.0, 4.0, 2.0]]),
            ),
            "A signal that never comes is the last, not the first.": np.array([[1.5, 3, 1.5, 4]]),
            "It has no rank here; it should be the last.": np.array([[math.nan, 1, math.nan, 2]]),
        },
    )


# --- 13.3 do five seeds agree? ------------------------------------------------------------

ex_13_3 = Exercise(
    "ex_13_3",
    answers=("agreement", "by_luck"),
    hints=(
        "R is `ranks.sum(axis=0)`; if all is luck each entry should be about m (n + 1) / 2.",
        "`itertools.permutations(...)` gives all orders of one seed, `itertools.product(*lists)` "
        "all ways to take one from each list.",
        "The chance is the share of all those ways with W at least as large. Allow 1e-9 for "
        "rounding: W that are equal must count.",
    ),
    afterword="grokkit's kendall_w has the same from sorted rank sums, also with ties.",
)

TABLES = (
    np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 3, 4], [4, 1, 2, 3]]),
    np.array([[1, 2, 3], [3, 2, 1], [2, 3, 1], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 4, 3]]),
)
"""Ranks without ties, for different numbers of seeds and signals."""


@ex_13_3.property("one order in all seeds is 1, and opposite ones 0")
def _(agreement, _luck):
    for rows, want in (([[2, 1, 3]] * 4, 1.0), ([[1, 2, 3, 4], [4, 3, 2, 1]], 0.0)):
        seeds, signals = np.shape(rows)
        expect(
            agreement(np.array(rows)),
            want,
            cause="W is 12 S over m^2 (n^3 - n): m seeds, n signals, in that order.",
            mistakes={
                "m and n are exchanged: n is the number of signals, the columns.": (
                    (signals**2 - 1) * signals * seeds / ((seeds**2 - 1) * signals**2)
                    if want
                    else math.inf
                ),
                "This is S; divide it by the most that it can be.": (
                    seeds**2 * (signals**3 - signals) / 12 if want else math.inf
                ),
            },
        )


@ex_13_3.property("W in between")
def _(agreement, _luck):
    for ranks in TABLES:
        seeds, signals = ranks.shape
        sums = ranks.sum(axis=0)
        expect(
            agreement(ranks.copy()),
            kendall_w(ranks).w,
            cause="S sums the squares of R_i - m (n + 1) / 2; R_i are sums over the seeds.",
            mistakes={
                "R_i are sums over the seeds, not over the signals.": 0.0,
                "The squares of the R_i themselves are summed; take their mean away first.": (
                    12 * (sums**2).sum() / (seeds**2 * (signals**3 - signals))
                ),
            },
        )


def chance(ranks: Array, strict: bool = False) -> float:
    """By every deal of all seeds but the first; ``strict``: only a larger W counts."""
    seen = kendall_w(ranks).w
    orders = list(itertools.permutations(ranks[0].tolist()))
    target = 1e-9 if strict else -1e-9
    seeds, signals = ranks.shape
    largest = seeds**2 * (signals**3 - signals) / 12
    sums = np.array(
        [
            np.sum(one, axis=0)
            for one in itertools.product([ranks[0].tolist()], *[orders] * (seeds - 1))
        ]
    )
    found = ((sums - seeds * (signals + 1) / 2) ** 2).sum(axis=1) / largest
    return float((found >= seen + target).mean())


@ex_13_3.property("the chance of as much by luck, counted exactly")
def _(_agreement, by_luck):
    for ranks in TABLES:
        exact, strict = kendall_w(ranks).p_value, chance(ranks, strict=True)
        expect(
            by_luck(ranks.copy()),
            exact,
            cause="Deal every seed's ranks out anew, in all ways, and count those with W as large "
            "as this or larger.",
            mistakes={
                "Only a larger W counts; an equal one should, too (mind the rounding).": strict,
                "This is the chance of a smaller W.": any_of(1 - exact, 1 - strict),
                "These are the ways; divide by how many there are.": any_of(
                    exact * math.factorial(ranks.shape[1]) ** len(ranks),
                    exact * math.factorial(ranks.shape[1]) ** (len(ranks) - 1),
                ),
            },
            rtol=1e-6,
        )


@ex_13_3.property("it is exact, so the same each time")
def _(_agreement, by_luck):
    ranks = TABLES[1]
    first, again = by_luck(ranks.copy()), by_luck(ranks.copy())
    require(
        float(first) == float(again),
        "Asked twice it gives two answers: no random numbers are needed.",
        [first, again],
    )


# --- 13.4 a signal that is none -----------------------------------------------------------

ex_13_4 = Exercise(
    "ex_13_4",
    answers=("impostor", "verdict"),
    hints=(
        "What goes up by itself, all the time, and is half-way before late events?",
        "`runs[:, -1] - runs[:, start]` is how far each seed goes, with its sign. Divide the "
        "control's by it.",
        "Count the yeses: 4 or 5 are a signal, 0 or 1 none.",
    ),
    afterword="Nothing in the order of events tells a clock from a cause. A control does.",
)

LONG = np.array([0, 50, 100, 500, 1000, 2000, 2400, 4000])


@ex_13_4.property("the impostor is half-way before the unseen pairs")
def _(impostor, _verdict):
    for epochs in (LONG, np.arange(0, 9001, 50)):
        values = as_array(impostor(epochs.copy()))
        require(
            values is not None and values.shape == epochs.shape and np.isfinite(values).all(),
            "The impostor is to be an array of numbers, one for each record.",
            values,
        )
        assert values is not None
        numbers = values.astype(float)
        when = arrival(epochs, numbers, way(epochs, numbers, 100))
        require(
            not math.isnan(when),
            "It ends where it was at epoch 100: a signal must go some way.",
        )
        require(
            when <= 0.6 * epochs[-1],
            "It is half-way too late: after 60 % of the epochs the unseen pairs may be, too. "
            "Something that slows down is earlier.",
            when,
            f"{0.6 * epochs[-1]:.0f} or less",
        )


def five(moves: list[float], start: float = 3.0) -> Array:
    """A signal of five seeds that moves so far from epoch 100 on; before it was elsewhere."""
    share = np.clip((LONG - 100) / (LONG[-1] - 100), 0, 1)
    values = start + np.array(moves)[:, None] * share
    values[:, LONG < 100] = 50.0
    return values


CASES = (
    ([-2.0] * 5, [-0.1, 0.0, -0.3, 0.2, -0.5], "signal", "The control hardly moves."),
    ([4.0] * 5, [4.0, 3.0, 5.0, 2.5, 4.5], "no signal", "The control goes as far."),
    (
        [-2.0] * 5,
        [2.5, 1.5, 3.0, 2.0, 4.0],
        "signal",
        "The control goes far, but the other way: that is fine.",
    ),
    ([6.0] * 5, [0.0, 0.5, 5.0, 1.0, 2.0], "signal", "Four of five say yes: that is enough."),
    ([6.0] * 5, [5.0, 6.0, 1.0, 4.0, 7.0], "no signal", "Four of five say no."),
    (
        [1.0, 1.0, 1.0, 1.0, 30.0],
        [0.8, 0.8, 0.8, 0.8, 0.8],
        "no signal",
        "Each seed is compared with its own control: 0.8 is far for four seeds, near for one.",
    ),
    (
        [2.0] * 5,
        [1.0, 1.0, 1.0, 1.0, 1.0],
        "no signal",
        "Just half as far is not *less* than half.",
    ),
    ([6.0] * 5, [0.0, 0.5, 5.0, 1.0, 4.0], "undecided", "Three yes, two no: that decides nothing."),
)
"""How far five runs and their controls go, and what follows."""


@ex_13_4.property("the control decides, seed by seed")
def _(_impostor, verdict):
    for number, (runs, controls, want, cause) in enumerate(CASES):
        # Controls begin elsewhere: it is the distance that counts.
        got = verdict(LONG.copy(), five(runs), five(controls, start=20.0 + number), 100)
        require(
            isinstance(got, str) or got is None,
            'The verdict is a text: "signal", "no signal" or "undecided".',
            got,
            want,
        )
        expect(got, want, cause=cause)


@ex_13_4.property("it unmasks your own impostor")
def _(impostor, verdict):
    clock = np.asarray(as_array(impostor(LONG.copy())), dtype=float)
    expect(
        verdict(LONG.copy(), np.tile(clock, (5, 1)), np.tile(clock, (5, 1)), 100),
        "no signal",
        cause="Run and control have the same epochs, so your impostor goes as far in both.",
    )
