"""One training step of any model under any prior, by autograd.

The general path: the forward pass of :class:`grokkit.model.Transformer`, the exact
cross-entropy, the prior's penalty, and PyTorch's backward pass.
"""

from collections.abc import Sequence

import torch

from grokkit.model import Batch, Parameters, Transformer
from grokkit.model.loss import cross_entropy
from grokkit.model.spec import ModelSpec
from grokkit.training.priors import Prior, penalty
from grokkit.training.step import StepOutput


class AutogradStep:
    """Loss and gradient for a group of runs on one batch.

    Args:
        spec: the model.
        batch: what is trained on.
        weights: the weights of the group; their ``flat_grad`` is filled.
        priors: the prior of each run.
    """

    def __init__(
        self,
        spec: ModelSpec,
        batch: Batch,
        weights: Parameters,
        priors: Sequence[Prior],
    ) -> None:
        self.weights = weights
        self.batch = batch
        self.priors = priors
        self.model = Transformer(spec, batch, weights.layout.length)

    def __call__(self, epoch: int, record: bool = False) -> StepOutput:
        """Fill ``weights.flat_grad`` and return what was computed on the way."""
        seen = self.model(self.weights)
        loss = cross_entropy(seen.logits, self.batch.targets)
        score_gradient = None
        if record:
            (score_gradient,) = torch.autograd.grad(loss.sum(), seen.scores, retain_graph=True)
        # Runs share no weight, so the gradient of the sum is each run's own gradient.
        total = loss.mean(dim=1).sum() + penalty(self.priors, seen, self.batch).sum()
        names = list(self.weights)
        grads = torch.autograd.grad(total, [self.weights[name] for name in names])
        for name, grad in zip(names, grads, strict=True):
            self.weights.gradient[name].copy_(grad)
        return StepOutput(
            loss.detach(), seen.logits.detach(), seen.attention.detach(), score_gradient
        )
