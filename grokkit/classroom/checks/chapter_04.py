"""Checks of the exercises on chapter 04: powers of the loss, exact losses, ways to starve."""

import math
from functools import partial

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from grokkit import theory
from grokkit.classroom.checks.common import LOG_FITS, MATRIX_NORMS, least_squares, parts, spectral
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, Value, each, mistaken
from grokkit.classroom.checks.expect import any_of, require

# --- 4.1 with which power? ----------------------------------------------------------------


def records(d, accuracy=(0.4, 0.95, 0.985, 0.99, 1.0, 1.0, 0.992), zero=False):
    """Losses, gradients around a power of them, accuracies; one gradient rounded to 0 if asked."""
    loss = np.exp(-2 * d.above(len(accuracy)).double().numpy() - 1)
    gradient = 0.3 * loss ** d.one(0.4, 1.2) * np.exp(0.3 * d.numbers(len(loss)).double().numpy())
    if accuracy[0] < 0.99:
        gradient[:3] = 1 / gradient[:3]
    if zero:
        loss[-1], gradient[-1] = 1e-9, 0.0
    return loss, gradient, np.array(accuracy)


def power(loss, gradient, accuracy, fit=least_squares, known=lambda accuracy: accuracy >= 0.99):
    """The slope through the logarithms of the records kept."""
    kept = known(accuracy) & (gradient > 0)
    return fit(np.log(loss[kept]), np.log(gradient[kept]))[0]


ex_4_1 = Exercise.of(
    "power_of_loss",
    right=power,
    cases={
        "it is the slope of log gradient over log loss": Ask(
            lambda d: records(d, [1.0] * 5), "Fit a line to both logarithms of all five records."
        ),
        "records from before memorising do not count": Ask(
            records, "Four records have an accuracy of at least 0.99, one of them just so."
        ),
        "a gradient that was rounded to 0 is left out": Ask(
            lambda d: records(d, [1.0, 0.99, 1.0, 1.0, 1.0], zero=True),
            "Leave the record with the gradient 0 out; do not put a small number in its place.",
        ),
    },
    mistakes=mistaken(
        power,
        fit=LOG_FITS,
        known={
            "Records with an accuracy below 0.99 are in it.": any_of(
                lambda accuracy: accuracy > 0, lambda accuracy: accuracy > 0.98
            ),
            "A record with an accuracy of exactly 0.99 counts as well.": any_of(
                lambda accuracy: accuracy > 0.99, lambda accuracy: accuracy == 1
            ),
        },
    ),
    hints=(
        "Choose the records first: a bool array, two conditions joined with `&`.",
        "`np.polyfit(x, y, 1)` gives slope and intercept of the line of least squares.",
        "x is the logarithm of the loss and y that of the gradient, both of the chosen records.",
    ),
    afterword="Lesson 04 measures it on five recorded runs.",
)

# --- 4.2 a loss that is exact at both ends ------------------------------------------------


def ahead(z, y):
    """z_c - z_y of the other classes, -inf for the right one."""
    own = y[:, None]
    return (z - z.gather(1, own)).scatter(1, own, -torch.inf)


def some_logits(d, scale=1.0, winner=0.0):
    """Logits with targets; the right one, or with a negative `winner` another one, far ahead."""
    logits, targets = scale * d.numbers(4, 3), d.whole(0, 2, 4)
    logits[range(4), targets] += winner
    return logits, targets


ex_4_2 = Exercise.of(
    "exact_cross_entropy",
    right=lambda z, y: theory.cross_entropy(z.double().numpy(), y.numpy()),
    cases={
        "it is log(1 + S) for each example": Ask(
            some_logits, "Of each row: subtract the right logit, sum the other e^, take log1p."
        ),
        "it stays exact where the right class is far ahead": each(
            *(lambda d, winner=winner: some_logits(d, 2.0, winner) for winner in (25.0, 65.0)),
            cause="Nowhere write down 1 + S, or a probability near 1: use log1p.",
            mistakes={
                "They are rounded to 0, and float64 would only be later: use log1p.": any_of(
                    partial(cross_entropy, reduction="none"),
                    lambda z, y: cross_entropy(z.double(), y, reduction="none"),
                    lambda z, y: -z.softmax(1).gather(1, y[:, None])[:, 0].log(),
                )
            },
            rtol=1e-4,
            atol=0.0,
        ),
        "it stays finite where a wrong class is far ahead": each(
            *(lambda d, winner=winner: some_logits(d, 1.0, winner) for winner in (-200, -1150)),
            cause="S is e^200 or more: take its logarithm without computing it (logsumexp).",
        ),
    },
    mistakes={
        "The right class is in the sum S; it is about the other classes.": lambda z, y: (
            (z - z.gather(1, y[:, None])).exp().sum(1).log1p()
        ),
        "This is S, or log S; the loss is log(1 + S).": any_of(
            lambda z, y: ahead(z, y).exp().sum(1), lambda z, y: ahead(z, y).logsumexp(1)
        ),
    },
    hints=(
        "Subtract the right logit (`gather`); -inf in its place (`scatter`) has the exponential 0.",
        "`logsumexp` of that is s = log S, without overflow. What is left is log(1 + e^s).",
        "For s below 0 use `log1p`. For s above 0 write log(1 + e^s) as s + log(1 + e^-s).",
    ),
    afterword="grokkit.model.cross_entropy is this, with an exact gradient.",
)

