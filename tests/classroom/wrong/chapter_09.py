"""Wrong answers to the exercises on chapter 09."""

import torch

from tests.classroom.variant import Variant


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


VARIANTS = {
    "ex_9_3": [
        Variant("the answers have changed", wave_of_classes, cure),
        Variant("not how sure they are", lambda t, k: 2 * t, cure),
        Variant("what they were", lambda t, k: disguise(t, k, 1e-3), cure),
        Variant("besides k", lambda t, k: disguise(t, k, 4.0), cure),
        Variant("a wave of a + b", lambda t, k: disguise(t, 1 + k % 2), cure),
    ],
}
