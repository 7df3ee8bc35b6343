"""Checks of the exercises on chapter 13: dates, ranks, agreement, and a signal that is none."""

import itertools
import math
from fractions import Fraction

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, numbers, require
from grokkit.diagnostics import half_rise_epoch, kendall_w, measure_transition, midranks

# --- 13.1 when does it happen? ------------------------------------------------------------

EPOCHS = np.array([0, 50, 100, 200, 300, 500, 700, 1000])
"""Records that are not evenly spaced."""


def dated(epochs, values, since):
    """The package's own date."""
    return half_rise_epoch(epochs, values, measure_transition(epochs, values, since))


def reached(epochs, values, since, start=None, beyond=np.greater_equal):
    """At which records the signal is at its mark or beyond; the way begins at `since`."""
    begin = values[epochs == since][0] if start is None else values[start]
    return beyond((values - begin) / (values[-1] - begin), 0.5)


def from_there(there):
    """The first record from which it is always true."""
    return 1 + max((i for i, one in enumerate(there) if not one), default=-1)


def signal(*values, since=100, cause):
    return Ask((EPOCHS, np.array(values, dtype=float), since), cause)


ex_13_1 = Exercise(
    "ex_13_1",
    Function(
        "half_way",
        right=dated,
        cases={
            "a signal that rises steadily": signal(
                *(9.0, 4.0, 2.0, 3.0, 5.0, 6.0, 9.0, 10.0),
                cause="From 2 at epoch 100 it goes to 10; half-way is 6, and 6 itself is enough.",
            ),
            "a signal that falls, below zero": signal(
                *(5.0, 1.0, -1.0, -2.0, -2.5, -4.0, -6.0, -7.0),
                cause="It falls from -1 to -7. At its mark or beyond means -4 or less here.",
            ),
            "only for good counts": signal(
                *(0.0, 9.0, 0.0, 7.0, 3.0, 8.0, 4.9, 10.0),
                cause="It is beyond 5 at epochs 200 and 500 and falls behind again; it stays from "
                "1000 on.",
            ),
            "from the record at `since` on, whichever it is": [
                signal(
                    *(8.0, 0.0, 1.0, 3.0, 6.0, 8.0, 9.0, 12.0),
                    since=since,
                    cause=f"The way begins with the value at epoch {since}.",
                )
                for since in (50, 300)
            ],
            "a signal that ends where it began goes no way": signal(
                *(0.0, 3.0, 2.0, 5.0, 1.0, 4.0, 3.0, 2.0),
                cause="It ends where it began, so there is no half-way: nan.",
            ),
        },
        mistakes={
            "The mark itself is enough: at it *or* beyond it.": lambda e, v, s: e[
                from_there(reached(e, v, s, beyond=np.greater))
            ],
            "This is the last record behind the mark; it arrives at the next.": lambda e, v, s: e[
                from_there(reached(e, v, s)) - 1
            ],
            "It is the epoch that is asked for, not the number of the record.": lambda e, v, s: (
                from_there(reached(e, v, s))
            ),
            "The way begins at `since`, not at the first record.": lambda e, v, s: e[
                from_there(reached(e, v, s, start=0))
            ],
            "The first time does not count: it falls behind its mark again.": any_of(
                lambda e, v, s: e[e >= s][reached(e, v, s)[e >= s].argmax()],
                lambda e, v, s: e[reached(e, v, s).argmax()],
            ),
            "This signal falls: at its mark or beyond means below it.": lambda e, v, s: e[
                from_there(v >= (v[e == s][0] + v[-1]) / 2) % len(e)
            ],
        },
    ),
    hints=(
        "Bring the signal on a scale of its own: 0 at `since`, 1 at the end. Then "
        "rising and falling signals look alike.",
        '"For good" is easier from behind: which is the *last* record at which it is less than '
        "half-way?",
        "The record after that one is the answer; the last record of all is never behind its mark.",
    ),
    afterword="One rule for all signals, stated before anybody looks: that is what makes an order.",
)

