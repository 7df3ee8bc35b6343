"""Checks of the exercises on lesson 11, inductive bias."""

import numpy as np

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import any_of, expect, require

# --- 11.1 one norm, three pathways ---------------------------------------------------------

ex_11_1 = Exercise(
    "ex_11_1",
    answers=("layer_norm", "block_reads"),
    hints=(
        "In a LayerNorm each row is alone: `mean(axis=1, keepdims=True)` keeps the axis, so that "
        "it broadcasts back.",
        "The variance is the mean of the squares of what is left, divided by d; eps is added to "
        "it before the root.",
        "For the block, decide three questions with the name of the placement: do the scores "
        "read a norm, do the values, does the MLP?",
    ),
    afterword="In grokkit this is `grokkit.model.norm`, with gain and bias, and three more places.",
)

ROWS = np.array([[1.0, 2.0, 6.0, 3.0], [-2.0, 0.5, 0.5, 5.0], [3.0, 4.0, -1.0, 8.0]])
AFTER = np.array([[0.5, -1.0, 2.0, 7.0], [4.0, 4.5, 1.0, -2.0], [1.0, 0.0, 3.0, -6.0]])


def normed(x: np.ndarray, eps: float = 0.0, ddof: int = 0) -> np.ndarray:
    """LN of every row; with ddof 1 the variance of a sample."""
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True, ddof=ddof) + eps)


@ex_11_1.property("every row is centred, and divided by its own standard deviation")
def _(layer_norm, _reads):
    x = ROWS
    centred = x - x.mean(1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    expect(
        layer_norm(x, 0.0),
        normed(x),
        cause="Subtract each row's mean, divide by the root of the mean of the squares that are "
        "left.",
        mistakes={
            "Mean and variance are taken over all rows together; each row has its own.": (
                (x - x.mean()) / x.std()
            ),
            "Mean and variance are taken down the columns, over examples: that is no LayerNorm "
            "but a BatchNorm.": (x - x.mean(0)) / x.std(0),
            "The variance is divided by d - 1; a LayerNorm divides by d.": normed(x, ddof=1),
            "The root is missing: divide by the standard deviation, not by the variance.": (
                centred / x.var(1, keepdims=True)
            ),
            "The mean is not subtracted.": any_of(
                x / x.std(1, keepdims=True), x / np.sqrt((x**2).mean(1, keepdims=True))
            ),
            "Every row has length 1 now; its coordinates should have a mean square of 1.": any_of(
                centred / length, x / np.linalg.norm(x, axis=1, keepdims=True)
            ),
            "It is centred, but not divided by anything.": centred,
        },
    )


@ex_11_1.property("eps is added to the variance, under the root")
def _(layer_norm, _reads):
    x = ROWS
    centred = x - x.mean(1, keepdims=True)
    expect(
        layer_norm(x, 0.7),
        normed(x, 0.7),
        cause="sqrt(variance + eps).",
        mistakes={
            "eps is ignored.": normed(x),
            "eps is added to the standard deviation, after the root.": (
                centred / (x.std(1, keepdims=True) + 0.7)
            ),
            "eps is squared; it is added to the variance as it is.": normed(x, 0.49),
        },
    )


@ex_11_1.property("each placement norms what it names, and nothing else")
def _(_layer_norm, reads):
    x, y = ROWS, AFTER
    for name, which in {
        "none": (False, False, False),
        "A*": (True, True, False),
        "A^qk": (True, False, False),
        "A^v": (False, True, False),
        "M": (False, False, True),
        "M+A*": (True, True, True),
    }.items():

        def parts(a: bool, b: bool, c: bool, last: np.ndarray = y) -> tuple[np.ndarray, ...]:
            streams = zip((a, b, c), (x, x, last), strict=True)
            return tuple(normed(s) if there else s for there, s in streams)

        scores, values, mlp = which
        expect(
            reads(x, y, name),
            parts(*which),
            cause=f"For {name!r}: the scores read {'LN(x)' if scores else 'x'}, the values "
            f"{'LN(x)' if values else 'x'}, the MLP {'LN(y)' if mlp else 'y'}.",
            mistakes={
                "The MLP is given x; it reads y, the stream after attention.": parts(
                    *which, last=x
                ),
                f"Scores and values are exchanged in {name!r}.": parts(values, scores, mlp),
                "Everything reads a norm, whatever the placement is.": parts(True, True, True),
                f"Nothing reads a norm, but in {name!r} something does.": parts(
                    False, False, False
                ),
                f"The MLP is wrong in {name!r}; scores and values are right.": parts(
                    scores, values, not mlp
                ),
            },
        )


# --- 11.2 two measures, one formula --------------------------------------------------------

ex_11_2 = Exercise(
    "ex_11_2",
    answers=("map_entropy", "effective_rank"),
    hints=(
        "0 log 0 is 0, but `np.log(0)` is -inf and 0 times it nan: leave the zeros out, or put "
        "a 1 in their place before the logarithm.",
        "Map: average over heads, then the entropy of each example, then the mean. The order "
        "of these three is what matters.",
        "Rank: the eigenvalues of Z are the *squares* of the singular values of h. Divide by "
        "their sum, take the entropy, then `np.exp`.",
    ),
    afterword="In grokkit: `diagnostics.structure.map_entropy` and `diagnostics.features`.",
)

# Two examples, three heads, four positions; example, head and position all matter.
LOOKS = np.array(
    [
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]],
        [[0.1, 0.1, 0.1, 0.7], [0.4, 0.4, 0.1, 0.1], [0.05, 0.05, 0.8, 0.1]],
    ]
)
FEATURES = np.random.default_rng(4).normal(size=(12, 4)) * [5.0, 2.0, 1.0, 0.4] + 1.5


