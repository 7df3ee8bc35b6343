"""Wrong answers to the exercises on chapter 01."""

import torch

from tests.classroom.variant import Variant


def both_ways(tokens, targets):
    """Positions whose bit moves the average answer: blind to a parity."""
    found = []
    for position in range(tokens.shape[1]):
        column = tokens[:, position]
        means = {targets[column == token].double().mean().item() for token in column.unique()}
        if len(means) > 1:
            found.append(position)
    return found


def decides_always(tokens, targets):
    """Positions where every change of the token changes the answer."""
    rows = [(tuple(row), int(y)) for row, y in zip(tokens.tolist(), targets, strict=True)]

    def pairs(position):
        for row, y in rows:
            for other, z in rows:
                rest = [a == b for a, b in zip(row, other, strict=True)]
                if not rest[position] and sum(rest) == len(rest) - 1:
                    yield y != z

    return [j for j in range(tokens.shape[1]) if list(pairs(j)) and all(pairs(j))]


def scaled_in_place(attention, informative):
    attention *= informative.sum()
    return -attention[informative].log().mean()


VARIANTS = {
    "ex_1_1": [
        Variant("divide it by k", lambda informative: informative.float()),
        Variant("number of positions T", lambda informative: informative / informative.shape[1]),
        Variant("of all examples together", lambda informative: informative / informative.sum()),
        Variant("mask negated", lambda informative: ~informative / (~informative).sum()),
        Variant("summed over the examples", lambda m: m / m.sum(dim=0)),
        Variant("there is an axis too many at the end", lambda m: m[..., None] / m.sum()),
        Variant("must match", lambda m: m / m.sum(dim=1), outcome="raised"),
    ],
    "ex_1_2": [
        Variant("nats need the natural", lambda a, m: -(a[m] * m.sum()).log2().mean()),
        Variant("not weighted with 1/k", lambda a, m: -(a[m] * m.sum()).log().sum()),
        Variant("ratio is upside down", lambda a, m: (a[m] * m.sum()).log().mean()),
        Variant("the two are not the same", lambda a, m: (a[m] * (a[m] * m.sum()).log()).sum()),
        Variant(
            "distractors have attention 0",
            lambda a, m: (m / m.sum() * (m / m.sum() / a).log()).sum(),
        ),
        Variant("oracle 1/k is missing", lambda a, m: -a[m].log().mean()),
        Variant("before the logarithm", lambda a, m: (1 / (a[m] * m.sum())).mean().log()),
        Variant("true entries: 3 here", lambda a, m: -(a[m] * m.sum()).log().sum() / 2),
        Variant("true entries: 3 here", lambda a, m: -(a[m] * 2).log().sum() / 2),
        Variant("true entries: 3 here", lambda a, m: -(a[m] * len(a)).log().sum() / len(a)),
        Variant("true entries: 3 here", lambda a, m: (0.5 * (1 / (m.sum() * a[m])).log()).sum()),
        Variant("sum the terms", lambda a, m: -(a[m] * m.sum()).log() / m.sum()),
        Variant("return that alone", lambda a, m: (m.sum(), -(a[m] * m.sum()).log().mean())),
        Variant("without quotes", lambda a, m: f"{-(a[m] * m.sum()).log().mean()}"),
        Variant("without the names", lambda a, m: {"KL": -(a[m] * m.sum()).log().mean()}),
        Variant("changed its argument attention", scaled_in_place),
        Variant("nothing", lambda a, m: print("", end="")),
    ],
    "ex_1_3": [
        Variant("of the *test* pairs", lambda s, t: sum((b, a) in s for a, b in t) / len(s)),
        Variant("number of mirrored pairs", lambda s, t: sum((b, a) in s for a, b in t)),
        Variant("compare (b, a)", lambda s, t: sum((a, b) in s for a, b in t) / len(t)),
        Variant(
            "two equal numbers",
            lambda s, t: sum((b, a) in s or a == b for a, b in t if (a, b) != (3, 3)) / len(t),
        ),
        Variant(
            "asked as well",
            lambda s, t: sum((b, a) in s for a, b in t) / len([p for p in t if p[0] != p[1]]),
        ),
        Variant("percentage", lambda s, t: 100 * sum((b, a) in s for a, b in t) / len(t)),
        Variant(
            "43 or 113",
            lambda s, t: sum(b * 43 + a in [c * 43 + d for c, d in s] for a, b in t) / len(t),
        ),
    ],
    "ex_1_4": [
        Variant(
            "tokens vary",
            lambda x, y: [j for j in range(x.shape[1]) if len(x[:, j].unique()) > 1],
        ),
        Variant("not averages", both_ways),
        Variant("one pair of sequences", decides_always),
        Variant("counted from 0", lambda x, y: [j + 1 for j in (0, 3)]),
        Variant("mask came back", lambda x, y: torch.tensor([True, False, False, True, False])),
    ],
}
