"""Structural priors: what is added to the cross-entropy to tell attention where to look.

A prior is a frozen dataclass of settings with a ``penalty``. The loss of a run is
L_CE + penalty, equation (6); the default prior has strength 0 and adds nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.diagnostics.structure import attention_kl
from grokkit.errors import check_number
from grokkit.model import Activations, Batch
from grokkit.registry import Registry


class Prior:
    """The base of every prior.

    A prior of your own is a frozen dataclass that inherits from this class and is
    decorated with :func:`register_prior`. Its numeric fields may differ between the runs
    of a group; nothing else may.
    """

    kind: ClassVar[str]

    def penalty(self, seen: Activations, batch: Batch) -> Float[Tensor, ""]:
        """What is added to the loss of one run, from its own activations (run axis 1)."""
        raise NotImplementedError


priors: Registry[Prior] = Registry("prior")
register_prior = priors.register


@register_prior("kl")
@dataclass(frozen=True)
class KLPrior(Prior):
    """beta * KL(alpha* || alpha), averaged over examples and heads (equation 6).

    Attributes:
        kl_strength: beta, 0 or more. 0 is no prior at all, the baseline.
    """

    kl_strength: float = 0.0

    def __post_init__(self) -> None:
        check_number("kl_strength", self.kl_strength)

    def penalty(self, seen: Activations, batch: Batch) -> Float[Tensor, ""]:
        """Beta times the mean divergence of the oracle from attention, nats."""
        return self.kl_strength * attention_kl(seen.attention, batch.oracle).mean()


def penalty(each: Sequence[Prior], seen: Activations, batch: Batch) -> Float[Tensor, " run"]:
    """The penalty of every run of a group, each by its own prior."""
    runs = [prior.penalty(seen.run(i), batch.run(i)) for i, prior in enumerate(each)]
    return torch.stack(runs)
