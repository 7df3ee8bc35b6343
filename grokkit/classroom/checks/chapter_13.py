"""Checks of the exercises on chapter 13: dates, ranks, agreement, and a signal that is none."""

import math
from fractions import Fraction

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each
from grokkit.classroom.checks.expect import any_of, as_floats, require
from grokkit.diagnostics import half_rise_epoch, kendall_w, measure_transition, midranks

# --- 13.1 when does it happen? ------------------------------------------------------------

EPOCHS = np.array([0, 50, 100, 200, 300, 500, 700, 1000])
"""Records that are not evenly spaced."""


def dated(epochs, values, since):
    """The package's own date."""
    return half_rise_epoch(epochs, values, measure_transition(epochs, values, since))


def moving(cause, *values, since=100):
    return Ask((EPOCHS, np.array(values, dtype=float), since), cause)


RISING = (8.0, 0.0, 1.0, 3.0, 6.0, 8.0, 9.0, 12.0)

ex_13_1 = Exercise.of(
    "half_way",
    right=dated,
    cases={
        "the epoch of the first record at the mark or beyond it": [
            moving("From 2 to 10: the mark is 6.", 9.0, 4.0, 2.0, 3.0, 5.0, 6.0, 9.0, 10.0),
            moving("Down from -1 to -7: -4 or less.", 5, 1, -1, -2, -2.5, -4, -6, -7),
        ],
        "only for good counts": [
            moving("At 200 and 500 it falls back.", 0.0, 9.0, 0.0, 7.0, 3.0, 8.0, 4.9, 10.0)
        ],
        "from the record at `since` on, whichever it is": [
            moving("Its way begins with 0, at epoch 50.", *RISING, since=50),
            moving("Its way begins with 6, at epoch 300.", *RISING, since=300),
        ],
        "a signal that ends where it began goes no way: nan": [
            moving("It goes from 2 to 2.", 0.0, 3.0, 2.0, 5.0, 1.0, 4.0, 3.0, 2.0)
        ],
    },
    hints=(
        "Take a scale on which it is 0 at `since` and 1 at the end: then rising is as falling.",
        '"For good" from behind: which is the *last* record at which it is less than half-way?',
        "The record after that one is the answer; the last record of all is never behind its mark.",
    ),
    afterword="One rule for all signals, stated before anybody looks: that is what makes an order.",
)

# --- 13.2 who was first? ------------------------------------------------------------------

FEW = np.array([[300.0, 100, 200, 900], [5000.0, 8000, 6000, 7000]])
TIES = np.array([[200.0, 100, 200, 300, 200], [100.0, 100, 50, 400, 500]])
LATE = np.array([[math.nan, 100, math.nan, 300]])

ex_13_2 = Exercise.of(
    "rank_signals",
    right=midranks,
    cases={
        "each seed by itself, 1 for the first": [
            Ask((FEW,), "In the first seed the signals come third, first, second and fourth."),
            Ask(lambda d: (100.0 * np.stack([d.order(5).numpy() for _ in range(3)]),)),
        ],
        "signals that come together share the mean of their ranks": [
            Ask((TIES,), "In the first seed three take places 2, 3 and 4: 3 for each.")
        ],
        "those that never arrive share the last ranks": [
            Ask((LATE,), "nan is later than all, and equal to nothing: put infinity for it."),
            Ask((np.array([[200.0, math.nan, 200], [1, 2, 3]]),), "Two together, one last."),
        ],
    },
    mistakes={
        "This is the order (which signal is first, ...), not the rank of each signal.": any_of(
            lambda e: np.argsort(e, axis=1) + 1, lambda e: np.argsort(e, axis=1)
        ),
        "The latest has rank 1; it should be the first.": lambda e: midranks(-e),
    },
    hints=(
        "How many came sooner? That number plus 1 is the rank, if no other came with it.",
        "k signals together after s others have the ranks s + 1, ..., s + k: take their mean.",
        "Put infinity for nan first: two infinities are equal, two nan are not.",
    ),
    afterword="In every seed the ranks of n signals add up to n (n + 1) / 2, ties or not.",
)

