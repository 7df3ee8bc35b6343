"""The same diagnostics, query by query: for next-token prediction.

Where every position of a sequence asks for the next token, a mean over all examples mixes
questions that can be answered with questions that cannot. So each diagnostic is averaged
over the examples whose query stands at one position, for every position in turn.

Axis names: ``query`` (the position of the query).
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.diagnostics.structure import attention_kl
from grokkit.model import Batch
from grokkit.model.attention import Attention, Scores


def per_query(
    batch: Batch,
    loss: Float[Tensor, "run example"],
    logits: Float[Tensor, "run example class"],
    attention: Attention,
    log_attention: Attention,
    score_gradient: Scores,
) -> dict[str, Float[Tensor, "run query"]]:
    """Means over the examples with the same query position; nan where there are none.

    ``query_loss`` (nats), ``query_accuracy``, ``query_entropy`` and ``query_kl`` (nats, of
    attention, averaged over heads), ``query_score_gradient`` (the norm of dCE_i / dscores).
    The divergence from the oracle is ``nan`` for queries without informative positions.

    Args:
        batch: the examples.
        loss: the cross-entropy of each.
        logits: the class scores.
        attention: alpha.
        log_attention: log alpha.
        score_gradient: the gradient of each example's own cross-entropy.
    """
    at, length = batch.query_position, batch.length
    entropy = -torch.xlogy(attention, attention).sum(dim=2).mean(dim=2)
    divergence = attention_kl(attention, batch.oracle, log_attention).mean(dim=2)
    known = batch.informative.any(dim=2)
    steepness = torch.linalg.vector_norm(score_gradient.flatten(2), dim=2)
    correct = (logits.argmax(dim=-1) == batch.targets).double()
    return {
        "query_loss": mean_by_query(loss, at, length),
        "query_accuracy": mean_by_query(correct, at, length),
        "query_entropy": mean_by_query(entropy, at, length),
        "query_kl": mean_by_query(divergence, at, length, known),
        "query_score_gradient": mean_by_query(steepness, at, length),
    }


def mean_by_query(
    value: Float[Tensor, "run example"],
    query: Int[Tensor, "run example"],
    length: int,
    among: Bool[Tensor, "run example"] | None = None,
) -> Float[Tensor, "run query"]:
    """The mean value over the examples with each query position; nan where there are none.

    Args:
        value: of each example.
        query: the position of each example's query, 0..length-1.
        length: the number of positions.
        among: which examples count; None for all.
    """
    counted = torch.ones_like(value) if among is None else among.to(value.dtype)
    total, count = value.new_zeros(2, len(value), length)
    total = total.scatter_add(1, query, torch.where(counted > 0, value, 0))
    return total / count.scatter_add(1, query, counted)
