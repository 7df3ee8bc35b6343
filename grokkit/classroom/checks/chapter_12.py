"""Checks of the exercises on chapter 12: MED, holes, embeddings that lie, a fair null."""

import math
from typing import Any

import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import any_of, as_array, expect, require
from grokkit.diagnostics.uniformity import logarithm_order

Tensor = torch.Tensor

# Five places in three dimensions, no two distances alike.
SCATTERED = torch.tensor(
    [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [0.0, 4.0, 0.0], [5.0, 5.0, 1.0], [2.0, 7.0, 7.0]],
    dtype=torch.float64,
)


def apart(walk: Tensor) -> Tensor:
    """The distance of any two places."""
    return torch.linalg.vector_norm(walk[:, None] - walk, dim=2)


def ahead(walk: Tensor, step: int, home: bool = True) -> Tensor:
    """The distance of each place and the one some steps ahead; with those that come home."""
    n = len(walk)
    return torch.stack([apart(walk)[i, (i + step) % n] for i in range(n if home else n - step)])


def usual(walk: Tensor) -> Tensor:
    """The mean distance of different places."""
    n = len(walk)
    return apart(walk).sum() / (n * (n - 1))


def circle(p: int, k: int, radius: float = 1.0) -> Tensor:
    """The numbers 0..p-1 on a circle that is gone round k times."""
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return radius * torch.stack([angle.cos(), angle.sin()], dim=1)


# --- 12.1 MED -----------------------------------------------------------------------------

ex_12_1 = Exercise(
    "ex_12_1",
    answers=("med", "relative_med"),
    hints=(
        "`walk.roll(-s, dims=0)` has at place i what was at place i + s, and comes home by itself.",
        "The length of a difference is `.norm(dim=1)`: one number a place, of which you want the "
        "mean. (Not the length of the mean difference, which is 0.)",
        "All pairs: `(walk[:, None] - walk).norm(dim=2)` is a table of n x n distances, with n "
        "zeros on its diagonal that are no pairs of different places.",
    ),
    afterword="In grokkit: token_uniformity in grokkit.diagnostics.uniformity.",
)


@ex_12_1.property("MED is the mean distance to the next place, the way home included")
def _(med, _relative):
    one = ahead(SCATTERED, 1)
    difference = SCATTERED.roll(-1, 0) - SCATTERED
    expect(
        med(SCATTERED, 1),
        one.mean(),
        cause="Five places: five distances, the last of them from place 4 home to place 0.",
        mistakes={
            "The way home, from the last place to the first, is missing.": any_of(
                ahead(SCATTERED, 1, home=False).mean(), ahead(SCATTERED, 1, home=False).sum() / 5
            ),
            "This is the sum of the distances, not their mean.": one.sum(),
            "These are squared distances: the root is missing.": one.square().mean(),
            "This is the root of the mean square; asked for is the mean distance.": (
                one.square().mean().sqrt()
            ),
            "These are sums of absolute differences; the distance is the root of the sum of "
            "squares.": difference.abs().sum(dim=1).mean(),
            "This is the length of one vector made of all differences; each place has a length "
            "of its own, and you want their mean.": any_of(
                difference.norm(), difference.norm() / 5
            ),
            "The walk runs along the dimensions; it is to run along the places.": ahead(
                SCATTERED.T, 1
            ).mean(),
        },
    )


@ex_12_1.property("with a step the neighbour is some places ahead")
def _(med, _relative):
    walk = torch.cat([SCATTERED, torch.tensor([[9.0, 0.0, 1.0], [1.0, 8.0, 3.0]]).double()])
    right = ahead(walk, 3)
    expect(
        med(walk, 3),
        right.mean(),
        cause="The neighbour of place i is place (i + 3) modulo 7.",
        mistakes={
            "The step is not used: this is step 1.": ahead(walk, 1).mean(),
            "Those that come home are missing: the place is taken modulo 7.": any_of(
                ahead(walk, 3, home=False).mean(), ahead(walk, 3, home=False).sum() / 7
            ),
            "Only every third place is counted; each place has a neighbour three ahead.": any_of(
                ahead(walk[::3], 1).mean(), right[::3].mean()
            ),
        },
    )


