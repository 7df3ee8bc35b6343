"""Wrong answers to the exercises on chapter 05."""

import math

import numpy as np
import torch

from tests.classroom.variant import Variant


def hold(norm, only=True, limit=False):
    def answer(weights, names, radius):
        scale = radius / norm([weights[name] for name in names], weights)
        scale = min(scale, torch.tensor(1.0)) if limit else scale
        return {
            name: part * scale if name in names or not only else part
            for name, part in weights.items()
        }

    return answer


def joint(parts, weights):
    return torch.stack([part.norm() for part in parts]).norm()


def predict(floor=lambda b, w, eta: b / w, log=lambda a: math.log(1 - a), claimed=2, guard=True):
    def answer(norm0, r_max, eta, w, longest):
        a, f = eta * w, floor(longest, w, eta)
        early = math.log((r_max + f) / (norm0 + f)) / log(a)
        late = math.inf
        if f < r_max or not guard:
            late = math.log(abs((r_max - f) / (norm0 - f)) or 1.0) / log(a)
        return claimed / a * math.log(norm0 / r_max), early, late

    return answer


def first(norms, r_max):
    return next((step for step, norm in enumerate(norms) if norm <= r_max), math.inf)


def argmax(norms, r_max):
    return int((np.array(norms) <= r_max).argmax())


VARIANTS = {
    "ex_5_2": [
        Variant("makes nan", hold(joint)),
    ],
    "ex_5_3": [
        Variant("is there a `return`", lambda W, eta, w: None),
        Variant("the step goes inward", lambda W, eta, w: 1.05 * w * W),
        Variant("the step is too short", lambda W, eta, w: -eta * w * 1.05 * W),
        Variant("sideways", lambda W, eta, w: w * W.flip(0) * torch.tensor([[1.0], [-1.0]])),
        Variant("longer than it has to be", lambda W, eta, w: -10 * W),
        Variant("the shape of W", lambda W, eta, w: -1.05 * w * W.norm()),
        Variant("the step is too short", lambda W, eta, w: -0.99 * w * W),
    ],
    "ex_5_4": [
        Variant("for ever", predict(guard=False), first),
        Variant("argmax of nothing", predict(), argmax),
        Variant("never gets there", predict(), lambda n, r: min(first(n, r), len(n))),
    ],
}
