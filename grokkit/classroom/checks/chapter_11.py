"""Checks of the exercises on lesson 11, inductive bias."""

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each
from grokkit.classroom.checks.expect import any_of, as_floats, require


def array(tensor):
    return tensor.double().numpy()


# --- 11.1 one norm, three pathways ---------------------------------------------------------


def centred(x):
    return x - x.mean(1, keepdims=True)


def normed(x, eps=0.0):
    """LN of every row."""
    return centred(x) / np.sqrt(x.var(1, keepdims=True) + eps)


def reads(x, y, placement):
    names = zip(READS[placement].split(", "), (x, x, y), strict=True)
    return tuple(normed(stream) if "LN" in name else stream for name, stream in names)


READS = {
    "none": "x, x, y",
    "A*": "LN(x), LN(x), y",
    "A^qk": "LN(x), x, y",
    "A^v": "x, LN(x), y",
    "M": "x, x, LN(y)",
    "M+A*": "LN(x), LN(x), LN(y)",
}

ex_11_1 = Exercise(
    Function(
        "layer_norm",
        right=normed,
        cases={
            "subtract the mean of each row, then divide by its standard deviation": Ask(
                lambda d: (array(3 * d.numbers(3, 4) + 1), 0.0)
            ),
            "eps is added to the variance, under the root": Ask(
                lambda d: (array(2 * d.numbers(3, 5)), 0.7)
            ),
        },
        mistakes={
            "The variance is divided by d, not by d - 1.": lambda x, eps: (
                centred(x) / np.sqrt(x.var(1, keepdims=True, ddof=1) + eps)
            )
        },
    ),
    Function(
        "block_reads",
        right=reads,
        cases={
            "each placement norms what it names, and nothing else": [
                Ask(
                    lambda d, name=name: (array(d.numbers(3, 4)), array(d.numbers(3, 4)), name),
                    f"Scores, values and MLP read {streams} here.",
                )
                for name, streams in READS.items()
            ]
        },
    ),
    hints=(
        "In a LayerNorm each row is alone: `mean(axis=1, keepdims=True)` broadcasts back.",
        "The variance is the mean of the squares of what is left; add eps to it before the root.",
        "For the block ask three times: do the scores read a norm, do the values, does the MLP?",
    ),
    afterword="In grokkit this is `grokkit.model.norm`, with gain and bias, and three more places.",
)

# --- 11.2 two measures, one formula --------------------------------------------------------


