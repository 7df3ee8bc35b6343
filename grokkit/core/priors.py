"""Chapter 6. Structural priors: what is added to the loss to tell attention where to look.

The penalised loss (6) is

    L = L_CE + beta * mean over examples of KL(alpha* || alpha)

For softmax the gradient of the second term on a score is beta (alpha_j - alpha*_j) / (N H), with N
examples and H heads, each compared by itself (equation (45), for one of each). The loss L_CE does
not occur in it. So it stays alive when the network has memorised and the gradient of L_CE starves
(Lemma 5.1): this is Theorem 5.2's way out of the plateau.

Two priors know nothing of I* and ask only that attention be on few positions:

    entropy     -sum_j alpha_j log alpha_j       sparsity     1 - sum_j alpha_j^2

A strength may change in the course of a run. With t the epochs so far and S ``schedule_epochs``:

    constant  1       annealed  max(0, 1 - t/S)       early  1 while t < S       late  1 from S on
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from grokkit.core.common import check_choice, refuse
from grokkit.core.model import Seen
from grokkit.core.task import Examples

SCHEDULES: dict[str, Callable[[int, int], float]] = {
    "constant": lambda t, turn: 1.0,
    "annealed": lambda t, turn: max(0.0, 1 - t / turn),
    "early": lambda t, turn: float(t < turn),
    "late": lambda t, turn: float(t >= turn),
}
"""The factor on the strength after t epochs."""


@dataclass(frozen=True)
class Prior:
    """The settings of a prior.

    Attributes:
        kind: ``kl``, ``entropy`` or ``sparsity``.
        strength: beta, 0 or more; 0 is no prior at all, the baseline.
        target: of ``kl``: ``oracle``, alpha*; ``adversarial``, evenly over the distractors.
        head_reduction: of ``kl``: ``each``: the mean of the heads' own divergences; ``summed``:
            the divergence of the heads' mean attention, so that heads may share the work (E.2).
        schedule: one of :data:`SCHEDULES`.
        schedule_epochs: S, at which the schedule ends (annealed, early) or begins (late).
    """

    kind: str = "kl"
    strength: float = 0.0
    target: str = "oracle"
    head_reduction: str = "each"
    schedule: str = "constant"
    schedule_epochs: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("kl", "entropy", "sparsity"))
        check_choice("target", self.target, ("oracle", "adversarial"))
        check_choice("head_reduction", self.head_reduction, ("each", "summed"))
        check_choice("schedule", self.schedule, SCHEDULES)
        if (self.schedule_epochs is None) != (self.schedule == "constant"):
            refuse("schedule_epochs", self.schedule_epochs, "an epoch, and None with 'constant'")


def penalty(prior: Prior, seen: Seen, examples: Examples, epoch: int) -> Tensor:
    """What is added to the loss of a run: a scalar.

    Args:
        prior: the settings.
        seen: what the network computed of the examples.
        examples: where I* is.
        epoch: the number of whole epochs so far.
    """
    strength = prior.strength * SCHEDULES[prior.schedule](epoch, prior.schedule_epochs or 1)
    if strength == 0:
        return seen.logits.new_zeros(())
    if prior.kind == "entropy":
        amount = -(seen.attention * seen.log_attention).sum(dim=-1)
    elif prior.kind == "sparsity":
        amount = 1 - seen.attention.square().sum(dim=-1)
    else:
        target = examples.oracle if prior.target == "oracle" else examples.adversary
        log_attention = seen.log_attention
        if prior.head_reduction == "summed":
            log_attention = mean_over_heads(log_attention)
        amount = divergence(target.to(log_attention), log_attention)
    return strength * amount.mean()


def divergence(target: Tensor, log_attention: Tensor) -> Tensor:
    """KL(target || alpha) = sum_j target_j (log target_j - log alpha_j) in nats.

    Attention of at least gamma on each of I* (B_gamma, see measures.py) keeps it small:
    KL(alpha* || alpha) <= log(1 / (k gamma)), Corollary 4.5. The converse does not hold.

    Args:
        target: ``[example, pos]``, with 0 log 0 = 0.
        log_attention: log alpha, ``[example, head, pos]``.

    Returns:
        One divergence for each example and head, ``[example, head]``.
    """
    entropy = -torch.xlogy(target, target).sum(dim=-1, keepdim=True)  # [example, 1]
    return -torch.einsum("ep,ehp->eh", target, log_attention) - entropy


def mean_over_heads(log_attention: Tensor) -> Tensor:
    """The logarithm of the heads' mean attention, ``[example, 1, pos]``."""
    heads = log_attention.shape[1]
    return log_attention.logsumexp(dim=1, keepdim=True) - math.log(heads)
