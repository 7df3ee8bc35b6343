"""How much data is enough: is there a train pair of the same class nearby?

The data condition of arXiv 2504.03162: a network whose embedding is uniform answers an
unseen pair rightly where a train pair of the same class lies near it in the table, near in
Manhattan distance abs(i - i') + abs(j - j').

From this a rough threshold. Let every train pair speak for C points of the table, and let a
fraction f of the p^2 pairs be drawn at random. Then an unseen pair lies outside the reach of
all of them with probability about (1 - f)^C, which is at most exp(-f C); the number of such
pairs is p^2 exp(-f C) on average, and that is less than 1 once

    f >= 2 ln(p) / C.

C is no constant of the theory: it says how far a train pair reaches, and must be chosen or
fitted. :func:`covered` counts it for a given reach.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.errors import check_int, check_number, refuse
from grokkit.tasks.base import Sequences


def nearest_train_distance(
    train: Sequences, test: Sequences, period: int | None = None
) -> Float[Tensor, " test_example"]:
    """How far each test pair is from the nearest train pair of its class.

    Args:
        train: sequences with two operands each, whose tokens are their numbers.
        test: the same, unseen: a test set, or a part of it such as a hole.
        period: the modulus p, if 0 and p - 1 count as neighbours; None if they do not.

    Returns:
        abs(i - i') + abs(j - j') to the nearest (i', j'); ``inf`` where no train pair has
        that class.
    """
    if period is not None:
        check_int("period", period, 1)
    here, there = _pairs(test), _pairs(train)
    distance = torch.full((len(test),), math.inf)
    # Class by class: all at once would be test * train pairs of numbers.
    for label in test.targets.unique():
        rows = test.targets == label
        known = there[train.targets == label]
        if len(known) == 0:
            continue
        gap = (here[rows].unsqueeze(1) - known.unsqueeze(0)).abs()
        if period is not None:
            gap = torch.minimum(gap, period - gap)
        distance[rows] = gap.sum(dim=2).amin(dim=1).to(distance.dtype)
    return distance


def covered(labels: Int[Tensor, "p p"], reach: int) -> float:
    """C, the points of the table for which one pair speaks: those near it, of its class.

    For x + y and an even reach these are 1 + reach along the diagonal, less at the edges.

    Returns:
        The mean over all pairs of the number of pairs within reach that have the same class,
        the pair itself included.
    """
    check_int("reach", reach, 0)
    p = len(labels)
    total = 0
    for down in range(-min(reach, p - 1), min(reach, p - 1) + 1):
        most = min(reach - abs(down), p - 1)
        for right in range(-most, most + 1):
            # Compare the table with itself, shifted.
            one = labels[max(0, -down) : p - max(0, down), max(0, -right) : p - max(0, right)]
            other = labels[max(0, down) : p - max(0, -down), max(0, right) : p - max(0, -right)]
            total += int((one == other).sum())
    return total / p**2


def threshold_fraction(p: int, covered: float | int) -> float:
    """The rough train fraction from which on no pair is out of reach: 2 ln(p) / C.

    An upper bound (1 - f)^C <= exp(-f C) and a mean of less than one such pair stand behind
    it, so it is an order of magnitude and no border.

    Args:
        p: the modulus; the table has p^2 pairs.
        covered: C, the points of the table that a train pair covers, above 0.

    Returns:
        A fraction of the p^2 pairs; above 1 where even all of them would be too few.
    """
    check_int("p", p, 2)
    check_number("covered", float(covered), strict=True)
    return 2 * math.log(p) / covered


def _pairs(sequences: Sequences) -> Int[Tensor, "example operand"]:
    """The two operands of each sequence, read off its informative positions."""
    if not bool((sequences.informative.sum(dim=1) == 2).all()):
        refuse("informative", "other numbers of positions", "two in every sequence")
    return sequences.tokens[sequences.informative].view(-1, 2)
