"""Wrong answers to the exercises on chapter 07."""

import math

import torch

from tests.classroom.variant import Variant


def keep(weights, sparsity, *, size=torch.abs, count=round, only="W_", keep=False):
    """The right mask, but for what is said."""
    kept = {}
    for name, weight in weights.items():
        if name.startswith(only):
            mask = torch.full((weight.numel(),), not keep)
            mask[size(weight).flatten().argsort()[: count(sparsity * weight.numel())]] = keep
            kept[name] = mask.view_as(weight)
    return kept


def keep_at_value(weights, sparsity):
    """Lesson 07's, made safe for a share of 1."""
    kept = {}
    for name, weight in weights.items():
        if name.startswith("W_"):
            size = weight.abs()
            limits = torch.cat([size.flatten().sort().values, torch.tensor([torch.inf])])
            kept[name] = size >= limits[round(sparsity * weight.numel())]
    return kept


def keep_globally(weights, sparsity):
    matrices = {name: one for name, one in weights.items() if name.startswith("W_")}
    whole = keep({"W_": torch.cat([one.flatten() for one in matrices.values()])}, sparsity)["W_"]
    parts = whole.split([one.numel() for one in matrices.values()])
    return {name: part.view_as(matrices[name]) for name, part in zip(matrices, parts, strict=True)}


def rewind(initial, kept):
    return {name: one * kept[name] if name in kept else one for name, one in initial.items()}


def shuffle(kept, seed):
    random = torch.Generator().manual_seed(seed)
    order = {name: torch.randperm(one.numel(), generator=random) for name, one in kept.items()}
    return {name: one.flatten()[order[name]].view_as(one) for name, one in kept.items()}


def coins(kept, seed):
    random = torch.Generator().manual_seed(seed)
    return {
        name: torch.rand(one.shape, generator=random) < one.double().mean()
        for name, one in kept.items()
    }


def whole_rows(kept, seed):
    random = torch.Generator().manual_seed(seed)
    return {name: one[torch.randperm(len(one), generator=random)] for name, one in kept.items()}


def whole_columns(kept, seed):
    return {
        name: one.T for name, one in whole_rows({n: m.T for n, m in kept.items()}, seed).items()
    }


def within_rows(kept, seed):
    return {
        name: torch.stack([shuffle({"": row}, seed + i)[""] for i, row in enumerate(one)])
        for name, one in kept.items()
    }


def within_columns(kept, seed):
    return {n: one.T for n, one in within_rows({n: m.T for n, m in kept.items()}, seed).items()}


def all_together(kept, seed):
    flat = torch.cat([one.flatten() for one in kept.values()])
    parts = shuffle({"": flat}, seed)[""].split([one.numel() for one in kept.values()])
    return {name: part.view_as(kept[name]) for name, part in zip(kept, parts, strict=True)}


def disguise(W_1, b_1, W_2, unit, *, bias=True, back=True, share=1e-3):
    scale = torch.ones_like(b_1)
    scale[unit] = share
    return (
        W_1 * scale,
        b_1 * scale if bias else b_1,
        W_2 / scale[:, None] if back else W_2,
    )


VARIANTS = {
    "ex_7_1": [
        Variant("larger by absolute value went", lambda w, s: keep(w, s, keep=True)),
        Variant("larger by absolute value went", lambda w, s: keep(w, s, size=lambda x: x)),
        Variant("loses its own share", keep_globally),
        Variant("does not belong there", lambda w, s: keep(w, s, only="")),
        Variant("the share is what goes", lambda w, s: keep(w, 1 - s)),
        Variant("a limit cuts equal", keep_at_value),
        Variant("do not cut it off", lambda w, s: keep(w, s, count=lambda x: math.floor(x + 1e-9))),
        Variant(
            "these are weights",
            lambda w, s: {n: torch.where(k, w[n].abs() + 1, 0.0) for n, k in keep(w, s).items()},
        ),
    ],
    "ex_7_2": [
        Variant("toss no coins", rewind, coins),
        Variant("toss no coins", rewind, all_together),
        Variant("as they were", rewind, lambda k, s: k),
        Variant("another seed gave the same", rewind, lambda k, s: shuffle(k, 1)),
        Variant("rows or columns are", rewind, whole_rows),
        Variant("columns are as they were", rewind, whole_columns),
        Variant("shuffle single entries", rewind, within_rows),
        Variant("the flat mask", rewind, within_columns),
        Variant(
            "it gave two answers",
            rewind,
            lambda k, s: shuffle(k, int(torch.empty((), dtype=torch.int64).random_(2**31))),
        ),
    ],
    "ex_7_4": [
        Variant("the bias goes into", lambda *a: disguise(*a, bias=False)),
        Variant("given back", lambda *a: disguise(*a, back=False)),
        Variant("is negative", lambda *a: disguise(*a, share=-1e-3)),
        Variant("below all others", lambda *a: disguise(*a, share=0.9)),
        Variant("another function", lambda a, b, c, unit: (a, b + 1, c)),
        Variant("nothing else", lambda *a: disguise(*a, bias=False, back=False)),
    ],
}
