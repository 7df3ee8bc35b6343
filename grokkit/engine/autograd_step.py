"""What a training step hands on, and the step of any model under any prior, by autograd.

The general path: the forward pass of :class:`grokkit.model.Transformer`, the exact
cross-entropy, the prior's penalty, and PyTorch's backward pass.
"""

import copy
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.core.loss import cross_entropy
from grokkit.engine.priors import Penalty
from grokkit.model import Batch, Parameters, Transformer
from grokkit.model.attention import Attention, Scores
from grokkit.model.spec import ModelSpec
from grokkit.tasks.base import change_arrays


@dataclass(frozen=True, eq=False)
class StepOutput:
    """The train set as the model saw it in one step.

    Attributes:
        loss: the cross-entropy of every example, nats, without any prior.
        logits: the class scores.
        attention: alpha.
        score_gradient: dCE/dl of every example's own cross-entropy, the quantity of
            Lemma 5.1, without any prior; None where it was not asked for.
        log_attention: log alpha; None where it was not asked for.
    """

    loss: Float[Tensor, "run example"]
    logits: Float[Tensor, "run example class"]
    attention: Attention
    score_gradient: Scores | None
    log_attention: Attention | None

    def take(self, rows: Int[Tensor, "run row"]) -> "StepOutput":
        """Some examples of each run, each run's own."""
        run = torch.arange(len(rows), device=rows.device).unsqueeze(1)
        return change_arrays(self, lambda part: part[run, rows])


class AutogradStep:
    """Loss and gradient for a group of runs on one batch.

    Args:
        spec: the model.
        batch: what is trained on.
        weights: the weights of the group; their ``flat_grad`` is filled.
        penalty: what the priors of the runs add to their losses.
    """

    def __init__(
        self,
        spec: ModelSpec,
        batch: Batch,
        weights: Parameters,
        penalty: Penalty,
    ) -> None:
        self.weights = weights
        self.batch = batch
        self.penalty = penalty
        self.model = Transformer(spec, batch, weights.layout.length)

    def __call__(self, epoch: int, record: bool = False) -> StepOutput:
        """Fill ``weights.flat_grad`` and return what was computed on the way.

        Args:
            epoch: the number of whole epochs that came before, for schedules.
            record: whether the score gradient and log alpha are kept too.
        """
        seen = self.model(self.weights)
        loss = cross_entropy(seen.logits, self.batch.targets)
        score_gradient, log_attention = None, None
        if record:
            score_gradient = seen.score_gradient(loss.sum())
            log_attention = seen.log_attention.detach()
        # Runs share no weight, so the gradient of the sum is each run's own gradient.
        total, added = loss.mean(dim=1).sum(), self.penalty(seen, epoch).sum()
        control = self.penalty.control
        if control is None:
            self._fill(total + added)
        else:
            # The penalty's own gradient says how large its stand-in is on each array.
            inner = self._reached(added, control.names(self.weights))
            self._fill(total)
            for name, value in control(inner, epoch).items():
                self.weights.gradient[name].add_(value)
        return StepOutput(
            loss.detach(),
            seen.logits.detach(),
            seen.attention.detach(),
            score_gradient,
            log_attention,
        )

    def take(self, rows: Int[Tensor, "run row"]) -> "AutogradStep":
        """The same step on some examples of each run, such as a minibatch."""
        taken = copy.copy(self)
        taken.model = self.model.take(rows)
        taken.batch = taken.model.batch
        taken.penalty = self.penalty.take(rows)
        return taken

    def _fill(self, objective: Float[Tensor, ""]) -> None:
        """Write the objective's gradient into the weights' ``flat_grad``."""
        leaves = list(self.weights.values())
        grads = torch.autograd.grad(objective, leaves, materialize_grads=True)
        for name, grad in zip(self.weights, grads, strict=True):
            self.weights.gradient[name].copy_(grad)

    def _reached(self, value: Float[Tensor, ""], names: tuple[str, ...]) -> dict[str, Tensor]:
        """The gradient of a value with respect to those parameters that it depends on."""
        if not value.requires_grad:
            return {}
        leaves = [self.weights[name] for name in names]
        grads = torch.autograd.grad(value, leaves, retain_graph=True, allow_unused=True)
        return {name: grad for name, grad in zip(names, grads, strict=True) if grad is not None}
