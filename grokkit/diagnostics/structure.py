"""Where attention looks: mass, divergence from the oracle, entropy (Def. 4.1, Cor. 4.5).

With several heads the masses of all heads together must suffice (Conjecture E.2):

    pooled condition, (55):  sum_h alpha_j^h >= gamma for every informative j

One head may ignore a position that another attends to, so B_gamma per head asks too much.
The sum ranges from 0 to the number of heads; with one head this is B_gamma itself.

Source: arXiv 2605.15787, Definition 4.1, Corollary 4.5, Conjecture E.2, (54), (55).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit.errors import check_number
from grokkit.model.attention import Attention


def attention_mass(attention: Attention) -> Float[Tensor, "run head pos"]:
    """The attention on each position, averaged over examples. It sums to 1 over positions."""
    return attention.mean(dim=1).transpose(1, 2)


def min_informative_mass(
    attention: Attention, informative: Bool[Tensor, "run example pos"]
) -> Float[Tensor, " run"]:
    """The least attention, averaged over heads, that any example gives any position of I*.

    The structural condition B_gamma (Definition 4.1) holds if and only if this is at
    least gamma.
    """
    mass = attention.mean(dim=3)
    return torch.where(informative, mass, torch.inf).flatten(1).amin(dim=1)


def informative_mass(
    attention: Attention, informative: Bool[Tensor, "run example pos"]
) -> Float[Tensor, " run"]:
    """The attention on all of I* together, averaged over examples and heads."""
    return (attention.mean(dim=3) * informative).sum(dim=2).mean(dim=1)


def attention_kl(
    attention: Attention,
    target: Float[Tensor, "run example pos"] | Float[Tensor, "run example pos #head"],
    log_attention: Attention | None = None,
) -> Float[Tensor, "run example head"]:
    """KL(target || attention) of every head in nats, with 0 log 0 = 0.

    The target may be the same for all heads, or each head's own.

        sum_j target_j (log target_j - log alpha_j)

    Without its logarithm, attention below the smallest normal number counts as that number:
    the divergence stays finite, and its gradient there is 0, as (45) has it for normalised
    ReLU. In float32 it then ends at 87, whatever the scores.

    Args:
        attention: alpha.
        target: what it is compared with.
        log_attention: log alpha, such as that of :class:`grokkit.model.Activations`, which
            knows it where softmax attention is too small for a number.
    """
    goal = target if target.dim() == 4 else target.unsqueeze(-1)
    floor = torch.finfo(attention.dtype).tiny
    if log_attention is None:
        log_attention = attention.clamp_min(floor).log()
    return (goal * (goal.clamp_min(floor).log() - log_attention)).sum(dim=2)


def attention_entropy(attention: Attention) -> Float[Tensor, " run"]:
    """-sum_j alpha_j log alpha_j in nats, averaged over examples and heads.

    From 0 (all on one position) to log T (uniform).
    """
    return -torch.xlogy(attention, attention).sum(dim=2).mean(dim=(1, 2))


def head_entropy(attention: Attention) -> Float[Tensor, "run head"]:
    """-sum_j alpha_j log alpha_j of each head in nats, averaged over examples."""
    return -torch.xlogy(attention, attention).sum(dim=2).mean(dim=1)


def map_entropy(attention: Attention) -> Float[Tensor, " run"]:
    """The entropy of the attention map that is averaged over heads first, in nats.

    What arXiv 2602.06702 reports. At least :func:`attention_entropy`, and equal to it
    where all heads look alike: four heads that look at one position each, and each at
    another, have an entropy of 0 by head and log 4 by map.
    """
    average = attention.mean(dim=3)
    return -torch.xlogy(average, average).sum(dim=2).mean(dim=1)


@dataclass(frozen=True, eq=False)
class HeadMass:
    """Attention summed over heads, at each position where it is informative.

    A position that is informative in no example of a run is ``nan``.

    Attributes:
        mean: sum_h alpha_j^h, the mean over the examples in which j is informative.
        least: the least of any such example.
    """

    mean: Float[Tensor, "run pos"]
    least: Float[Tensor, "run pos"]


def summed_head_mass(
    attention: Attention, informative: Bool[Tensor, "run example pos"]
) -> HeadMass:
    """The summed mass of every informative position."""
    seen = informative.sum(dim=1)
    summed = attention.sum(dim=3)
    least = torch.where(informative, summed, torch.inf).amin(dim=1)
    mean = (summed * informative).sum(dim=1) / seen
    return HeadMass(mean, torch.where(seen > 0, least, torch.nan))


def distributed_share(
    attention: Attention, informative: Bool[Tensor, "run example pos"], gamma: float
) -> Float[Tensor, " run"]:
    """The share of examples that satisfy the pooled condition (55).

    Args:
        attention: alpha.
        informative: true on I*.
        gamma: the threshold of the summed mass, above 0.
    """
    check_number("gamma", gamma, strict=True)
    summed = torch.where(informative, attention.sum(dim=3), torch.inf).amin(dim=2)
    return (summed >= gamma).double().mean(dim=1)
