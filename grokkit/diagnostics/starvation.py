"""What is left of the gradient that would teach attention, and its bounds (Lemma 5.1).

All norms here are of the cross-entropy's gradient alone, without prior, clipping or
decay: the signal that explaining away silences.

For one example with cross-entropy L (nats) and a readout of Lipschitz constant L_f, every
score l_j of every head has

    abs(dL/dl_j) <= norm(dh/dl_j) L_f sqrt(2) (1 - exp(-L))      linear, what is true
                 <= norm(dh/dl_j) L_f sqrt(2 L)                  by position, (33, 34)
                 <= 2 L_f norm(W_V)_op max_j norm(e_j) sqrt(2 L)     the paper's (4)

with norm(dh/dl_j) = alpha_j norm(v_j - h) for softmax attention, and e_j what W_V reads: the
embedding, or its norm where one stands there. Where L_f is infinite (a norm in the readout,
several layers: :func:`grokkit.diagnostics.lipschitz`) there is no bound, and all of them are
``nan``. The formulas are those of
:mod:`grokkit.theory.starvation`, on the device for a whole group; a test holds them equal.

Two questions have an answer here. How loose are the bounds: the ratios. And does the
gradient die like the loss or like its square root: :func:`starvation_exponent`.

Source: arXiv 2605.15787, Lemma 5.1, (4), (32) to (34); the linear form is not in it.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import embedding_bag

from grokkit.diagnostics.capacity import largest_singular_value, lipschitz
from grokkit.errors import refuse
from grokkit.model import Parameters, Transformer, cross_entropy, of_kinds
from grokkit.model.attention import Attention, Scores
from grokkit.model.block import attention_reads
from grokkit.model.norm import PLACEMENTS

ATTENTION_GRADIENTS = ("W_Q_gradient", "W_K_gradient", "W_QK_gradient")
"""What :func:`attention_gradient` measures."""

BOUNDS = (
    *("score_gradient_max", "starvation_bound", "starvation_bound_position"),
    *("starvation_bound_linear", "starvation_worst", "starvation_worst_linear"),
)
"""What :func:`starvation_bounds` measures."""


def score_gradient_norm(score_gradient: Scores) -> Float[Tensor, " run"]:
    """The mean over examples of norm(dCE_i / dl_i)_2, over positions and heads."""
    return torch.linalg.vector_norm(score_gradient.flatten(2), dim=2).mean(dim=1)


@torch.no_grad()
def attention_gradient(
    model: Transformer, weights: Parameters, score_gradient: Scores
) -> dict[str, Float[Tensor, " run"]]:
    """Norms of the mean cross-entropy's gradient by the attention parameters, by record.

    ``W_Q_gradient``, ``W_K_gradient``, and ``W_QK_gradient`` by the product M = W_Q W_K^T of each
    head, all heads together. By the chain rule, with l_qs = Q_q . K_s / sqrt(d_head),
    Q_q = x_q W_Q, K_s = x_s W_K, and g_qs the gradient of the mean loss summed over the examples
    with query q that read slot s:

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
    norms = (torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients)
    return dict(zip(ATTENTION_GRADIENTS, norms, strict=True))


def _by_autograd(model: Transformer, weights: Parameters) -> dict[str, Tensor]:
    """The same of the matrices of all layers."""
    with torch.enable_grad():
        loss = cross_entropy(model(weights).logits, model.batch.targets).mean(dim=1).sum()

    def norm(kind: str) -> Tensor:
        leaves = [weights[name] for name in of_kinds(weights, [kind])]
        gradients = torch.autograd.grad(loss, leaves, retain_graph=True)
        return torch.linalg.vector_norm(torch.cat([g.flatten(1) for g in gradients], 1), dim=1)

    w_q, w_k = norm("W_Q"), norm("W_K")
    norms = (w_q, w_k, torch.full_like(w_q, torch.nan))
    return dict(zip(ATTENTION_GRADIENTS, norms, strict=True))


@torch.no_grad()
def starvation_bounds(
    model: Transformer,
    weights: Parameters,
    loss: Float[Tensor, "run example"],
    attention: Attention,
    score_gradient: Scores,
    l_f: Float[Tensor, " run"] | None = None,
) -> dict[str, Float[Tensor, " run"]]:
    """The largest score gradient of an example, and the bounds of Lemma 5.1, by record.

    =========================  =======================================================
    score_gradient_max         abs(dL/dl_j)
    starvation_bound           (4). Not a bound for normalised ReLU attention
    starvation_bound_position  (33, 34)
    starvation_bound_linear    the same with sqrt(2) (1 - exp(-L)) for sqrt(2 L)
    starvation_worst           the largest abs(dL/dl_j) / (4) of any example
    starvation_worst_linear    the largest abs(dL/dl_j) / linear form of any example
    =========================  =======================================================

    Of every example the largest over positions and heads is taken, of the gradient and of each
    bound. The first four are means over examples, in nats per unit of score; the last two are
    at most 1 where the bound holds, ``nan`` where the bound is 0 for every example.

    Args:
        model: the forward pass of the batch.
        weights: the weights of the group.
        loss: the cross-entropy of every example, nats.
        attention: alpha.
        score_gradient: the gradient of each example's own cross-entropy, as a recorded
            training step keeps it, or from :func:`score_gradients`.
        l_f: L_f, where it is at hand; None for :func:`grokkit.diagnostics.lipschitz`.
    """
    if score_gradient.shape != attention.shape:
        refuse("score_gradient", tuple(score_gradient.shape), f"shape {tuple(attention.shape)}")
    gradient = score_gradient.abs().flatten(2).amax(dim=2).double()
    slope = (lipschitz(model.spec, weights) if l_f is None else l_f).double().unsqueeze(1)
    if model.spec.layers > 1 or PLACEMENTS[model.spec.norm].in_readout:
        none = torch.full_like(slope.squeeze(1), torch.nan)
        return dict.fromkeys(BOUNDS, none) | {"score_gradient_max": gradient.mean(dim=1)}
    jacobian = jacobian_norms(model, weights, attention).flatten(2).amax(dim=2).double()
    w_v = value_matrix_norm(model, weights).double().unsqueeze(1)
    e_max = embedding_norm(model, weights).double().unsqueeze(1)
    root = (2 * loss.double()).sqrt()
    paper = 2 * slope * w_v * e_max * root
    by_position = jacobian * slope * root
    linear = jacobian * slope * math.sqrt(2) * -torch.expm1(-loss.double())
    means = [one.mean(dim=1) for one in (gradient, paper, by_position, linear)]
    ratios = [_largest_ratio(gradient, bound) for bound in (paper, linear)]
    return dict(zip(BOUNDS, means + ratios, strict=True))


