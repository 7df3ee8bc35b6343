"""Wrong answers to the exercises on chapter 04."""

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from tests.classroom.variant import Variant


def power(x=np.log, y=np.log, keep=lambda g, known: (known >= 0.99) & (g > 0), pick=0):
    def answer(loss, gradient, accuracy):
        kept = keep(gradient, accuracy)
        with np.errstate(divide="ignore"):
            return np.polyfit(x(loss[kept]), y(gradient[kept]), 1)[pick]

    return answer


def swapped(loss, gradient, accuracy):
    return power()(gradient, loss, accuracy)


def ends(loss, gradient, accuracy):
    return math.log(gradient[-1] / gradient[0]) / math.log(loss[-1] / loss[0])


def with_zeros(loss, gradient, accuracy):
    kept = accuracy >= 0.99
    x, y = np.log(loss[kept]), np.log(gradient[kept] + 1e-30)
    return np.polyfit(x, y, 1)[0]


def nan_fit(loss, gradient, accuracy):
    kept = accuracy >= 0.99
    if (gradient[kept] == 0).any():
        return math.nan  # as a fit by hand gives
    return power()(loss, gradient, accuracy)


def others(z, y):
    return (z - z.gather(1, y[:, None])).scatter(1, y[:, None], -torch.inf)


def lesson(z, y):
    """As in the lesson: exact for small losses, and it overflows."""
    return others(z, y).exp().sum(1).log1p()


FLAT = torch.zeros(3)
STEPS = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
W = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
ERROR, PASSING = (FLAT, STEPS, 20 * W), (FLAT, STEPS, 0 * W)
REACH, MATCH = (torch.tensor([-12.0, 0, 0]), STEPS, W), (FLAT, STEPS.flip(1), W)


def offset(a, v):
    return v - a @ v


def gradient(a, v, g):
    return a * (offset(a, v) @ g)


def bound(error=lambda loss: -(2**0.5) * math.expm1(-loss), norm: Any = 2, reach=None):
    def answer(loss, a, v, w_1, w_2):
        moved = (reach or (lambda a, v: a * offset(a, v).norm(dim=1)))(a, v)
        l_f = torch.linalg.matrix_norm(w_1, norm) * torch.linalg.matrix_norm(w_2, norm)
        return moved * l_f * error(loss)

    return answer


VARIANTS = {
    "ex_4_1": [
        Variant("axes are the wrong way round", swapped),
        Variant("no logarithms", power(lambda x: x, lambda x: x)),
        Variant("only the gradient's logarithm", power(lambda x: x)),
        Variant("the intercept came back", power(pick=1)),
        Variant("first and the last", ends),
        Variant("accuracy below 0.99 are in it", power(keep=lambda g, known: g > 0)),
        Variant("is the threshold 0.9", power(keep=lambda g, known: (known >= 0.9) & (g > 0))),
        Variant("do not put a small number", with_zeros),
        Variant("leave that record out", nan_fit),
    ],
    "ex_4_2": [
        Variant("their mean", lambda z, y: cross_entropy(z, y)),
        Variant("right class is in the sum", lambda z, y: (
            (z - z.gather(1, y[:, None])).exp().sum(1).log1p()
        )),
        Variant("rounded to 0", lambda z, y: cross_entropy(z, y, reduction="none")),
        Variant("float64 moves the wall", lambda z, y: (
            cross_entropy(z.double(), y, reduction="none")
        )),
        Variant("more than float32 can hold", lesson),
        Variant("float64 can hold, too", lambda z, y: lesson(z.double(), y)),
        Variant("wrong sign", lambda z, y: (
            (z.gather(1, y[:, None]) - z).scatter(1, y[:, None], -torch.inf).exp().sum(1).log1p()
        )),
        Variant("this is log S", lambda z, y: others(z, y).logsumexp(1)),
    ],
    "ex_4_3": [
        Variant("h is missing: more attention", lambda a, v, g: a * (v @ g), bound()),
        Variant("a position without attention", lambda a, v, g: offset(a, v) @ g, bound()),
        Variant("softmax is missing", lambda a, v, g: v @ g, bound()),
        Variant("the diagonal alone", lambda a, v, g: a * (1 - a) * (v @ g), bound()),
        Variant("pinsker", gradient, bound(lambda loss: (2 * loss) ** 0.5)),
        Variant("frobenius", gradient, bound(norm="fro")),
        Variant("sqrt(2) is missing", gradient, bound(lambda loss: -math.expm1(-loss))),
        Variant("small losses only", gradient, bound(lambda loss: 2**0.5 * loss)),
        Variant("alpha_j is missing", gradient, bound(
            reach=lambda a, v: offset(a, v).norm(dim=1)
        )),
        Variant("use expm1", gradient, bound(lambda loss: 2**0.5 * (1 - math.exp(-loss)))),
    ],
    "ex_4_4": [
        Variant("the error that is to be tiny", (FLAT, STEPS, W), PASSING, REACH, MATCH),
        Variant("no_error the reach has to be alive", (
            torch.tensor([-9.0, 0, 0]), STEPS, 60 * W
        ), PASSING, REACH, MATCH),
        Variant("passed on that is to be tiny", ERROR, (FLAT, STEPS, W), REACH, MATCH),
        Variant("no_reach the error has to be alive", ERROR, PASSING, (
            torch.tensor([-12.0, 0, 0]), STEPS, 40 * W
        ), MATCH),
        Variant("the gradient is alive. turn", ERROR, PASSING, REACH, (FLAT, STEPS, W)),
        Variant("no_match what is passed on", ERROR, PASSING, REACH, PASSING),
        Variant("a tuple (scores, values, W)", ERROR, PASSING, REACH, (FLAT, STEPS)),
    ],
}  # fmt: skip
