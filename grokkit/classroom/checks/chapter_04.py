"""Checks of the exercises on chapter 04: powers of the loss, exact losses, ways to starve."""

import math

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, Value
from grokkit.classroom.checks.expect import any_of, as_array, require

# --- 4.1 with which power? ----------------------------------------------------------------


def records(d, accuracy=(0.4, 0.95, 0.985, 0.99, 1.0, 1.0, 0.992), zero=False):
    """Losses, gradients around a power of them, accuracies; one gradient rounded to 0 if asked."""
    loss = np.exp(-2 * d.above(len(accuracy)).double().numpy() - 1)
    gradient = 0.3 * loss ** d.one(0.4, 1.2) * np.exp(0.3 * d.numbers(len(loss)).double().numpy())
    gradient[:3] = 1 / gradient[:3] if accuracy[0] < 0.99 else gradient[:3]
    if zero:
        loss[-1], gradient[-1] = 1e-9, 0.0
    return loss, gradient, np.array(accuracy)


def power(kept=lambda g, known: (known >= 0.99) & (g > 0), fit=lambda x, y: np.polyfit(x, y, 1)[0]):
    """A fit to the logarithms of the records kept."""

    def answer(loss, gradient, accuracy):
        those = kept(gradient, accuracy)
        if those.sum() < 2:
            return 0.0
        return fit(np.log(loss[those]), np.log(gradient[those]))

    return answer


