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


VARIANTS = {
    "ex_1_1": [
        Variant("divide it by k", lambda informative: informative.float()),
        Variant("number of positions T", lambda informative: informative / informative.shape[1]),
        Variant("of all examples together", lambda informative: informative / informative.sum()),
        Variant("mask negated", lambda informative: ~informative / (~informative).sum()),
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
        Variant("is a 2 or a 1/2 written", lambda a, m: -(a[m] * m.sum()).log().sum() / 2),
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
