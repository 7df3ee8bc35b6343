"""Wrong answers to the exercises on chapter 10."""

import math
from itertools import product

import torch

from grokkit.engine import grid, presets
from tests.classroom.variant import Variant


def sooner(mine, my_last, its, its_last, factor):
    if math.isnan(mine) and math.isnan(its):
        return None
    if math.isnan(its):
        return True if mine <= factor * its_last else None
    if math.isnan(mine):
        return False if my_last >= factor * its else None
    return mine <= factor * its


def as_a_number(kind, *case):
    found = sooner(*case)
    return None if found is None else kind(int(found))


def last_is_epoch(mine, my_last, its, its_last, factor):
    """Counts a censored run as if it had come at its last epoch."""
    if math.isnan(mine) and math.isnan(its):
        return None
    mine = my_last if math.isnan(mine) else mine
    return mine <= factor * (its_last if math.isnan(its) else its)


def dropped(mine, my_last, its, its_last, factor):
    return None if math.isnan(mine) or math.isnan(its) else mine <= factor * its


def infinite(mine, my_last, its, its_last, factor):
    """Takes a censored epoch for infinite: it never comes."""
    if math.isnan(mine) and math.isnan(its):
        return None
    return True if math.isnan(its) else not math.isnan(mine) and mine <= factor * its


def verdict(parts, *, needed=lambda n: math.ceil(4 / 5 * n), yes=(True,), open_=(None,)):
    """The right verdict, but for what is said."""
    holds = []
    for part in parts:
        have = sum(one in yes for one in part)
        unknown = sum(one in open_ for one in part)
        enough = needed(len(part))
        holds.append(True if have >= enough else False if have + unknown < enough else None)
    if all(one is True for one in holds):
        return "reproduced"
    if False in holds:
        return "partly" if True in holds else "not reproduced"
    return "undecided"


def undecided_first(parts):
    """Any open part makes it undecided."""
    each = [verdict([part]) for part in parts]
    return "undecided" if "undecided" in each else verdict(parts)


def partly_if_any_holds(parts):
    said = verdict(parts)
    each = [verdict([part]) for part in parts]
    return "partly" if said == "undecided" and "reproduced" in each else said


CHANGES = {
    "baseline": {"kl_strength": 0.0},
    "prior": {},
    "noise": {"penalty_gradient": "noise"},
    "shuffled": {"penalty_gradient": "shuffled"},
}


def arms(base, strength, seeds, changes=CHANGES, seeds_of=lambda i, seeds: seeds):
    return {
        name: grid(
            base.with_(**{"prior": "kl", "kl_strength": strength, **change}),
            seed=seeds_of(i, seeds),
        )
        for i, (name, change) in enumerate(changes.items())
    }


def chance(looks, share, *, need=lambda n: math.ceil(4 / 5 * n), rule=any):
    found = 0.0
    for one in product([True, False], repeat=max(looks)):
        if rule(sum(one[:n]) >= need(n) for n in looks):
            found += math.prod(share if yes else 1 - share for yes in one)
    return found


VARIANTS = {
    "ex_10_1": [
        Variant("nan is false", lambda m, a, i, b, f: m <= f * i),
        Variant("somewhere beyond 800", last_is_epoch),
        Variant("the other not by 1000", dropped),
        Variant("somewhere beyond 800", infinite),
        Variant("time until", lambda m, a, i, b, f: sooner(m + 1e-9, a, i, b, f)),
        Variant("expected: true or false", lambda *case: str(sooner(*case))),
        Variant("is there a `return`", lambda *case: None),
        *(
            Variant("1 and 0 are numbers", lambda *case, kind=kind: as_a_number(kind, *case))
            for kind in (int, float, torch.tensor)
        ),
        Variant(
            "somewhere beyond 800",
            lambda m, a, i, b, f: None if i != i and m == f * b else sooner(m, a, i, b, f),
        ),
        Variant(
            "until 0.8 x 700",
            lambda m, a, i, b, f: None if m != m and a == f * i else sooner(m, a, i, b, f),
        ),
        Variant(
            "until 0.8 x 700",
            lambda m, a, i, b, f: sooner(m, a, i, b, 1.0 if m != m else f),
        ),
        Variant(
            "may have come at 600",
            lambda m, a, i, b, f: False if i == i and m != m else sooner(m, a, i, b, f),
        ),
    ],
    "ex_10_2": [
        Variant("8 are needed", lambda p: verdict(p, needed=lambda n: 4)),
        Variant("one fails, none holds", undecided_first),
        Variant("none fails, and not all hold", partly_if_any_holds),
        Variant("one of the words", lambda p: verdict(p).capitalize()),
    ],
    "ex_10_3": [
        Variant("in every arm", lambda *a: arms(*a, seeds_of=lambda i, s: [x + i for x in s])),
        Variant(
            "needs a gradient to stand in for",
            lambda b, x, s: {
                **arms(b, x, s),
                "noise": grid(
                    b.with_(prior="kl", kl_strength=0.0, penalty_gradient="noise"), seed=s
                ),
            },
        ),
        Variant("begin every arm from base", lambda b, x, s: arms(presets["live"], x, s)),
        Variant(
            "even if base has one", lambda b, x, s: {**arms(b, x, s), "baseline": grid(b, seed=s)}
        ),
        Variant(
            "makes a control a control",
            lambda *a: arms(*a, changes={**CHANGES, "shuffled": {"penalty_gradient": "noise"}}),
        ),
        Variant(  # the third base has a stand-in already
            "and the prior a prior", lambda *a: arms(*a, changes={**CHANGES, "prior": {}})
        ),
        Variant("have the given seeds", lambda *a: {n: s[:1] for n, s in arms(*a).items()}),
        Variant("with the names", lambda *a: {n: s for n, s in arms(*a).items() if n != "noise"}),
        Variant("at the given strength", lambda b, x, s: arms(b, b.settings()["kl_strength"], s)),
        Variant(
            "a baseline keeps",
            lambda *a: arms(
                *a,
                changes={**CHANGES, "baseline": {"kl_strength": 0.0, "penalty_gradient": "noise"}},
            ),
        ),
        Variant("list of specs", lambda *a: {n: s[0] for n, s in arms(*a).items()}),
    ],
    "ex_10_4": [
        Variant("3 are needed", lambda looks, share: chance(looks, share, need=lambda n: 4)),
    ],
}
