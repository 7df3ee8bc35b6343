"""Checks of the exercises on chapter 12: MED, holes, embeddings that lie, a fair null."""

import math

import torch

from grokkit.classroom.checks.common import as_tensor
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each
from grokkit.classroom.checks.expect import any_of, as_array, require
from grokkit.diagnostics.uniformity import logarithm_order

# --- 12.1 MED -----------------------------------------------------------------------------


def apart(walk):
    """The distance of any two places."""
    return (walk[:, None] - walk).norm(dim=2)


def ahead(walk, step):
    """The distance of each place and the one some steps ahead."""
    return (walk.roll(-step, 0) - walk).norm(dim=1)


def med(walk, step):
    return ahead(walk, step).mean()


def relative(walk, step):
    return med(walk, step) * len(walk) * (len(walk) - 1) / apart(walk).sum()


def circle(p, k, radius=1.0):
    """The numbers 0..p-1 on a circle that is gone round k times."""
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return radius * torch.stack([angle.cos(), angle.sin()], dim=1)


ex_12_1 = Exercise(
    Function(
        "med",
        right=med,
        cases={
            "the mean distance to the next place; the last has its next in the first": Ask(
                lambda d: (d.numbers(5, 3), 1), "Five places have five distances."
            ),
            "with a step the neighbour is some places ahead": Ask(
                lambda d: (d.numbers(7, 3), 3), "The neighbour of place i is place (i + 3) % 7."
            ),
        },
        mistakes={
            "The way home, from the last places to the first, is missing.": any_of(
                lambda w, s: ahead(w, s)[:-s].mean(), lambda w, s: ahead(w, s)[:-s].sum() / len(w)
            ),
            "These are squared distances, or the root of their mean.": any_of(
                lambda w, s: ahead(w, s).square().mean(),
                lambda w, s: ahead(w, s).square().mean().sqrt(),
            ),
            "Each place has a distance of its own, and you want their mean.": any_of(
                lambda w, s: (w.roll(-s, 0) - w).norm(),
                lambda w, s: (w.roll(-s, 0) - w).norm() / len(w),
            ),
        },
    ),
    Function(
        "relative_med",
        right=relative,
        cases={
            "over the mean distance of all pairs of different places": Ask(
                lambda d: (d.numbers(5, 3) + 1, 2), "There are 5 x 4 such pairs, and a step of 2."
            ),
            "it does not depend on the size": Ask(
                lambda d: (1e-4 * d.numbers(7, 2), 1),
                "Both distances are small here: is something added below the line?",
                atol=1e-6,
            ),
        },
        mistakes={
            "The n distances of a place to itself are counted, too.": lambda w, s: (
                med(w, s) / apart(w).mean()
            ),
            "Divide by the mean distance of pairs.": any_of(
                med, lambda w, s: med(w, s) / w.norm(dim=1).mean()
            ),
        },
    ),
    hints=(
        "`walk.roll(-s, dims=0)` has at place i what was at place i + s, and comes home by itself.",
        "`.norm(dim=1)` of the differences is one length a place: you want the mean of these.",
        "`(walk[:, None] - walk).norm(dim=2)` has all n x n distances, n of them no pairs.",
    ),
    afterword="In grokkit: token_uniformity in grokkit.diagnostics.uniformity.",
)

# --- 12.2 holes ---------------------------------------------------------------------------


def among(pairs, others):
    """Which pairs are among others."""
    return (pairs[:, None] == others).all(dim=2).any(dim=1)


HOLE = torch.tensor([[0, 1], [2, 3], [0, 3], [0, 0], [1, 4], [0, 2], [1, 0]])
TRAIN = torch.tensor([[3, 0], [4, 2], [4, 1], [2, 3], [0, 3], [2, 4], [5, 5]])

