"""Checks of the exercises on chapter 04: powers of the loss, exact losses, ways to starve."""

import math

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import as_array, expect, require

# --- 4.1 with which power? ----------------------------------------------------------------

ex_4_1 = Exercise(
    "ex_4_1",
    answers=("power_of_loss",),
    hints=(
        "Choose the records first: a bool array, two conditions joined with `&`.",
        "`np.polyfit(x, y, 1)` gives slope and intercept of the line of least squares.",
        "x is the logarithm of the loss and y that of the gradient, both of the chosen records.",
    ),
    afterword="Lesson 04 measures it on five recorded runs.",
)

# Records whose points lie around a line of slope 0.7, not on it.
LOSS = np.array([0.5, 0.1, 0.02, 0.04, 0.001])
GRADIENT = 0.3 * LOSS**0.7 * np.array([1.2, 0.9, 1.1, 0.8, 1.05])
KNOWN = np.ones(5)


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of the line of least squares."""
    return float(np.polyfit(x, y, 1)[0])


@ex_4_1.property("it is the slope of log gradient over log loss")
def _(power):
    x, y = np.log(LOSS), np.log(GRADIENT)
    expect(
        power(LOSS, GRADIENT, KNOWN),
        slope(x, y),
        cause="All five records count here. Take both logarithms, and fit a straight line to all "
        "points.",
        mistakes={
            "The axes are the wrong way round: the gradient as a function of the loss.": slope(
                y, x
            ),
            "No logarithms were taken: this is the slope of the gradient over the loss.": slope(
                LOSS, GRADIENT
            ),
            "Only the gradient's logarithm was taken; the loss needs one as well.": slope(LOSS, y),
            "The intercept came back; the slope is the other number.": float(
                np.polyfit(x, y, 1)[1]
            ),
            "Slope and intercept came back; only the slope is asked for.": np.polyfit(x, y, 1),
            "Only the first and the last record were used; fit all of them.": (
                (y[-1] - y[0]) / (x[-1] - x[0])
            ),
            "The line was forced through the origin; it has an intercept, log C.": (
                (x * y).sum() / (x * x).sum()
            ),
        },
    )


@ex_4_1.property("records from before memorising do not count")
def _(power):
    loss = np.array([3.0, 2.0, 1.0, 0.1, 0.01, 0.001])
    gradient = np.array([0.001, 0.02, 0.9, 0.05, 0.005, 0.0005])
    known = np.array([0.1, 0.4, 0.9, 0.99, 1.0, 1.0])
    x, y = np.log(loss), np.log(gradient)
    expect(
        power(loss, gradient, known),
        1.0,
        cause="Three records have an accuracy of at least 0.99.",
        mistakes={
            "Records with an accuracy below 0.99 are in it.": slope(x, y),
            "Records with an accuracy below 0.99 are in it: is the threshold 0.9?": slope(
                x[2:], y[2:]
            ),
            "A record with exactly 0.99 counts as well.": slope(x[4:], y[4:]) + 1e-3,
            "The records from before memorising were taken, and the others left out.": slope(
                x[:3], y[:3]
            ),
        },
    )


@ex_4_1.property("a gradient that was rounded to 0 is left out")
def _(power):
    loss = np.array([1.0, 0.1, 0.01, 1e-9])
    expect(
        power(loss, np.array([2.0, 0.2, 0.02, 0.0]), np.ones(4)),
        1.0,
        cause="The last record has the gradient 0; the logarithm of 0 spoils the fit. Leave it "
        "out, and do not put a small number in its place.",
        mistakes={
            "The logarithm of a gradient of 0 is in it, which makes nan: leave that record "
            "out.": math.nan,
        },
    )


# --- 4.2 a loss that is exact at both ends ------------------------------------------------

ex_4_2 = Exercise(
    "ex_4_2",
    answers=("exact_cross_entropy",),
    hints=(
        "Subtract the right logit from all logits (`gather`), and take the right class out of "
        "the sum: -inf in its place (`scatter`) has the exponential 0.",
        "`logsumexp` of that is s = log S, without overflow. What is left is log(1 + e^s).",
        "For s below 0 use `log1p`. For s above 0 write log(1 + e^s) as s + log(1 + e^-s).",
    ),
    afterword="grokkit.model.cross_entropy is this, with an exact gradient.",
)

MIXED = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]])


@ex_4_2.property("it is log(1 + S) for each example")
def _(loss):
    targets = torch.tensor([2, 1])
    right = theory.cross_entropy(MIXED.double().numpy(), targets.numpy())
    s = np.expm1(right)
    expect(
        loss(MIXED, targets),
        right,
        cause="For each row: subtract the right logit, sum the exponentials of the others, log1p.",
        mistakes={
            "One loss for each example is asked for; this is their mean.": right.mean(),
            "One loss for each example is asked for; this is their sum.": right.sum(),
            "The right class is in the sum S; it is about the other classes.": np.log1p(s + 1),
            "This is log S; the 1 is missing.": np.log(s),
            "This is S; its log1p is missing.": s,
            "The difference has the wrong sign: it is z_c - z_y.": np.log1p(
                [math.exp(-1.5) + math.exp(1.5), math.exp(3) + math.exp(2)]
            ),
        },
    )


@ex_4_2.property("it stays exact where the right class is far ahead, in float32")
def _(loss):
    logits = torch.tensor([[0.0, 20.0, 1.0], [30.0, 0.0, 0.0], [0.0, 0.0, 60.0]])
    targets = torch.tensor([1, 0, 2])
    right = theory.cross_entropy(logits.double().numpy(), targets.numpy())
    wide = torch.nn.functional.cross_entropy(logits.double(), targets, reduction="none")
    expect(
        loss(logits, targets),
        right,
        rtol=1e-4,
        atol=0.0,
        cause="These losses are far below 1e-7: 1 + S must not be written anywhere, nor the "
        "logarithm of a probability near 1 be taken.",
        mistakes={
            "Float64 moves the wall, it does not take it away: at a margin of 60 its 1 + S is 1 as "
            "well. Use log1p.": wide,
            "They are all rounded to 0: somewhere 1 + S, or a probability near 1, is written "
            "down. Use log1p.": torch.nn.functional.cross_entropy(
                logits, targets, reduction="none"
            ),
            "The probability of the right class is rounded to 1 before its logarithm is "
            "taken.": -logits.softmax(dim=1).gather(1, targets[:, None])[:, 0].log(),
        },
    )


@ex_4_2.property("it stays finite where a wrong class is far ahead")
def _(loss):
    logits = torch.tensor([[0.0, 200.0], [-150.0, 1000.0]])
    expect(
        loss(logits, torch.tensor([0, 0])),
        torch.tensor([200.0, 1150.0]),
        cause="Here S is e^200: take its logarithm without computing it (logsumexp).",
        mistakes={
            "e^200 is more than float32 can hold: take the logarithm of S without computing S "
            "(logsumexp).": torch.tensor([math.inf, math.inf]),
            "e^1150 is more than float64 can hold, too: use logsumexp.": torch.tensor(
                [200.0, math.inf]
            ),
            "Something is clamped: the loss has no largest value.": torch.tensor([88.0, 88.0]),
        },
    )


# --- 4.3 what a score hears ---------------------------------------------------------------

ex_4_3 = Exercise(
    "ex_4_3",
    answers=("score_gradient", "linear_bound"),
    hints=(
        "More attention on j means less on all others: h moves from where it is towards v_j.",
        "dh/dl_j = alpha_j (v_j - h). Then take the dot product with g, for every position.",
        "The bound replaces directions by lengths: alpha_j |v_j - h|, times L_f, times the "
        "longest that softmax - onehot can be.",
        "sqrt(2) (1 - e^-L); `torch.expm1` keeps its digits for a small loss.",
    ),
    afterword="grokkit.theory.score_gradient_bound_linear is the same for whole batches.",
)

# alpha is not uniform, h is not 0, and there are 3 positions for 2 coordinates.
ALPHA = torch.tensor([0.5, 0.2, 0.3])
VALUES = torch.tensor([[1.0, 2.0], [-3.0, 0.5], [0.0, -1.0]])
G = torch.tensor([0.7, -0.4])
OFFSET = VALUES - ALPHA @ VALUES


@ex_4_3.property("the gradient is alpha_j (v_j - h) . g")
def _(gradient, _bound):
    expect(
        gradient(ALPHA, VALUES, G),
        ALPHA * (OFFSET @ G),
        cause="Derive dh/dl_j: how does each share change if the score j is raised a little?",
        mistakes={
            "h is missing: more attention on j takes some from all others.": ALPHA * (VALUES @ G),
            "alpha_j is missing: a position without attention hears nothing.": OFFSET @ G,
            "This is the gradient for the attention, not for the scores: the softmax is "
            "missing.": VALUES @ G,
            "The sizes are multiplied; g and v - h are vectors, take their dot product.": (
                ALPHA * OFFSET.norm(dim=1) * G.norm()
            ),
            "The diagonal alone: raising one score changes all shares.": (
                ALPHA * (1 - ALPHA) * (VALUES @ G)
            ),
            "The mean of all values is taken for h; it is the mean by attention.": (
                ALPHA * ((VALUES - VALUES.mean(dim=0)) @ G)
            ),
        },
    )


@ex_4_3.property("the bound is alpha_j |v_j - h| L_f sqrt(2) (1 - e^-L)")
def _(_gradient, bound):
    loss = 0.5
    reach = ALPHA * OFFSET.norm(dim=1)
    w_1, w_2, l_f = W_1, W_2, 6.0
    error = math.sqrt(2) * (1 - math.exp(-loss))
    frobenius = torch.linalg.matrix_norm(w_1) * torch.linalg.matrix_norm(w_2)
    expect(
        bound(loss, ALPHA, VALUES, w_1, w_2),
        reach * l_f * error,
        cause="Three factors for each position: how far h would move, what the MLP passes on at "
        "most (largest singular values 3 and 2), how wrong the answer can be at this loss.",
        mistakes={
            "This is the form by position with Pinsker's sqrt(2 L); the linear one is "
            "sharper.": reach * l_f * math.sqrt(2 * loss),
            "The matrix norm is Frobenius'; the largest singular value is matrix_norm(W, 2).": reach
            * frobenius
            * error,
            "sqrt(2) is missing: softmax - onehot has more than one entry.": (
                reach * l_f * (1 - math.exp(-loss))
            ),
            "1 - e^-L is replaced by L, which is near it for small losses only.": (
                reach * l_f * math.sqrt(2) * loss
            ),
            "alpha_j is missing.": OFFSET.norm(dim=1) * l_f * error,
            "h is missing: it is the length of v_j - h.": (
                ALPHA * VALUES.norm(dim=1) * l_f * error
            ),
            "One number came back; the bound is one for each position.": (
                reach * l_f * error
            ).max(),
            "The two matrices' norms are added; L_f is their product.": reach * 5 * error,
        },
    )


@ex_4_3.property("the bound keeps its digits for a tiny loss")
def _(_gradient, bound):
    loss = 1e-14
    reach = ALPHA * OFFSET.norm(dim=1)
    expect(
        bound(loss, ALPHA, VALUES, W_1, W_2),
        reach * 6 * math.sqrt(2) * loss,
        rtol=1e-4,
        atol=0.0,
        cause="1 - e^-L is a difference of two numbers near 1, and loses its digits: use expm1.",
    )


# Largest singular values 3 and 2, Frobenius norms 3.61 and 2.24.
W_1 = torch.tensor([[3.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
W_2 = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


# --- 4.4 four ways to be deaf -------------------------------------------------------------

ex_4_4 = Exercise(
    "ex_4_4",
    answers=("no_error", "no_passing", "no_reach", "no_match"),
    hints=(
        "`starved(network)` gives the gradient and the three factors of whatever you try.",
        "No error: make the logit of class 0 large. Nothing passed on: a small W. No reach: hardly "
        "any attention on the first position, that is, a low score.",
        "No match: let the values differ in one coordinate, and W look at the other one.",
    ),
    afterword="So a small gradient of the scores has four possible causes. Look which it is.",
)

SMALL, LARGE = 1e-4, 0.1
WAYS = ("no_error", "no_passing", "no_reach", "no_match")
FACTORS = ("the error", "what is passed on", "the reach")


def _way(number: int):
    """The property that one of the four networks must have."""

    def test(*networks):
        name = WAYS[number]
        gradient, *factors = _starved(name, networks[number])
        shown = dict(zip(("gradient", *FACTORS), (gradient, *factors), strict=True))
        for i, (factor, size) in enumerate(zip(FACTORS, factors, strict=True)):
            if i == number:
                require(
                    size < SMALL,
                    f"In {name} it is {factor} that is to be tiny.",
                    got=shown,
                    want=f"{factor} below {SMALL:g}",
                )
            else:
                require(
                    size > LARGE,
                    f"In {name} {factor} has to be alive; it is too small, so it could be what "
                    "silences the gradient.",
                    got=shown,
                    want=f"{factor} above {LARGE:g}",
                )
        require(
            abs(gradient) < SMALL,
            "All factors are as asked for, and the gradient is alive. Turn what would move across "
            "what W sees."
            if number == 3
            else "The gradient is alive: make the factor smaller.",
            got=shown,
            want=f"a gradient below {SMALL:g}",
        )

    return test


for number, statement in enumerate(
    (
        "an answer without error is deaf, with the rest alive",
        "a matrix that passes nothing on is deaf, with a large error",
        "a position without attention is deaf, with a large error",
        "and so is one with all three factors alive",
    )
):
    ex_4_4.property(statement, looks_at=(number,))(_way(number))


def _starved(name: str, network) -> tuple[float, float, float, float]:
    """The gradient of the first score, and its three factors."""
    parts = [as_array(part) for part in network] if isinstance(network, tuple | list) else []
    shapes = [None if part is None else part.shape for part in parts]
    require(
        shapes == [(3,), (3, 2), (2, 3)],
        f"{name} is a tuple (scores, values, W) of tensors [3], [3, 2] and [2, 3].",
        got=network,
    )
    scores, values, w = (np.asarray(part, dtype=float) for part in parts)
    require(
        all(np.isfinite(part).all() for part in (scores, values, w)),
        f"{name} has an entry that is no finite number.",
        got=network,
    )
    alpha = theory.softmax(scores)
    h = alpha @ values
    error = theory.softmax(h @ w) - np.array([1.0, 0.0, 0.0])
    along = alpha[0] * (values[0] - h)
    return (
        float(along @ w @ error),
        float(np.linalg.norm(error)),
        float(np.linalg.norm(w, 2)),
        float(np.linalg.norm(along)),
    )