ex_4_1 = Exercise(
    "ex_4_1",
    Function(
        "power_of_loss",
        right=power(),
        cases={
            "it is the slope of log gradient over log loss": Ask(
                lambda d: records(d, [1.0] * 5),
                "All five records count here. Take both logarithms, and fit a straight line to all "
                "points.",
            ),
            "records from before memorising do not count": Ask(
                records, "Four records have an accuracy of at least 0.99, one of them just so."
            ),
            "a gradient that was rounded to 0 is left out": Ask(
                lambda d: records(d, [1.0, 0.99, 1.0, 1.0, 1.0], zero=True),
                "The last record has the gradient 0; the logarithm of 0 spoils the fit. Leave it "
                "out, and do not put a small number in its place.",
            ),
        },
        mistakes={
            "The logarithm of a gradient of 0 is in it, which makes nan: leave that record out.": (
                lambda loss, gradient, known: math.nan
            ),
            "The axes are the wrong way round: the gradient as a function of the loss.": power(
                fit=lambda x, y: np.polyfit(y, x, 1)[0]
            ),
            "No logarithms were taken: this is the slope of the gradient over the loss.": power(
                fit=lambda x, y: np.polyfit(np.exp(x), np.exp(y), 1)[0]
            ),
            "Only the gradient's logarithm was taken; the loss needs one as well.": power(
                fit=lambda x, y: np.polyfit(np.exp(x), y, 1)[0]
            ),
            "The intercept came back; the slope is the other number.": power(
                fit=lambda x, y: np.polyfit(x, y, 1)[1]
            ),
            "Slope and intercept came back; only the slope is asked for.": power(
                fit=lambda x, y: np.polyfit(x, y, 1)
            ),
            "Only the first and the last record were used; fit all of them.": power(
                fit=lambda x, y: (y[-1] - y[0]) / (x[-1] - x[0])
            ),
            "The line was forced through the origin; it has an intercept, log C.": power(
                fit=lambda x, y: (x * y).sum() / (x * x).sum()
            ),
            "Records with an accuracy below 0.99 are in it.": any_of(
                power(lambda g, known: g > 0),
                power(lambda g, known: (known >= 0.9) & (g > 0)),
                power(lambda g, known: (known >= 0.98) & (g > 0)),
            ),
            "A record with an accuracy of exactly 0.99 counts as well.": power(
                lambda g, known: (known > 0.99) & (g > 0)
            ),
            "Only records with an accuracy of 1 were taken; 0.99 is enough.": power(
                lambda g, known: (known == 1) & (g > 0)
            ),
            "The records from before memorising were taken, and the others left out.": power(
                lambda g, known: (known < 0.99) & (g > 0)
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


def ahead(logits, targets, sign=1):
    """z_c - z_y of the other classes, -inf for the right one."""
    own = targets[:, None]
    return (sign * (logits - logits.gather(1, own))).scatter(1, own, -torch.inf)


def exact(logits, targets):
    return torch.as_tensor(theory.cross_entropy(logits.double().numpy(), targets.numpy()))


def usual(logits, targets):
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")


def some_logits(d, scale=1.0, winner=0.0):
    """Logits with targets; the right one, or with a negative `winner` another one, far ahead."""
    logits, targets = scale * d.numbers(4, 3), d.whole(0, 2, 4)
    logits[range(4), targets] += winner
    return logits, targets


ex_4_2 = Exercise(
    "ex_4_2",
    Function(
        "exact_cross_entropy",
        right=exact,
        cases={
            "it is log(1 + S) for each example": Ask(
                some_logits,
                "For each row: subtract the right logit, sum the others' exponentials, log1p.",
            ),
            "it stays exact where the right class is far ahead": [
                Ask(
                    lambda d, winner=winner: some_logits(d, 2.0, winner),
                    "These losses are far below 1e-7: 1 + S must not be written anywhere, nor the "
                    "logarithm of a probability near 1 be taken.",
                    {
                        "Float64 moves the wall, it does not take it away: at a margin of 60 its "
                        "1 + S is 1 as well. Use log1p.": lambda z, y: usual(z.double(), y),
                        "They are rounded to 0: somewhere 1 + S, or a probability near 1, is "
                        "written down. Use log1p.": any_of(
                            usual, lambda z, y: -z.softmax(1).gather(1, y[:, None])[:, 0].log()
                        ),
                    },
                    rtol=1e-4,
                    atol=0.0,
                )
                for winner in (25.0, 65.0)
            ],
            "it stays finite where a wrong class is far ahead": [
                Ask(
                    lambda d, winner=winner: some_logits(d, 1.0, winner),
                    "Here S is e^200 or more: take its logarithm without computing it (logsumexp).",
                    {
                        "e^1150 is more than float64 can hold, too: use logsumexp.": (
                            lambda z, y: ahead(z.double(), y).exp().sum(1).log1p()
                        ),
                        "e^200 is more than float32 can hold: take the logarithm of S without "
                        "computing S (logsumexp).": lambda z, y: ahead(z, y).exp().sum(1).log1p(),
                        "Something is clamped: the loss has no largest value.": any_of(
                            lambda z, y: exact(z, y).clamp(max=88),
                            lambda z, y: ahead(z, y).logsumexp(1).clamp(max=80).exp().log1p(),
                        ),
                    },
                )
                for winner in (-200.0, -1150.0)
            ],
        },
        mistakes={
            "One loss for each example is asked for; this is their mean.": lambda z, y: exact(
                z, y
            ).mean(),
            "One loss for each example is asked for; this is their sum.": lambda z, y: exact(
                z, y
            ).sum(),
            "The right class is in the sum S; it is about the other classes.": lambda z, y: (
                (z - z.gather(1, y[:, None])).exp().sum(1).log1p()
            ),
            "This is log S; the 1 is missing.": lambda z, y: ahead(z, y).logsumexp(1),
            "This is S; its log1p is missing.": lambda z, y: ahead(z, y).exp().sum(1),
            "The difference has the wrong sign: it is z_c - z_y.": lambda z, y: (
                ahead(z, y, -1).exp().sum(1).log1p()
            ),
        },
    ),
    hints=(
        "Subtract the right logit from all logits (`gather`), and take the right class out of "
        "the sum: -inf in its place (`scatter`) has the exponential 0.",
        "`logsumexp` of that is s = log S, without overflow. What is left is log(1 + e^s).",
        "For s below 0 use `log1p`. For s above 0 write log(1 + e^s) as s + log(1 + e^-s).",
    ),
    afterword="grokkit.model.cross_entropy is this, with an exact gradient.",
)

# --- 4.3 what a score hears ---------------------------------------------------------------


def offset(alpha, values):
    return values - alpha @ values


def spectral(w):
    return torch.linalg.matrix_norm(w, 2)


def bound(
    reach=lambda alpha, v: alpha * offset(alpha, v).norm(dim=1),
    norm=spectral,
    error=lambda loss: math.sqrt(2) * -math.expm1(-loss),
    both=lambda one, two: one * two,
):
    """The bound with another reach, norm, size of the error or product of the norms."""

    def answer(loss, alpha, values, w_1, w_2):
        return reach(alpha, values) * both(norm(w_1), norm(w_2)) * error(loss)

    return answer


def a_sequence(d, loss):
    return loss, d.shares(3), d.numbers(3, 2), d.numbers(2, 5), d.numbers(5, 4)


ex_4_3 = Exercise(
    "ex_4_3",
    Function(
        "score_gradient",
        right=lambda a, v, g: a * (offset(a, v) @ g),
        cases={
            "the gradient is alpha_j (v_j - h) . g": Ask(
                lambda d: (d.shares(4), d.numbers(4, 3), d.numbers(3)),
                "Derive dh/dl_j: how does each share change if the score j is raised a little?",
            )
        },
        mistakes={
            "h is missing: more attention on j takes some from all others.": lambda a, v, g: (
                a * (v @ g)
            ),
            "alpha_j is missing: a position without attention hears nothing.": lambda a, v, g: (
                offset(a, v) @ g
            ),
            "This is the gradient for the attention, not for the scores: the softmax is missing.": (
                lambda a, v, g: v @ g
            ),
            "The sizes are multiplied; g and v - h are vectors, take their dot product.": (
                lambda a, v, g: a * offset(a, v).norm(dim=1) * g.norm()
            ),
            "The diagonal alone: raising one score changes all shares.": lambda a, v, g: (
                a * (1 - a) * (v @ g)
            ),
            "The mean of all values is taken for h; it is the mean by attention.": (
                lambda a, v, g: a * ((v - v.mean(dim=0)) @ g)
            ),
        },
    ),
    Function(
        "linear_bound",
        right=bound(),
        cases={
            "the bound is alpha_j |v_j - h| L_f sqrt(2) (1 - e^-L)": Ask(
                lambda d: a_sequence(d, d.one(0.3, 1.5)),
                "Three factors for each position: how far h would move, what the MLP passes on at "
                "most (two largest singular values), how wrong the answer can be at this loss.",
            ),
            "the bound keeps its digits for a tiny loss": Ask(
                lambda d: a_sequence(d, 1e-14),
                "1 - e^-L is a difference of two numbers near 1, and loses its digits: use expm1.",
                rtol=1e-4,
                atol=0.0,
            ),
        },
        mistakes={
            "This is the form by position with Pinsker's sqrt(2 L); the linear one is sharper.": (
                bound(error=lambda loss: math.sqrt(2 * loss))
            ),
            "The matrix norm is Frobenius'; the largest singular value is matrix_norm(W, 2).": (
                bound(norm=torch.linalg.matrix_norm)
            ),
            "The norm is not the largest singular value, which is matrix_norm(W, 2).": any_of(
                bound(norm=lambda w: torch.linalg.matrix_norm(w, 1)),
                bound(norm=lambda w: torch.linalg.matrix_norm(w, torch.inf)),
                bound(norm=lambda w: torch.linalg.matrix_norm(w, "nuc")),
                bound(norm=lambda w: w.abs().max()),
            ),
            "sqrt(2) is missing: softmax - onehot has more than one entry.": bound(
                error=lambda loss: -math.expm1(-loss)
            ),
            "1 - e^-L is replaced by L, which is near it for small losses only.": bound(
                error=lambda loss: math.sqrt(2) * loss
            ),
            "alpha_j is missing.": bound(lambda alpha, v: offset(alpha, v).norm(dim=1)),
            "h is missing: it is the length of v_j - h.": bound(
                lambda alpha, v: alpha * v.norm(dim=1)
            ),
            "The length of v_j - h is the root of the sum of its squares.": bound(
                lambda alpha, v: alpha * offset(alpha, v).abs().sum(dim=1)
            ),
            "One number came back; the bound is one for each position.": lambda *given: bound()(
                *given
            ).max(),
            "The two matrices' norms are added; L_f is their product.": bound(
                both=lambda one, two: one + two
            ),
        },
    ),
    hints=(
        "More attention on j means less on all others: h moves from where it is towards v_j.",
        "dh/dl_j = alpha_j (v_j - h). Then take the dot product with g, for every position.",
        "The bound replaces directions by lengths: alpha_j |v_j - h|, times L_f, times the "
        "longest that softmax - onehot can be.",
        "sqrt(2) (1 - e^-L); `torch.expm1` keeps its digits for a small loss.",
    ),
    afterword="grokkit.theory.score_gradient_bound_linear is the same for whole batches.",
)

# --- 4.4 four ways to be deaf -------------------------------------------------------------

SMALL, LARGE = 1e-4, 0.1
FACTORS = ("the error", "what is passed on", "the reach")


def starved(name, network):
    """The gradient of the first score, and its three factors."""
    parts = [as_array(part) for part in network] if isinstance(network, tuple | list) else []
    shapes = [None if part is None else part.shape for part in parts]
    require(
        shapes == [(3,), (3, 2), (2, 3)],
        f"{name} is a tuple (scores, values, W) of tensors [3], [3, 2] and [2, 3].",
        network,
    )
    scores, values, w = (np.asarray(part, dtype=float) for part in parts)
    require(
        all(np.isfinite(part).all() for part in (scores, values, w)),
        f"{name} has an entry that is no finite number.",
        network,
    )
    alpha = theory.softmax(scores)
    h = alpha @ values
    error = theory.softmax(h @ w) - np.array([1.0, 0.0, 0.0])
    along = alpha[0] * (values[0] - h)
    sizes = (np.linalg.norm(error), np.linalg.norm(w, 2), np.linalg.norm(along))
    return float(along @ w @ error), *map(float, sizes)


def deaf(name, number):
    """A judge of one network: the factor of this number is tiny (3: none is), others are not."""

    def judge(network):
        gradient, *factors = starved(name, network)
        shown = dict(zip(("gradient", *FACTORS), (gradient, *factors), strict=True))
        for i, (factor, size) in enumerate(zip(FACTORS, factors, strict=True)):
            if i == number:
                cause, fits = f"In {name} it is {factor} that is to be tiny.", size < SMALL
            else:
                cause, fits = (
                    f"In {name} {factor} has to be alive; it is too small, so it could be what "
                    "silences the gradient.",
                    size > LARGE,
                )
            limit = f"below {SMALL:g}" if i == number else f"above {LARGE:g}"
            require(fits, cause, shown, f"{factor} {limit}")
        require(
            abs(gradient) < SMALL,
            "All factors are as asked for, and the gradient is alive. Turn what would move across "
            "what W sees."
            if number == 3
            else "The gradient is alive: make the factor smaller.",
            shown,
            f"a gradient below {SMALL:g}",
        )

    return judge


ex_4_4 = Exercise(
    "ex_4_4",
    *(
        Value(name, {statement: deaf(name, number)})
        for number, (name, statement) in enumerate(
            {
                "no_error": "an answer without error is deaf, with the rest alive",
                "no_passing": "a matrix that passes nothing on is deaf, with a large error",
                "no_reach": "a position without attention is deaf, with a large error",
                "no_match": "and so is one with all three factors alive",
            }.items()
        )
    ),
    hints=(
        "`starved(network)` gives the gradient and the three factors of whatever you try.",
        "No error: make the logit of class 0 large. Nothing passed on: a small W. No reach: hardly "
        "any attention on the first position, that is, a low score.",
        "No match: let the values differ in one coordinate, and W look at the other one.",
    ),
    afterword="So a small gradient of the scores has four possible causes. Look which it is.",
)

# --- 4.5 how small can an error be? -------------------------------------------------------


def ends(least=lambda c: c / (c - 1), most=lambda c: 2.0, wrong=lambda loss: -math.expm1(-loss)):
    """Both ends: roots of these, times what is wrong."""
    return lambda loss, c: (wrong(loss) * math.sqrt(least(c)), wrong(loss) * math.sqrt(most(c)))


def reaches_both(given, loss, classes):
    arrays = [as_array(one) for one in given] if isinstance(given, tuple | list) else []
    require(
        len(arrays) == 2 and all(one is not None and one.shape == (classes,) for one in arrays),
        f"Two tensors of {classes} logits are asked for.",
        given,
    )
    for name, array, wanted in zip(
        ("least", "largest"), arrays, ends()(loss, classes), strict=True
    ):
        logits = np.asarray(array, dtype=float)
        found = float(theory.cross_entropy(logits[None], np.array([0]))[0])
        require(
            abs(found - loss) < 1e-4 * loss,
            f"The loss of the logits of {name} error is not the one given: how far ahead is the "
            "right class?",
            found,
            f"{loss:g}",
        )
        error = np.linalg.norm(theory.softmax(logits) - np.eye(classes)[0])
        require(
            abs(error - wanted) < 1e-3 * wanted,
            f"The error of these is not the {name} one at this loss. How must the wrong classes "
            "share what the right one has not?",
            error,
            f"{wanted:.4g}",
        )


ex_4_5 = Exercise(
    "ex_4_5",
    Function(
        "error_ends",
        right=ends(),
        cases={
            "both ends are linear in 1 - e^-L": [
                Ask(lambda d: (d.one(0.2, 2), 4), "The wrong classes share 1 - e^-L."),
                Ask((0.3, 2), "With two classes there is only one way."),
                Ask(lambda d: (d.one(0.2, 2), 50), "Fifty classes."),
                Ask((1e-12, 5), "1 - e^-L loses its digits: use expm1.", rtol=1e-4, atol=0.0),
            ]
        },
        mistakes={
            "The right class is missing: the error has -(1 - e^-L) there.": any_of(
                ends(lambda c: 1 / (c - 1), lambda c: 1.0), ends(lambda c: 1 / (c - 1))
            ),
            "At the least all wrong classes have the same; there are C - 1 of them.": any_of(
                ends(lambda c: 1 + 1 / c), ends(lambda c: 1 / c)
            ),
            "The least is not 0: the right class alone misses 1 - e^-L.": any_of(
                ends(lambda c: 0.0), ends(lambda c: 1.0)
            ),
            "This is Pinsker's, with the square root of the loss; both ends are linear.": ends(
                wrong=lambda loss: math.sqrt(loss)
            ),
            "L stands where 1 - e^-L belongs.": ends(wrong=lambda loss: loss),
            "Least and most are exchanged.": lambda loss, c: ends()(loss, c)[::-1],
        },
    ),
    Function(
        "at_the_ends",
        judge=reaches_both,
        cases={
            "there are logits that reach both": [
                Ask((0.7, 4)),
                Ask((0.01, 10)),
                Ask((3.0, 3)),
                Ask(lambda d: (d.one(0.1, 2), 6)),
            ]
        },
    ),
    hints=(
        "The right class has the probability e^-L. What does the error have at its place?",
        "The other C - 1 classes share 1 - e^-L. When is the sum of squares of their shares least, "
        "when largest?",
        "For the logits: one wrong class alone needs z_0 - z_1 = -log(e^L - 1); with C - 1 equal "
        "ones log(C - 1) is added.",
    ),
    afterword="So the error, unlike the attention's gradient, cannot starve before the loss does.",
)
