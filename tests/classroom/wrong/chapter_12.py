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


def relative(walk, step):
    n = len(walk)
    return med(walk, step) * n * (n - 1) / pairs(walk).sum()


def half(hole, train):
    known = {tuple(pair) for pair in train.tolist()}
    return [(j, i) in known for i, j in hole.tolist()]


def never(p, kind, edge):
    return (edge + 1) ** 2


def simplex(p, at_most):
    return 0.5 * at_most * torch.eye(p)


def around(p, k, radius=1.0):
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return radius * torch.stack([angle.cos(), angle.sin()], dim=1)


def furthest(p):
    return around(p, p // 2)


def log_walk(p):
    for g in range(2, p):
        powers = [pow(g, e, p) for e in range(p - 1)]
        if len(set(powers)) == p - 1:
            return powers


def steps(n):
    return [s for s in range(1, n // 2 + 1) if math.gcd(s, n) == 1]


def best(walk):
    return min(relative(walk, s) for s in steps(len(walk)))


def null(walk, orders):
    return min(best(walk[order]) for order in orders)


VARIANTS = {
    "ex_12_1": [
        Variant("way home", lambda w, s: (w[s:] - w[:-s]).norm(dim=1).mean(), relative),
        Variant("not their mean", lambda w, s: distances(w, s).sum(), relative),
        Variant("squared distances", lambda w, s: distances(w, s).square().mean(), relative),
        Variant("mean square", lambda w, s: distances(w, s).square().mean().sqrt(), relative),
        Variant(
            "absolute differences",
            lambda w, s: (w.roll(-s, 0) - w).abs().sum(dim=1).mean(),
            relative,
        ),
        Variant("one vector made of all", lambda w, s: (w.roll(-s, 0) - w).norm(), relative),
        Variant("step is not used", lambda w, s: med(w, 1), relative),
        Variant("counted, too", med, lambda w, s: med(w, s) / pairs(w).mean()),
        Variant("upside down", med, lambda w, s: 1 / relative(w, s)),
        Variant("not divided", med, med),
        Variant(
            "distance from the middle",
            med,
            lambda w, s: med(w, s) / (w - w.mean(dim=0)).norm(dim=1).mean(),
        ),
        Variant("step is not used", med, lambda w, s: relative(w, 1)),
        Variant(
            "added below the line",
            med,
            lambda w, s: med(w, s) / (1e-5 + pairs(w).sum() / (len(w) * (len(w) - 1))),
        ),
    ],
    "ex_12_2": [
        Variant(
            "the pair itself",
            lambda h, t: [p in t.tolist() for p in h.tolist()],
            never,
        ),
        Variant("which *train* pairs", lambda h, t: half(t, h), never),
        Variant("turned round", lambda h, t: [not one for one in half(h, t)], never),
        Variant("how many", lambda h, t: sum(half(h, t)), never),
        Variant(
            "in one and the same pair",
            lambda h, t: [i in t[:, 1] and j in t[:, 0] for i, j in h.tolist()],
            never,
        ),
        Variant("edge itself", half, lambda p, kind, e: e**2),
        Variant("nothing there is trained on", half, lambda p, kind, e: 0),
        Variant(
            "mirror images of most lie outside",
            half,
            lambda p, kind, e: (e + 1) * (p if kind == "strip" else e + 1),
        ),
        Variant(
            "asked for are the others",
            half,
            lambda p, kind, e: (e + 1) * (p - e - 1) if kind == "strip" else (e + 1) ** 2,
        ),
        Variant("both", half, lambda p, kind, e: (e + 1) * (e + 2) // 2),
    ],
    "ex_12_3": [
        Variant("make the embedding smaller", lambda p, m: torch.eye(p), furthest),
        Variant("has an order in it", lambda p, m: around(p, 1, m / 7), furthest),
        Variant("in one place", lambda p, m: torch.zeros(p, 4), furthest),
        Variant("has shape", lambda p, m: simplex(p, m)[1:], furthest),
        Variant("go round more often", simplex, lambda p: around(p, 1)),
        Variant("do not lie evenly", simplex, lambda p: around(p, p // 2 - 0.4)),
        Variant("distance 1 from 0", simplex, lambda p: around(p, p // 2, 2.0)),
        Variant("in one place", simplex, lambda p: around(p, p)),
        Variant("up to 512", lambda p, m: torch.randn(p, 600), furthest),
    ],
    "ex_12_4": [
        Variant("powers of 2", lambda p: [pow(2, e, p) for e in range(p - 1)], best, null),
        Variant("begin with 1", lambda p: [*log_walk(p)[1:], 1], best, null),
        Variant("1 comes twice", lambda p: [*log_walk(p), 1], best, null),
        Variant("0 is no power", lambda p: [0, *log_walk(p)], best, null),
        Variant(
            "logarithm of every number",
            lambda p: torch.tensor(log_walk(p)).argsort().tolist(),
            best,
            null,
        ),
        Variant("step 1, not the best", log_walk, lambda w: relative(w, 1), null),
        Variant(
            "step itself",
            log_walk,
            lambda w: min(steps(len(w)), key=lambda s: relative(w, s)),
            null,
        ),
        Variant(
            "relative to the mean", log_walk, lambda w: min(med(w, s) for s in steps(len(w))), null
        ),
        Variant(
            "before they have been everywhere",
            log_walk,
            lambda w: min(relative(w, s) for s in range(1, len(w) // 2 + 1)),
            null,
        ),
        Variant(
            "n // 2 is missing",
            log_walk,
            lambda w: min(relative(w, s) for s in steps(len(w)) if s < len(w) // 2),
            null,
        ),
        Variant(
            "the null must be, too",
            log_walk,
            best,
            lambda w, orders: min(relative(w[order], 1) for order in orders),
        ),
        Variant(
            "mean over the orders",
            log_walk,
            best,
            lambda w, orders: torch.stack([best(w[order]) for order in orders]).mean(),
        ),
        Variant(
            "one for each order",
            log_walk,
            best,
            lambda w, orders: torch.stack([best(w[order]) for order in orders]),
        ),
        Variant("not shuffled", log_walk, best, lambda w, orders: best(w)),
    ],
}
