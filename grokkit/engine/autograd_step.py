"""One training step of any model under any prior, by autograd.

The general path: the forward pass of :class:`grokkit.model.Transformer`, the exact
cross-entropy, the prior's penalty, and PyTorch's backward pass.
"""

import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.engine.priors import Penalty
from grokkit.engine.step import StepOutput
from grokkit.model import Batch, Parameters, Transformer
from grokkit.model.loss import cross_entropy
from grokkit.model.spec import ModelSpec


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
        """Fill ``weights.flat_grad`` and return what was computed on the way."""
        seen = self.model(self.weights)
        loss = cross_entropy(seen.logits, self.batch.targets)
        score_gradient = None
        if record:
            score_gradient = seen.score_gradient(loss.sum())
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
            loss.detach(), seen.logits.detach(), seen.attention.detach(), score_gradient
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
