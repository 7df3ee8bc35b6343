"""Chapter 4. The cross-entropy, exact where grokking happens.

    L_CE = -log softmax(z)_y,     d L_CE / dz = softmax(z) - onehot(y)

In float32 the usual formula loses the loss of a memorised example: once z_y leads by about 17,
the probability of y rounds to 1, the loss to 0, and so does its gradient. On the plateau, between
memorising and grokking, the gradient is tiny and not zero: Lemma 5.1 bounds it by the loss. With
m_c = z_c - z_y, how far c is ahead of y, nothing is rounded away:

    L_CE        = log(1 + S),     S = sum over c != y of exp(m_c)
    d L/dz_c    = exp(m_c) / (1 + S)      for c != y
    d L/dz_y    = -S / (1 + S)

S is a sum of small numbers, which ``log1p`` keeps: float32 is then enough for a loss of 1e-30.
Where a class c is ahead, all is divided by the largest exp(m_c) first, so that nothing overflows.
"""

import math
from typing import Any

import torch
from torch import Tensor


def loss_and_gradient(
    logits: Tensor, targets: Tensor, out: Tensor | None = None, weight: float = 1.0
) -> tuple[Tensor, Tensor]:
    """The cross-entropy of each example in nats, ``[*batch]``, and weight * its gradient.

    Args:
        logits: class scores, ``[*batch, class]``, in any floating precision; left as they are.
        targets: the right class of each example, ``[*batch, 1]``.
        out: a buffer for the gradient, ``[*batch, class]``.
        weight: a factor on the gradient, such as 1 / number of examples.
    """
    margin = torch.sub(logits, logits.gather(-1, targets), out=out)
    margin.scatter_(-1, targets, -math.inf)
    top = margin.amax(-1, keepdim=True).clamp_(min=0)
    odds = margin.sub_(top).exp_()
    S = odds.sum(-1, keepdim=True)  # over the largest exp(m_c), as all here, where a class is ahead
    total = S + (-top).exp()
    loss = torch.where(top > 0, top + total.log(), S.log1p())
    gradient = odds.mul_(weight / total).scatter_(-1, targets, -weight * S / total)
    return loss.squeeze(-1), gradient


class _ExactCrossEntropy(torch.autograd.Function):
    """The loss, with the gradient above for its backward pass."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor) -> Tensor:
        loss, gradient = loss_and_gradient(logits, targets)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grads[0].unsqueeze(-1), None


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The cross-entropy of each example in nats, ``[*batch]``, differentiable and exact.

    >>> certain = torch.tensor([[40.0, 0.0]])
    >>> print(f"{cross_entropy(certain, torch.tensor([0])).item():.2g}")
    4.2e-18

    Args:
        logits: class scores, ``[*batch, class]``.
        targets: the right class of each example, ``[*batch]``.
    """
    return _ExactCrossEntropy.apply(logits, targets.unsqueeze(-1))
