"""Conjecture E.1: how unequal scores are over positions, and how unequal they could be.

Softmax ignores a common shift of its scores; attention is uniform when they are equal.
So their population variance over positions says how far attention *can* be from uniform,
and weight decay bounds it through M = W_Q W_K^T, head by head:

    Var_j(l_j) <= norm(M)_F^2 norm(e_q)^2 max_j norm(e_j)^2 / d_head

The bound is a theorem. That decay therefore smooths attention in the plateau is the
conjecture: watch whether the measured variance falls with it, or ignores it.

Source: arXiv 2605.15787, Conjecture E.1.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit.model import Transformer
from grokkit.model.block import attention_reads


@torch.no_grad()
def score_variance(model: Transformer, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Var_j(l_j), and its bound by the weights alone, ``[run, head]`` by record.

    ``score_variance`` is the mean over examples; ``score_variance_bound`` what no example can
    exceed. The scores are those before the softmax, already divided by sqrt(d_head). Positions
    after an example's query, which it cannot see, do not count. Where queries differ the
    bound takes the longest e_q. e_j is what W_Q and W_K read: the embedding, or its norm
    where one stands there. With several layers the heads are those of all layers, and the bound
    is ``nan``: what an upper layer reads has no largest size that the weights alone give.
    """
    embedding = model.embed(weights)
    if model.spec.layers > 1:
        scores = model(weights).scores.double()
    else:
        scores = model.look_up(model.slot_scores(weights, embedding)).double()
    seen = (
        torch.arange(scores.shape[2], device=scores.device) <= model.batch.query_position[..., None]
    )
    mean = _variance(scores, seen.unsqueeze(-1)).mean(dim=1)
    if model.spec.layers > 1:
        return {"score_variance": mean, "score_variance_bound": torch.full_like(mean, torch.nan)}
    heads = model.spec.heads
    read = attention_reads(model.spec, weights, embedding).scores
    norms = torch.linalg.vector_norm(read, dim=2).double().where(model.slots.used, 0)
    e_q = norms[:, model.slots.queries].amax(dim=1, keepdim=True)
    e_max = norms.amax(dim=1, keepdim=True)
    d_head = model.spec.d_model // heads
    bound = (interaction_norm(weights, heads) * e_q * e_max).square() / d_head
    return {"score_variance": mean, "score_variance_bound": bound}


def _variance(
    scores: Float[Tensor, "run example pos head"], seen: Bool[Tensor, "run example pos 1"]
) -> Float[Tensor, "run example head"]:
    """Var_j(l_j) over the positions that each example sees; the scores of others are -inf."""
    count = seen.sum(dim=2, keepdim=True)
    kept = torch.where(seen, scores, 0)
    apart = torch.where(seen, kept - kept.sum(dim=2, keepdim=True) / count, 0)
    return (apart.square().sum(dim=2, keepdim=True) / count).squeeze(2)


def interaction_norm(weights: Mapping[str, Tensor], heads: int) -> Float[Tensor, "run head"]:
    """norm(M)_F of every head, M = W_Q W_K^T, from two small Gram matrices.

    norm(A B^T)_F^2 = tr((A^T A)(B^T B)).
    """
    w_q, w_k = (
        weights[name].detach().double().unflatten(2, (heads, -1)).transpose(1, 2)
        for name in ("W_Q", "W_K")
    )
    gram_q, gram_k = (w.transpose(-1, -2) @ w for w in (w_q, w_k))
    return (gram_q * gram_k).sum(dim=(-1, -2)).clamp_min(0).sqrt()