# --- 4.3 what a score hears ---------------------------------------------------------------


def offset(alpha, values):
    return values - alpha @ values


def wrong(loss):
    return -math.expm1(-loss)


def bound(
    loss,
    alpha,
    values,
    w_1,
    w_2,
    reach=lambda alpha, values: alpha * offset(alpha, values).norm(dim=1),
    norm=spectral,
    error=wrong,
    root=2**0.5,
):
    return reach(alpha, values) * norm(w_1) * norm(w_2) * root * error(loss)


def a_sequence(d, loss):
    return loss, d.shares(3), d.numbers(3, 2), d.numbers(2, 5), d.numbers(5, 4)


ex_4_3 = Exercise(
    Function(
        "score_gradient",
        right=lambda a, v, g: a * (offset(a, v) @ g),
        cases={
            "the gradient is alpha_j (v_j - h) . g": Ask(
                lambda d: (d.shares(4), d.numbers(4, 3), d.numbers(3)),
                "How does each share change if the score j is raised a little?",
            )
        },
        mistakes={
            "h is missing: more attention on j takes some from all others.": any_of(
                lambda a, v, g: a * (v @ g), lambda a, v, g: a * (1 - a) * (v @ g)
            ),
            "alpha_j is missing: a position without attention hears nothing.": lambda a, v, g: (
                offset(a, v) @ g
            ),
            "This is the gradient for the attention, not for the scores: the softmax is missing.": (
                lambda a, v, g: v @ g
            ),
        },
    ),
    Function(
        "linear_bound",
        right=bound,
        cases={
            "the bound is alpha_j |v_j - h| L_f sqrt(2) (1 - e^-L)": Ask(
                lambda d: a_sequence(d, d.one(0.3, 1.5)),
                "How far h would move, times what is passed on, times how wrong the answer can be.",
            ),
            "the bound keeps its digits for a tiny loss": Ask(
                lambda d: a_sequence(d, 1e-14),
                "1 - e^-L is a difference of two numbers near 1, and loses its digits: use expm1.",
                rtol=1e-4,
                atol=0.0,
            ),
        },
        mistakes=mistaken(
            bound,
            norm=MATRIX_NORMS,
            error={
                "This is Pinsker's form, with sqrt(2 L); the linear one is sharper.": math.sqrt,
                "1 - e^-L is replaced by L, which is near it for small losses only.": float,
            },
            root={"sqrt(2) is missing: softmax - onehot has more than one entry.": 1},
            reach={
                "alpha_j is missing.": lambda a, v: offset(a, v).norm(dim=1),
                "h is missing: it is the length of v_j - h.": lambda a, v: a * v.norm(dim=1),
            },
        ),
    ),
    hints=(
        "More attention on j means less on all others: h moves from where it is towards v_j.",
        "dh/dl_j = alpha_j (v_j - h). Then take the dot product with g, for every position.",
        "The bound has lengths: alpha_j |v_j - h|, L_f, the longest that softmax - onehot can be.",
        "sqrt(2) (1 - e^-L); `torch.expm1` keeps its digits for a small loss.",
    ),
    afterword="grokkit.theory.score_gradient_bound_linear is the same for whole batches.",
)

# --- 4.4 four ways to be deaf -------------------------------------------------------------

TINY, ALIVE = 1e-4, 0.1


