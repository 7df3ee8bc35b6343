"""Wrong answers to the exercises on chapter 05."""

import math

import numpy as np
import torch

from tests.classroom.variant import Variant


def decay(a=lambda eta, w: eta * w, rounded=math.ceil, log=lambda a: math.log(1 - a), there=True):
    def answer(norm0, r_max, eta, w):
        if there and norm0 <= r_max:
            return 0
        return rounded(math.log(r_max / norm0) / log(a(eta, w)))

    return answer


def loop(there, lost=lambda norm, norm0, a: a * norm):
    """Steps counted one by one, until the norm is `there`."""

    def answer(norm0, r_max, eta, w):
        norm, steps = norm0, 0
        while not there(norm, r_max):
            norm, steps = norm - lost(norm, norm0, eta * w), steps + 1
        return steps

    return answer


def at_most(norm, r_max):
    return norm <= r_max


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


def each_by_itself(weights, names, radius):
    return {
        name: part * radius / part.norm() if name in names else part
        for name, part in weights.items()
    }


def predict(floor=lambda b, w, eta: b / w, log=lambda a: math.log(1 - a), claimed=2, guard=True):
    def answer(norm0, r_max, eta, w, longest):
        a, f = eta * w, floor(longest, w, eta)
        early = math.log((r_max + f) / (norm0 + f)) / log(a)
        late = math.inf
        if f < r_max or not guard:
            late = math.log(abs((r_max - f) / (norm0 - f)) or 1.0) / log(a)
        return claimed / a * math.log(norm0 / r_max), early, late

    return answer


def goal_only(norm0, r_max, eta, w, longest):
    a, f = eta * w, longest / w
    late = math.log((r_max - f) / norm0) / math.log(1 - a) if f < r_max else math.inf
    return (
        2 / a * math.log(norm0 / r_max),
        math.log((r_max + f) / norm0) / math.log(1 - a),
        late,
    )


def swapped(*args):
    claimed, early, late = predict()(*args)
    return claimed, late, early


def first(norms, r_max):
    return next((step for step, norm in enumerate(norms) if norm <= r_max), math.inf)


def argmax(norms, r_max):
    return int((np.array(norms) <= r_max).argmax())


VARIANTS = {
    "ex_5_1": [
        Variant("half of it", lambda n, r, eta, w: math.ceil(2 / (eta * w) * math.log(n / r))),
        Variant("round up", decay(rounded=float)),
        Variant("rounded down", decay(rounded=math.floor)),
        Variant("to the nearest", decay(rounded=round)),
        Variant("*equal* to r_max", decay(rounded=lambda t: int(t) + 1)),
        Variant("*equal* to r_max", loop(lambda norm, r_max: norm < r_max)),
        Variant("the same amount", loop(at_most, lambda norm, norm0, a: a * norm0)),
        Variant("the same amount", loop(at_most, lambda norm, norm0, a: a)),
        Variant("not w alone", decay(lambda eta, w: w)),
        Variant("not eta alone", decay(lambda eta, w: eta)),
        Variant("log(1 - a) is not -a", decay(rounded=float, log=lambda a: -a)),
        Variant("no step is needed", decay(rounded=lambda t: max(math.ceil(t), 1), there=False)),
        Variant("no step is needed", decay(there=False)),
    ],
    "ex_5_2": [
        Variant("by itself", each_by_itself),
        Variant("not held were scaled", hold(joint, only=False)),
        Variant("count in the norm", hold(lambda _, weights: joint(list(weights.values()), 0))),
        Variant("the norms are added", hold(lambda parts, _: sum(p.norm() for p in parts))),
        Variant("the root is missing", hold(lambda parts, _: joint(parts, 0) ** 2)),
        Variant("more than to limit", hold(joint, limit=True)),
        Variant("makes nan", hold(joint)),
    ],
    "ex_5_3": [
        Variant("is there a `return`", lambda W, eta, w: None),
        Variant("the step goes inward", lambda W, eta, w: 1.05 * w * W),
        Variant("the step is too short", lambda W, eta, w: -eta * w * 1.05 * W),
        Variant("sideways", lambda W, eta, w: w * W.flip(0) * torch.tensor([[1.0], [-1.0]])),
        Variant("longer than it has to be", lambda W, eta, w: -10 * W),
        Variant("make good for what decay takes", lambda W, eta, w: torch.zeros_like(W)),
        Variant("the shape of W", lambda W, eta, w: -1.05 * w * W.norm()),
        Variant("the step is too short", lambda W, eta, w: -0.99 * w * W),
    ],
    "ex_5_4": [
        Variant("log(1 - a) is not -a", predict(log=lambda a: -a), first),
        Variant("factor 2 in front", predict(claimed=1), first),
        Variant("not B.", predict(lambda b, w, eta: b), first),
        Variant("not B times w", predict(lambda b, w, eta: b * w), first),
        Variant("eta drops out", predict(lambda b, w, eta: b * eta / w), first),
        Variant("wrong way round", swapped, first),
        Variant("not only the goal", goal_only, first),
        Variant("for ever", predict(guard=False), first),
        Variant("equals", predict(), lambda n, r: next(i for i, x in enumerate(n) if x < r)),
        Variant("argmax of nothing", predict(), argmax),
        Variant("no answer", predict(), lambda n, r: min(first(n, r), len(n))),
    ],
}
