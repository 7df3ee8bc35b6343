"""Attention as a distribution over positions, and what is pooled through it.

Axis names: ``pos`` (a position of the sequence, the query last), ``embed`` (a coordinate
of an embedding, a value or the pooled representation), ``head_embed`` (a coordinate of a
query or key). Leading axes are free: a batch of examples, or none.

Source: arXiv 2605.15787, Sections 3.2 and 4.1, equations (9), (10), (38).
"""

import numpy as np
from jaxtyping import Bool, Float

from grokkit.theory._checks import require
from grokkit.theory.statements import states


@states("Section 3.2 (9, 10, 38)")
def bilinear_scores(
    query: Float[np.ndarray, "*#batch embed"],
    embedding: Float[np.ndarray, "*#batch pos embed"],
    w_q: Float[np.ndarray, "head_embed embed"],
    w_k: Float[np.ndarray, "head_embed embed"],
) -> Float[np.ndarray, "*batch pos"]:
    """The scores l_j = (W_Q e_q) . (W_K e_j) / sqrt(d_head). Equation (38).

    Equal to e_q^T M e_j / sqrt(d_head) with M = W_Q^T W_K: only the product of the two
    matrices matters, and a score is *local*, a function of its own token and the query.

    Args:
        query: e_q, the embedding at the query position.
        embedding: e_j, the embedding of every position.
        w_q: W_Q.
        w_k: W_K.
    """
    key_direction = query @ (w_q.T @ w_k)
    return np.einsum("...pe,...e->...p", embedding, key_direction) / np.sqrt(len(w_q))


def log_softmax(scores: Float[np.ndarray, "*batch pos"]) -> Float[np.ndarray, "*batch pos"]:
    """The logarithm of softmax attention, true where the attention itself underflows."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@states("Section 3.2 (9, 10, 38)")
def softmax(scores: Float[np.ndarray, "*batch pos"]) -> Float[np.ndarray, "*batch pos"]:
    """Softmax attention, alpha_j = exp(l_j) / sum_i exp(l_i). Section 3.2."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@states("Section 3.2 (9, 10, 38)")
def relu_attention(scores: Float[np.ndarray, "*batch pos"]) -> Float[np.ndarray, "*batch pos"]:
    """Normalised ReLU attention, alpha_j = relu(l_j) / sum_i relu(l_i). Section A.3."""
    best = scores.max(axis=-1, keepdims=True)
    require(best > 0, "scores", best, "a positive score in every row (normalised ReLU attention)")
    weights = np.maximum(scores, 0.0)
    return weights / weights.sum(axis=-1, keepdims=True)


@states("Corollary 4.5 (3)")
def oracle_attention(
    informative: Bool[np.ndarray, "*batch pos"],
) -> Float[np.ndarray, "*batch pos"]:
    """The oracle alpha*: 1/k on the k informative positions, 0 elsewhere. Section 4.1."""
    k = informative.sum(axis=-1, keepdims=True)
    require(k > 0, "informative", k, "at least one informative position in every row")
    return informative / k


@states("Section 3.2 (9, 10, 38)")
def pooled(
    attention: Float[np.ndarray, "*#batch pos"], values: Float[np.ndarray, "*#batch pos embed"]
) -> Float[np.ndarray, "*batch embed"]:
    """The pooled representation h = sum_j alpha_j v_j. Equation (9)."""
    return np.einsum("...p,...pe->...e", attention, values)


@states("Corollary 4.5 (3)")
def kl_divergence(
    oracle: Float[np.ndarray, "*#batch pos"], attention: Float[np.ndarray, "*#batch pos"]
) -> Float[np.ndarray, "*batch"]:
    """D = KL(alpha* || alpha) = sum_j alpha*_j log(alpha*_j / alpha_j), in nats.

    Positions outside the oracle's support contribute nothing; it is infinite where an
    informative position has no attention. Corollary 4.5 and Theorem 5.2 are about it.
    """
    support = oracle > 0
    with np.errstate(divide="ignore"):  # log 0 = -inf is the wanted answer
        log_ratio = np.log(np.where(support, oracle, 1.0)) - np.log(np.where(support, attention, 1))
    return np.asarray((oracle * log_ratio).sum(axis=-1))
