"""Wrong answers to the exercises on chapter 09."""

from itertools import combinations, pairwise

import numpy as np
import torch

from tests.classroom.variant import Variant


def power(embedding, *, cosine_only=False, first=1.0, last=1.0, top=None):
    """The right spectrum, but for what is said."""
    p = len(embedding)
    n = torch.arange(p, dtype=embedding.dtype)
    found = []
    for k in range(p // 2 + 1 if top is None else top(p)):
        angle = 2 * torch.pi * k * n / p
        waves = [torch.cos(angle)] if cosine_only else [torch.cos(angle), torch.sin(angle)]
        one = sum((wave @ embedding).square().sum() for wave in waves)
        factor = {0: first / p, p / 2: last / p}.get(k, 2 / p)
        found.append(one * factor)
    return torch.stack(found)


def by_sum(table, sign=1):
    p = len(table)
    total = (torch.arange(p)[:, None] + sign * torch.arange(p)) % p
    return torch.stack([table[total == s].mean(dim=0) for s in range(p)]), total


def waves(table, key, *, sign=1, factor=2.0, constant=False):
    mean, total = by_sum(table, sign)
    p = len(table)
    n = torch.arange(p, dtype=table.dtype)
    kernel = sum(torch.cos(2 * torch.pi * k * (n[:, None] - n) / p) for k in key) * factor / p
    found = (kernel @ mean)[total]
    return found + table.mean(dim=(0, 1)) if constant else found


def loss(logits, among):
    _, total = by_sum(logits)
    return -logits.log_softmax(dim=2).gather(2, total[..., None])[..., 0][among].mean()


def losses(table, key, trained, *, constant=True, unseen=True, minus_constant=False, seen=True):
    mean = table.mean(dim=(0, 1))
    found = waves(table, key)
    every = torch.ones_like(trained)
    return (
        loss(found + mean if constant else found, ~trained if unseen else every),
        loss(table - found - mean * minus_constant, trained if seen else ~trained),
    )


def wave_of_sum(table, k, height):
    p = len(table)
    n = torch.arange(p, dtype=table.dtype)
    return height * torch.cos(2 * torch.pi * k * (n[:, None] + n) / p)[..., None]


def disguise(table, k, height=1e3):
    return table + wave_of_sum(table, k, height)


def wave_of_classes(table, k):
    p = len(table)
    n = torch.arange(p, dtype=table.dtype)
    angle = 2 * torch.pi * k * (n[:, None, None] + n[:, None] - n - 1) / p
    return table + 1e3 * torch.cos(angle)


def cure(table):
    return table - table.mean(dim=2, keepdim=True)


def keys(power, share, *, start=1, stop_early=False, sort=True, strict=False):
    order = sorted(range(start, len(power)), key=lambda k: -power[k])
    found, held, whole = [], 0.0, power[start:].sum()
    for k in order:
        if held > share * whole or (held == share * whole and not strict):
            break
        if stop_early and held + power[k] > share * whole:
            break
        found.append(k)
        held += power[k]
    return sorted(found) if sort else found


def shared(sets, n, couples=combinations):
    chosen = list(couples(sets, 2)) if couples is combinations else list(couples(sets))
    common = [len(set(a) & set(b)) for a, b in chosen]
    chance = [len(a) * len(b) / n for a, b in chosen]
    return np.mean(common), np.mean(chance)


def everyone(sets, n):
    return len(set.intersection(*map(set, sets))), shared(sets, n)[1]


VARIANTS = {
    "ex_9_1": [
        Variant("only the cosine's", lambda e: power(e, cosine_only=True)),
        Variant("frequency 0 has no sine", lambda e: power(e, first=2.0)),
        Variant("at frequency p/2", lambda e: power(e, last=2.0)),
        Variant("begins at frequency 1", lambda e: power(e)[1:]),
        Variant("factor 2/p is missing", lambda e: power(e) * len(e) / 2),
        Variant("divided by all power", lambda e: power(e) / power(e).sum()),
        Variant("p/2 is missing", lambda e: power(e, top=lambda p: (p + 1) // 2)),
        Variant("root of the power", lambda e: power(e).sqrt()),
    ],
    "ex_9_2": [
        Variant("constant is still in it", lambda t, k: waves(t, k, constant=True), losses),
        Variant("twice as large", lambda t, k: waves(t, k, factor=4), losses),
        Variant("half as large", lambda t, k: waves(t, k, factor=1), losses),
        Variant("only the first key", lambda t, k: waves(t, k[:1]), losses),
        Variant("constant is missing", waves, lambda *a: losses(*a, constant=False)),
        Variant("on all pairs", waves, lambda *a: losses(*a, unseen=False)),
        Variant("on the unseen pairs", waves, lambda *a: losses(*a, seen=False)),
        Variant("constant is taken away", waves, lambda *a: losses(*a, minus_constant=True)),
        Variant("exchanged", waves, lambda *a: losses(*a)[::-1]),
    ],
    "ex_9_3": [
        Variant("gives every class another", wave_of_classes, cure),
        Variant("how sure", lambda t, k: 2 * t, cure),
        Variant("what they were", lambda t, k: disguise(t, k, 1e-3), cure),
        Variant("not the only key", lambda t, k: disguise(t, k, 4.0), cure),
        Variant("pair by pair", disguise, lambda t: t - t.mean(dim=(0, 1))),
        Variant("largest logit", disguise, lambda t: t - t.amax(dim=2, keepdim=True)),
        Variant("log softmax", disguise, lambda t: t.log_softmax(dim=2)),
        Variant("one for every pair", disguise, lambda t: t - t.mean()),
    ],
    "ex_9_4": [
        Variant("the constant", lambda p, s: keys(p, s, start=0), shared),
        Variant("one too few", lambda p, s: keys(p, s, stop_early=True), shared),
        Variant("ascending", lambda p, s: keys(p, s, sort=False), shared),
        Variant("exactly the share", lambda p, s: keys(p, s, strict=True), shared),
        Variant("only neighbours", keys, lambda s, n: shared(s, n, pairwise)),
        Variant("what *all* have", keys, everyone),
        Variant("exchanged", keys, lambda s, n: shared(s, n)[::-1]),
        Variant("size times size over n", keys, lambda s, n: (shared(s, n)[0], shared(s, 1)[1])),
    ],
}
