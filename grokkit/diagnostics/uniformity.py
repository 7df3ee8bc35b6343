"""Token uniformity: whether the embeddings lie evenly along a closed curve.

    MED = (1/n) sum_i norm(phi(i + 1) - phi(i)),   phi(n) = phi(0)

is the mean distance of neighbours on the way round all n numbers, the last step home
included. By itself it proves nothing, for three reasons, and each has its remedy here:

- It shrinks with the embeddings. *Relative* MED is divided by the mean distance of all pairs.
  An order that means nothing has 1: every pair is as likely a neighbour as any other, so
  1 is exactly the mean over all orders. The null, some shuffled orders, says how far a
  single one strays from it.
- It depends on the frequency: on a circle of radius R that is gone round k times, MED is
  2 R sin(pi k / p), as even as the circle may be. *Best* MED is the least over all steps s,
  neighbours being i and i + s; a circle of frequency k has it at s = 1/k modulo p. As a
  minimum over many orders it is smaller by chance too, so its null is such minima.
- The order of the numbers is that of sums. For products it is that of the discrete
  logarithm (:func:`logarithm_order`), in which multiplying is taking steps; another step
  is then another primitive root.

Source: arXiv 2504.03162, "Beyond Progress Measures"; the relative form, the best step and
the nulls are ours. (There is code for the paper that leaves out the last step home.)
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.errors import check_int, refuse


@dataclass(frozen=True, eq=False)
class Uniformity:
    """MED of each run beside what tells whether it means anything.

    Attributes:
        med: MED, in units of the embedding.
        relative: MED over the mean distance of all pairs; 1 for an order without meaning.
        null: relative MED of shuffled orders.
        best: the least relative MED over all steps that visit every number.
        step: the step that has it, up to half of the numbers: back is as far as forth.
        best_null: the best relative MED of shuffled orders.
    """

    med: Float[Tensor, " run"]
    relative: Float[Tensor, " run"]
    null: Float[Tensor, "run shuffle"]
    best: Float[Tensor, " run"]
    step: Int[Tensor, " run"]
    best_null: Float[Tensor, "run shuffle"]


@torch.no_grad()
def token_uniformity(
    table: Float[Tensor, "run token embed"],
    order: Int[Tensor, " place"] | None = None,
    shuffles: int = 100,
    seed: int = 0,
) -> Uniformity:
    """MED, its relative and its best form, and their nulls.

    ``nan`` for the relative forms where all embeddings coincide. The memory is that of all
    pairs, run x place^2.

    Args:
        table: the embeddings; of numbers alone where no order is given.
        order: the tokens in the order of the walk, each at most once; None for all of the
            table, 0, 1, 2, ...
        shuffles: how many orders the null has.
        seed: of the shuffles; all runs are shuffled in the same ways.

    Raises:
        SettingError: the order has fewer than three places, a token twice, or one that
            the table has not.
    """
    tokens = table.shape[1]
    walk = torch.arange(tokens) if order is None else order.cpu()
    if len(walk) < 3 or len(walk.unique()) < len(walk):
        refuse("order", walk.tolist(), "three different tokens or more")
    if int(walk.min()) < 0 or int(walk.max()) >= tokens:
        refuse("order", walk.tolist(), f"tokens 0..{tokens - 1}")
    check_int("shuffles", shuffles, 1)
    phi = table.detach().double()[:, walk.to(table.device)]
    # By differences: the usual product is fast, and loses the small distances.
    apart = torch.cdist(phi, phi, compute_mode="donot_use_mm_for_euclid_dist")
    n = len(walk)
    usual = apart.sum(dim=(1, 2), keepdim=True) / (n * (n - 1))
    steps = torch.tensor([s for s in range(1, n // 2 + 1) if math.gcd(s, n) == 1])
    med = _by_step(apart, steps)
    relative = med / usual.squeeze(2)
    stream = generator(seed, "shuffles")
    shuffled = []
    for _ in range(shuffles):
        places = torch.randperm(n, generator=stream).to(apart.device)
        shuffled.append(_by_step((apart / usual)[:, places][:, :, places], steps))
    null = torch.stack(shuffled, dim=2)
    best = relative.min(dim=1)
    step = steps.to(apart.device)[best.indices]
    return Uniformity(med[:, 0], relative[:, 0], null[:, 0], best.values, step, null.amin(dim=1))


def _by_step(
    apart: Float[Tensor, "run place place"], steps: Int[Tensor, " step"]
) -> Float[Tensor, "run step"]:
    """The mean distance of i and i + s, round all places, for each step s."""
    place = torch.arange(apart.shape[1])
    ahead = (place + steps.unsqueeze(1)) % len(place)
    return apart[:, place, ahead].mean(dim=2)


def logarithm_order(p: int) -> Int[Tensor, " place"]:
    """The numbers 1..p-1 by their discrete logarithm: 1, g, g^2, ... modulo p.

    g is the least primitive root: its powers are all of 1..p-1. A product is a sum of logarithms
    modulo p - 1, so this is the order in which the embeddings of a network that multiplies may
    lie evenly. 0 has no logarithm: left out.
    """
    check_int("p", p, 3)
    for g in range(2, p):
        powers = [1]
        # It ends at 1, or at 0 where g and p share a factor.
        while (power := powers[-1] * g % p) > 1 and len(powers) < p:
            powers.append(power)
        if power == 1 and len(powers) == p - 1:
            return torch.tensor(powers)
    refuse("p", p, "a prime number above 2")
