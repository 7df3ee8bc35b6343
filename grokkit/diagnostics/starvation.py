"""What is left of the gradient that would teach attention (Lemma 5.1, Figure 1).

All norms here are of the cross-entropy's gradient alone, without prior, clipping or
decay: the signal that explaining away silences.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model import Parameters, Transformer
from grokkit.model.attention import Scores


@dataclass(frozen=True, eq=False)
class AttentionGradient:
    """Frobenius norms of the mean cross-entropy's gradient, one for each run.

    Attributes:
        W_Q: with respect to the query matrix.
        W_K: with respect to the key matrix.
        W_QK: with respect to the product M = W_Q W_K^T of each head, all heads together.
    """

    W_Q: Float[Tensor, " run"]
    W_K: Float[Tensor, " run"]
    W_QK: Float[Tensor, " run"]


def score_gradient_norm(score_gradient: Scores) -> Float[Tensor, " run"]:
    """The mean over examples of norm(dCE_i / dl_i)_2, over positions and heads.

    Args:
        score_gradient: the gradient of each example's own cross-entropy.
    """
    return torch.linalg.vector_norm(score_gradient.flatten(2), dim=2).mean(dim=1)


@torch.no_grad()
def attention_gradient(
    model: Transformer, weights: Parameters, score_gradient: Scores
) -> AttentionGradient:
    """The gradient with respect to the attention parameters, by the chain rule.

    With l_s = q . K_s / sqrt(d_head), q = x_q W_Q, K_s = x_s W_K, and g_s the gradient of
    the mean loss summed over the readers of slot s:

        dW_Q = x_q^T sum_s g_s K_s / sqrt(d_head)
        dW_K = sum_s x_s^T g_s q / sqrt(d_head)
        dM   = x_q^T sum_s g_s x_s / sqrt(d_head)

    Args:
        model: the forward pass of the batch.
        weights: the weights of the group.
        score_gradient: the gradient of each example's own cross-entropy.
    """
    heads = model.spec.heads
    examples = score_gradient.shape[1]
    runs, slots = score_gradient.shape[0], len(model.slots)
    by_slot = score_gradient.new_zeros(runs * slots * heads)
    by_slot.index_add_(0, model.readers.index.flatten(), score_gradient.flatten())
    by_slot /= examples * math.sqrt(model.spec.d_model // heads)
    by_slot = by_slot.view(runs, slots, heads)

    x = model.embed(weights)
    x_q = x[:, model.slots.query]
    query = (x_q.unsqueeze(1) @ weights["W_Q"]).squeeze(1).unflatten(-1, (heads, -1))
    key = (x @ weights["W_K"]).unflatten(-1, (heads, -1))
    norm_x_q = torch.linalg.vector_norm(x_q, dim=1)
    # Each gradient is an outer product, whose Frobenius norm is the product of two norms.
    d_query = torch.einsum("rsh,rshk->rhk", by_slot, key)
    pulled = torch.einsum("rsh,rse->rhe", by_slot, x)
    per_head = torch.linalg.vector_norm(pulled, dim=2) * torch.linalg.vector_norm(query, dim=2)
    return AttentionGradient(
        W_Q=norm_x_q * torch.linalg.vector_norm(d_query.flatten(1), dim=1),
        W_K=torch.linalg.vector_norm(per_head, dim=1),
        W_QK=norm_x_q * torch.linalg.vector_norm(pulled.flatten(1), dim=1),
    )
