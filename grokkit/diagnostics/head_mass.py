"""Conjecture E.2: with several heads, the masses of all heads together must suffice.

    pooled condition, (55):  sum_h alpha_j^h >= gamma for every informative j

One head may ignore a position that another attends to, so B_gamma per head asks too much.
The sum ranges from 0 to the number of heads; with one head this is B_gamma itself.

Source: arXiv 2605.15787, Conjecture E.2, (54), (55).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit import theory
from grokkit.diagnostics._arrays import to_numpy, to_tensor
from grokkit.model.attention import Attention


@dataclass(frozen=True, eq=False)
class HeadMass:
    """Attention summed over heads, at each position where it is informative.

    A position that is informative in no example of a run is ``nan``.

    Attributes:
        mean: sum_h alpha_j^h, the mean over the examples in which j is informative.
        least: the least of any such example.
        shared: how evenly the heads share the position: the largest head's part of the
            mean, from 1 / heads (evenly) to 1 (one head alone); ``nan`` where it is 0.
    """

    mean: Float[Tensor, "run pos"]
    least: Float[Tensor, "run pos"]
    shared: Float[Tensor, "run pos"]


def summed_head_mass(
    attention: Attention, informative: Bool[Tensor, "run example pos"]
) -> HeadMass:
    """The summed mass of every informative position.

    Args:
        attention: alpha.
        informative: true on I*.
    """
    seen = informative.sum(dim=1)
    summed = attention.sum(dim=3)
    by_head = (attention * informative.unsqueeze(-1)).sum(dim=1) / seen.unsqueeze(-1)
    mean = by_head.sum(dim=2)
    least = torch.where(informative, summed, torch.inf).amin(dim=1)
    return HeadMass(
        mean=mean,
        least=torch.where(seen > 0, least, torch.nan),
        shared=by_head.amax(dim=2) / mean,
    )


def distributed_share(
    attention: Attention, informative: Bool[Tensor, "run example pos"], gamma: float
) -> Float[Tensor, " run"]:
    """The share of examples that satisfy the pooled condition (55).

    Args:
        attention: alpha.
        informative: true on I*.
        gamma: the threshold of the summed mass, above 0.

    Raises:
        SettingError: gamma is not above 0.
    """
    holds = theory.distributed_condition(
        to_numpy(attention.movedim(2, -1)), informative.cpu().numpy(), gamma
    )
    return to_tensor(holds.mean(axis=1), attention)