# --- 13.3 do five seeds agree? ------------------------------------------------------------


def agreement(ranks, seeds, signals, axis=0):
    spread = ((ranks.sum(axis=axis) - seeds * (signals + 1) / 2) ** 2).sum()
    return 12 * spread / (seeds**2 * (signals**3 - signals))


# Ranks without ties, for different numbers of seeds and signals.
RANKS = (
    np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 3, 4], [4, 1, 2, 3]]),
    np.array([[1, 2, 3], [3, 2, 1], [2, 3, 1], [1, 2, 3]]),
    np.array([[1, 2, 3, 4], [2, 1, 4, 3]]),
)

ex_13_3 = Exercise(
    Function(
        "agreement",
        right=lambda ranks: kendall_w(ranks).w,
        cases={
            "12 S over m^2 (n^3 - n), with m seeds and n signals": [
                Ask((np.array([[2, 1, 3]] * 4),), "One order in all seeds: 1."),
                Ask((np.array([[1, 2, 3, 4], [4, 3, 2, 1]]),), "Opposite orders: 0."),
                *(
                    Ask((r,), "S sums the squares of R_i - m (n + 1) / 2.", atol=1e-9)
                    for r in RANKS
                ),
            ]
        },
        mistakes={
            "R_i are sums over seeds; m counts the seeds, in rows, and n the signals.": any_of(
                lambda r: agreement(r, *r.shape, axis=1),
                lambda r: agreement(r, *r.shape[::-1]),
                lambda r: agreement(r, *r.shape[::-1], axis=1),
            )
        },
    ),
    Function(
        "by_luck",
        right=lambda ranks: kendall_w(ranks).p_value,
        cases={
            "deal the ranks out in all ways; how often is W as large as here, or larger?": [
                Ask(
                    (ranks,),
                    "Exactly, with no random numbers. An equal W counts (allow 1e-9).",
                    rtol=1e-6,
                )
                for ranks in (*RANKS, np.array([[1, 2, 3], [2, 3, 1], [1, 3, 2]]))
            ]
        },
    ),
    hints=(
        "R is `ranks.sum(axis=0)`; if all is luck each entry should be about m (n + 1) / 2.",
        "`itertools.permutations` has the orders of a seed, `itertools.product` all ways to deal.",
        "The chance is the share of ways with W at least as large; allow 1e-9 for equal ones.",
    ),
    afterword="grokkit's kendall_w has the same from sorted rank sums, also with ties.",
)

# --- 13.4 a signal that is none -----------------------------------------------------------

LONG = np.array([0, 50, 100, 500, 1000, 2000, 2400, 4000])


def is_impostor(given, epochs):
    asked = "The impostor is to be an array of numbers, one for each record."
    values = as_floats(given, epochs.shape, asked)
    when = dated(epochs, values, 100)
    require(not math.isnan(when), "It ends where it was at epoch 100: a signal must go some way.")
    late = "It is half-way too late: something that slows down is earlier."
    require(when <= 0.6 * epochs[-1], late, when, f"{0.6 * epochs[-1]:.0f} or less")


def verdict(epochs, runs, controls, since):
    at = list(epochs).index(since)
    share = (controls[:, -1] - controls[:, at]) / (runs[:, -1] - runs[:, at])
    yes = (share < 0.5).sum()
    return "signal" if yes >= 4 else "no signal" if yes <= 1 else "undecided"


def goes(cause, run, *control):
    """Five seeds that move so far from epoch 100 on; controls begin elsewhere."""

    def moved(distances, start):
        share = np.clip((LONG - 100) / (LONG[-1] - 100), 0, 1)
        values = start + np.broadcast_to(distances, 5)[:, None] * share
        values[:, LONG < 100] = 50.0
        return values

    return Ask((LONG, moved(run, 3.0), moved(control, 20.0 + sum(control)), 100), cause)