@ex_12_1.property("relative MED is over the mean distance of all different places")
def _(_med, relative):
    own, most = ahead(SCATTERED, 2).mean(), usual(SCATTERED)
    spread = (SCATTERED - SCATTERED.mean(dim=0)).norm(dim=1).mean()
    expect(
        relative(SCATTERED, 2),
        own / most,
        cause="Over the mean of the 5 x 4 distances between different places.",
        mistakes={
            "The n distances of a place to itself are counted, too; they are 0.": own
            / (most * 0.8),
            "This is upside down.": most / own,
            "It is not divided by anything.": own,
            "It is divided by the distance from the middle; divide by that of pairs.": own / spread,
            "It is divided by the mean length of the embeddings, which depends on where 0 is.": own
            / SCATTERED.norm(dim=1).mean(),
            "The step is not used: this is step 1.": ahead(SCATTERED, 1).mean() / most,
        },
    )


@ex_12_1.property("it does not depend on the size")
def _(_med, relative):
    walk = circle(7, 2, radius=0.01)
    expect(
        relative(walk, 1),
        ahead(walk, 1).mean() / usual(walk),
        cause="This is a small circle. Both distances shrink alike, so their ratio is that of a "
        "large one: is something added below the line?",
    )


# --- 12.2 holes ---------------------------------------------------------------------------

ex_12_2 = Exercise(
    "ex_12_2",
    answers=("half_answered", "never_half_answered"),
    hints=(
        "The mirror image of (i, j) is (j, i). Put the train pairs into a `set` of tuples and look "
        "each mirror image up.",
        "Draw a table of 5 x 5 with a strip i <= 1 and mark the mirror image of each of its pairs. "
        "Which of them lie in the strip?",
        "Count: of all pairs inside, those whose mirror image is inside as well.",
    ),
    afterword="In grokkit a hole's extra_mirrored says it of every pair: grokkit.tasks.PrimeField.",
)

HOLE = torch.tensor([[0, 1], [0, 3], [0, 0], [1, 4], [0, 2], [1, 0]])
TRAIN = torch.tensor([[3, 0], [4, 2], [4, 1], [2, 3], [0, 3], [2, 4]])


def looked_up(hole: Tensor, train: Tensor) -> Tensor:
    """Which pairs are among others."""
    return (hole[:, None] == train).all(dim=2).any(dim=1)


def looked_up_apart(hole: Tensor, train: Tensor) -> Tensor:
    """Whether both numbers of a mirror image stand somewhere, each in its own column."""
    return torch.isin(hole[:, 1], train[:, 0]) & torch.isin(hole[:, 0], train[:, 1])


APART = "The two numbers are looked for apart; they must stand in one and the same pair."


@ex_12_2.property("a pair is half-answered if its own mirror image is trained on")
def _(half, _never):
    expect(
        half(HOLE, TRAIN),
        looked_up(HOLE.flip(1), TRAIN),
        cause="Look for (j, i) of each pair among the train pairs. Pair (0, 3) has its mirror "
        "image (3, 0) there, (1, 4) has (4, 1).",
        mistakes={
            "The pair itself is looked for; its mirror image is (j, i).": looked_up(HOLE, TRAIN),
            "The pair and its mirror image are both looked for; only the mirror image counts.": (
                looked_up(HOLE, TRAIN) | looked_up(HOLE.flip(1), TRAIN)
            ),
            "It is asked which *train* pairs have their mirror image in the hole.": looked_up(
                TRAIN.flip(1), HOLE
            ),
            "The answer is turned round: True where the mirror image is trained on.": ~looked_up(
                HOLE.flip(1), TRAIN
            ),
            APART: looked_up_apart(HOLE, TRAIN),
            "This is how many; the answer has one bool for each pair.": any_of(
                int(looked_up(HOLE.flip(1), TRAIN).sum()),
                float(looked_up(HOLE.flip(1), TRAIN).double().mean()),
            ),
        },
    )


@ex_12_2.property("a number alone is no pair")
def _(half, _never):
    hole = torch.tensor([[0, 5], [1, 6], [0, 6]])
    train = torch.tensor([[5, 2], [6, 1], [3, 0], [6, 6]])
    expect(
        half(hole, train),
        looked_up(hole.flip(1), train),
        cause="Of these only (1, 6) has its mirror image (6, 1) in train: both numbers must be "
        "those of one and the same pair.",
        mistakes={
            APART: looked_up_apart(hole, train),
        },
    )


