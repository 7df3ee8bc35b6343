"""Checks of the exercises on chapter 14: a fair score, a likelihood, and four moments."""

import math

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Value
from grokkit.classroom.checks.expect import as_array, require
from grokkit.operators import GaussianLaw, crps

# --- 14.1 a fair score --------------------------------------------------------------------


def scored(draws, y, pairs=lambda n: n * (n - 1), share=0.5, size=torch.abs):
    """The score with another number of pairs, share of the second mean, or distance."""
    own = size(draws[:, None] - draws).sum() / pairs(len(draws))
    return size(draws - y).mean() - share * own


ex_14_1 = Exercise.of(
    "fair_crps",
    right=lambda draws, y: crps(draws.view(1, -1, 1), torch.full((1, 1, 1), y).to(draws)),
    cases={
        "two draws, 1.5 apart, around the value": Ask(
            (torch.tensor([1.0, 2.5]), 2.0),
            "They are 1 and 0.5 from the value, and the one pair is 1.5 apart: 0.75 - 1.5 / 2.",
        ),
        "several draws": Ask(
            lambda d: (d.numbers(5), d.one(-2, 2)),
            "The mean distance to y, less half of the mean distance of two different draws.",
        ),
    },
    mistakes={
        "A draw is paired with itself: n draws have n (n - 1) pairs of different ones.": (
            lambda draws, y: scored(draws, y, pairs=lambda n: n * n)
        ),
        "Half of the second mean is taken away, not all of it.": (
            lambda draws, y: scored(draws, y, share=1.0)
        ),
        "The spread is added. It is taken away, so that an honest width is no loss.": (
            lambda draws, y: scored(draws, y, share=-0.5)
        ),
        "This is the mean error alone: the draws' distance from each other is missing.": (
            lambda draws, y: scored(draws, y, share=0.0)
        ),
        "Distances are absolute values here, not squares.": (
            lambda draws, y: scored(draws, y, size=torch.square)
        ),
    },
    hints=(
        "`draws[:, None] - draws` is the table of all differences, [draw, draw].",
        "Its diagonal is 0 and does no harm to a sum. By how many entries do you divide?",
    ),
    afterword="So an ensemble of four and one of four hundred can be compared.",
)

# --- 14.2 a likelihood without the large matrix -------------------------------------------


def likelihood(rest, factor, nugget, constant=1, sign=-1, places=1, log_det=1):
    """The log-density with one term changed."""
    r, n = factor.shape
    inner = torch.eye(r, dtype=rest.dtype) + factor @ factor.T / nugget
    w = factor @ rest / nugget
    squares = rest @ rest / nugget + sign * w @ torch.linalg.solve(inner, w)
    size = log_det * torch.logdet(inner) + places * n * math.log(nugget)
    return -(squares + size + constant * n * math.log(2 * math.pi)) / 2


def exact(rest, factor, nugget):
    """The package's own log-density."""
    law = GaussianLaw(
        torch.zeros_like(rest)[None], factor[None], torch.full_like(rest, nugget)[None]
    )
    return law.log_density(rest[None, None])[0, 0]


ex_14_2 = Exercise.of(
    "log_density",
    right=exact,
    cases={
        "one factor on two places": Ask(
            (torch.tensor([1.0, -0.5]), torch.tensor([[0.6, 0.3]]), 0.5),
            "C is [[0.86, 0.18], [0.18, 0.59]] here.",
        ),
        "two factors on five places": Ask(
            lambda d: (d.numbers(5), d.numbers(2, 5), d.one(0.2, 0.9)), "K is 2 x 2 and n is 5."
        ),
    },
    mistakes={
        "n log(2 pi) is missing.": lambda *a: likelihood(*a, constant=0),
        "The inner term of the square is taken away: factors make a field more likely.": (
            lambda *a: likelihood(*a, sign=1)
        ),
        "n log d is missing from log det C.": lambda *a: likelihood(*a, places=0),
        "d counts for each of the n places, not once.": (
            lambda y, b, d: likelihood(y, b, d, places=1 / b.shape[1])
        ),
        "log det K is missing from log det C.": lambda *a: likelihood(*a, log_det=0),
        "The inner term of the square is missing.": lambda *a: likelihood(*a, sign=0),
    },
    hints=(
        "Four terms: the square over d, the small square, log det C, and n log(2 pi).",
        "The inverse of K is not needed: `torch.linalg.solve` gives K^-1 w.",
        "`torch.logdet` of an r x r matrix; n log d comes in addition.",
    ),
    afterword="The same lines train the MNO of the lesson, for 64 fields at once.",
)

# --- 14.3 four moments, and not the law ---------------------------------------------------

MOMENTS = ((1, 0, 0.01), (2, 1, 0.01), (3, 0, 0.01), (4, 3, 0.1))
"""Which moment, what it is of the normal law, and how near it is to be."""


def numbers(impostor):
    """The numbers that are given."""
    array = as_array(impostor)
    there = array is not None and array.ndim == 1 and 10 <= array.size <= 10_000
    require(there, "10 to 10,000 numbers in one row are asked for.", impostor)
    array = np.asarray(array, dtype=float)
    require(bool(np.isfinite(array).all()), "A number is not finite.", impostor)
    return array


def moments_of_a_normal(impostor):
    array = numbers(impostor)
    for power, want, near in MOMENTS:
        got = float((array**power).mean())
        require(abs(got - want) <= near, f"The mean of x^{power} is to be {want}.", got, str(want))


def empty_middle(impostor):
    least = float(np.abs(numbers(impostor)).min())
    require(least >= 0.75, "A number lies between -0.75 and 0.75.", least, "0.75 or more")


ex_14_3 = Exercise(
    Value(
        "impostor",
        {
            "its first four moments are those of the normal law": moments_of_a_normal,
            "nothing lies in the middle": empty_middle,
        },
    ),
    hints=(
        "Let every number come with its negative. Which moments are then right without more?",
        "What is left concerns x^2: its mean is 1 and its mean square 3. So its variance is 2.",
        "Two values of x^2 are enough: one a little below 1, often, and one of 5 or more, seldom.",
    ),
    afterword="A law is more than its moments; a score of the whole law would have told you.",
)
