"""Wrong answers to the exercises on chapter 02."""

import math

import torch

from tests.classroom.variant import Variant


def read_off(logs, fill=math.nan):
    """A reading of the table that writes `logs(attention)` into its entries."""

    def answer(tokens, attention, vocabulary):
        table = torch.full((tokens.shape[1], vocabulary), fill)
        table[torch.arange(tokens.shape[1]), tokens] = logs(attention)
        return table

    return answer


def one_entry_a_token(tokens, attention, vocabulary):
    """As if the position did not count: the entry of position 0 serves for position 1."""
    table = read_off(lambda a: (a / a[:, -1:]).log())(tokens, attention, vocabulary)
    seen = ~table[0].isnan()
    table[1, seen & ~table[1].isnan()] = table[0, seen & ~table[1].isnan()]
    return table


def split(missing, uneven):
    def answer(attention, informative):
        on = attention[informative]
        return missing(on), uneven(on)

    return answer


def kl(on):
    return -(on * len(on)).log().mean()


def even(on):
    return kl(on / on.sum())


def lost(on):
    return -on.sum().log()


def same_shares(tokens, attention):
    """Whether a token has the same share wherever it stands: too much to ask."""
    for position in range(tokens.shape[1]):
        for token in tokens[:, position].unique():
            shares = attention[tokens[:, position] == token, position]
            if shares.max() - shares.min() > 1e-4:
                return False
    return True


def last_row_only(tokens, attention):
    table = read_off(lambda a: (a / a[:, -1:]).log())(tokens, attention, int(tokens.max()) + 1)
    again = table[torch.arange(tokens.shape[1]), tokens].softmax(dim=1)
    return torch.allclose(again[-1], attention[-1], atol=1e-4)


def neighbours(tokens, attention):
    """Compares each sequence with the next if they differ in one token: misses duplicates."""
    ratio = attention / attention[:, -1:]
    for i in range(len(tokens)):
        for j in range(i):
            same = tokens[i] == tokens[j]
            if 1 < same.sum() < len(same) and not ratio[i][same].allclose(
                ratio[j][same], atol=1e-4
            ):
                return False
    return True


def position_blind(tokens, attention):
    """One score for each token, wherever it stands."""
    ratio, seen = attention / attention[:, -1:], {}
    for token, value in zip(tokens.flatten().tolist(), ratio.flatten().tolist(), strict=True):
        if abs(seen.setdefault(token, value) - value) > 1e-4:
            return False
    return True


def right(tokens, attention):
    for position in range(tokens.shape[1]):
        for token in tokens[:, position].unique():
            ratios = (attention / attention[:, -1:])[tokens[:, position] == token, position]
            if ratios.max() - ratios.min() > 1e-3:
                return False
    return True


# The first position is louder where the second holds a 0: a loud 1 in second place does it.
LOUD = torch.tensor([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
ROWS = torch.tensor([[0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 1, 2]])
POSSIBLE = LOUD[torch.arange(3), ROWS].softmax(dim=1)
XOR = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.8, 0.1, 0.1]])

VARIANTS = {
    "ex_2_1": [
        Variant("new sum", lambda a, b: a if b == 1 else min(1.0, a * b)),
        Variant("odds came back", lambda a, b: a / (1 - a) * b),
        Variant("not 1", lambda a, b: a * b / (a * b + 1)),
        Variant("no exponential", lambda a, b: a * math.exp(b) / (a * math.exp(b) + 1 - a)),
        Variant("one position only", lambda a, b: a * b / (a * b + (1 - a) * b)),
        Variant("division", lambda a, b: 1 / (1 + 1 / (a / (1 - a) * b)), outcome="raised"),
    ],
    "ex_2_2": [
        Variant("must come out as 0: divide", read_off(lambda a: a.log())),
        Variant("a score is their logarithm", read_off(lambda a: a / a[:, -1:])),
        Variant("upside down", read_off(lambda a: (a[:, -1:] / a).log())),
        Variant("nan, not 0", read_off(lambda a: (a / a[:, -1:]).log(), fill=0.0)),
        Variant("let it be the last", read_off(lambda a: (a / a[:, :1]).log())),
        Variant("each row has its own", read_off(lambda a: (a / a[0, -1]).log())),
        Variant("the position counts", one_entry_a_token),
        Variant(
            "row of the table is a position",
            lambda *a: read_off(lambda a: (a / a[:, -1:]).log())(*a).T,
        ),
    ],
    "ex_2_3": [
        Variant("wrong way round", split(even, lost)),
        Variant("not the mass that is missing", split(lambda on: 1 - on.sum(), even)),
        Variant("nats need the natural", split(lambda on: -on.sum().log2(), even)),
        Variant("by its mass first", split(lost, kl)),
        Variant("1/k is missing", split(lost, lambda on: -(on / on.sum()).log().mean())),
        Variant("that of 1/m", split(lambda on: on.sum().log(), even)),
        Variant(
            "KL(alpha || alpha*)",
            split(lost, lambda on: (on / on.sum() * (on / on.sum() * len(on)).log()).sum()),
        ),
        Variant("not weighted with 1/k", split(lost, lambda on: even(on) * len(on))),
        Variant("in the second part is upside down", split(lost, lambda on: -even(on))),
    ],
    "ex_2_4": [
        Variant("share* may differ", same_shares, XOR),
        Variant("no one score does both", lambda tokens, attention: True, XOR),
        Variant("no one score does both", last_row_only, XOR),
        Variant("not only the last one", neighbours, XOR),
        Variant("nothing can contradict", position_blind, XOR),
        Variant("there is a table that gives", right, POSSIBLE),
        Variant("three shares sum to 1", right, 2 * XOR),
        Variant("a tensor [4, 3]", right, XOR[:, :2]),
        Variant("below 0.01", right, torch.eye(3)[[0, 1, 1, 0]]),
    ],
}