@ex_12_2.property("of a square none ever is")
def _(_half, never):
    for p, edge in ((7, 2), (5, 0), (11, 6)):
        expect(
            never(p, "square", edge),
            (edge + 1) ** 2,
            cause=f"The numbers up to {edge} are {edge + 1}: {(edge + 1) ** 2} pairs, and every "
            "mirror image lies in the square.",
            mistakes={
                "The edge itself lies inside: i <= e.": edge**2,
                "The mirror image of a pair in the square lies in the square, and nothing there "
                "is trained on.": 0,
                "Each pair counts, (i, j) and (j, i) both.": (edge + 1) * (edge + 2) // 2,
                "Pairs (i, i) count as well: they are their own mirror image.": (edge + 1) * edge,
            },
        )


@ex_12_2.property("of a strip its corner")
def _(_half, never):
    for p, edge in ((7, 2), (11, 4)):
        inside = (edge + 1) * p
        expect(
            never(p, "strip", edge),
            (edge + 1) ** 2,
            cause="Of a pair (i, j) in the strip the mirror image is (j, i): it lies in the strip "
            "if j <= e, too.",
            mistakes={
                "These are all pairs of the strip; the mirror images of most lie outside.": inside,
                "These are the pairs that *may* be half-answered; asked for are the others.": inside
                - (edge + 1) ** 2,
                "The edge itself lies inside: i <= e.": any_of(edge**2, edge * p),
                "Pairs (i, i) count as well: they are their own mirror image.": (edge + 1) * edge,
                "Each pair counts, (i, j) and (j, i) both.": (edge + 1) * (edge + 2) // 2,
            },
        )


# --- 12.3 two lies ------------------------------------------------------------------------

