"""The paper's prior: the divergence of attention from where it should look (equation 6).

    beta * KL(target || alpha),   averaged over examples and heads

For softmax attention its gradient on a score is beta (alpha_j - target_j), equation (45):
it does not know the loss, so it does not starve with it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit.diagnostics.structure import attention_kl
from grokkit.engine.priors.base import ScheduledPrior, register_prior
from grokkit.errors import check_choice, refuse
from grokkit.model import Activations, Batch

if TYPE_CHECKING:
    from grokkit.engine.spec import RunSpec

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

    def check(self, spec: "RunSpec") -> None:
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

    def aim(self, specs: "Sequence[RunSpec]", batch: Batch) -> Float[Tensor, "run example pos 1"]:
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
