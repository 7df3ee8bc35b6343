"""Wrong answers to the exercises on chapter 03."""

import math

import numpy as np
import torch

from grokkit import theory
from tests.classroom.variant import Variant


def exchange(rest):
    """h' with the part of the others as `rest(h - share * value, share, new_share)` has it."""

    def answer(h, a, v, b, w):
        return b * w + rest(h - a * v, a, b)

    return answer


def centroid(h, a, v):
    return (h - a * v) / (1 - a)


def meet(shares, ratio, centroid=(0.0, 0.0), length=None):
    """A pair whose first value is `ratio(a, b)` times its second."""

    def answer(gamma, separation):
        a, b = shares(gamma)
        w = torch.tensor([(length or 9) * (1.0 if length else separation), 0.0])
        return a, b, ratio(a, b) * w, w, torch.tensor(centroid)

    return answer


def alarm(low, others=lambda rest, k, length: (rest / (k - 1), 0.0)):
    def answer(k, length, gamma):
        attention = torch.zeros(length, dtype=torch.float64)
        attention[0] = low(gamma)
        attention[1:k], attention[k:] = others(1 - low(gamma), k, length)
        return attention

    return answer


def spread_out(rest, k, length):
    return rest / (length - 1), rest / (length - 1)


def most(k, gamma):
    return -math.log(k * gamma)


def gamma(margin, norm=lambda w: torch.linalg.matrix_norm(w, 2), c=2**0.5):
    def answer(logits, targets, w_1, w_2, spread):
        own = targets[:, None]
        best = logits.scatter(1, own, -torch.inf).amax(1)
        margins = logits.gather(1, own)[:, 0] - best
        return c * margin(margins, logits) / (norm(w_1) * norm(w_2) * spread)

    return answer


def least_margin(margins, logits):
    return margins.min().clamp(min=0)


def top_two(margins, logits):
    top = logits.topk(2, dim=1).values
    return (top[:, 0] - top[:, 1]).min()


def pair_mass(add=lambda a, b: a + b, same=False, tried=False):
    def answer(table, tokens, position):
        at = range(tokens.shape[1])
        found = []
        for row in tokens:
            for token in range(table.shape[1]) if tried else tokens[:, position].unique():
                if token != row[position] or same:
                    other = row.clone()
                    other[position] = token
                    a, b = (table[at, x].softmax(0)[position] for x in (row, other))
                    found.append(add(a, b))
        return min(found).item()

    return answer


def among(most_apart):
    def answer(table, tokens, position):
        at = range(tokens.shape[1])
        alpha = [table[at, row].softmax(0)[position] for row in tokens]
        return min(
            (a + b).item()
            for a, x in zip(alpha, tokens, strict=True)
            for b, y in zip(alpha, tokens, strict=True)
            if x[position] != y[position] and (x != y).sum() <= most_apart
        )

    return answer


def stale(table, tokens, position):
    found = []
    for row in tokens:
        weights = table[range(len(row)), row].exp()
        for token in tokens[:, position].unique():
            if token != row[position]:
                found.append((weights[position] + table[position, token].exp()) / weights.sum())
    return min(found).item()


def rising(g):
    return g, 1.5 * g


RIGHT = gamma(least_margin)

VARIANTS = {
    "ex_3_1": [
        Variant("keep their old shares", exchange(lambda rest, a, b: rest)),
        Variant("upside down", exchange(lambda rest, a, b: rest * (1 - a) / (1 - b))),
        Variant("not divided by what it had", exchange(lambda rest, a, b: rest * (1 - b))),
        Variant("not yet weighted", exchange(lambda rest, a, b: rest / (1 - a))),
        Variant("h - h'", lambda h, a, v, b, w: h - (b * w + (h - a * v) / (1 - a) * (1 - b))),
        Variant("still in it: take it out", lambda h, a, v, b, w: h + b * w),
        Variant("*towards* the token", lambda h, a, v, b, w: centroid(h, a, v) * (1 + b) - b * w),
        Variant("h was taken for m", lambda h, a, v, b, w: b * w + (1 - b) * h),
        Variant("h was taken for m", lambda h, a, v, b, w: h - a * (v - h) + b * (w - h)),
        Variant(
            "here it was added",
            lambda h, a, v, b, w: h + a * (v - centroid(h, a, v)) - b * (w - centroid(h, a, v)),
        ),
        Variant("without their share", lambda h, a, v, b, w: h - v + w),
        Variant(
            "the old value is still in it",
            lambda h, a, v, b, w: exchange(lambda rest, a, b: rest / (1 - a) * (1 - b))(
                h, a, v, b, w if a == b else v
            ),
        ),
    ],
    "ex_3_2": [
        Variant("with equal shares", meet(lambda g: (g, g), lambda a, b: 2.0)),
        Variant("wrong way round", meet(rising, lambda a, b: a / b)),
        Variant("measured from 0", meet(rising, lambda a, b: b / a, (5.0, 1.0))),
        Variant("below gamma", meet(lambda g: (g, g / 2), lambda a, b: b / a)),
        Variant("closer than the separation", meet(rising, lambda a, b: 1.0)),
        Variant("below 1", meet(lambda g: (g, 1.0), lambda a, b: b / a)),
        Variant("closer than", meet(rising, lambda a, b: b / a, length=4.0)),
        Variant("suit one gamma", meet(rising, lambda a, b: 1.5 if a == 0.2 else 2.5)),
        Variant("is there a `return`", lambda gamma, separation: None),
        Variant("five things", lambda gamma, separation: (gamma, 2 * gamma)),
    ],
    "ex_3_3": [
        Variant("not weighted with 1/k", lambda k, g: -k * math.log(k * g), alarm(lambda g: g / 2)),
        Variant("1/k is missing", lambda k, g: -math.log(g), alarm(lambda g: g / 2)),
        Variant("the sign", lambda k, g: math.log(k * g), alarm(lambda g: g / 2)),
        Variant("only one share", lambda k, g: theory.delta_sufficient(k, g), alarm(lambda g: g)),
        Variant("B_gamma holds", most, alarm(lambda g: g)),
        Variant("mass is on distractors", most, alarm(lambda g: g / 2, spread_out)),
        Variant("makes the KL infinite", most, alarm(lambda g: 0.0)),
        Variant("only just below", most, alarm(lambda g: g**2)),
        Variant("suit one gamma", most, alarm(lambda g: 0.02)),
        Variant("sum to 1", most, lambda k, length, g: np.full(length, g / 2)),
    ],
    "ex_3_4": [
        Variant("frobenius", gamma(least_margin, torch.linalg.matrix_norm), pair_mass()),
        Variant("the mean margin", gamma(lambda m, _: m.mean()), pair_mass()),
        Variant("sqrt(2) times the margin, (25)", gamma(least_margin, c=1.0), pair_mass()),
        Variant("the margin is negative", gamma(lambda m, _: m.min()), pair_mass()),
        Variant("errors must show", gamma(top_two), pair_mass()),
        Variant("paired with itself", RIGHT, pair_mass(same=True)),
        Variant("least single share", RIGHT, pair_mass(lambda a, b: min(a, b))),
        Variant("mean of the two", RIGHT, pair_mass(lambda a, b: (a + b) / 2)),
        Variant("stands there in no sequence", RIGHT, pair_mass(tried=True)),
        Variant("both among the sequences", RIGHT, among(1)),
        Variant("differ in more than the position", RIGHT, among(2)),
        Variant("not normalised again", RIGHT, stale),
    ],
}
