"""Checks of the exercises on lesson 11, inductive bias."""

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, numbers, require

# --- 11.1 one norm, three pathways ---------------------------------------------------------


def array(tensor):
    return tensor.double().numpy()


def normed(x, eps=0.0, ddof=0):
    """LN of every row; with ddof 1 the variance of a sample."""
    return centred(x) / np.sqrt(x.var(1, keepdims=True, ddof=ddof) + eps)


def centred(x):
    return x - x.mean(1, keepdims=True)


NORMED = {
    "none": (False, False, False),
    "A*": (True, True, False),
    "A^qk": (True, False, False),
    "A^v": (False, True, False),
    "M": (False, False, True),
    "M+A*": (True, True, True),
}
"""Whether scores, values and MLP read a norm."""


def reads(which=lambda parts: parts, last=lambda x, y: y):
    """What the three parts read, with other parts normed or another last stream."""

    def answer(x, y, placement):
        streams = zip(which(NORMED[placement]), (x, x, last(x, y)), strict=True)
        return tuple(normed(stream) if there else stream for there, stream in streams)

    return answer


ex_11_1 = Exercise(
    "ex_11_1",
    Function(
        "layer_norm",
        right=normed,
        cases={
            "every row is centred, and divided by its own standard deviation": Ask(
                lambda d: (array(3 * d.numbers(3, 4) + 1), 0.0),
                "Subtract each row's mean, divide by the root of the mean of the squares that are "
                "left.",
            ),
            "eps is added to the variance, under the root": Ask(
                lambda d: (array(2 * d.numbers(3, 5)), 0.7), "sqrt(variance + eps)."
            ),
        },
        mistakes={
            "Mean and variance are taken over all rows together; each row has its own.": (
                lambda x, eps: (x - x.mean()) / np.sqrt(x.var() + eps)
            ),
            "Mean and variance are taken down the columns, over examples: that is no LayerNorm "
            "but a BatchNorm.": lambda x, eps: (x - x.mean(0)) / np.sqrt(x.var(0) + eps),
            "The variance is divided by d - 1; a LayerNorm divides by d.": lambda x, eps: normed(
                x, eps, 1
            ),
            "The root is missing: divide by the standard deviation, not by the variance.": (
                lambda x, eps: centred(x) / (x.var(1, keepdims=True) + eps)
            ),
            "The mean is not subtracted.": any_of(
                lambda x, eps: x / np.sqrt(x.var(1, keepdims=True) + eps),
                lambda x, eps: x / np.sqrt((x**2).mean(1, keepdims=True) + eps),
            ),
            "Every row has length 1 now; its coordinates should have a mean square of 1.": any_of(
                lambda x, eps: centred(x) / np.linalg.norm(centred(x), axis=1, keepdims=True),
                lambda x, eps: x / np.linalg.norm(x, axis=1, keepdims=True),
            ),
            "It is centred, but not divided by anything.": lambda x, eps: centred(x),
            "eps is ignored.": lambda x, eps: normed(x),
            "eps is added to the standard deviation, after the root.": lambda x, eps: (
                centred(x) / (x.std(1, keepdims=True) + eps)
            ),
            "eps is squared; it is added to the variance as it is.": lambda x, eps: normed(
                x, eps**2
            ),
        },
    ),
    Function(
        "block_reads",
        right=reads(),
        cases={
            "each placement norms what it names, and nothing else": [
                Ask(
                    lambda d, name=name: (array(d.numbers(3, 4)), array(d.numbers(3, 4)), name),
                    f"For {name!r}: the scores read {'LN(x)' if scores else 'x'}, the values "
                    f"{'LN(x)' if values else 'x'}, the MLP {'LN(y)' if mlp else 'y'}.",
                )
                for name, (scores, values, mlp) in NORMED.items()
            ]
        },
        mistakes={
            "The MLP is given x; it reads y, the stream after attention.": reads(
                last=lambda x, y: x
            ),
            "Everything reads a norm, whatever the placement is.": reads(lambda parts: [True] * 3),
            "Nothing reads a norm, but in this placement something does.": reads(
                lambda parts: [False] * 3
            ),
            "Scores and values are exchanged in this placement.": reads(
                lambda parts: (parts[1], parts[0], parts[2])
            ),
            "The MLP is wrong in this placement; scores and values are right.": reads(
                lambda parts: (*parts[:2], not parts[2])
            ),
        },
    ),
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

# --- 11.2 two measures, one formula --------------------------------------------------------


def entropy(p):
    """-sum p log p over the last axis, with 0 log 0 = 0."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1))


def of_map(attention):
    return entropy(attention.mean(axis=1)).mean()


def shares_of(h, power=2):
    strength = np.linalg.svd(h, compute_uv=False) ** power
    return strength / strength.sum()


def rank(h, power=2):
    """The effective rank, by singular values to some power."""
    return np.exp(entropy(shares_of(h, power)))


ex_11_2 = Exercise(
    "ex_11_2",
    Function(
        "map_entropy",
        right=of_map,
        cases={
            "heads are averaged first, then comes the entropy, then the mean over examples": Ask(
                lambda d: (array(d.shares(2, 3, 4)),),
                "Average over heads (axis 1), entropy over positions (axis 2), mean over examples.",
            ),
            "attention of 0 adds nothing": Ask(
                (np.array([[[0.6, 0.4, 0.0]], [[1.0, 0.0, 0.0]]]),),
                "0 log 0 = 0: the second example has the entropy 0, the first only two terms.",
            ),
        },
        mistakes={
            "This is the mean of the heads' entropies; average the attention first.": lambda a: (
                entropy(a).mean()
            ),
            "Examples are averaged too before the entropy is taken; only heads should be.": (
                lambda a: entropy(a.mean(axis=(0, 1)))
            ),
            "The examples are averaged in place of the heads.": any_of(
                lambda a: entropy(a.mean(axis=0)).mean(), lambda a: entropy(a.mean(axis=0)).sum()
            ),
            "The examples are summed up; take their mean.": lambda a: entropy(a.mean(axis=1)).sum(),
            "The minus is missing.": lambda a: -of_map(a),
            "This is in bits: use the natural logarithm.": lambda a: of_map(a) / np.log(2),
            "The heads are summed up, so that the shares do not sum to 1; take their mean.": (
                lambda a: entropy(a.sum(axis=1)).mean()
            ),
        },
    ),
    Function(
        "effective_rank",
        right=rank,
        cases={
            "r directions of one strength have the effective rank r": Ask(
                (3 * np.eye(6)[:, :3],), "Three directions, equally strong: shares of 1/3 each."
            ),
            "unequal directions count by their share of the eigenvalues": Ask(
                lambda d: (array(d.numbers(8, 4)) * [3, 2, 1, 0.5] + 1.0,),
                "The eigenvalues of h^T h over their sum are the shares.",
            ),
            "directions that are not used add nothing": Ask(
                (np.outer([1.0, 2.0, 3.0, -1.0], [1.0, 0.0, 0.0]),),
                "One direction alone: the others' eigenvalues are 0.",
            ),
        },
        mistakes={
            "This is the entropy itself: take e to its power.": lambda h: np.log(rank(h)),
            "The mean of the examples is subtracted; Z is not centred.": lambda h: rank(
                h - h.mean(axis=0)
            ),
            "This is the number of examples, not of directions.": lambda h: float(len(h)),
            "The singular values of h are used as they are; the eigenvalues of Z are their "
            "squares.": lambda h: rank(h, 1),
            "The eigenvalues are squared once more.": lambda h: rank(h, 4),
            "This is 2 to the power of an entropy in nats.": lambda h: 2 ** np.log(rank(h)),
            "This is e to the power of an entropy in bits.": lambda h: np.exp(np.log2(rank(h))),
            "This counts all directions, however weak they are.": lambda h: float(
                np.linalg.matrix_rank(h)
            ),
            "This is the participation ratio, 1 / sum p^2: a measure of the same kind, but "
            "another one.": lambda h: 1 / (shares_of(h) ** 2).sum(),
            "This is the stable rank, the sum over the largest.": lambda h: 1 / shares_of(h).max(),
            "The coordinates' own shares are used; take the eigenvalues of Z.": lambda h: np.exp(
                entropy((h**2).sum(axis=0) / (h**2).sum())
            ),
        },
    ),
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

# --- 11.3 what the learning rate has to do with it -----------------------------------------


def step(a, rate, x, residual, optimizer, power=0):
    """The change of the logit, with more factors of a on request."""
    sgd = optimizer == "sgd"
    felt = a**2 * residual * (x @ x) if sgd else a * np.sign(residual) * np.abs(x).sum()
    return -rate * felt * a**power


def other(optimizer):
    return "sign" if optimizer == "sgd" else "sgd"


def pace(a, rate, optimizer):
    return rate / a ** {"sgd": 2, "sign": 1}[optimizer]


def steps(optimizer, *residuals):
    return [
        Ask(
            lambda d, r=r: (d.one(1.5, 4), d.one(0.01, 0.3), array(d.numbers(3)), r, optimizer),
            "dz = a (dw . x), with dw = -rate a r x for sgd, -rate sign(r a x) for sign.",
        )
        for r in residuals
    ]


ex_11_3 = Exercise(
    "ex_11_3",
    Function(
        "logit_step",
        right=step,
        cases={
            "a step of SGD is felt by the logit with a squared": steps("sgd", 0.7, -0.3),
            "a step of the sign is felt with a alone, whatever the size of the residual": steps(
                "sign", 0.7, 0.001, -0.7
            ),
        },
        mistakes={
            "The sign is the other way: a step goes against the gradient.": lambda *g: -step(*g),
            "There is one a too many: sgd feels two, and the sign takes the gradient's away.": (
                lambda *g: step(*g, power=1)
            ),
            "An a is missing: on the way from w to z, or in the gradient.": lambda *g: step(
                *g, power=-1
            ),
            "There is no a in it: it stands in the gradient and in the logit.": lambda *g: step(
                *g, power=-2
            ),
            "This is the step of the other optimizer.": lambda a, rate, x, r, o: step(
                a, rate, x, r, other(o)
            ),
            "The residual is missing, or the size of it does not matter to a sign.": any_of(
                lambda a, rate, x, r, o: step(a, rate, x, 1.0, o),
                lambda a, rate, x, r, o: step(a, rate, x, r, o) * (abs(r) if o == "sign" else 1),
            ),
            "The learning rate is missing.": lambda a, rate, x, r, o: step(a, 1.0, x, r, o),
            "This is the change of w; the logit feels a (dw . x).": lambda a, rate, x, r, o: (
                -rate * (a * r * x if o == "sgd" else np.sign(a * r * x))
            ),
            "x is counted once; it stands in the gradient and in the logit.": (
                lambda a, rate, x, r, o: step(a, rate, x, r, o) / (x @ x) * x.sum()
            ),
            "The sign was taken of the residual alone; of each entry of the gradient it is to be "
            "taken, x included.": any_of(
                lambda a, rate, x, r, o: (
                    -rate * a * np.sign(r) * x.sum() if o == "sign" else step(a, rate, x, r, o)
                ),
                lambda a, rate, x, r, o: (
                    -rate * a * np.sign(r) * (x @ x) if o == "sign" else step(a, rate, x, r, o)
                ),
            ),
        },
    ),
    Function(
        "same_pace",
        right=pace,
        cases={
            "the pace is kept by taking away the power of a with which a step is felt": [
                Ask((a, 0.01, optimizer), f"A step of {optimizer!r} is felt with a^{power}.")
                for optimizer, power in (("sgd", 2), ("sign", 1))
                for a in (0.5, 3.0)
            ]
        },
        mistakes={
            "It is the other way round: a larger scale needs a smaller rate.": any_of(
                lambda a, rate, o: rate**2 / pace(a, rate, o),
                lambda a, rate, o: rate**2 / pace(a, rate, other(o)),
            ),
            "This suits the other optimizer: SGD feels a twice, in the gradient and in the logit; "
            "with `sign` the gradient has lost its a.": any_of(
                lambda a, rate, o: rate / a,
                lambda a, rate, o: rate / a**2,
                lambda a, rate, o: pace(a, rate, other(o)),
            ),
            "The rate does not depend on a here; the pace does.": lambda a, rate, o: rate,
            "Both rules are the same here; a gradient and its sign are not.": lambda a, rate, o: (
                rate / a**1.5
            ),
        },
    ),
    hints=(
        "By the chain rule the gradient of the loss with respect to w is r times the derivative "
        "of z with respect to w, which is a x.",
        "The change of z is a times (the change of w) times x. For SGD that makes one a more.",
        "For the pace: write the step at scale a, and see with which power a stands in it. The "
        "learning rate must take this power away.",
    ),
    afterword="A rule for one loss and one optimizer is not a rule.",
)

# --- 11.4 what would "predicts" have to mean? ----------------------------------------------


def ahead(arrived, grokked, share=0.9):
    with np.errstate(invalid="ignore"):
        return (arrived <= share * grokked).sum(axis=1)


def ranks(epochs):
    """The rank of every entry within its seed."""
    return epochs.argsort(axis=0).argsort(axis=0)


def as_epochs(given, like):
    """An answer as a table of epochs, refused where it is none."""
    table = as_array(given)
    table = np.asarray(np.nan if table is None else table, dtype=float)
    require(
        table.shape == like.shape and bool(np.isfinite(table).all()),
        f"Return a table of {like.shape[0]} placements and {like.shape[1]} seeds, all finite.",
        given,
    )
    require((table > 0).all(), "Epochs are above 0, and so is an arrival.", given)
    return table


def is_late(given, grokked):
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


def is_early(given, grokked):
    arrived = as_epochs(given, grokked)
    require(
        (arrived <= 0.9 * grokked).all(),
        "In some run the measure is not there by 0.9 of the grok epoch. The first to grok must be "
        "the last to arrive, and still be in time: everything has to come before 0.9 of the "
        "seed's first grok.",
        given,
    )
    require(
        (ranks(arrived) == len(grokked) - 1 - ranks(grokked)).all(),
        "In some seed the order is not the opposite of that of the groks.",
        given,
    )


def tables(d):
    """Arrivals around the grok epochs, 0.9 of them, with some that did not come."""
    grokked = 1000.0 + 100 * d.order(12).double().numpy().reshape(4, 3)
    arrived = grokked * np.array([0.5, 0.85, 0.9, 0.92, 0.96, 1.2])[d.whole(0, 5, 4, 3).numpy()]
    arrived[0, 1], grokked[2, 0] = np.nan, np.nan
    arrived[1] = grokked[1] * [0.5, 0.95, 1.5]
    arrived[3] = grokked[3] * [0.2, 0.9, 0.85]
    return arrived, grokked


# With 0.9 in float64 exact: 900 and 450 are in time, just so.
ARRIVED = np.array([[100.0, 900.0, 500.0], [np.nan, 450.0, 100.0], [90.0, 91.0, 700.0]])
GROKKED = np.array([[1000.0, 1000.0, 300.0], [800.0, 500.0, np.nan], [100.0, 100.0, 600.0]])
GROKS = (
    np.array([[900.0, 1500.0], [3000.0, 2000.0], [7000.0, 1600.0], [7700.0, 9000.0]]),
    np.array([[5000.0], [50.0], [51.0]]),
)

ex_11_4 = Exercise(
    "ex_11_4",
    Function(
        "seeds_ahead",
        right=ahead,
        cases={
            "a seed counts when the measure is there by 0.9 of the grok epoch": [
                Ask((ARRIVED, GROKKED), "Count, in every row, where arrived <= 0.9 x grokked."),
                Ask(tables, "Count, in every row, where arrived <= 0.9 x grokked."),
                Ask((ARRIVED, GROKKED, 0.5), "`share` says by which share it must be there."),
            ]
        },
        mistakes={
            "The share of 0.9 is not asked for: a record before the grok is no lead.": any_of(
                lambda a, g, share=0.9: ahead(a, g, 1.0),
                lambda a, g, share=0.9: (a < g).sum(axis=1),
                lambda a, g, share=0.9: ahead(a, g, 0.95),
            ),
            "At exactly 0.9 of the epoch it is there in time: use <=.": lambda a, g, share=0.9: (
                a < share * g
            ).sum(axis=1),
            "What did not come is counted as if it had been ahead.": any_of(
                lambda a, g, share=0.9: (~(a > share * g)).sum(axis=1),
                lambda a, g, share=0.9: ahead(a, np.where(np.isnan(g), np.inf, g), share),
            ),
            "It is the other way round: this counts where the measure is late.": any_of(
                lambda a, g, share=0.9: (a > share * g).sum(axis=1),
                lambda a, g, share=0.9: (~(a <= share * g)).sum(axis=1),
            ),
            "This counts placements for each seed; count seeds for each placement.": (
                lambda a, g, share=0.9: (a <= share * g).sum(axis=0)
            ),
            "This is a share of the seeds; count them.": lambda a, g, share=0.9: (
                a <= share * g
            ).mean(axis=1),
            "This is over all placements; give one number for each.": lambda a, g, share=0.9: (
                a <= share * g
            ).sum(),
        },
    ),
    Function(
        "in_order_too_late",
        judge=is_late,
        cases={"an order can be right while every arrival is too late": [Ask((g,)) for g in GROKS]},
    ),
    Function(
        "early_out_of_order",
        judge=is_early,
        cases={
            "every arrival can be ahead while the order is the opposite": [Ask((g,)) for g in GROKS]
        },
    ),
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

# --- 11.5 how far can an average mislead? -------------------------------------------------


def room(attention, more=lambda attention: np.log(len(attention))):
    own = entropy(attention).mean()
    return own, own + more(attention)


def is_furthest(given, heads, spread, length):
    asked = f"Attention of shape [{heads} heads, {length} positions] is asked for."
    attention = numbers(given, [heads, length], asked)
    require(
        bool((attention >= 0).all()) and bool(np.allclose(attention.sum(axis=1), 1, atol=1e-5)),
        "Each head's attention sums to 1, and is not negative.",
        given,
    )
    even = ((attention > 0).sum(axis=1) == spread) & np.isclose(attention.max(axis=1), 1 / spread)
    require(
        bool(even.all()),
        f"Each head is to look at {spread} position{'s' * (spread > 1)}, evenly.",
        given,
    )
    require(
        bool(np.isclose(entropy(attention.mean(axis=0)), room(attention)[1], atol=1e-6)),
        "The map is not as far from the heads as it can be: two heads look at the same position.",
        entropy(attention.mean(axis=0)),
        f"{room(attention)[1]:.4g} nats",
    )


ex_11_5 = Exercise(
    "ex_11_5",
    Function(
        "room",
        right=room,
        cases={
            "from the mean of the heads' entropies to log H above it": [
                Ask(lambda d: (array(d.shares(3, 5)),), "Three heads over five positions."),
                Ask((np.eye(4),), "Four heads that each look at one position: entropies of 0."),
                Ask(lambda d: (array(d.shares(1, 4)),), "One head is its own map."),
                Ask(lambda d: (array(d.shares(6, 3)),), "More heads than positions."),
            ]
        },
        mistakes={
            "This is the entropy of the map itself; the bounds are about any such heads.": (
                lambda a: (entropy(a.mean(axis=0)),) * 2
            ),
            "The most: which of the H heads it was is log H nats, whatever the positions are.": (
                any_of(
                    lambda a: (entropy(a).mean(), np.log(a.shape[1])),
                    lambda a: room(a, lambda a: np.log(a.shape[1])),
                )
            ),
            "The least: averaging cannot lower an entropy below the mean of the heads'.": any_of(
                lambda a: (0.0, room(a)[1]), lambda a: (entropy(a).min(), room(a)[1])
            ),
            "The heads' entropies are added; take their mean.": lambda a: (
                entropy(a).sum(),
                entropy(a).sum() + np.log(len(a)),
            ),
            "The logarithm is to base 2; nats need the natural one.": lambda a: tuple(
                one / np.log(2) for one in room(a)
            ),
        },
    ),
    Function(
        "furthest",
        judge=is_furthest,
        cases={
            "there are heads whose map is that far away": [
                Ask((2, 3, 6)),
                Ask((4, 1, 9)),
                Ask((3, 2, 7)),
            ]
        },
    ),
    hints=(
        "When is the map's entropy as small as the heads'? Let them agree.",
        "When is it largest? Let no two heads look at the same position. What does the map's "
        "entropy have then, besides that of the heads?",
        "Draw a position from the map: first a head is drawn, which is log H, then a position "
        "from it.",
    ),
    afterword="The same holds of averaging over examples, and of any mixture.",
)
