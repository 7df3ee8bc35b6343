"""Checks of the exercises on chapter 12: MED, holes, embeddings that lie, a fair null."""

import math

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, require
from grokkit.diagnostics.uniformity import logarithm_order

# --- 12.1 MED -----------------------------------------------------------------------------


def apart(walk):
    """The distance of any two places."""
    return torch.linalg.vector_norm(walk[:, None] - walk, dim=2)


def ahead(walk, step, home=True):
    """The distance of each place and the one some steps ahead; with those that come home."""
    found = torch.linalg.vector_norm(difference(walk, step), dim=1)
    return found if home else found[: len(walk) - step]


def usual(walk):
    """The mean distance of different places."""
    return apart(walk).sum() / (len(walk) * (len(walk) - 1))


def difference(walk, step):
    return walk.roll(-step, 0) - walk


def med(walk, step):
    return ahead(walk, step).mean()


def relative(walk, step):
    return med(walk, step) / usual(walk)


def circle(p, k, radius=1.0):
    """The numbers 0..p-1 on a circle that is gone round k times."""
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return radius * torch.stack([angle.cos(), angle.sin()], dim=1)


ex_12_1 = Exercise(
    "ex_12_1",
    Function(
        "med",
        right=med,
        cases={
            "MED is the mean distance to the next place, the way home included": Ask(
                lambda d: (d.numbers(5, 3), 1),
                "Five places: five distances, the last of them from place 4 home to place 0.",
            ),
            "with a step the neighbour is some places ahead": Ask(
                lambda d: (d.numbers(7, 3), 3),
                "The neighbour of place i is place (i + 3) modulo 7.",
            ),
        },
        mistakes={
            "The way home, from the last places to the first, is missing.": any_of(
                lambda w, s: ahead(w, s, home=False).mean(),
                lambda w, s: ahead(w, s, home=False).sum() / len(w),
            ),
            "This is the sum of the distances, not their mean.": lambda w, s: ahead(w, s).sum(),
            "These are squared distances: the root is missing.": lambda w, s: (
                ahead(w, s).square().mean()
            ),
            "This is the root of the mean square; asked for is the mean distance.": lambda w, s: (
                ahead(w, s).square().mean().sqrt()
            ),
            "These are sums of absolute differences; the distance is the root of the sum of "
            "squares.": lambda w, s: difference(w, s).abs().sum(dim=1).mean(),
            "This is the length of one vector made of all differences; each place has a length of "
            "its own, and you want their mean.": any_of(
                lambda w, s: difference(w, s).norm(), lambda w, s: difference(w, s).norm() / len(w)
            ),
            "The walk runs along the dimensions; it is to run along the places.": lambda w, s: med(
                w.T, s
            ),
            "The step is not used: this is step 1.": lambda w, s: med(w, 1),
            "Only every third place is counted; each place has a neighbour three ahead.": any_of(
                lambda w, s: med(w[::s], 1), lambda w, s: ahead(w, s)[::s].mean()
            ),
        },
    ),
    Function(
        "relative_med",
        right=relative,
        cases={
            "relative MED is over the mean distance of all different places": Ask(
                lambda d: (d.numbers(5, 3) + 1, 2),
                "Over the mean of the 5 x 4 distances between different places.",
            ),
            "it does not depend on the size": Ask(
                lambda d: (1e-4 * d.numbers(7, 2), 1),
                "This is a small walk. Both distances shrink alike, so their ratio is that of a "
                "large one: is something added below the line?",
                atol=1e-6,
            ),
        },
        mistakes={
            "The n distances of a place to itself are counted, too; they are 0.": lambda w, s: (
                med(w, s) / apart(w).mean()
            ),
            "This is upside down.": lambda w, s: 1 / relative(w, s),
            "It is not divided by anything.": med,
            "It is divided by the distance from the middle; divide by that of pairs.": (
                lambda w, s: med(w, s) / (w - w.mean(dim=0)).norm(dim=1).mean()
            ),
            "It is divided by the mean length of the embeddings, which depends on where 0 is.": (
                lambda w, s: med(w, s) / w.norm(dim=1).mean()
            ),
            "The step is not used: this is step 1.": lambda w, s: relative(w, 1),
        },
    ),
    hints=(
        "`walk.roll(-s, dims=0)` has at place i what was at place i + s, and comes home by itself.",
        "The length of a difference is `.norm(dim=1)`: one number a place, of which you want the "
        "mean. (Not the length of the mean difference, which is 0.)",
        "All pairs: `(walk[:, None] - walk).norm(dim=2)` is a table of n x n distances, with n "
        "zeros on its diagonal that are no pairs of different places.",
    ),
    afterword="In grokkit: token_uniformity in grokkit.diagnostics.uniformity.",
)