ex_12_2 = Exercise(
    Function(
        "half_answered",
        right=lambda hole, train: among(hole.flip(1), train),
        cases={
            "a pair is half-answered if its own mirror image is trained on": [
                Ask((HOLE, TRAIN), "Of (0, 3) and (1, 4) it is, and of no other pair here."),
                Ask(lambda d: (d.whole(0, 4, 6, 2), d.whole(0, 4, 9, 2)), "Look (j, i) up."),
            ]
        },
        mistakes={
            "The mirror image of (i, j) is (j, i), and it alone counts.": any_of(
                among, lambda h, t: among(h, t) | among(h.flip(1), t)
            ),
            "True is to say that the mirror image is trained on.": lambda h, t: (
                ~among(h.flip(1), t)
            ),
            "Both numbers must stand in one and the same pair.": any_of(
                lambda h, t: torch.isin(h[:, 1], t[:, 0]) & torch.isin(h[:, 0], t[:, 1]),
                lambda h, t: torch.isin(h, t).all(dim=1),
            ),
        },
    ),
    Function(
        "never_half_answered",
        right=lambda p, kind, edge: (edge + 1) ** 2,
        cases={
            "the mirror image of every pair of a square lies in the square": each(
                (11, "square", 4), (6, "square", 5), cause="With the edge itself: i <= e."
            ),
            "the mirror image of (i, j) lies in a strip if j <= e": each(
                (11, "strip", 4), (6, "strip", 5), cause="With the edge itself: j <= e."
            ),
        },
    ),
    hints=(
        "Put the train pairs into a `set` of tuples and look each mirror image (j, i) up.",
        "Draw a 5 x 5 table with a strip i <= 1: which mirror images of its pairs lie in it?",
        "Count: of all pairs inside, those whose mirror image is inside as well.",
    ),
    afterword="In grokkit a hole's extra_mirrored says it of every pair: grokkit.tasks.PrimeField.",
)

# --- 12.3 two lies ------------------------------------------------------------------------


def as_embedding(given, p, least=1, most=10_000):
    """An answer as an embedding in float64."""
    array = as_array(given)
    width = array.shape[1] if array is not None and array.ndim == 2 else 0
    dimensions = f"up to {most}" if least < most else f"{most}"
    asked = f"An embedding of {p} numbers in {dimensions} dimensions is asked for."
    require(least <= width <= most, asked, given)
    made = as_tensor(given, [p, width], asked)
    alike = apart(made) + torch.eye(p) <= 1e-9 * made.abs().max()
    require(not alike.any(), "Two numbers lie in one place: each needs one of its own.")
    return made