def entropy(p):
    """-sum p log p over the last axis, with 0 log 0 = 0."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1))


def rank(h, power=2):
    """The effective rank, by singular values to some power."""
    strength = np.linalg.svd(h, compute_uv=False) ** power
    return np.exp(entropy(strength / strength.sum()))


ex_11_2 = Exercise(
    Function(
        "map_entropy",
        right=lambda a: entropy(a.mean(axis=1)).mean(),
        cases={
            "average over heads (axis 1), entropy over positions, mean over examples": [
                Ask(lambda d: (array(d.shares(2, 3, 4)),)),
                Ask((np.array([[[0.6, 0.4, 0]], [[1, 0, 0]]]),), "0 log 0 is 0."),
            ]
        },
        mistakes={
            "This is the mean of the heads' entropies; average the attention first.": lambda a: (
                entropy(a).mean()
            ),
            "Only heads are averaged before the entropy is taken, not examples.": any_of(
                lambda a: entropy(a.mean(axis=(0, 1))), lambda a: entropy(a.mean(axis=0)).mean()
            ),
        },
    ),
    Function(
        "effective_rank",
        right=rank,
        cases={
            "e to the power of the entropy of the shares that the eigenvalues of Z have": [
                Ask((3 * np.eye(6)[:, :3],), "Three shares of 1/3 each have the rank 3."),
                Ask(lambda d: (array(d.numbers(8, 4)) * [3, 2, 1, 0.5] + 1.0,)),
                Ask((np.outer([1.0, 2, 3, -1], [1, 0, 0]),), "One direction; the others add 0."),
            ]
        },
        mistakes={
            "Z is not centred: do not subtract the mean.": lambda h: rank(h - h.mean(axis=0)),
            "The eigenvalues of Z are the squares of the singular values of h.": any_of(
                lambda h: rank(h, 1), lambda h: rank(h, 4)
            ),
        },
    ),
    hints=(
        "0 log 0 is 0, but 0 times `np.log(0)` is nan: put a 1 in place of a 0 in the logarithm.",
        "Map: average over heads, then the entropy of each example, then the mean, in this order.",
        "Rank: the eigenvalues of Z are the *squares* of the singular values of h.",
        "Divide them by their sum, take the entropy, then `np.exp`.",
    ),
    afterword="In grokkit: `diagnostics.structure.map_entropy` and `diagnostics.features`.",
)

# --- 11.3 what the learning rate has to do with it -----------------------------------------


def step(a, rate, x, residual, optimizer):
    """The change of the logit."""
    gradient = a * residual * x
    return -rate * a * (gradient if optimizer == "sgd" else np.sign(gradient)) @ x


def moved(optimizer, *residuals):
    return [
        Ask(lambda d, r=r: (d.one(1.5, 4), d.one(0.01, 0.3), array(d.numbers(3)), r, optimizer))
        for r in residuals
    ]


ex_11_3 = Exercise(
    Function(
        "logit_step",
        right=step,
        cases={
            "with sgd dw = -rate r a x, and dz = a (dw . x)": moved("sgd", 0.7, -0.3),
            "with the sign dw = -rate sign(r a x), and dz = a (dw . x)": moved("sign", 0.7, -0.02),
        },
        mistakes={
            "The sign is taken of each entry of the gradient, x included.": any_of(
                lambda a, rate, x, r, o: -rate * a * np.sign(r) * x.sum(),
                lambda a, rate, x, r, o: -rate * a * np.sign(r) * (x @ x),
            )
        },
    ),
    Function(
        "same_pace",
        right=lambda a, rate, optimizer: rate / a ** {"sgd": 2, "sign": 1}[optimizer],
        cases={
            "a step of sgd is felt with a squared": each((0.5, 0.01, "sgd"), (3, 0.01, "sgd")),
            "a step of the sign is felt with a": each((0.5, 0.01, "sign"), (3, 0.01, "sign")),
        },
    ),
    hints=(
        "By the chain rule the gradient by w is r times the derivative of z by w, which is a x.",
        "The change of z is a times (the change of w) times x. For SGD that makes one a more.",
        "Pace: with which power does a stand in the step? The learning rate must take it away.",
    ),
    afterword="A rule for one loss and one optimizer is not a rule.",
)

# --- 11.4 what would "predicts" have to mean? ----------------------------------------------


def ahead(arrived, grokked, share=0.9):
    with np.errstate(invalid="ignore"):
        return (arrived <= share * grokked).sum(axis=1)


def arrivals(d):
    """Arrivals around the grok epochs; some did not come."""
    grokked = 100.0 * (1 + d.order(12).numpy().reshape(4, 3))
    arrived = grokked * np.array([0.5, 0.85, 0.92, 1.2, np.nan])[d.whole(0, 4, 4, 3).numpy()]
    grokked[2, 0] = np.nan
    return arrived, grokked


def ranks(epochs):
    """The rank of every entry within its seed."""
    return epochs.argsort(axis=0).argsort(axis=0)


def as_epochs(given, like):
    asked = f"Return a table of {like.shape[0]} placements and {like.shape[1]} seeds."
    table = as_floats(given, like.shape, asked)
    require((table > 0).all(), "Epochs are above 0.", given)
    return table


def is_late(given, grokked):
    arrived = as_epochs(given, grokked)
    order = "In some seed the order is not that of the groks."
    require((ranks(arrived) == ranks(grokked)).all(), order, given)
    early = "In some run the measure is ahead: it is there by 0.9 of the grok epoch."
    require((arrived > 0.9 * grokked).all(), early, given)


def is_early(given, grokked):
    arrived = as_epochs(given, grokked)
    late = "In some run the measure comes too late. All must come before 0.9 of the first grok."
    require((arrived <= 0.9 * grokked).all(), late, given)
    order = "In some seed the order is not the opposite of that of the groks."
    require((ranks(arrived) == len(grokked) - 1 - ranks(grokked)).all(), order, given)


# With 0.9 in float64 exact: 900 and 450 are in time, just so.
ARRIVED = np.array([[100.0, 900.0, 500.0], [np.nan, 450.0, 100.0]])
GROKKED = np.array([[1000.0, 1000.0, 520.0], [800.0, 500.0, np.nan]])
GROKS = (
    (np.array([[900.0, 1500.0], [3000.0, 2000.0], [7000.0, 1600.0], [7700.0, 9000.0]]),),
    (np.array([[5000.0], [50.0], [51.0]]),),
)

ex_11_4 = Exercise(
    Function(
        "seeds_ahead",
        right=ahead,
        cases={
            "a seed counts when both came, and arrived <= 0.9 x grokked": [
                Ask((ARRIVED, GROKKED), "The first is ahead in 2 seeds of 3, the second in 1."),
                Ask(arrivals, "A comparison with nan is False; so is its opposite."),
                Ask((ARRIVED, GROKKED, 0.5), "`share` says by which share it must be there."),
            ]
        },
    ),
    Function(
        "in_order_too_late",
        judge=is_late,
        cases={"an order can be right while every arrival is too late": each(*GROKS)},
    ),
    Function(
        "early_out_of_order",
        judge=is_early,
        cases={"every arrival is ahead while the order is the opposite": each(*GROKS)},
    ),
    hints=(
        "Any comparison with nan is False, so such a seed does not count. `sum(axis=1)` counts.",
        "Too late in the same order: what makes each number larger and leaves their order?",
        "The opposite order: 1 / x. Make it small: below 0.9 of the seed's *first* grok.",
    ),
    afterword="Ask any 'X predicts Y': before which Y, and known by when?",
)

# --- 11.5 how far can an average mislead? -------------------------------------------------


def room(attention):
    own = entropy(attention).mean()
    return own, own + np.log(len(attention))


def is_furthest(given, heads, spread, length):
    asked = f"Attention of shape [{heads} heads, {length} positions] is asked for."
    attention = as_floats(given, [heads, length], asked)
    even = np.sort(attention, axis=1)[:, ::-1] - (np.arange(length) < spread) / spread
    asked = f"Each head is to have {1 / spread:.4g} at {spread} of the positions, and 0 elsewhere."
    require(np.abs(even).max() < 1e-6, asked, given)
    asked = "The map is not as far from the heads as it can be: two heads look at one position."
    found, most = entropy(attention.mean(axis=0)), room(attention)[1]
    require(
        np.isclose(found, most, atol=1e-6),
        asked,
        found,
        f"{most:.4g} nats",
        "the entropy of the map",
    )


ex_11_5 = Exercise(
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
            "The most: besides the heads' own it is log H, whatever the positions are.": any_of(
                lambda a: (entropy(a).mean(), np.log(a.shape[1])),
                lambda a: (entropy(a).mean(), entropy(a).mean() + np.log(a.shape[1])),
            ),
            "The least: averaging cannot lower an entropy below the mean of the heads'.": any_of(
                lambda a: (0.0, room(a)[1]), lambda a: (entropy(a).min(), room(a)[1])
            ),
        },
    ),
    Function(
        "furthest",
        judge=is_furthest,
        cases={"no heads have a map that is further away": each((2, 3, 6), (4, 1, 9))},
    ),
    hints=(
        "When is the map's entropy as small as the heads'? Let them agree.",
        "When is it largest? Let no two heads look at the same position. What is added then?",
        "Draw a position from the map: first a head is drawn, which is log H, then a position.",
    ),
    afterword="The same holds of averaging over examples, and of any mixture.",
)