# --- 12.2 holes ---------------------------------------------------------------------------


def among(pairs, others):
    """Which pairs are among others."""
    return (pairs[:, None] == others).all(dim=2).any(dim=1)


def half(hole, train):
    return among(hole.flip(1), train)


HOLE = torch.tensor([[0, 1], [2, 3], [0, 3], [0, 0], [1, 4], [0, 2], [1, 0]])
TRAIN = torch.tensor([[3, 0], [4, 2], [4, 1], [2, 3], [0, 3], [2, 4], [5, 5]])

ex_12_2 = Exercise(
    "ex_12_2",
    Function(
        "half_answered",
        right=half,
        cases={
            "a pair is half-answered if its own mirror image is trained on": Ask(
                (HOLE, TRAIN),
                "Look for (j, i) of each pair among the train pairs. Pair (0, 3) has its mirror "
                "image (3, 0) there, (1, 4) has (4, 1).",
            ),
            "a number alone is no pair": [
                Ask(
                    (
                        torch.tensor([[0, 5], [1, 6], [0, 6]]),
                        torch.tensor([[5, 2], [6, 1], [3, 0], [6, 6]]),
                    ),
                    "Of these only (1, 6) has its mirror image (6, 1) in train: both numbers must "
                    "be those of one and the same pair.",
                ),
                Ask(lambda d: (d.whole(0, 4, 6, 2), d.whole(0, 4, 9, 2)), "Both numbers count."),
            ],
        },
        mistakes={
            "The pair itself is looked for; its mirror image is (j, i).": among,
            "The pair and its mirror image are both looked for; only the mirror image counts.": (
                lambda h, t: among(h, t) | half(h, t)
            ),
            "It is asked which *train* pairs have their mirror image in the hole.": lambda h, t: (
                half(t, h)
            ),
            "The answer is turned round: True where the mirror image is trained on.": (
                lambda h, t: ~half(h, t)
            ),
            "The two numbers are looked for apart; they must stand in one and the same pair.": (
                any_of(
                    lambda h, t: torch.isin(h[:, 1], t[:, 0]) & torch.isin(h[:, 0], t[:, 1]),
                    lambda h, t: torch.isin(h, t).all(dim=1),
                )
            ),
            "This is how many; the answer has one bool for each pair.": any_of(
                lambda h, t: half(h, t).sum(), lambda h, t: half(h, t).double().mean()
            ),
        },
    ),
    Function(
        "never_half_answered",
        right=lambda p, kind, edge: (edge + 1) ** 2,
        cases={
            "of a square none ever is": [
                Ask(
                    (p, "square", edge),
                    f"The numbers up to {edge} are {edge + 1}: {(edge + 1) ** 2} pairs, and every "
                    "mirror image lies in the square.",
                )
                for p, edge in ((11, 4), (7, 2), (5, 0), (6, 5))
            ],
            "of a strip its corner": [
                Ask(
                    (p, "strip", edge),
                    "Of a pair (i, j) in the strip the mirror image is (j, i): it lies in the "
                    "strip if j <= e, too.",
                )
                for p, edge in ((11, 4), (7, 2), (6, 5))
            ],
        },
        mistakes={
            "The edge itself lies inside: i <= e.": any_of(
                lambda p, kind, e: e**2, lambda p, kind, e: e * p if kind == "strip" else e**2
            ),
            "The mirror image of a pair in the square lies in the square, and nothing there is "
            "trained on.": lambda p, kind, e: 0,
            "Each pair counts, (i, j) and (j, i) both.": lambda p, kind, e: (e + 1) * (e + 2) // 2,
            "Pairs (i, i) count as well: they are their own mirror image.": lambda p, kind, e: (
                (e + 1) * e
            ),
            "These are all pairs of the strip; the mirror images of most lie outside.": (
                lambda p, kind, e: (e + 1) * (p if kind == "strip" else e + 1)
            ),
            "These are the pairs that *may* be half-answered; asked for are the others.": (
                lambda p, kind, e: (e + 1) * (p - e - 1) if kind == "strip" else (e + 1) ** 2
            ),
        },
    ),
    hints=(
        "The mirror image of (i, j) is (j, i). Put the train pairs into a `set` of tuples and look "
        "each mirror image up.",
        "Draw a table of 5 x 5 with a strip i <= 1 and mark the mirror image of each of its pairs. "
        "Which of them lie in the strip?",
        "Count: of all pairs inside, those whose mirror image is inside as well.",
    ),
    afterword="In grokkit a hole's extra_mirrored says it of every pair: grokkit.tasks.PrimeField.",
)

