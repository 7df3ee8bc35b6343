"""Equivalence classes: whether what has one answer lies in one place.

A set of points, each with its class r, and k_r the mean of class r:

    spread   = mean over points of norm(x - k_r)
    relative = spread / mean over points of norm(x - k),   k the mean of all points

Relative spread is 0 where a class is a point, and about 1 where classes say nothing.

Of the points phi(i) + phi(j), the sums of two token embeddings, arXiv 2504.03162 asks that
they come within a delta of a centre for each result. Over all pairs of a + b modulo p that says
nothing. Each result has every i once and every j once, so each centre is twice the mean
embedding, the same for all results: **the relative spread is 1 exactly, of any embeddings**, those
of a network that adds perfectly and random ones alike. On a circle of radius R the points
of one result lie along a line through its middle, 2 R cos(2 pi k t / p) from it, one for each
t. The same holds for a - b, and for products without 0: wherever the table of results is a
Latin square. Where it is not, as for a^2 + b^2, or where the points are the features
behind the MLP, the spread is a finding.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.errors import refuse


@dataclass(frozen=True, eq=False)
class ClassSpread:
    """How far points of each run lie from the centre of their class.

    Attributes:
        spread: the mean distance, in units of the points.
        relative: over the mean distance from the centre of all; ``nan`` where all coincide.
    """

    spread: Float[Tensor, " run"]
    relative: Float[Tensor, " run"]


@torch.no_grad()
def class_spread(
    points: Float[Tensor, "run example width"],
    classes: Int[Tensor, "run example"],
) -> ClassSpread:
    """The spread of points within their classes.

    A class of a single point has no spread; where all are such, the spread is 0.
    """
    x, width = points.double(), points.shape[2]
    place = classes.unsqueeze(2).expand(-1, -1, width)
    centre = x.new_zeros(len(x), int(classes.max()) + 1, width)
    centre.scatter_reduce_(1, place, x, "mean", include_self=False)
    apart = torch.linalg.vector_norm(x - centre.gather(1, place), dim=2)
    usual = torch.linalg.vector_norm(x - x.mean(dim=1, keepdim=True), dim=2).mean(dim=1)
    spread = apart.mean(dim=1)
    return ClassSpread(spread, spread / usual)


def pair_spread(
    table: Float[Tensor, "run token embed"],
    results: Int[Tensor, "left right"],
) -> ClassSpread:
    """The spread of phi(i) + phi(j) within the pairs that have one result.

    Its relative form is 1 whatever the embeddings if the results are a Latin square.

    All pairs of one run are held at a time: left x right x embed numbers.

    Args:
        table: the embeddings; token i is the number i.
        results: f(i, j), 0 or more, for i and j from 0: ``(i[:, None] + i) % p``.

    Raises:
        SettingError: the results have more rows or columns than there are tokens.
    """
    left, right = results.shape
    if max(left, right) > table.shape[1]:
        refuse("results", (left, right), f"at most {table.shape[1]} rows and columns")
    classes = results.flatten().unsqueeze(0)
    found = []
    for phi in table.detach().double():
        sums = (phi[:left].unsqueeze(1) + phi[:right]).flatten(0, 1)
        found.append(class_spread(sums.unsqueeze(0), classes))
    names = ("spread", "relative")
    return ClassSpread(*(torch.cat([getattr(one, name) for one in found]) for name in names))