def all_steps(walk):
    """Relative MED at every step from 1 to n // 2."""
    return torch.stack([relative(walk, s) for s in range(1, len(walk) // 2 + 1)])


def is_low(given, p, at_most):
    made = as_embedding(given, p, most=512)
    steps, size = all_steps(made), med(made, 1)
    cause = f"Step {1 + int(steps.argmin())} has a relative MED of {steps.min():.2f}: an order. "
    cause += "Take an embedding in which all numbers are about equally far from each other."
    require(steps.min() >= 0.8, cause, steps, "0.8 or more at every step", "relative MED")
    cause = "MED is too large. There is nothing to be arranged: make the embedding smaller."
    require(size <= at_most * (1 + 1e-6), cause, size, f"{at_most:g} or less", "MED")


def is_even_and_high(given, p):
    made = as_embedding(given, p, least=2, most=2)
    radius, high = made.norm(dim=1), relative(made, 1)
    require((radius - 1).abs().max() < 1e-4, "Every number is to lie at distance 1 from 0.", radius)
    angle = torch.atan2(made[:, 1], made[:, 0]).sort().values
    gaps = torch.cat([angle, angle[:1] + 2 * math.pi]).diff()
    cause = f"The numbers do not lie evenly: the gaps go from {gaps.min():.3f} to {gaps.max():.3f} "
    cause += f"radians, where each should be 2 pi / {p}."
    require((gaps - 2 * math.pi / p).abs().max() < 1e-4, cause, gaps)
    cause = f"The relative MED is {high:.2f} at step 1. Go round more often: at which frequency "
    cause += "are neighbours furthest from each other?"
    require(high > 1.4, cause, high, "a relative MED above 1.4")


ex_12_3 = Exercise(
    Function(
        "low_and_meaningless",
        judge=is_low,
        cases={"a low MED without structure": each((7, 0.5), (23, 1e-3), (47, 1e-6))},
    ),
    Function(
        "even_and_high",
        judge=is_even_and_high,
        cases={"a perfect circle with a high MED": each((11,), (23,), (47,))},
    ),
    hints=(
        "MED shrinks with the embedding, relative MED does not: let all be equally far, and small.",
        "The rows of `torch.eye(p)` are equally far from each other; `torch.randn(p, 512)` nearly.",
        "Even and high: MED of a circle of frequency k is 2 R sin(pi k / p). Which k is best?",
    ),
    afterword="Whoever reports MED reports a size and a frequency. The rest is what it should be.",
)

# --- 12.4 a small study: a fair null ------------------------------------------------------


def best(walk):
    n = len(walk)
    return min(relative(walk, s) for s in range(1, n // 2 + 1) if math.gcd(s, n) == 1)


def near_circle(d, p, k, more=0.0):
    return circle(p, k) + circle(p, 1, more) + 0.02 * d.numbers(p, 2).double()


ex_12_4 = Exercise(
    Function(
        "log_walk",
        right=logarithm_order,
        cases={
            "1, g, g^2, ..., with the least g whose powers are all of 1..p-1": [
                Ask((7,), "The powers of 2 are 1, 2, 4; those of 3 are all."),
                Ask((3,), "The powers of 2 are 1 and 2."),
                Ask((17,), "Of 17 it is 3, too."),
                Ask((23,), "Of 23 it is 5."),
            ]
        },
        mistakes={
            "The walk begins with 1, the power 0.": lambda p: logarithm_order(p).roll(-1),
            "Asked for are the numbers in the order of their logarithm, not the logarithms.": (
                lambda p: logarithm_order(p).argsort()
            ),
        },
    ),
    Function(
        "best",
        right=best,
        cases={
            "the least relative MED of the steps up to n // 2 that visit all places": [
                Ask(lambda d: (near_circle(d, 11, 4),), "On 11 places the best step is 3."),
                Ask(lambda d: (near_circle(d, 8, 2, 0.3),), "On 8 places steps 2 and 4 miss some."),
                Ask(lambda d: (near_circle(d, 7, 2),), "On 7 places step 3 = 7 // 2 is the best."),
                Ask(lambda d: (near_circle(d, 7, 1),), "Here step 1 is the best."),
            ]
        },
    ),
    Function(
        "fair_null",
        right=lambda walk, orders: min(best(walk[order]) for order in orders),
        cases={
            "shuffle by each order, take the best of all steps; of these the least": Ask(
                lambda d: (d.numbers(7, 3), torch.stack([d.order(7) for _ in range(4)]))
            )
        },
        mistakes={
            "The walk was allowed to choose its step, so the null must be, too.": (
                lambda w, orders: min(relative(w[order], 1) for order in orders)
            ),
            "This is the mean, or the largest; the least is asked for.": any_of(
                lambda w, orders: sum(best(w[order]) for order in orders) / len(orders),
                lambda w, orders: max(best(w[order]) for order in orders),
            ),
        },
    ),
    hints=(
        "Try g = 2, 3, ...: are `[pow(g, e, p) for e in range(p - 1)]` p - 1 different numbers?",
        "`best`: a minimum over steps s with `math.gcd(s, n) == 1`, of your relative_med.",
        "`fair_null`: do to each `walk[order]` what was done to the walk; then take the least.",
    ),
    afterword="In grokkit: logarithm_order, and token_uniformity(...).best and .best_null.",
)

# --- 12.5 everybody nearer, nobody a neighbour --------------------------------------------


def is_nearer_without_order(given, embedding):
    made, others = as_embedding(given, len(embedding)), torch.eye(len(embedding)) == 0
    order = "An order is left, as it is in anything made smaller. When are all steps at 1?"
    steps = all_steps(made)
    require(
        (steps - 1).abs().max() < 0.01,
        order,
        steps,
        "1 at every step",
        "relative MED by step",
    )
    far = "Two numbers are no nearer than before. The nearest two say how small it must be."
    ratio = (apart(made) / apart(embedding.double()))[others].max()
    require(ratio < 1, far, ratio, "below 1", "the largest ratio of a distance to what it was")


ex_12_5 = Exercise.of(
    "nearer_without_order",
    judge=is_nearer_without_order,
    cases={
        "every two numbers are nearer, and no step is better than another": each(
            (circle(7, 1),),
            lambda d: (d.numbers(11, 3),),
            lambda d: (100 * d.numbers(5, 2),),
            (torch.tensor([[0.0], [1e-3], [2.0], [5.0], [9.0]]),),
        )
    },
    hints=(
        "For which embedding is every step as good as every other one?",
        "If all distances are equal. How many dimensions does it take, and which points are these?",
        "`torch.eye(n)` has all distances sqrt(2). How small must it be made?",
    ),
    afterword="So before 'more uniform' is said, ask: than what, and at which size?",
)