# --- 13.2 who was first? ------------------------------------------------------------------


def ranked(epochs, tie="mean"):
    """Ranks of each seed in which equal epochs get the mean, least or greatest rank."""
    late = np.where(np.isnan(epochs), np.inf, epochs)
    sooner = (late[:, None, :] < late[:, :, None]).sum(axis=2)
    alike = (late[:, None, :] == late[:, :, None]).sum(axis=2)
    return sooner + {"mean": (alike + 1) / 2, "least": 1.0, "greatest": alike}[tie]


def in_turn(epochs, axis=1):
    order = np.argsort(epochs, axis=axis, kind="stable")
    return np.argsort(order, axis=axis, kind="stable") + 1.0


def without_infinity(epochs):
    with np.errstate(invalid="ignore"):
        sooner = (epochs[:, None, :] < epochs[:, :, None]).sum(axis=2)
        return sooner + ((epochs[:, None, :] == epochs[:, :, None]).sum(axis=2) + 1) / 2


TIES = np.array([[200.0, 100, 200, 300, 200], [100.0, 100, 50, 400, 500]])

ex_13_2 = Exercise(
    "ex_13_2",
    Function(
        "rank_signals",
        right=midranks,
        cases={
            "each seed by itself, 1 for the first": [
                Ask(
                    (np.array([[300.0, 100, 200, 900], [5000.0, 8000, 6000, 7000]]),),
                    "In the first seed the second signal comes first, then the third, the first.",
                ),
                Ask(
                    lambda d: (100.0 * np.stack([d.order(5).numpy() for _ in range(3)]),),
                    "Five signals of three seeds.",
                ),
            ],
            "signals that come together share the mean of their ranks": Ask(
                (TIES,),
                "In the first seed three signals take places 2, 3 and 4 together: 3 for each.",
            ),
            "those that never arrive share the last ranks": [
                Ask(
                    (np.array([[math.nan, 100, math.nan, 300]]),),
                    "nan is later than all: two of them share places 3 and 4.",
                ),
                Ask(
                    (np.array([[200.0, math.nan, 200], [1, 2, 3]]),), "Two are together, one last."
                ),
            ],
        },
        mistakes={
            "Ranks begin with 1.": lambda e: midranks(e) - 1,
            "The latest has rank 1; it should be the first.": lambda e: (
                e.shape[1] + 1 - midranks(e)
            ),
            "This is the order (which signal is first, ...), not the rank of each signal.": any_of(
                lambda e: np.argsort(e, axis=1) + 1, lambda e: np.argsort(e, axis=1)
            ),
            "All seeds are ranked together.": lambda e: in_turn(e.reshape(1, -1)).reshape(e.shape),
            "The seeds are ranked, for each signal; rank the signals, in each seed.": lambda e: (
                in_turn(e, axis=0)
            ),
            "Ties get the least of their ranks; they share the mean.": lambda e: ranked(e, "least"),
            "Ties get the greatest of their ranks; they share the mean.": lambda e: ranked(
                e, "greatest"
            ),
            "Ties are broken by the order in the array; they share a mean.": in_turn,
            "nan is equal to nothing, not even to itself: put infinity for it first.": (
                without_infinity
            ),
            "A signal that never comes is the last, not the first.": lambda e: midranks(
                np.where(np.isnan(e), -1.0, e)
            ),
            "It has no rank here; it should be the last.": lambda e: np.where(
                np.isnan(e), np.nan, midranks(e)
            ),
        },
    ),
    hints=(
        "For one signal of one seed: how many came sooner? That number plus 1 is its rank, if "
        "no other came with it.",
        "If k signals come together after s others, their ranks are s + 1, ..., s + k, the mean of "
        "which is s + (k + 1) / 2.",
        "Put infinity for nan first: two infinities are equal, two nan are not.",
    ),
    afterword="In every seed the ranks of n signals add up to n (n + 1) / 2, ties or not.",
)