# --- 12.3 two lies ------------------------------------------------------------------------

LEAST, ABOVE = 0.8, 1.4
"""What is asked of relative MED in ex_12_3."""


def as_embedding(given, p, width):
    """An answer as an embedding in float64."""
    array = as_array(given)
    require(array is not None, "The answer is to be an embedding [number, embed].", given)
    embedding = torch.as_tensor(array).double()
    shape = tuple(embedding.shape)
    require(
        embedding.ndim == 2 and shape[0] == p and shape[1] == (width or shape[1]) <= 512,
        f"The embedding has shape {shape}; asked for: {p} numbers in "
        f"{width or 'up to 512'} dimensions.",
    )
    require(embedding.isfinite().all(), "There is a nan or an infinity in the embedding.")
    alike = apart(embedding) + torch.eye(p) <= 1e-9 * embedding.abs().max()
    require(not bool(alike.any()), "Two numbers lie in one place: each needs one of its own.")
    return embedding


def all_steps(walk):
    """Relative MED at every step from 1 to n // 2."""
    return torch.stack([relative(walk, s) for s in range(1, len(walk) // 2 + 1)])


def is_low(given, p, at_most):
    made = as_embedding(given, p, None)
    steps = all_steps(made)
    require(
        float(steps.min()) >= LEAST,
        f"Step {1 + int(steps.argmin())} has a relative MED of {float(steps.min()):.2f}: this "
        "embedding has an order in it. Take one in which all numbers are about equally far from "
        "each other.",
    )
    require(
        float(med(made, 1)) <= at_most * (1 + 1e-6),
        f"MED is {float(med(made, 1)):.3g}, to be at most {at_most:g}. There is nothing to be "
        "arranged: make the embedding smaller.",
    )


def is_even_and_high(given, p):
    made = as_embedding(given, p, 2)
    radius = torch.linalg.vector_norm(made, dim=1)
    require(
        torch.allclose(radius, torch.ones_like(radius), atol=1e-4),
        "Every number is to lie at distance 1 from 0.",
        radius,
    )
    angle = torch.atan2(made[:, 1], made[:, 0]).sort().values
    gaps = torch.cat([angle.diff(), (angle[:1] + 2 * math.pi - angle[-1:])])
    require(
        torch.allclose(gaps, torch.full_like(gaps, 2 * math.pi / p), atol=1e-4),
        f"The numbers do not lie evenly: the gaps between them go from {float(gaps.min()):.3f} "
        f"to {float(gaps.max()):.3f} radians, where each should be 2 pi / {p}.",
    )
    high = float(relative(made, 1))
    require(
        high > ABOVE,
        f"Relative MED at step 1 is {high:.2f}, to be above {ABOVE}. Go round more often: at "
        "which frequency are neighbours furthest from each other?",
    )


ex_12_3 = Exercise(
    "ex_12_3",
    Function(
        "low_and_meaningless",
        judge=is_low,
        cases={"a low MED without structure": [Ask((7, 0.5)), Ask((23, 1e-3)), Ask((47, 1e-6))]},
    ),
    Function(
        "even_and_high",
        judge=is_even_and_high,
        cases={"a perfect circle with a high MED": [Ask((p,)) for p in (11, 23, 47)]},
    ),
    hints=(
        "MED shrinks with the embedding, relative MED does not. So: any embedding in which all "
        "numbers are about equally far from each other, made small.",
        "In many dimensions random vectors are about equally far from each other; "
        "`torch.randn(p, 512)`. Or the rows of `torch.eye(p)`, exactly so.",
        "Even and high: MED of a circle of frequency k is 2 R sin(pi k / p). Which whole k makes "
        "it largest?",
    ),
    afterword="Whoever reports MED reports a size and a frequency. The rest is what it should be.",
)

# --- 12.4 a small study: a fair null ------------------------------------------------------


def powers(g, p):
    return [pow(g, e, p) for e in range(p - 1)]


def roots(p):
    """The numbers whose powers are all of 1..p-1."""
    return [g for g in range(2, p) if len(set(powers(g, p))) == p - 1]


def visiting(n):
    return [s for s in range(1, n // 2 + 1) if math.gcd(s, n) == 1]


def best(walk, of=relative, steps=visiting):
    return min(float(of(walk, s)) for s in steps(len(walk)))


def best_null(walk, orders):
    return [best(walk[order]) for order in orders]


def shuffles(d, n):
    return d.numbers(n, 3), torch.stack([d.order(n) for _ in range(4)])


def near_circle(d, p, k, more=0.0):
    return circle(p, k) + circle(p, 1, more) + 0.02 * d.numbers(p, 2).double()


ex_12_4 = Exercise(
    "ex_12_4",
    Function(
        "log_walk",
        right=logarithm_order,
        cases={
            "the walk takes the powers of the least root": [
                Ask(
                    (p,),
                    f"Modulo {p} the least number whose powers are all of 1..{p - 1} is "
                    f"{roots(p)[0]}. The walk begins with 1, {roots(p)[0]}.",
                )
                for p in (3, 7, 17, 23)
            ]
        },
        mistakes={
            "The powers of 2 do not reach all numbers modulo every prime.": lambda p: powers(2, p),
            "The walk begins with g; it is to begin with 1, the power 0.": lambda p: (
                logarithm_order(p).roll(-1)
            ),
            "1 comes twice: there are p - 1 powers, from 0 to p - 2.": lambda p: [
                *powers(roots(p)[0], p),
                1,
            ],
            "0 is no power of g, and has no logarithm: leave it out.": lambda p: [
                0,
                *powers(roots(p)[0], p),
            ],
            "This is the logarithm of every number; asked for are the numbers in the order of "
            "their logarithm.": lambda p: logarithm_order(p).argsort(),
            "This root is one, but not the least.": lambda p: powers(roots(p)[-1], p),
        },
    ),
    Function(
        "best",
        right=best,
        cases={
            "the best step of a circle is found": Ask(
                lambda d: (near_circle(d, 11, 4),),
                "A circle of frequency 4 on 11 places: the neighbours are 3 apart, for 3 x 4 = 1 "
                "modulo 11.",
            ),
            "steps that miss places do not count, and n // 2 does": [
                Ask(
                    # Four places ahead lies the nearest.
                    lambda d: (near_circle(d, 8, 2, 0.3),),
                    "Eight places: of the steps 1 to 4 only 1 and 3 visit all of them.",
                ),
                Ask(
                    # The inverse of 2 modulo 7 is 4, that is, 3 the other way.
                    lambda d: (near_circle(d, 7, 2),),
                    "Seven places: steps 1, 2 and 3 = 7 // 2.",
                ),
                Ask(lambda d: (near_circle(d, 7, 1),), "Seven places, and step 1 is the best."),
            ],
        },
        mistakes={
            "Step n // 2 is missing.": lambda w: best(
                w, steps=lambda n: [s for s in visiting(n) if s != n // 2] or [1]
            ),
            "This is step 1, not the best.": lambda w: relative(w, 1),
            "This is the step itself; asked for is its relative MED.": lambda w: min(
                visiting(len(w)), key=lambda s: float(relative(w, s))
            ),
            "This is the largest; the least is asked for.": lambda w: max(
                float(relative(w, s)) for s in visiting(len(w))
            ),
            "This is MED; it is to be relative to the mean distance of all pairs.": lambda w: best(
                w, med
            ),
            "Steps 2 and 4 come home before they have been everywhere; those that have a factor in "
            "common with n do not count.": lambda w: float(all_steps(w).min()),
        },
    ),
    Function(
        "fair_null",
        right=lambda walk, orders: min(best_null(walk, orders)),
        cases={
            "the null does all that was done to the walk": Ask(
                lambda d: shuffles(d, 7),
                "For each order: shuffle, then the best over all steps. Of these the least.",
            )
        },
        mistakes={
            "This null looks at step 1 only: the walk was allowed to choose its step, so the null "
            "must be, too.": any_of(
                lambda w, orders: min(relative(w[order], 1) for order in orders),
                lambda w, orders: sum(relative(w[order], 1) for order in orders) / len(orders),
            ),
            "This is the mean over the orders; the least is asked for.": lambda w, orders: (
                sum(best_null(w, orders)) / len(orders)
            ),
            "This is the largest over the orders; the least is asked for.": lambda w, orders: max(
                best_null(w, orders)
            ),
            "This is one for each order; asked for is the least of them.": best_null,
            "The walk is not shuffled.": lambda w, orders: best(w),
        },
    ),
    hints=(
        "Try g = 2, 3, ...: `[pow(g, e, p) for e in range(p - 1)]` are its powers. It is the right "
        "one if they are p - 1 different numbers.",
        "`best`: a minimum over steps s with `math.gcd(s, n) == 1`, of your relative_med.",
        "`fair_null`: shuffle the walk by each order, `walk[order]`, and do to it what was done to "
        "the walk itself. Then take the least.",
    ),
    afterword="In grokkit: logarithm_order, and token_uniformity(...).best and .best_null.",
)

# --- 12.5 everybody nearer, nobody a neighbour --------------------------------------------


def is_nearer_without_order(given, embedding):
    array = as_array(given)
    require(
        array is not None and array.ndim == 2 and len(array) == len(embedding),
        f"An embedding of {len(embedding)} numbers is asked for, [number, embed].",
        given,
    )
    made, before = torch.as_tensor(array).double(), apart(embedding.double())
    require(made.isfinite().all(), "There is a nan or an infinity in the embedding.", given)
    now, others = apart(made), ~torch.eye(len(made), dtype=torch.bool)
    require(bool((now[others] > 0).all()), "Two numbers lie in one place.", given)
    steps = all_steps(made)
    cause = "An order is left."
    if torch.allclose(steps, all_steps(embedding.double()), atol=0.01):
        cause = "To make it smaller changes no ratio: the order of before is still there."
    require(
        bool((steps - 1).abs().max() < 0.01),
        f"{cause} When is the relative MED 1 at *every* step? If all distances are alike.",
        steps,
        "1 at every step",
    )
    require(
        bool((now[others] < before[others]).all()),
        "Two numbers are no nearer than before. The nearest two decide how small it must be.",
        float((now[others] / before[others]).max()),
        "every distance below what it was",
    )


ex_12_5 = Exercise(
    "ex_12_5",
    Function(
        "nearer_without_order",
        judge=is_nearer_without_order,
        cases={
            "every two numbers are nearer, and no step is better than another": [
                Ask((circle(7, 1),)),
                Ask(lambda d: (d.numbers(11, 3),)),
                Ask(lambda d: (100 * d.numbers(5, 2),)),
                Ask((torch.tensor([[0.0], [1e-3], [2.0], [5.0], [9.0]]),)),
            ]
        },
    ),
    hints=(
        "For which embedding is every step as good as every other one?",
        "If all distances are equal. How many dimensions does it take, and which points are these?",
        "`torch.eye(n)` has all distances sqrt(2). How small must it be made?",
    ),
    afterword="So before 'more uniform' is said, ask: than what, and at which size?",
)
