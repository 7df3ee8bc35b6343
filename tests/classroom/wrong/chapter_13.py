"""Wrong answers to the exercises on chapter 13."""

import itertools

import numpy as np

from tests.classroom.variant import Variant


def half_way(
    epochs, values, since, *, lasting=True, strict=False, number=False, step=1, begin=None
):
    start = np.flatnonzero(epochs == since)[0]
    first = values[start] if begin is None else values[begin]
    if first == values[-1]:
        return np.nan
    share = (values - first) / (values[-1] - first)
    beyond = share > 0.5 if strict else share >= 0.5
    if lasting:
        where = np.flatnonzero(~beyond)[-1] + step
    else:
        where = start + np.flatnonzero(beyond[start:])[0]
    return int(where) if number else epochs[where]


def only_rising(epochs, values, since):
    mark = (values[epochs == since][0] + values[-1]) / 2
    behind = np.flatnonzero(values < mark)
    return epochs[min(behind[-1] + 1, len(epochs) - 1)] if len(behind) else epochs[0]


def no_way_is_the_end(epochs, values, since):
    if values[epochs == since][0] == values[-1]:
        return epochs[-1]
    return half_way(epochs, values, since)


def rank_signals(epochs, *, tie="mean", never=np.inf):
    late = np.where(np.isnan(epochs), never, epochs)
    sooner = (late[:, None, :] < late[:, :, None]).sum(axis=2)
    alike = (late[:, None, :] == late[:, :, None]).sum(axis=2)
    return sooner + {"mean": (alike + 1) / 2, "least": 1.0, "greatest": alike}[tie]


def agreement(ranks):
    m, n = ranks.shape
    return 12 * ((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum() / (m**2 * (n**3 - n))


def spread(ranks):
    m, n = ranks.shape
    return ((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum()


def not_centred(ranks):
    m, n = ranks.shape
    spread = (ranks.sum(axis=0) ** 2).sum()
    right = agreement(ranks)
    return right if right in (0, 1) else 12 * spread / (m**2 * (n**3 - n))


def over_signals(ranks):
    m, n = ranks.shape
    if agreement(ranks) == 1:
        return 1.0
    return 12 * ((ranks.sum(axis=1) - n * (n + 1) / 2) ** 2).sum() / (m**2 * (n**3 - n))


def by_luck(ranks, *, strict=False, count=False):
    seen = agreement(ranks)
    orders = list(itertools.permutations(ranks[0]))
    dealt = itertools.product([tuple(ranks[0])], *[orders] * (len(ranks) - 1))
    found = [agreement(np.array(one)) for one in dealt]
    far = np.array([w > seen + 1e-9 if strict else w >= seen - 1e-9 for w in found])
    return far.sum() if count else far.mean()


RANDOM = np.random.default_rng(0)


def sampled(ranks):
    """About right, but never twice the same: more deals make it no better than that."""
    return by_luck(ranks) * (1 + 1e-8 * RANDOM.random())


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
        Variant("mark itself", lambda *a: half_way(*a, strict=True)),
        Variant("last record behind", lambda *a: half_way(*a, step=0)),
        Variant("not the number", lambda *a: half_way(*a, number=True)),
        Variant("first time", lambda *a: half_way(*a, lasting=False)),
        Variant("not at the first record", lambda *a: half_way(*a, begin=0)),
        Variant("falls", only_rising),
        Variant("no half-way: nan", no_way_is_the_end),
    ],
    "ex_13_2": [
        Variant("begin with 1", lambda e: rank_signals(e) - 1),
        Variant("which signal is first", lambda e: np.argsort(e, axis=1) + 1.0),
        Variant("latest has rank 1", lambda e: rank_signals(-e)),
        Variant("ranked together", lambda e: rank_signals(e.reshape(1, -1)).reshape(e.shape)),
        Variant("rank the signals, in each seed", lambda e: rank_signals(e.T).T),
        Variant("least of their ranks", lambda e: rank_signals(e, tie="least")),
        Variant("greatest of their ranks", lambda e: rank_signals(e, tie="greatest")),
        Variant(
            "broken by the order",
            lambda e: np.argsort(np.argsort(e, axis=1, kind="stable"), axis=1) + 1.0,
        ),
        Variant("not the first", lambda e: rank_signals(e, never=-np.inf)),
        Variant("not even to itself", lambda e: rank_signals(e, never=np.nan)),
    ],
    "ex_13_3": [
        Variant("this is S", spread, by_luck),
        Variant("exchanged", lambda r: spread(r) * 12 / (r.shape[1] ** 2 * (len(r) ** 3 - len(r))),
                by_luck),
        Variant("mean away first", not_centred, by_luck),
        Variant("not over the signals", over_signals, by_luck),
        Variant("only a larger W", agreement, lambda r: by_luck(r, strict=True)),
        Variant("smaller W", agreement, lambda r: 1 - by_luck(r)),
        Variant("divide by how many", agreement, lambda r: by_luck(r, count=True)),
        Variant("no random numbers", agreement, sampled),
    ],
    "ex_13_4": [
        Variant("too late", lambda e: np.exp(e / 1000.0), verdict),
        Variant("some way", lambda e: np.ones(len(e)), verdict),
        Variant("one for each record", lambda e: 3.0, verdict),
        Variant("the other way", clock, lambda *a: verdict(*a, absolute=True)),
        Variant("its own control", clock, lambda *a: verdict(*a, together=True)),
        Variant("that is enough", clock, lambda *a: verdict(*a, need=5)),
        Variant("decides nothing", clock, lambda *a: verdict(*a, need=3)),
        Variant("is not *less*", clock, lambda *a: verdict(*a, most=0.5 + 1e-9)),
        Variant("the control", clock, from_the_first_record),
    ],
}  # fmt: skip
