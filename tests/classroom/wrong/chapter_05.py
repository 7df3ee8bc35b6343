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


def turned(across, longer=1.0, count=400, angle=0.03):
    """Steps to where W is after a turn by an angle (at most), towards what `across` gives."""

    def answer(W, eta, w, longest):
        now = W.double()
        size, steps = now.norm(), []
        other = torch.ones_like(now)
        other[0, 0] = -2.0
        side = other - (other * now).sum() / size**2 * now
        fixed = now + 0.7 * size * side / side.norm()
        most = min(angle, 0.5 * eta * (longest / size - w))
        for _ in range(count):
            way = across(now, side, fixed)
            new = now + most * way * size / max(float(way.norm()), size)
            new *= longer * size / new.norm()
            steps.append(((1 - eta * w) * now - new) / eta)
            now = new
        return steps

    return answer


def on_first_side(W, eta, w, longest):
    """Each step is the first one: outward along the first W, and across that."""
    side = torch.ones_like(W.double())
    side[0, 0] = -2.0
    side -= (side * W).sum() / W.norm() ** 2 * W
    return [-w * W.double() - 0.3 * w * W.norm() * side / side.norm()] * 100_000


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
    "ex_5_5": [
        Variant("step 1 changes the norm. a part of U across W", turned(lambda *a: a[1], 1.002)),
        Variant("step 1 changes the norm. besides turning", turned(lambda *a: a[1], 0.99)),
        Variant("is *then*, not at first", on_first_side),
        Variant("go on turning", turned(lambda *a: a[1], count=1)),
        Variant("no step turns W", turned(lambda *a: 0.0 * a[0])),
        Variant("a fixed direction? W stalls", turned(lambda now, _, fixed: fixed - now)),
    ],
    "ex_5_4": [
        Variant("for ever", predict(guard=False), first),
        Variant("argmax of nothing", predict(), argmax),
        Variant("never gets there", predict(), lambda n, r: min(first(n, r), len(n))),
    ],
}