ex_12_3 = Exercise(
    "ex_12_3",
    answers=("low_and_meaningless", "even_and_high"),
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

LEAST, ABOVE = 0.8, 1.4
"""What is asked of relative MED in ex_12_3."""


def as_embedding(given: Any, p: int, width: int | None) -> Tensor:
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


def all_steps(walk: Tensor) -> Tensor:
    """Relative MED at every step from 1 to n // 2."""
    n = len(walk)
    return torch.stack([ahead(walk, s).mean() for s in range(1, n // 2 + 1)]) / usual(walk)


@ex_12_3.property("a low MED without structure")
def _(low, _even):
    for p, at_most in ((7, 0.5), (23, 1e-3), (47, 1e-6)):
        made = as_embedding(low(p, at_most), p, None)
        med = float(ahead(made, 1).mean())
        relative = all_steps(made)
        require(
            float(relative.min()) >= LEAST,
            f"Step {1 + int(relative.argmin())} has a relative MED of {float(relative.min()):.2f}: "
            "this embedding has an order in it. Take one in which all numbers are about equally "
            "far from each other.",
        )
        require(
            med <= at_most,
            f"MED is {med:.3g}, to be at most {at_most:g}. There is nothing to be arranged: make "
            "the embedding smaller.",
        )


@ex_12_3.property("a perfect circle with a high MED")
def _(_low, even):
    for p in (11, 23, 47):
        made = as_embedding(even(p), p, 2)
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
        high = float(ahead(made, 1).mean() / usual(made))
        require(
            high > ABOVE,
            f"Relative MED at step 1 is {high:.2f}, to be above {ABOVE}. Go round more often: at "
            "which frequency are neighbours furthest from each other?",
        )


# --- 12.4 a small study: a fair null ------------------------------------------------------

ex_12_4 = Exercise(
    "ex_12_4",
    answers=("log_walk", "best", "fair_null"),
    hints=(
        "Try g = 2, 3, ...: `[pow(g, e, p) for e in range(p - 1)]` are its powers. It is the right "
        "one if they are p - 1 different numbers.",
        "`best`: a minimum over steps s with `math.gcd(s, n) == 1`, of your relative_med.",
        "`fair_null`: shuffle the walk by each order, `walk[order]`, and do to it what was done to "
        "the walk itself. Then take the least.",
    ),
    afterword="In grokkit: logarithm_order, and token_uniformity(...).best and .best_null.",
)


def lowest(walk: Tensor, coprime: bool = True) -> Tensor:
    """The least relative MED over steps."""
    n = len(walk)
    steps = [s for s in range(1, n // 2 + 1) if not coprime or math.gcd(s, n) == 1]
    return all_steps(walk)[[s - 1 for s in steps]].min()


@ex_12_4.property("the walk takes the powers of the least root")
def _(log_walk, _best, _null):
    for p in (3, 7, 17, 23):
        right = logarithm_order(p)
        g = int(right[1])
        other = next(
            h
            for h in range(g + 1, 2 * p)
            if p == 3 or (h < p and len({pow(h, e, p) for e in range(p - 1)}) == p - 1)
        )
        expect(
            log_walk(p),
            right,
            cause=f"Modulo {p} the least number whose powers are all of 1..{p - 1} is {g}. The "
            f"walk begins with 1, {g}.",
            mistakes={
                "The powers of 2 do not reach all numbers modulo every prime.": torch.tensor(
                    [pow(2, e, p) for e in range(p - 1)]
                ),
                "The walk begins with g; it is to begin with 1, the power 0.": right.roll(-1),
                "1 comes twice: there are p - 1 powers, from 0 to p - 2.": torch.cat(
                    [right, right[:1]]
                ),
                "0 is no power of g, and has no logarithm: leave it out.": torch.cat(
                    [torch.zeros(1, dtype=right.dtype), right]
                ),
                "This is the logarithm of every number; asked for are the numbers in the order of "
                "their logarithm.": right.argsort(),
                "This root is one, but not the least.": torch.tensor(
                    [pow(other, e, p) for e in range(p - 1)]
                ),
            },
        )


@ex_12_4.property("the best step of a circle is found")
def _(_walk, best, _null):
    walk = circle(11, 4) + 0.01 * torch.arange(22).view(11, 2).double()
    relative = all_steps(walk)
    expect(
        best(walk),
        relative.min(),
        cause="A circle of frequency 4 on 11 places: the neighbours are 3 apart, for 3 x 4 = 1 "
        "modulo 11.",
        mistakes={
            "This is step 1, not the best.": relative[0],
            "This is the step itself; asked for is its relative MED.": 3,
            "This is the largest; the least is asked for.": relative.max(),
            "This is MED; it is to be relative to the mean distance of all pairs.": torch.stack(
                [ahead(walk, s).mean() for s in range(1, 6)]
            ).min(),
        },
    )


@ex_12_4.property("steps that miss places do not count, and n // 2 does")
def _(_walk, best, _null):
    walk = circle(8, 2) + circle(8, 1, 0.3)  # four places ahead lies the nearest
    expect(
        best(walk),
        lowest(walk),
        cause="Eight places: of the steps 1 to 4 only 1 and 3 visit all of them.",
        mistakes={
            "Steps 2 and 4 come home before they have been everywhere; those that have a factor "
            "in common with n do not count.": lowest(walk, coprime=False),
        },
    )
    last = circle(7, 2)  # the inverse of 2 modulo 7 is 4, that is, 3 the other way
    expect(
        best(last),
        lowest(last),
        cause="Seven places: steps 1, 2 and 3 = 7 // 2.",
        mistakes={"Step n // 2 is missing.": all_steps(last)[:-1].min()},
    )


@ex_12_4.property("the null does all that was done to the walk")
def _(_walk, _best, null):
    random = torch.Generator().manual_seed(5)
    walk = torch.randn(7, 3, generator=random, dtype=torch.float64)
    orders = torch.stack([torch.randperm(7, generator=random) for _ in range(4)])
    each = torch.stack([lowest(walk[order]) for order in orders])
    cheap = torch.stack([all_steps(walk[order])[0] for order in orders])
    expect(
        null(walk, orders),
        each.min(),
        cause="For each order: shuffle, then the best over all steps. Of these the least.",
        mistakes={
            "This null looks at step 1 only: the walk was allowed to choose its step, so the null "
            "must be, too.": any_of(cheap.min(), cheap.mean()),
            "This is the mean over the orders; the least is asked for.": each.mean(),
            "This is the largest over the orders; the least is asked for.": each.max(),
            "This is one for each order; asked for is the least of them.": each,
            "The walk is not shuffled.": lowest(walk),
        },
    )