def deaf(name, tiny=None):
    """A judge of one network: one factor is tiny, or none; the others are not."""

    def judge(network):
        asked = f"{name} is a tuple (scores, values, W) of tensors [3], [3, 2] and [2, 3]."
        scores, values, w = parts(network, [(3,), (3, 2), (2, 3)], asked)
        alpha = theory.softmax(scores)
        error = theory.softmax(alpha @ values @ w) - np.array([1.0, 0.0, 0.0])
        along = alpha[0] * (values[0] - alpha @ values)
        sizes = np.linalg.norm(error), np.linalg.norm(w, 2), np.linalg.norm(along)
        factors = dict(zip(("the error", "what is passed on", "the reach"), sizes, strict=True))
        shown = {"gradient": along @ w @ error, **factors}
        for factor, size in factors.items():
            fits, asked = size > ALIVE, f"{factor} above {ALIVE:g}"
            cause = f"In {name} {factor} has to be alive, or it could silence the gradient."
            if factor == tiny:
                fits, asked = size < TINY, f"{factor} below {TINY:g}"
                cause = f"In {name} it is {factor} that is to be tiny."
            require(fits, cause, shown, asked)
        more = "Make the factor smaller." if tiny else "Turn what would move across what W sees."
        cause = f"The gradient is alive. {more}"
        require(abs(shown["gradient"]) < TINY, cause, shown, f"a gradient below {TINY:g}")

    return judge


ex_4_4 = Exercise(
    Value("no_error", {"an answer without error is deaf": deaf("no_error", "the error")}),
    Value("no_passing", {"so is a W without size": deaf("no_passing", "what is passed on")}),
    Value("no_reach", {"so is a position without attention": deaf("no_reach", "the reach")}),
    Value("no_match", {"and so is one with all three factors alive": deaf("no_match")}),
    hints=(
        "`starved(network)` gives the gradient and the three factors of whatever you try.",
        "A large logit of class 0 is no error; a small W passes nothing on; a low score no reach.",
        "No match: let the values differ in one coordinate, and W look at the other one.",
    ),
    afterword="So a small gradient of the scores has four possible causes. Look which it is.",
)

# --- 4.5 how small can an error be? -------------------------------------------------------


def ends(loss, c, least=lambda c: c / (c - 1), most=2.0, wrong=wrong):
    """Both ends: roots of these, times what is wrong."""
    return wrong(loss) * math.sqrt(least(c)), wrong(loss) * math.sqrt(most)


def reaches_both(given, loss, classes):
    both = parts(given, [(classes,)] * 2, f"Two tensors of {classes} logits are asked for.")
    for logits, wanted in zip(both, ends(loss, classes), strict=True):
        found = float(theory.cross_entropy(logits[None], np.array([0]))[0])
        cause = "The loss is not the one given: how far ahead is the right class?"
        require(abs(found - loss) < 1e-4 * loss, cause, found, f"{loss:g}")
        error = np.linalg.norm(theory.softmax(logits) - np.eye(classes)[0])
        cause = "How must the wrong classes share what the right one has not?"
        require(abs(error - wanted) < 1e-3 * wanted, cause, error, f"an error of {wanted:.4g}")


ex_4_5 = Exercise(
    Function(
        "error_ends",
        right=ends,
        cases={
            "both ends are linear in 1 - e^-L": [
                Ask(lambda d: (d.one(0.2, 2), 4), "The wrong classes share 1 - e^-L."),
                Ask((1e-12, 5), "1 - e^-L loses its digits: use expm1.", rtol=1e-4, atol=0.0),
            ]
        },
        mistakes=mistaken(
            ends,
            least={
                "The right class is missing: the error has -(1 - e^-L) there.": lambda c: (
                    1 / (c - 1)
                ),
                "At the least C - 1 wrong classes share evenly what the right one misses.": any_of(
                    lambda c: 1 + 1 / c, lambda c: 1 / c, lambda c: 0, lambda c: 1
                ),
            },
            wrong={
                "This is Pinsker's, with the root of the loss; both ends are linear.": math.sqrt,
                "L stands where 1 - e^-L belongs.": float,
            },
        ),
    ),
    Function(
        "at_the_ends",
        judge=reaches_both,
        cases={
            "there are logits that reach both": each(
                (0.7, 4), (0.01, 10), (3.0, 3), lambda d: (d.one(0.1, 2), 6)
            )
        },
    ),
    hints=(
        "The right class has the probability e^-L. What does the error have at its place?",
        "The other C - 1 classes share 1 - e^-L. When is the sum of their squares least, or most?",
        "One wrong class alone needs z_0 - z_1 = -log(e^L - 1); C - 1 equal ones log(C - 1) more.",
    ),
    afterword="So the error, unlike the attention's gradient, cannot starve before the loss does.",
)
