"""Attention that looks at few positions, whichever they are: no oracle is asked.

The undirected rival of the KL prior. Its minimum is all mass on *one* position: with k
informative positions it must be held back by the loss before it gets there.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.engine.priors.base import ScheduledPrior, register_prior
from grokkit.model import Activations


@register_prior("entropy")
@dataclass(frozen=True)
class EntropyPrior(ScheduledPrior):
    """strength * the entropy of attention, averaged over examples and heads.

    Attributes:
        entropy_strength: 0 or more; per nat of entropy.
    """

    strength_name: ClassVar[str] = "entropy_strength"

    entropy_strength: float = 0.1

    def amount(self, seen: Activations, target: Tensor | None) -> Float[Tensor, "run example"]:
        """-sum_j alpha_j log alpha_j in nats.

        The logarithm stops at the smallest normal number: at alpha_j = 0 its own slope,
        minus infinity, would make the gradient of that score 0 times infinity.
        """
        attention = seen.attention
        log = attention.clamp_min(torch.finfo(attention.dtype).tiny).log()
        return -(attention * log).sum(dim=2).mean(dim=2)