# --- 13.3 do five seeds agree? ------------------------------------------------------------


def largest(m, n):
    return m**2 * (n**3 - n) / 12


def spread(ranks, axis=0):
    m, n = ranks.shape if axis == 0 else ranks.shape[::-1]
    return ((ranks.sum(axis=axis) - m * (n + 1) / 2) ** 2).sum()


def luck(ranks, beyond=np.greater_equal, count=False):
    """By every deal of all seeds but the first."""
    orders = list(itertools.permutations(range(1, ranks.shape[1] + 1)))
    deals = itertools.product(orders, repeat=len(ranks) - 1)
    sums = ranks[0] + np.array([np.sum(one, axis=0) for one in deals])
    found = ((sums - ranks.sum() / ranks.shape[1]) ** 2).sum(axis=1)
    hits = beyond(np.round(2 * found), np.round(2 * spread(ranks)))
    return hits.sum() if count else hits.mean()


def is_exact(given, *calls):
    first, again = (float(as_array(got)) for got in given)  # pyright: ignore
    require(
        first == again,
        "Asked twice it gives two answers: no random numbers are needed.",
        [first, again],
    )


# Ranks without ties, for different numbers of seeds and signals.
RANKS = (
    np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 3, 4], [4, 1, 2, 3]]),
    np.array([[1, 2, 3], [3, 2, 1], [2, 3, 1], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 4, 3]]),
)


def some_ranks(d, m, n):
    return (np.stack([1 + d.order(n).numpy() for _ in range(m)]),)


ex_13_3 = Exercise(
    "ex_13_3",
    Function(
        "agreement",
        right=lambda ranks: kendall_w(ranks).w,
        cases={
            "one order in all seeds is 1, and opposite ones 0": [
                Ask((np.array(rows),), "W is 12 S over m^2 (n^3 - n): m seeds, n signals.")
                for rows in ([[2, 1, 3]] * 4, [[1, 2, 3, 4], [4, 3, 2, 1]])
            ],
            "W in between": [
                *(
                    Ask((ranks,), "S sums the squares of R_i - m (n + 1) / 2.", atol=1e-9)
                    for ranks in RANKS
                ),
                Ask(lambda d: some_ranks(d, 3, 5), "Three seeds of five signals.", atol=1e-9),
            ],
        },
        mistakes={
            "R_i are sums over the seeds, not over the signals.": any_of(
                lambda r: spread(r, axis=1) / largest(*r.shape[::-1]),
                lambda r: spread(r, axis=1) / largest(*r.shape),
            ),
            "m and n are exchanged: n is the number of signals, the columns.": lambda r: (
                spread(r) / largest(*r.shape[::-1])
            ),
            "This is S; divide it by the most that it can be.": spread,
            "The squares of the R_i themselves are summed; take their mean away first.": (
                lambda r: (r.sum(axis=0) ** 2).sum() / largest(*r.shape)
            ),
        },
    ),
    Function(
        "by_luck",
        right=lambda ranks: kendall_w(ranks).p_value,
        cases={
            "the chance of as much by luck, counted exactly": [
                Ask(
                    (ranks,),
                    "Deal every seed's ranks out anew, in all ways, and count those with W as "
                    "large as this or larger.",
                    rtol=1e-6,
                )
                for ranks in (*RANKS, np.array([[1, 2, 3], [2, 3, 1], [1, 3, 2]]))
            ],
            "it is exact, so the same each time": Ask([(RANKS[0],)] * 2, judge=is_exact),
        },
        mistakes={
            "Only a larger W counts; an equal one should, too (mind the rounding).": lambda r: luck(
                r, np.greater
            ),
            "This is the chance of a smaller W.": any_of(
                lambda r: luck(r, np.less), lambda r: luck(r, np.less_equal)
            ),
            "These are the ways; divide by how many there are.": any_of(
                lambda r: luck(r, count=True),
                lambda r: luck(r, count=True) * math.factorial(r.shape[1]),
            ),
        },
    ),
    hints=(
        "R is `ranks.sum(axis=0)`; if all is luck each entry should be about m (n + 1) / 2.",
        "`itertools.permutations(...)` gives all orders of one seed, `itertools.product(*lists)` "
        "all ways to take one from each list.",
        "The chance is the share of all those ways with W at least as large. Allow 1e-9 for "
        "rounding: W that are equal must count.",
    ),
    afterword="grokkit's kendall_w has the same from sorted rank sums, also with ties.",
)