@torch.no_grad()
def jacobian_norms(
    model: Transformer, weights: Mapping[str, Tensor], attention: Attention
) -> Float[Tensor, "run example pos head"]:
    """norm(dh/dl_j) of every score: alpha_j norm(v_j - h) for softmax, (32).

    For normalised ReLU attention alpha_j becomes 1[l_j > 0] / sum_i relu(l_i); 0 where no
    score is positive. Attention frozen at the oracle has no scores: 0. h is the head's own
    part of the pooled representation. For a model of one layer.
    """
    if model.spec.attention == "oracle":
        return torch.zeros_like(attention)
    embedding = model.embed(weights)
    values = model.slot_values(weights, embedding)
    cells, index = values.flatten(0, 2), model.readers.index.view(-1, *attention.shape[2:])
    read = cells.index_select(0, index.flatten()).view(*attention.shape, -1)
    weight = attention
    if model.spec.attention == "relu":
        scores = model.look_up(model.slot_scores(weights, embedding))
        total = scores.relu().sum(dim=2, keepdim=True)
        weight = torch.where(total > 0, (scores > 0) / total, torch.zeros_like(scores))
    # One bag for each example and head.
    pooled = embedding_bag(
        index.transpose(1, 2).flatten(0, 1),
        cells,
        per_sample_weights=attention.transpose(2, 3).flatten(0, 2),
        mode="sum",
    ).view(*read.shape[:2], 1, *read.shape[3:])
    return weight * torch.linalg.vector_norm(read.sub_(pooled), dim=-1)


def score_gradients(
    model: Transformer, weights: Parameters
) -> tuple[Float[Tensor, "run example"], Attention, Scores]:
    """Loss, attention and dL/dl of every example's own cross-entropy, by autograd.

    For a network outside of its training; a recorded training step has all three.
    """
    with torch.enable_grad():
        seen = model(weights)
        loss = cross_entropy(seen.logits, model.batch.targets)
        gradient = seen.score_gradient(loss.sum())
    return loss.detach(), seen.attention.detach(), gradient


def value_matrix_norm(model: Transformer, weights: Mapping[str, Tensor]) -> Float[Tensor, " run"]:
    """norm(W_V)_op, W_O folded in where there is one; the largest of the heads."""
    heads = model.spec.heads
    w_v = weights["W_V"].unflatten(2, (heads, -1)).transpose(1, 2)
    if model.spec.output_projection:
        w_v = w_v @ weights["W_O"].unflatten(1, (heads, -1))
    return largest_singular_value(w_v.flatten(0, 1)).view(-1, heads).amax(dim=1)


def embedding_norm(model: Transformer, weights: Mapping[str, Tensor]) -> Float[Tensor, " run"]:
    """The largest norm(e_j) over all slots of a run, e_j what W_V reads of the first layer.

    The paper's embeddings have norm 1. A norm without gain and bias makes it sqrt(d_model).
    """
    read = attention_reads(model.spec, weights, model.embed(weights)).values
    norms = torch.linalg.vector_norm(read, dim=2)
    return norms.where(model.slots.used, 0).amax(dim=1)


def starvation_exponent(
    loss: Float[Tensor, "run example"], score_gradient: Scores
) -> Float[Tensor, " run"]:
    """The power of the loss with which the score gradient dies: 1 linear, 1/2 as in (4).

    The slope of a line through log(largest abs(dL_i/dl_j)) over log(L_i), by least squares
    over the examples of one network. All else is the same for them, which a comparison
    across epochs could not say. Examples whose loss or gradient is 0 have no logarithm
    and are left out; ``nan`` where fewer than two losses are left. Beyond a loss of about
    1 nat the true form 1 - exp(-L) bends, so ask where most losses are smaller.
    """
    gradient = score_gradient.abs().flatten(2).amax(dim=2).double()
    counted = (loss > 0) & (gradient > 0)
    x, y = (
        torch.where(counted, value, torch.ones_like(value)).log()
        for value in (loss.double(), gradient)
    )
    n = counted.sum(dim=1, keepdim=True)
    x, y = (torch.where(counted, v - v.sum(dim=1, keepdim=True) / n, 0) for v in (x, y))
    return (x * y).sum(dim=1) / x.square().sum(dim=1)


def _largest_ratio(
    gradient: Float[Tensor, "run example"], bound: Float[Tensor, "run example"]
) -> Float[Tensor, " run"]:
    ratio = torch.where(bound > 0, gradient / bound, -torch.inf).amax(dim=1)
    return torch.where(ratio >= 0, ratio, torch.nan)
