"""Wrong answers to the exercises on chapter 12."""

import math

import torch

from tests.classroom.variant import Variant


def distances(walk, step):
    return (walk.roll(-step, dims=0) - walk).norm(dim=1)


def med(walk, step):
    return distances(walk, step).mean()


def pairs(walk):
    return (walk[:, None] - walk).norm(dim=2)


def simplex(p, at_most):
    return 0.5 * at_most * torch.eye(p)


def around(p, k, radius=1.0):
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return radius * torch.stack([angle.cos(), angle.sin()], dim=1)


def furthest(p):
    return around(p, p // 2)


VARIANTS = {
    "ex_12_1": [
        Variant(
            "added below the line",
            med,
            lambda w, s: med(w, s) / (1e-5 + pairs(w).sum() / (len(w) * (len(w) - 1))),
        ),
    ],
    "ex_12_3": [
        Variant("make the embedding smaller", lambda p, m: torch.eye(p), furthest),
        Variant("step 1 has a relative MED", lambda p, m: around(p, 1, m / 7), furthest),
        Variant("in one place", lambda p, m: torch.zeros(p, 4), furthest),
        Variant("of 7 numbers", lambda p, m: simplex(p, m)[1:], furthest),
        Variant("go round more often", simplex, lambda p: around(p, 1)),
        Variant("the gaps go from", simplex, lambda p: around(p, p // 2 - 0.4)),
        Variant("in 2 dimensions", simplex, lambda p: torch.arange(p)[:, None]),
        Variant("distance 1 from 0", simplex, lambda p: around(p, p // 2, 2.0)),
        Variant("up to 512", lambda p, m: torch.randn(p, 600), furthest),
    ],
}
