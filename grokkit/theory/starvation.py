"""Lemma 5.1: a small loss starves the attention of gradient (explaining away).

The chain, for one example with loss L (cross-entropy, nats) and an MLP of Lipschitz
constant L_f: dL/dl_j = grad_z . J_f . alpha_j (v_j - h), so

    abs(dL/dl_j) <= alpha_j norm(v_j - h) * L_f * norm(softmax(z) - onehot(y)).

The paper bounds the last factor by sqrt(2 L), by Pinsker's inequality. That is loose: the
factor is at most sqrt(2) (1 - exp(-L)), which is *linear* in a small loss. Starvation is
linear in the loss, and the square root is only the looseness of the proof.

Axis names: ``pos``, ``embed``, ``class``, ``example``. Leading axes are free.

Source: arXiv 2605.15787, Lemma 5.1, (4), (29) to (37). The linear form and those for
normalised ReLU attention are not in the paper.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from grokkit.theory._checks import Number, Result, non_negative
from grokkit.theory.attention import pooled, relu_attention
from grokkit.theory.statements import states


@states("Lemma 5.1 (4)")
def cross_entropy(
    logits: Float[np.ndarray, "*batch class"], target: int | Int[np.ndarray, "*batch"]
) -> Float[np.ndarray, "*batch"]:
    """L_CE = log(1 + sum_{c != y} exp(z_c - z_y)), in nats, exact for tiny losses."""
    target = np.asarray(target)
    own = np.take_along_axis(logits, target[..., None], axis=-1)
    others = np.where(np.arange(logits.shape[-1]) == target[..., None], -np.inf, logits - own)
    return np.asarray(np.logaddexp(0.0, np.logaddexp.reduce(others, axis=-1)))


class OutputGradientBounds(NamedTuple):
    """Bounds on norm(softmax(z) - onehot(y))_2, from the tightest to the loosest.

    Attributes:
        linear: sqrt(2) (1 - exp(-L)).
        total_variation: 2 TV = 2 (1 - exp(-L)).
        pinsker: sqrt(2 L), the paper's.
    """

    linear: Result
    total_variation: Result
    pinsker: Result


@states("eq. (29)")
def output_gradient_bounds(loss: Number) -> OutputGradientBounds:
    """How large the gradient at the logits can be for a loss. Equation (29).

    norm_2 <= sqrt(2) (1 - p_y) <= 2 TV <= sqrt(2 L), where p_y = exp(-L) and Pinsker's
    inequality is the last step. The first is attained with two classes.
    """
    non_negative(loss=loss)
    miss = -np.expm1(np.negative(loss))  # 1 - p_y without cancellation
    return OutputGradientBounds(np.sqrt(2) * miss, 2 * miss, np.sqrt(np.multiply(2, loss)))


@states("eq. (32)")
def pooled_jacobian(
    attention: Float[np.ndarray, "*#batch pos"], values: Float[np.ndarray, "*#batch pos embed"]
) -> Float[np.ndarray, "*batch pos embed"]:
    """dh/dl_j = alpha_j (v_j - h) for softmax attention, one row per j. Equation (32)."""
    h = pooled(attention, values)
    return attention[..., None] * (values - h[..., None, :])


@states("corrected (4)")
def pooled_jacobian_relu(
    scores: Float[np.ndarray, "*#batch pos"], values: Float[np.ndarray, "*#batch pos embed"]
) -> Float[np.ndarray, "*batch pos embed"]:
    """dh/dl_j = 1[l_j > 0] (v_j - h) / sum relu(l) for normalised ReLU attention.

    The weight has no upper bound: it grows as the scores shrink, and (4) can fail.
    """
    h = pooled(relu_attention(scores), values)
    weight = (scores > 0) / np.maximum(scores, 0.0).sum(axis=-1, keepdims=True)
    return weight[..., None] * (values - h[..., None, :])


@states("Lemma 5.1 (4)")
def score_gradient_bound(
    loss: Number, lipschitz: Number, value_matrix_norm: Number, embedding_norm: Number = 1.0
) -> Result:
    """abs(dL_CE/dl_j) <= 2 L_f norm(W_V)_op sqrt(2 L_CE). Lemma 5.1, equation (4).

    Softmax attention only.

    Args:
        loss: L_CE of one example, in nats. For the gradient of a batch mean mean(sqrt(L))^2, or
            the mean loss, which is looser by Jensen's inequality.
        lipschitz: L_f, or a bound on it.
        value_matrix_norm: norm(W_V)_op, W_O folded in where there is one.
        embedding_norm: the largest norm(e_j); the paper's embeddings have norm 1.
    """
    non_negative(
        lipschitz=lipschitz, value_matrix_norm=value_matrix_norm, embedding_norm=embedding_norm
    )
    radius = np.multiply(value_matrix_norm, embedding_norm)
    return 2 * radius * lipschitz * output_gradient_bounds(loss).pinsker


@states("eqs. (33, 34)")
def score_gradient_bound_by_position(
    loss: Number, lipschitz: Number, jacobian: Float[np.ndarray, "*batch pos embed"]
) -> Float[np.ndarray, "*batch pos"]:
    """The sharper form of (4): norm(dh/dl_j) L_f sqrt(2 L_CE), one number per position.

    For softmax norm(dh/dl_j) = alpha_j norm(v_j - h): a position without attention is starved
    whatever the loss. It needs no normalised embedding. Equations (33) and (34).

    Args:
        loss: L_CE per example.
        lipschitz: L_f.
        jacobian: dh/dl, from ``pooled_jacobian`` or ``pooled_jacobian_relu``.
    """
    return _by_position(output_gradient_bounds(loss).pinsker, lipschitz, jacobian)


@states("corrected (4)")
def score_gradient_bound_linear(
    loss: Number, lipschitz: Number, jacobian: Float[np.ndarray, "*batch pos embed"]
) -> Float[np.ndarray, "*batch pos"]:
    """The true picture: norm(dh/dl_j) L_f sqrt(2) (1 - exp(-L_CE)), linear in a small loss.

    Args:
        loss: L_CE per example.
        lipschitz: L_f.
        jacobian: dh/dl, from ``pooled_jacobian`` or ``pooled_jacobian_relu``.
    """
    return _by_position(output_gradient_bounds(loss).linear, lipschitz, jacobian)


def _by_position(output_gradient: Number, lipschitz: Number, jacobian: np.ndarray) -> np.ndarray:
    non_negative(lipschitz=lipschitz)
    factor = np.asarray(np.multiply(output_gradient, lipschitz))
    return factor[..., None] * np.linalg.norm(jacobian, axis=-1)
