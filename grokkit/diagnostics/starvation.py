"""What is left of the gradient that would teach attention (Lemma 5.1, Figure 1).

All norms here are of the cross-entropy's gradient alone, without prior, clipping or
decay: the signal that explaining away silences.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model import Parameters, Transformer, cross_entropy, of_kinds
from grokkit.model.attention import Scores
from grokkit.model.block import attention_reads


@dataclass(frozen=True, eq=False)
class AttentionGradient:
    """Frobenius norms of the mean cross-entropy's gradient, one for each run.

    Attributes:
        W_Q: with respect to the query matrix.
        W_K: with respect to the key matrix.
        W_QK: with respect to the product M = W_Q W_K^T of each head, all heads together;
            ``nan`` with several layers.
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

    With l_qs = Q_q . K_s / sqrt(d_head), Q_q = x_q W_Q, K_s = x_s W_K, and g_qs the gradient
    of the mean loss summed over the examples with query q that read slot s:

        dW_Q = sum_q x_q^T sum_s g_qs K_s / sqrt(d_head)
        dW_K = sum_q (sum_s g_qs x_s)^T Q_q / sqrt(d_head)
        dM   = sum_q x_q^T sum_s g_qs x_s / sqrt(d_head)

    x is what W_Q and W_K read: the embedding, or its norm where one stands there.

    With several layers the scores at hand are those of the query, but W_Q and W_K make those
    of the other positions, too. Then the norms are over the matrices of all layers, by
    autograd through another forward pass, and the product's, which is no parameter, is nan.

    Args:
        model: the forward pass of the batch.
        weights: the weights of the group.
        score_gradient: the gradient of each example's own cross-entropy.
    """
    if model.spec.layers > 1:
        return _by_autograd(model, weights)
    heads = model.spec.heads
    runs, examples = score_gradient.shape[:2]
    queries, slots = len(model.slots.queries), len(model.slots)
    by_pair = score_gradient.new_zeros(runs * queries * slots * heads)
    by_pair.index_add_(0, model.readers.pair.flatten(), score_gradient.flatten())
    by_pair /= examples * math.sqrt(model.spec.d_model // heads)
    by_pair = by_pair.view(runs, queries, slots, heads)

    x = attention_reads(model.spec, weights, model.embed(weights)).scores
    x_q = x.index_select(1, model.slots.queries)
    query, key = (
        (of @ weights[name]).unflatten(-1, (heads, -1)) for of, name in ((x_q, "W_Q"), (x, "W_K"))
    )
    d_query = torch.einsum("rqsh,rshk->rqhk", by_pair, key)
    pulled = torch.einsum("rqsh,rse->rqhe", by_pair, x)
    gradients = (
        torch.einsum("rqe,rqhk->rehk", x_q, d_query),
        torch.einsum("rqhe,rqhk->rehk", pulled, query),
        torch.einsum("rqe,rqhf->rehf", x_q, pulled),
    )
    return AttentionGradient(*(torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients))


def _by_autograd(model: Transformer, weights: Parameters) -> AttentionGradient:
    """The same of the matrices of all layers."""
    with torch.enable_grad():
        loss = cross_entropy(model(weights).logits, model.batch.targets).mean(dim=1).sum()

    def norm(kind: str) -> Tensor:
        leaves = [weights[name] for name in of_kinds(weights, [kind])]
        gradients = torch.autograd.grad(loss, leaves, retain_graph=True)
        return torch.linalg.vector_norm(torch.cat([g.flatten(1) for g in gradients], 1), dim=1)

    w_q, w_k = norm("W_Q"), norm("W_K")
    return AttentionGradient(w_q, w_k, torch.full_like(w_q, torch.nan))
