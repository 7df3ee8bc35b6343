"""Attention-weighted sums over slots, with a backward pass that never scatters vectors.

    pooled[row] = sum over its entries of attention[entry] * values[cell(entry)]

Left to autograd, the gradient with respect to ``values`` writes one vector per (example,
position) into a small table: slow, for no place may be written twice at a time. But which
row reads which cell is known beforehand (:class:`~grokkit.model.slots.Readers`), so that
gradient is again a weighted sum over neighbours, the same operation as the forward pass:

    d values[cell] = sum over its entries of attention[entry] * d pooled[row(entry)]

The sums are PyTorch's ``embedding_bag``, which runs on every CPU and GPU. It also has the
gradient with respect to its weights, d attention[entry] = values[cell] . d pooled[row].
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from grokkit.model.slots import Readers


class _WithValuesGradient(torch.autograd.Function):
    """The identity on ``pooled`` that sends its gradient to ``values``."""

    @staticmethod
    def forward(
        ctx: Any, pooled: Tensor, values: Tensor, attention: Tensor, readers: Readers
    ) -> Tensor:
        ctx.save_for_backward(attention)
        ctx.readers = readers
        return pooled.view_as(pooled)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (attention,) = ctx.saved_tensors
        readers: Readers = ctx.readers
        d_values = embedding_bag(
            readers.row,
            grads[0],
            readers.starts,
            per_sample_weights=attention.flatten()[readers.order],
            mode="sum",
        )
        return grads[0], d_values, None, None


def pool(
    attention: Float[Tensor, "row read"],
    values: Float[Tensor, "cell width"],
    readers: Readers,
) -> Float[Tensor, "row width"]:
    """Each row's attention-weighted sum of the cells that it reads.

    Differentiable in both. ``width`` may be the embedding, or the hidden layer: a sum
    commutes with a matrix, so the matrix may act on the few cells instead of on the many
    rows, pool(attention, values) W = pool(attention, values W).
    """
    pooled = embedding_bag(readers.index, values.detach(), per_sample_weights=attention, mode="sum")
    return _WithValuesGradient.apply(pooled, values, attention.detach(), readers)
