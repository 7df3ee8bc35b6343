"""Right answers that are written in another way than the solutions: none may be refused."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import torch

from grokkit.engine import grid
from tests.classroom.wrong.chapter_10 import sooner

# --- chapters 1 and 3 ---------------------------------------------------------------------


def divergence_by_loop(attention, informative):
    on = [float(a) for a, m in zip(attention, informative, strict=True) if m]
    return math.fsum(math.log(1 / len(on) / a) / len(on) for a in on)


def divergence_by_torch(attention, informative):
    oracle = informative / informative.sum()
    return torch.nn.functional.kl_div(attention.log(), oracle, reduction="none")[informative].sum()


def positions_by_reshaping(tokens, targets):
    rows = {tuple(row): int(y) for row, y in zip(tokens.tolist(), targets, strict=True)}
    found = set()
    for row, answer in rows.items():
        for j, token in product(range(len(row)), {int(t) for t in tokens.flatten()}):
            if rows.get((*row[:j], token, *row[j + 1 :]), answer) != answer:
                found.add(j)
    return np.array(sorted(found))


def meet(gamma, separation, around=0.0, number: Any = float):
    """Two values on one line through a centroid that may lie anywhere."""
    new = torch.tensor([0.0, 4.0 * separation, 3.0 * separation], dtype=torch.float64)
    share, new_share = number(gamma), number(1.5 * gamma)
    centroid = torch.full((3,), around, dtype=torch.float64)
    return share, new_share, centroid + 1.5 * new, centroid + new, centroid


# --- chapters 5, 6 and 10 -----------------------------------------------------------------


def steps_by_walking(norm0, r_max, eta, w):
    steps = 0
    while norm0 * (1 - eta * w) ** steps > r_max:
        steps += 1
    return steps


def predicted_in_float32(*given, kind: Any = lambda x: x):
    n, r, eta, w, b = map(torch.tensor, given)
    a, floor = eta * w, b / w
    late = torch.tensor(math.inf)
    if floor < r:
        late = torch.log((r - floor) / (n - floor)) / torch.log(1 - a)
    early = torch.log((r + floor) / (n + floor)) / torch.log(1 - a)
    return kind(2 / a * torch.log(n / r)), kind(early), kind(late)


def first_by_torch(norms, r_max):
    there = torch.tensor(norms) <= r_max
    return there.nonzero()[0, 0] if there.any() else torch.inf


def held_by_flattening(weights, names, radius):
    flat = torch.cat([weights[name].flatten() for name in names])
    long = float(torch.linalg.vector_norm(flat.double()))
    new = {name: part.clone() for name, part in weights.items()}
    for name in names:
        new[name] *= radius / (long or 1)
    return new


def random_signs(like, seed):
    made = torch.Generator().manual_seed(seed)
    return {n: torch.rand(x.shape, generator=made).round() * 2 - 1 for n, x in like.items()}


def noise(gradients, step, dtype=torch.float64):
    made, new = np.random.default_rng(step), {}
    for name, one in gradients.items():
        drawn = torch.from_numpy(made.normal(size=tuple(one.shape))).to(dtype)
        new[name] = drawn / drawn.norm() * one.norm()
    return new


def signs_on_sizes(gradients, seed):
    """The signs that come out last, not those that multiply."""
    signs = random_signs(gradients, seed)
    return {name: one.abs() * signs[name] for name, one in gradients.items()}


def experiment(base, strength, seeds):
    """The baseline keeps what stands in for a gradient that it does not have."""
    told = base.with_(prior="kl", kl_strength=strength)
    arms = {"baseline": base.with_(kl_strength=0.0)}
    arms |= {name: told.with_(penalty_gradient=name) for name in ("noise", "shuffled")}
    arms["prior"] = told.with_(penalty_gradient="true")
    return {name: tuple(grid(spec, seed=seeds)) for name, spec in arms.items()}


def chance(looks, share, number: Any = Fraction):
    """Exactly, where `number` is Fraction."""
    share, total = number(share), number(0)
    for one in product([1, 0], repeat=max(looks)):
        if any(5 * sum(one[:n]) >= 4 * n for n in looks):
            total += math.prod([share if yes else 1 - share for yes in one], start=number(1))
    return total


RIGHT = {
    "ex_1_1": [
        (lambda m: m.double().div(m.sum(-1, keepdim=True)),),
        (lambda m: torch.nn.functional.normalize(m.float(), p=1, dim=1),),
        (lambda m: [[Fraction(int(x), int(row.sum())) for x in row] for row in m],),
    ],
    "ex_1_2": [(divergence_by_loop,), (divergence_by_torch,)],
    "ex_1_3": [
        (lambda s, t: Fraction(len({(b, a) for a, b in t} & set(s)), len(t)),),
        (lambda s, t: np.mean([tuple(reversed(one)) in s for one in t]),),
    ],
    "ex_1_4": [(positions_by_reshaping,), (lambda *g: tuple(positions_by_reshaping(*g)),)],
    "ex_3_2": [
        *((lambda g, x, m=m: meet(g, x, m * x),) for m in (0.0, 5.0, -5.0)),
        (lambda g, x: meet(g, x, 5.0),),
        (lambda g, x: meet(g, x, number=torch.tensor),),
        (lambda g, x: meet(g, x, number=np.float64),),
    ],
    "ex_5_1": [(steps_by_walking,), (lambda *g: torch.tensor(steps_by_walking(*g)),)],
    "ex_5_2": [(held_by_flattening,)],
    "ex_5_3": [(lambda W, eta, w: (-1.09 * w * W).numpy(),), (lambda W, eta, w: -1.001 * w * W,)],
    "ex_5_4": [
        (predicted_in_float32, first_by_torch),
        (lambda *g: torch.stack(predicted_in_float32(*g)), first_by_torch),
        (lambda *g: predicted_in_float32(*g, kind=float), first_by_torch),
    ],
    "ex_6_2": [
        (noise, signs_on_sizes),
        (lambda g, s: noise(g, s, torch.float32), lambda g, s: signs_on_sizes(g, s + 1)),
    ],
    "ex_10_1": [
        (lambda *case: found if (found := sooner(*case)) is None else torch.tensor(bool(found)),),
        (lambda *case: found if (found := sooner(*case)) is None else np.bool_(found),),
    ],
    "ex_10_3": [(experiment,)],
    "ex_10_4": [(chance,), (lambda looks, share: torch.tensor(chance(looks, share, float)),)],
}
"""By exercise: some answers, each as its check cell hands it in."""