def entropy(p: np.ndarray) -> np.ndarray:
    """-sum p log p over the last axis, with 0 log 0 = 0."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1))


@ex_11_2.property("heads are averaged first, then comes the entropy, then the mean over examples")
def _(map_entropy, _rank):
    right = entropy(LOOKS.mean(axis=1)).mean()
    expect(
        map_entropy(LOOKS),
        right,
        cause="Average over heads (axis 1), entropy over positions (axis 2), mean over examples.",
        mistakes={
            "This is the mean of the heads' entropies; average the attention first.": (
                entropy(LOOKS).mean()
            ),
            "Examples are averaged too before the entropy is taken; only heads should be.": (
                entropy(LOOKS.mean(axis=(0, 1)))
            ),
            "The examples are averaged in place of the heads.": any_of(
                entropy(LOOKS.mean(axis=0)).mean(), entropy(LOOKS.mean(axis=0)).sum()
            ),
            "The examples are summed up; take their mean.": entropy(LOOKS.mean(axis=1)).sum(),
            "The minus is missing.": -right,
            "This is in bits: use the natural logarithm.": right / np.log(2),
            "The heads are summed up, so that the shares do not sum to 1; take their mean.": (
                entropy(LOOKS.sum(axis=1)).mean()
            ),
        },
    )


@ex_11_2.property("attention of 0 adds nothing")
def _(map_entropy, _rank):
    sharp = np.array([[[0.5, 0.5, 0.0]], [[1.0, 0.0, 0.0]]])
    expect(
        map_entropy(sharp),
        np.log(2) / 2,
        cause="0 log 0 = 0: the first example has log 2, the second 0.",
    )


@ex_11_2.property("r directions of one strength have the effective rank r")
def _(_map, rank):
    even = 3 * np.eye(6)[:, :3]
    expect(
        rank(even),
        3.0,
        cause="Three directions, equally strong: shares of 1/3 each.",
        mistakes={
            "This is the entropy itself: take e to its power.": np.log(3),
            "The mean of the examples is subtracted; Z is not centred.": rank_of(
                even - even.mean(axis=0)
            ),
            "This is the number of examples, not of directions.": 6.0,
        },
    )


def rank_of(features: np.ndarray, power: int = 2) -> float:
    """The effective rank, by singular values to some power."""
    strength = np.linalg.svd(features, compute_uv=False) ** power
    return float(np.exp(entropy(strength / strength.sum())))


@ex_11_2.property("unequal directions count by their share of the eigenvalues")
def _(_map, rank):
    h = FEATURES
    z = np.linalg.svd(h, compute_uv=False) ** 2
    p = z / z.sum()
    diagonal = (h**2).sum(axis=0) / (h**2).sum()
    expect(
        rank(h),
        rank_of(h),
        cause="The eigenvalues of h^T h over their sum are the shares.",
        mistakes={
            "The singular values of h are used as they are; the eigenvalues of Z are their "
            "squares.": rank_of(h, 1),
            "The eigenvalues are squared once more.": rank_of(h, 4),
            "The mean of the examples is subtracted; Z is not centred.": rank_of(
                h - h.mean(axis=0)
            ),
            "This is the entropy itself: take e to its power.": np.log(rank_of(h)),
            "This is 2 to the power of an entropy in nats.": 2 ** np.log(rank_of(h)),
            "This is e to the power of an entropy in bits.": np.exp(np.log2(rank_of(h))),
            "This counts all directions, however weak they are.": 4.0,
            "This is the participation ratio, 1 / sum p^2: a measure of the same kind, but "
            "another one.": 1 / (p**2).sum(),
            "This is the stable rank, the sum over the largest.": z.sum() / z.max(),
            "The coordinates' own shares are used; take the eigenvalues of Z.": np.exp(
                entropy(diagonal)
            ),
        },
    )


@ex_11_2.property("directions that are not used add nothing")
def _(_map, rank):
    flat = np.outer([1.0, 2.0, 3.0, -1.0], [1.0, 0.0, 0.0])
    expect(rank(flat), 1.0, cause="One direction alone: the others' eigenvalues are 0.")


# --- 11.3 what the learning rate has to do with it -----------------------------------------

ex_11_3 = Exercise(
    "ex_11_3",
    answers=("logit_step", "same_pace"),
    hints=(
        "By the chain rule the gradient of the loss with respect to w is r times the derivative "
        "of z with respect to w, which is a x.",
        "The change of z is a times (the change of w) times x. For SGD that makes one a more.",
        "For the pace: write the step at scale a, and see with which power a stands in it. The "
        "learning rate must take this power away.",
    ),
    afterword="A rule for one loss and one optimizer is not a rule.",
)

STEP_X = np.array([0.5, -2.0, 0.25])


@ex_11_3.property("a step of SGD is felt by the logit with a squared")
def _(step, _pace):
    square, size = float(STEP_X @ STEP_X), float(np.abs(STEP_X).sum())
    expect(
        step(3.0, 0.1, STEP_X, 0.7, "sgd"),
        -0.1 * 9 * 0.7 * square,
        cause="dz = a (dw . x) with dw = -rate a r x.",
        mistakes={
            "The sign is the other way: a step goes against the gradient.": 0.1 * 9 * 0.7 * square,
            "a is missing on the way from w to z, or in the gradient: it stands in both.": (
                -0.1 * 3 * 0.7 * square
            ),
            "There is no a in it: it stands in the gradient and in the logit.": (
                -0.1 * 0.7 * square
            ),
            "There is one a too many.": -0.1 * 27 * 0.7 * square,
            "This is the step of `sign`.": -0.1 * 3 * size,
            "The residual is missing.": -0.1 * 9 * square,
            "The learning rate is missing.": -9 * 0.7 * square,
            "This is the change of w; the logit feels a (dw . x).": -0.1 * 3 * 0.7 * STEP_X,
            "x is counted once; it stands in the gradient and in the logit.": (
                -0.1 * 9 * 0.7 * STEP_X.sum()
            ),
        },
    )


@ex_11_3.property("a step of the sign is felt with a alone, whatever the size of the residual")
def _(step, _pace):
    square, size = float(STEP_X @ STEP_X), float(np.abs(STEP_X).sum())
    for residual in (0.7, 0.001, -0.7):
        sign = np.sign(residual)
        expect(
            step(3.0, 0.1, STEP_X, residual, "sign"),
            -0.1 * 3 * sign * size,
            cause="dw = -rate sign(r a x), and dz = a (dw . x): the absolute values of x add up.",
            mistakes={
                "This is the step of `sgd`.": -0.1 * 9 * residual * square,
                "The sign was taken of the residual alone; of each entry of the gradient it is "
                "to be taken, x included.": any_of(
                    -0.1 * 3 * sign * STEP_X.sum(), -0.1 * 3 * sign * square
                ),
                "a is missing on the way from w to z.": -0.1 * sign * size,
                "There is one a too many: the sign has taken that of the gradient away.": (
                    -0.1 * 9 * sign * size
                ),
                "The size of the residual does not matter to a sign.": (-0.1 * 3 * residual * size),
                "The sign is the other way: a step goes against the gradient.": (
                    0.1 * 3 * sign * size
                ),
            },
        )


@ex_11_3.property("the pace is kept by taking away the power of a with which a step is felt")
def _(_step, pace):
    for optimizer, power in (("sgd", 2), ("sign", 1)):
        other = 3 - power
        expect(
            pace(0.5, 0.01, optimizer),
            0.01 / 0.5**power,
            cause=f"At scale a, a step of {optimizer!r} is felt with a to the power {power}.",
            mistakes={
                "It is the other way round: a larger scale needs a smaller rate.": any_of(
                    0.01 * 0.5**power, 0.01 * 0.5**other
                ),
                "With `sign` the gradient has lost its a: only one is left to be taken away."
                if optimizer == "sign"
                else "SGD feels a twice, in the gradient and in the logit.": 0.01 / 0.5**other,
                "The rate does not depend on a here; the pace does.": 0.01,
                "Both rules are the same here; a gradient and its sign are not.": (0.01 / 0.5**1.5),
            },
        )


# --- 11.4 what would "predicts" have to mean? ----------------------------------------------

ex_11_4 = Exercise(
    "ex_11_4",
    answers=("seeds_ahead", "in_order_too_late", "early_out_of_order"),
    hints=(
        "Any comparison with nan is False in NumPy, so a seed in which something did not come "
        "does not count of itself. `sum(axis=1)` counts along a row.",
        "Too late in the same order: what can you do to a list of numbers that makes each "
        "larger and leaves their order?",
        "Ahead in the opposite order: 1 / x turns an order round. Then make it small enough: "
        "below 0.9 of the seed's *first* grok.",
    ),
    afterword="Ask any 'X predicts Y': before which Y, and known by when?",
)

ARRIVED = np.array([[100.0, 900.0, 500.0], [np.nan, 450.0, 100.0], [90.0, 91.0, 700.0]])
GROKKED = np.array([[1000.0, 1000.0, 300.0], [800.0, 500.0, np.nan], [100.0, 100.0, 600.0]])


@ex_11_4.property("a seed counts when the measure is there by 0.9 of the grok epoch")
def _(ahead, _late, _early):
    expect(
        ahead(ARRIVED, GROKKED),
        [2, 1, 1],
        cause="Count, in every row, where arrived <= 0.9 x grokked.",
        mistakes={
            "The share of 0.9 is not asked for: a record before the grok is no lead.": any_of(
                [2, 1, 2], [2, 1, 2.0]
            ),
            "At exactly 0.9 of the epoch it is there in time: use <=.": [1, 0, 0],
            "What did not come is counted as if it had been ahead.": any_of([2, 3, 1], [2, 2, 1]),
            "It is the other way round: this counts where the measure is late.": any_of(
                [1, 0, 2], [1, 2, 2]
            ),
            "This counts placements for each seed; count seeds for each placement.": [2, 2, 0],
            "This is a share of the seeds; count them.": [2 / 3, 1 / 3, 1 / 3],
            "This is over all placements; give one number for each.": 4,
        },
    )
    expect(
        ahead(ARRIVED, GROKKED, 0.5),
        [1, 0, 0],
        cause="`share` says by which share of the grok epoch it must be there.",
    )


def ranks(epochs: np.ndarray) -> np.ndarray:
    """The rank of every entry within its seed."""
    return epochs.argsort(axis=0).argsort(axis=0)


def as_epochs(given: object, like: np.ndarray) -> np.ndarray:
    """An answer as a table of epochs, refused where it is none."""
    try:
        table = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        table = np.array(np.nan)
    require(
        table.shape == like.shape and bool(np.isfinite(table).all()),
        f"Return a table of {like.shape[0]} placements and {like.shape[1]} seeds, all finite.",
        given,
    )
    require((table > 0).all(), "Epochs are above 0, and so is an arrival.", given)
    return table


TABLES = (
    np.array([[900.0, 1500.0], [3000.0, 2000.0], [7000.0, 1600.0], [7700.0, 9000.0]]),
    np.array([[5000.0], [50.0], [51.0]]),
)


@ex_11_4.property("an order can be right while every arrival is too late")
def _(_ahead, late, _early):
    for grokked in TABLES:
        given = late(grokked)
        arrived = as_epochs(given, grokked)
        require(
            (ranks(arrived) == ranks(grokked)).all(),
            "In some seed the order is not that of the groks.",
            given,
        )
        require(
            not (arrived <= 0.9 * grokked).any(),
            "In some run the measure is ahead: it is there by 0.9 of the grok epoch.",
            given,
        )


@ex_11_4.property("every arrival can be ahead while the order is the opposite")
def _(_ahead, _late, early):
    for grokked in TABLES:
        given = early(grokked)
        arrived = as_epochs(given, grokked)
        require(
            (arrived <= 0.9 * grokked).all(),
            "In some run the measure is not there by 0.9 of the grok epoch. The first to grok "
            "must be the last to arrive, and still be in time: everything has to come before "
            "0.9 of the seed's first grok.",
            given,
        )
        require(
            (ranks(arrived) == len(grokked) - 1 - ranks(grokked)).all(),
            "In some seed the order is not the opposite of that of the groks.",
            given,
        )