# --- 13.4 a signal that is none -----------------------------------------------------------

LONG = np.array([0, 50, 100, 500, 1000, 2000, 2400, 4000])


def is_impostor(given, epochs):
    asked = "The impostor is to be an array of numbers, one for each record."
    values = numbers(given, epochs.shape, asked)
    require(np.isfinite(values).all(), asked, given)
    when = dated(epochs, values, 100)
    require(not math.isnan(when), "It ends where it was at epoch 100: a signal must go some way.")
    require(
        when <= 0.6 * epochs[-1],
        "It is half-way too late: after 60 % of the epochs the unseen pairs may be, too. "
        "Something that slows down is earlier.",
        when,
        f"{0.6 * epochs[-1]:.0f} or less",
    )


def five(moves, start=3.0):
    """A signal of five seeds that moves so far from epoch 100 on; before it was elsewhere."""
    share = np.clip((LONG - 100) / (LONG[-1] - 100), 0, 1)
    values = start + np.array(moves)[:, None] * share
    values[:, LONG < 100] = 50.0
    return values


def ruled(
    share=lambda moved, distance: moved / distance,
    beyond=np.less,
    needed=4,
    start=lambda epochs, since: np.flatnonzero(epochs == since)[0],
    names=("signal", "no signal", "undecided"),
):
    """A verdict by another comparison, count or starting record."""

    def answer(epochs, runs, controls, since):
        at = start(epochs, since)
        yes = beyond(share(controls[:, -1] - controls[:, at], runs[:, -1] - runs[:, at]), 0.5)
        count = np.broadcast_to(yes, 5).sum()
        return names[0] if count >= needed else names[1] if 5 - count >= needed else names[2]

    return answer


def one_of_three(got, *inputs):
    require(
        got is None or isinstance(got, str),
        'The verdict is a text: "signal", "no signal" or "undecided".',
        got,
    )


# How far five runs and their controls go.
MOVES = (
    ([-2.0] * 5, [-0.1, 0.0, -0.3, 0.2, -0.5], "The control hardly moves."),
    ([4.0] * 5, [4.0, 3.0, 5.0, 2.5, 4.5], "The control goes as far."),
    (
        [-2.0] * 5,
        [2.5, 1.5, 3.0, 2.0, 4.0],
        "The control goes far, but the other way: that is fine.",
    ),
    ([6.0] * 5, [0.0, 0.5, 5.0, 1.0, 2.0], "Four of five say yes: that is enough."),
    ([6.0] * 5, [5.0, 6.0, 1.0, 4.0, 7.0], "Four of five say no."),
    (
        [1.0, 1.0, 1.0, 1.0, 30.0],
        [0.8, 0.8, 0.8, 0.8, 0.8],
        "Each seed is compared with its own control: 0.8 is far for four seeds, near for one.",
    ),
    ([2.0] * 5, [1.0, 1.0, 1.0, 1.0, 1.0], "Just half as far is not *less* than half."),
    ([2.0] * 5, [0.98, 0.98, 0.98, 0.98, 0.98], "0.49 as far is less than half."),
    ([6.0] * 5, [0.0, 0.5, 5.0, 1.0, 4.0], "Three yes, two no: that decides nothing."),
    ([6.0] * 5, [0.0, 5.5, 5.0, 1.0, 4.0], "Two yes, three no: that decides nothing."),
)

