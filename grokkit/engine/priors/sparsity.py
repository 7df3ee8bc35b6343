"""Sparse attention by a penalty on its squares.

The usual penalty for sparsity, the L1 norm, is 1 at every point of the simplex: it says
nothing about attention. Ours is 1 - sum_j alpha_j^2 (the Gini-Simpson index, Tsallis'
entropy of order 2): the chance that two draws from alpha differ. It is 0 where one
position has everything and 1 - 1/T where attention is uniform. Which penalty the paper
means it does not say, so this is our choice.

Beside the entropy it is the gentler one: on a score it pulls by 2 alpha_j (s - alpha_j),
s = sum_i alpha_i^2, quadratic in a small mass, where the entropy pulls by
alpha_j (log alpha_j + H). So it settles contests between the large masses and lets the
small ones be.
"""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from grokkit.engine.priors.base import ScheduledPrior, register_prior
from grokkit.model import Activations


@register_prior("sparsity")
@dataclass(frozen=True)
class SparsityPrior(ScheduledPrior):
    """strength * (1 - sum_j alpha_j^2), averaged over examples and heads.

    Attributes:
        sparsity_strength: 0 or more.
    """

    strength_name: ClassVar[str] = "sparsity_strength"

    sparsity_strength: float = 0.1

    def amount(self, seen: Activations, target: Tensor | None) -> Float[Tensor, "run example"]:
        """1 - sum_j alpha_j^2, from 0 to 1 - 1/T."""
        return 1 - seen.attention.square().sum(dim=2).mean(dim=2)
