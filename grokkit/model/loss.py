"""Cross-entropy that stays exact where grokking happens.

The usual formula, -log softmax(z)_y, loses the loss of a memorised example: in float32 it
is exactly 0 from a margin of about 17, and so is its gradient. What a plateau is about, a
tiny but living gradient, is rounded away. With margins m_c = z_c - z_y it need not be:

    loss        = log(1 + S),   S = sum over c != y of exp(m_c)
    d loss/dz_c = exp(m_c) / (1 + S)      for c != y
    d loss/dz_y = -S / (1 + S)

S is a sum of small numbers, and log1p keeps it: float32 is enough for a loss of 1e-30.
Large positive margins are divided out first, so that nothing overflows.
"""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable


def loss_and_gradient(
    logits: Float[Tensor, "*batch class"],
    targets: Int[Tensor, "*batch 1"],
    out: Float[Tensor, "*batch class"] | None = None,
    weight: float = 1.0,
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch class"]]:
    """The cross-entropy of each example in nats, and weight * its gradient.

    Args:
        logits: class scores, in any floating precision; left as they are.
        targets: the right class of each example.
        out: a buffer for the gradient.
        weight: what the gradient is multiplied by, such as 1 / number of examples.
    """
    margin = torch.sub(logits, logits.gather(-1, targets), out=out)
    margin.scatter_(-1, targets, -math.inf)
    top = margin.amax(-1, keepdim=True).clamp_(min=0)
    share = margin.sub_(top).exp_()
    others = share.sum(-1, keepdim=True)
    total = others + (-top).exp()
    loss = torch.where(top > 0, top + total.log(), others.log1p())
    share.mul_(weight / total).scatter_(-1, targets, -weight * others / total)
    return loss.squeeze(-1), share


class _ExactCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor) -> Tensor:
        loss, gradient = loss_and_gradient(logits, targets)
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grads[0].unsqueeze(-1), None


def cross_entropy(
    logits: Float[Tensor, "*batch class"], targets: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """The cross-entropy of each example in nats, differentiable, exact.

    Args:
        logits: class scores, in any floating precision.
        targets: the right class of each example.
    """
    return _ExactCrossEntropy.apply(logits, targets.unsqueeze(-1))
