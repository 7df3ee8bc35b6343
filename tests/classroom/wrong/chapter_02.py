"""Wrong answers to the exercises on chapter 02."""

import torch

from tests.classroom.variant import Variant


def same_shares(tokens, attention):
    """Whether a token has the same share wherever it stands: too much to ask."""
    for position in range(tokens.shape[1]):
        for token in tokens[:, position].unique():
            shares = attention[tokens[:, position] == token, position]
            if shares.max() - shares.min() > 1e-4:
                return False
    return True


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
        Variant("division", lambda a, b: 1 / (1 + 1 / (a / (1 - a) * b)), outcome="raised"),
    ],
    "ex_2_4": [
        Variant("share* may differ", same_shares, XOR),
        Variant("no one score does both", lambda tokens, attention: True, XOR),
        Variant("not only the last one", neighbours, XOR),
        Variant("there is a table that gives", right, POSSIBLE),
        Variant("attention sums to 1", right, 2 * XOR),
        Variant("a tensor [4, 3]", right, XOR[:, :2]),
        Variant("below 0.01", right, torch.eye(3)[[0, 1, 1, 0]]),
    ],
}