ex_13_4 = Exercise(
    "ex_13_4",
    Function(
        "impostor",
        judge=is_impostor,
        cases={
            "the impostor is half-way before the unseen pairs": [
                Ask((LONG,)),
                Ask((np.arange(0, 9001, 50),)),
            ]
        },
    ),
    Function(
        "verdict",
        right=ruled(),
        form=one_of_three,
        cases={
            "the control decides, seed by seed": [
                # Controls begin elsewhere: it is the distance that counts.
                Ask((LONG, five(runs), five(controls, 20.0 + number), 100), cause)
                for number, (runs, controls, cause) in enumerate(MOVES)
            ]
        },
    ),
    hints=(
        "What goes up by itself, all the time, and is half-way before late events?",
        "`runs[:, -1] - runs[:, start]` is how far each seed goes, with its sign. Divide the "
        "control's by it.",
        "Count the yeses: 4 or 5 are a signal, 0 or 1 none.",
    ),
    afterword="Nothing in the order of events tells a clock from a cause. A control does.",
)

# --- 13.5 how many seeds must agree? ------------------------------------------------------


def least_seeds(chance):
    """The least m with chance(n, m) <= luck, in whole numbers."""

    def answer(n, luck):
        return next(m for m in range(1, 200) if chance(n, m) <= Fraction(luck))

    return answer


def seed_mistakes(ways):
    """What known mistakes give, where each seed has so many ways."""
    return {
        "The first seed may show anything: only the others have to agree with it.": least_seeds(
            lambda n, m: Fraction(1, ways(n) ** m)
        ),
        "A chance of exactly that much is enough.": lambda n, luck: next(
            m for m in range(1, 200) if Fraction(1, ways(n) ** (m - 1)) < Fraction(luck)
        ),
        "A whole number is asked for: round up.": lambda n, luck: (
            1 + math.log(1 / luck) / math.log(ways(n))
        ),
    }


LUCKS = ((3, 0.03), (4, 0.001), (2, 0.25), (2, 0.3), (5, 0.5), (8, 1e-9), (2, 2**-10))

ex_13_5 = Exercise(
    "ex_13_5",
    Function(
        "seeds_for_an_order",
        right=least_seeds(lambda n, m: Fraction(1, math.factorial(n) ** (m - 1))),
        cases={
            "all seeds have one order by luck with the chance (1/n!)^(m - 1)": [
                Ask(one, "How many orders are there? Which seeds have to agree with which?")
                for one in LUCKS
            ]
        },
        mistakes={
            **seed_mistakes(math.factorial),
            "n signals have n! orders.": any_of(
                least_seeds(lambda n, m: Fraction(1, n ** (m - 1))),
                least_seeds(lambda n, m: Fraction(1, n**n ** (m - 1))),
                least_seeds(lambda n, m: Fraction(1, (2**n) ** (m - 1))),
            ),
        },
    ),
    Function(
        "seeds_for_a_winner",
        right=least_seeds(lambda n, m: Fraction(1, n ** (m - 1))),
        cases={
            "all seeds have one winner by luck with the chance (1/n)^(m - 1)": [
                Ask(one, "Each of n signals is first with the chance 1/n.") for one in LUCKS
            ]
        },
        mistakes={
            **seed_mistakes(lambda n: n),
            "Only the winner is to be the same; the order of the others does not matter.": (
                least_seeds(lambda n, m: Fraction(1, math.factorial(n) ** (m - 1)))
            ),
        },
    ),
    hints=(
        "Two signals and two seeds: how often do the seeds agree by luck? (Not one in four.)",
        "The first seed may show anything. Each further one agrees with it with the chance 1/n!, "
        "or 1/n.",
        "Count up: the least m with (1/n!)^(m - 1) <= luck.",
    ),
    afterword="Whoever names the winner before the first run needs one seed less.",
)
