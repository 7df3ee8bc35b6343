"""Wrong answers to the exercises on chapter 04."""

import math
from typing import Any

import numpy as np
import torch

from tests.classroom.variant import Variant


def with_zeros(loss, gradient, accuracy):
    kept = accuracy >= 0.99
    x, y = np.log(loss[kept]), np.log(gradient[kept] + 1e-30)
    return np.polyfit(x, y, 1)[0]


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
        Variant("do not put a small number", with_zeros),
    ],
    "ex_4_3": [
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
