"""The priors: towards a target, or towards few positions, whichever they are.

The paper's prior is the divergence of attention from where it should look (equation 6):

    beta * KL(target || alpha),   averaged over examples and heads

For softmax attention its gradient on a score is beta (alpha_j - target_j), equation (45):
it does not know the loss, so it does not starve with it.

The entropy of attention is its undirected rival: no oracle is asked. Its minimum is all mass
on *one* position: with k informative positions it must be held back by the loss before it
gets there.

The usual penalty for sparsity, the L1 norm, is 1 at every point of the simplex: it says
nothing about attention. Ours is 1 - sum_j alpha_j^2 (the Gini-Simpson index, Tsallis'
entropy of order 2): the chance that two draws from alpha differ. It is 0 where one
position has everything and 1 - 1/T where attention is uniform. Which penalty the paper
means it does not say, so this is our choice. Beside the entropy it is the gentler one: on a
score it pulls by 2 alpha_j (s - alpha_j), s = sum_i alpha_i^2, quadratic in a small mass,
where the entropy pulls by alpha_j (log alpha_j + H). So it settles contests between the
large masses and lets the small ones be.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit.diagnostics.structure import attention_kl
from grokkit.engine.priors.base import ScheduledPrior, register_prior
from grokkit.errors import check_choice, refuse
from grokkit.model import Activations, Batch

HeadReduction = Literal["each", "summed"]


@dataclass(frozen=True, kw_only=True)
class DivergencePrior(ScheduledPrior):
    """The divergence of attention from a target, whatever the target is.

    With several layers the heads are those of all layers, and attention is the query's.

    Attributes:
        head_reduction: what a layer with several heads is measured by. ``each``: every
            head's own divergence, their mean; ``summed``: the divergence of the heads'
            summed mass, divided by their number, so that heads may share the work (E.2).
    """

    strength_name: ClassVar[str] = "kl_strength"

    head_reduction: HeadReduction = "each"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("head_reduction", self.head_reduction, ("each", "summed"))

    def check(self, spec: Any) -> None:
        """Refuse the summed mass of a single head, which is its own."""
        super().check(spec)
        if self.head_reduction == "summed" and spec.model.heads == 1:
            refuse("head_reduction", self.head_reduction, "'each' with heads = 1")

    def amount(self, seen: Activations, target: Tensor | None) -> Float[Tensor, "run example"]:
        """KL(target || alpha) of each example in nats, a mean over heads or of their mean."""
        assert target is not None
        attention, log = seen.attention, seen.log_attention
        if self.head_reduction == "summed":
            attention = attention.mean(dim=3, keepdim=True)
            target = target.mean(dim=3, keepdim=True)
            floor = torch.finfo(attention.dtype).tiny
            of_mean = log.logsumexp(dim=3, keepdim=True) - math.log(log.shape[3])
            log = torch.where(attention < floor, of_mean, attention.clamp_min(floor).log())
        return attention_kl(attention, target, log).mean(dim=2)


@register_prior("kl")
@dataclass(frozen=True)
class KLPrior(DivergencePrior):
    """beta * KL(target || alpha), averaged over examples (equation 6).

    Attributes:
        kl_strength: beta, 0 or more. 0 is no prior at all, the baseline.
        target: where attention is drawn to. ``oracle``: alpha*, evenly over the
            informative positions; ``adversarial``: evenly over the distractors that the
            query sees. The query itself is neither, and gets nothing (our choice).
    """

    kl_strength: float = 0.0
    target: Literal["oracle", "adversarial"] = "oracle"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("target", self.target, ("oracle", "adversarial"))

    def aim(self, specs: Sequence[Any], batch: Batch) -> Float[Tensor, "run example pos 1"]:
        """The oracle, or its adversary, of each sequence.

        Raises:
            SettingError: ``target`` is adversarial, and there are no distractors.
        """
        if self.target == "oracle":
            return batch.oracle.unsqueeze(-1)
        graded = batch.informative.any(dim=-1, keepdim=True)
        mask = (distractors(batch) & graded).to(batch.oracle)
        count = mask.sum(dim=-1, keepdim=True)
        if bool((graded & (count == 0)).any()):
            task = specs[0].task.kind
            refuse("target", self.target, f"'oracle' where a sequence has no distractors ({task})")
        return (mask / count.clamp_min(1)).unsqueeze(-1)


def distractors(batch: Batch) -> Bool[Tensor, "run example pos"]:
    """The positions that the query sees and that are neither informative nor itself."""
    others = ~batch.informative
    if batch.future is not None:
        others &= ~batch.future
    return others.scatter(2, batch.query_position.unsqueeze(-1), False)


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
