"""Wrong answers to the exercises on chapter 13."""

import itertools

import numpy as np

from tests.classroom.variant import Variant


def only_rising(epochs, values, since):
    mark = (values[epochs == since][0] + values[-1]) / 2
    behind = np.flatnonzero(values < mark)
    return epochs[min(behind[-1] + 1, len(epochs) - 1)] if len(behind) else epochs[0]


def agreement(ranks):
    m, n = ranks.shape
    return 12 * ((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum() / (m**2 * (n**3 - n))


def by_luck(ranks, *, strict=False):
    seen = agreement(ranks)
    orders = list(itertools.permutations(ranks[0]))
    dealt = itertools.product([tuple(ranks[0])], *[orders] * (len(ranks) - 1))
    found = [agreement(np.array(one)) for one in dealt]
    far = np.array([w > seen + 1e-9 if strict else w >= seen - 1e-9 for w in found])
    return far.mean()


def clock(epochs):
    return np.log(epochs + 1.0)


def verdict(epochs, runs, controls, since, *, absolute=False, together=False, need=4, most=0.5):
    start = np.flatnonzero(epochs == since)[0]
    far, moved = (one[:, -1] - one[:, start] for one in (runs, controls))
    share = np.full(5, moved.mean() / far.mean()) if together else moved / far
    yes = int(((abs(share) if absolute else share) < most).sum())
    return "signal" if yes >= need else "no signal" if 5 - yes >= need else "undecided"


def from_the_first_record(epochs, runs, controls, since):
    far, moved = (one[:, -1] - one[:, 0] for one in (runs, controls))
    yes = int((moved / far < 0.5).sum())
    return "signal" if yes >= 4 else "no signal" if yes <= 1 else "undecided"


VARIANTS = {
    "ex_13_1": [
        Variant("down from", only_rising),
    ],
    "ex_13_3": [
        Variant("an equal w counts", agreement, lambda ranks: by_luck(ranks, strict=True)),
        Variant("no random numbers", agreement, lambda ranks: 1.001 * by_luck(ranks)),
    ],
    "ex_13_4": [
        Variant("too late", lambda e: np.exp(e / 1000.0), verdict),
        Variant("some way", lambda e: np.ones(len(e)), verdict),
        Variant("one for each record", lambda e: 3.0, verdict),
        Variant("the other way", clock, lambda *a: verdict(*a, absolute=True)),
        Variant("three say yes", clock, lambda *a: verdict(*a, together=True)),
        Variant("four say", clock, lambda *a: verdict(*a, need=5)),
        Variant("three say yes", clock, lambda *a: verdict(*a, need=3)),
        Variant("is not *less*", clock, lambda *a: verdict(*a, most=0.5 + 1e-9)),
        Variant("the control", clock, from_the_first_record),
    ],
}  # fmt: skip