ex_13_4 = Exercise(
    Function(
        "impostor",
        judge=is_impostor,
        cases={
            "the impostor is half-way before the unseen pairs": each(
                (LONG,), (np.arange(0, 9001, 50),)
            )
        },
    ),
    Function(
        "verdict",
        right=verdict,
        cases={
            "a seed says yes if the control goes less than half as far as the run": [
                goes("The control hardly moves.", -2.0, -0.1, 0.0, -0.3, 0.2, -0.5),
                goes("The control goes as far.", 4.0, 4.0, 3.0, 5.0, 2.5, 4.5),
                goes("It goes the other way, which is fine.", -2.0, 2.5, 1.5, 3.0, 2.0, 4.0),
                goes("Just half as far is not *less* than half.", 2.0, 1.0),
                goes("0.49 as far is less than half.", 2.0, 0.98),
            ],
            "four of five decide": [
                goes("Four say yes.", 6.0, 0.0, 0.5, 5.0, 1.0, 2.0),
                goes("Four say no.", 6.0, 5.0, 6.0, 1.0, 4.0, 7.0),
                goes("Three say yes, two no.", 6.0, 0.0, 0.5, 5.0, 1.0, 4.0),
                goes("Two say yes, three no.", 6.0, 0.0, 5.5, 5.0, 1.0, 4.0),
            ],
            "each seed is compared with its own control": [
                goes("0.8 is far for four seeds, near for one.", [1.0, 1.0, 1.0, 1.0, 30.0], 0.8)
            ],
        },
    ),
    hints=(
        "What goes up by itself, all the time, and is half-way before late events?",
        "`runs[:, -1] - runs[:, start]` is how far each goes, signed. Divide the control's by it.",
        "Count the yeses: 4 or 5 are a signal, 0 or 1 none.",
    ),
    afterword="Nothing in the order of events tells a clock from a cause. A control does.",
)

# --- 13.5 how many seeds must agree? ------------------------------------------------------


def least_seeds(chance):
    """The least m with chance(n, m) <= luck, in fractions."""
    return lambda n, luck: next(m for m in range(1, 200) if chance(n, m) <= Fraction(luck))


def order(n, m):
    """The chance that m seeds show the same order."""
    return Fraction(1, math.factorial(n) ** (m - 1))


def winner(n, m):
    """The chance that m seeds show the same winner."""
    return Fraction(1, n ** (m - 1))


LUCKS = [
    Ask((3, 0.03), "Which seeds have to agree with which?"),
    Ask((4, 0.001), "Which seeds have to agree with which?"),
    Ask((2, 0.25), "A chance of exactly `luck` is enough."),
    Ask((2, 0.3), "With two seeds of two signals the chance is 1/2."),
    Ask((5, 0.5), "One seed alone agrees with itself with the chance 1."),
    Ask((8, 1e-9), "A whole number is asked for: round up."),
    Ask((2, 2**-10), "A chance of exactly `luck` is enough, whatever rounding says."),
]
FIRST = "The first seed may show anything: only the others have to agree with it."

ex_13_5 = Exercise(
    Function(
        "seeds_for_an_order",
        right=least_seeds(order),
        cases={"all seeds have one of n! orders by luck with the chance (1/n!)^(m - 1)": LUCKS},
        mistakes={FIRST: least_seeds(lambda n, m: order(n, m + 1))},
    ),
    Function(
        "seeds_for_a_winner",
        right=least_seeds(winner),
        cases={"all seeds have one of n winners by luck with the chance (1/n)^(m - 1)": LUCKS},
        mistakes={
            FIRST: least_seeds(lambda n, m: winner(n, m + 1)),
            "Only the winner is to be the same; the order of the others does not matter.": (
                least_seeds(order)
            ),
        },
    ),
    hints=(
        "Two signals and two seeds: how often do the seeds agree by luck? (Not one in four.)",
        "The first may show anything. Each further one agrees with the chance 1/n!, or 1/n.",
        "Count up: the least m with (1/n!)^(m - 1) <= luck.",
    ),
    afterword="Whoever names the winner before the first run needs one seed less.",
)
