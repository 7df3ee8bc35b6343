"""Wrong answers to the exercises on chapter 03."""

import math

import numpy as np
import torch

from tests.classroom.variant import Variant


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


def rising(g):
    return g, 1.5 * g


VARIANTS = {
    "ex_3_2": [
        Variant("with equal shares", meet(lambda g: (g, g), lambda a, b: 2.0)),
        Variant("wrong way round", meet(rising, lambda a, b: a / b)),
        Variant("measured from 0", meet(rising, lambda a, b: b / a, (5.0, 1.0))),
        Variant("below gamma", meet(lambda g: (g, g / 2), lambda a, b: b / a)),
        Variant("closer than the separation", meet(rising, lambda a, b: 1.0)),
        Variant("below 1", meet(lambda g: (g, 1.0), lambda a, b: b / a)),
        Variant("for any gamma and xi", meet(rising, lambda a, b: 1.5 if a == 0.2 else 2.5)),
        Variant("is there a `return`", lambda gamma, separation: None),
        Variant("five things", lambda gamma, separation: (gamma, 2 * gamma)),
    ],
    "ex_3_3": [
        Variant("B_gamma holds", most, alarm(lambda g: g)),
        Variant("mass is on distractors", most, alarm(lambda g: g / 2, spread_out)),
        Variant("makes the KL infinite", most, alarm(lambda g: 0.0)),
        Variant("only just below", most, alarm(lambda g: g**2)),
        Variant("sums to 1", most, lambda k, length, g: np.full(length, g / 2)),
    ],
}
