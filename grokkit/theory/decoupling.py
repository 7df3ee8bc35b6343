"""Theorem 4.3 and Corollary 4.5: how much attention zero error needs.

Two sequences of different class that differ at one informative position i must be pooled
into points far enough apart for the MLP, which is ``lipschitz``-continuous, to give them
different classes. That needs enough attention on i in the two *together*, (27). The
condition B_gamma asks for it in each, which is more than zero error needs: see
``counterexamples.parity``. The other direction, from B_gamma and N to zero error, is the
paper's Assumption C.1, not a theorem; ``counterexamples.collision`` shows why one is needed.

In code: ``c_margin`` is the least gap between the outputs for two classes, ``spread`` is
Delta_emb. Axis names: ``pos``, ``embed``, ``hidden``, ``class``. Divergences are in nats.

Source: arXiv 2605.15787, (2), (3), (23), (25) to (27), Definitions 4.1 and 4.2.
"""

import numpy as np
from jaxtyping import Bool, Float

from grokkit.theory._checks import Number, Result, Scalar, non_negative, positive, require
from grokkit.theory.statements import states


@states("Theorem 4.3")
def mlp_lipschitz(
    w_in: Float[np.ndarray, "hidden embed"], w_out: Float[np.ndarray, "class hidden"]
) -> float:
    """L_f <= sigma_max(W1) * sigma_max(W2) for a two-layer ReLU MLP. Equation (23)."""
    return float(np.linalg.norm(w_in, 2) * np.linalg.norm(w_out, 2))


@states("Definition 4.1 (2)")
def structural_condition(
    attention: Float[np.ndarray, "*#batch pos"],
    informative: Bool[np.ndarray, "*#batch pos"],
    gamma: Scalar,
) -> Bool[np.ndarray, "*batch"]:
    """B_gamma: alpha_j >= gamma for every informative j. Definition 4.1, equation (2).

    One truth value per row of attention; the paper's condition holds where all do.
    """
    _check_gamma(informative.sum(axis=-1), gamma)
    return np.asarray(np.where(informative, attention, np.inf).min(axis=-1) >= gamma)


@states("Theorem 4.3")
def gamma_threshold(c_margin: Number, lipschitz_max: Number, spread: Number) -> Result:
    """Gamma = c_margin / (L_max * Delta_emb), the threshold of B_gamma. Theorem 4.3.

    Args:
        c_margin: the least norm(f(h) - f(h')) between two classes. From a logit margin, use
            ``output_gap_from_margin``.
        lipschitz_max: L_max, the most that L_f can be under N.
        spread: Delta_emb.
    """
    positive(c_margin=c_margin, lipschitz_max=lipschitz_max, spread=spread)
    return np.divide(c_margin, np.multiply(lipschitz_max, spread))


@states("eq. (25)")
def output_gap_from_margin(logit_margin: Number) -> Result:
    """The least norm(f - f')_2 that a logit margin forces: sqrt(2) * margin. Equation (25).

    If each of two inputs of different class has its own class above the other's by the
    margin, then their logits differ by this much.
    """
    non_negative(logit_margin=logit_margin)
    return np.sqrt(2.0) * np.asarray(logit_margin)


@states("eq. (27)")
def pair_mass_required(c_margin: Number, lipschitz: Number, spread: Number) -> Result:
    """The least alpha_i + alpha'_i: c_margin / (L_f * Delta_emb). Equation (27).

    The necessary condition, for each pair of different class that differs only at i. Use
    the L_f of the network at hand. B_gamma implies it with L_max in place of L_f, with a
    factor 2 to spare, but not with an L_f below L_max / 2.
    """
    positive(lipschitz=lipschitz)
    return gamma_threshold(c_margin, lipschitz, spread)


@states("Corollary 4.5 (3)")
def delta_necessary(k: int, gamma: Number) -> Result:
    """delta_nec = log(1 / (k gamma)): B_gamma implies KL(alpha* || alpha) <= it. (3).

    Equality where alpha_j = gamma on all of I*. Necessary only: a smaller divergence does
    not give B_gamma, see ``counterexamples.low_divergence`` and ``delta_sufficient``.

    Returns:
        The bound in nats; 0 at k * gamma = 1, where only the oracle is left.
    """
    _check_gamma(k, gamma)
    return np.negative(np.log(np.multiply(k, gamma)))


@states("corrected converse of 4.5")
def delta_sufficient(k: int, gamma: Number) -> Result:
    """delta_suf: KL(alpha* || alpha) < it implies B_gamma. The converse of Corollary 4.5.

    -(1/k) [log(k gamma) + (k - 1) log(k (1 - gamma) / (k - 1))]: the least divergence with
    one informative mass at gamma, all else shared by the others of I*. No larger number
    would do. At k = 1 the two deltas are the same.
    """
    _check_gamma(k, gamma)
    others = 0.0
    if k > 1:
        others = (k - 1) * np.log(k * np.subtract(1.0, gamma) / (k - 1))
    # At gamma = 1/k the two logarithms cancel to within rounding of 0, from either side.
    return np.maximum(-(np.log(np.multiply(k, gamma)) + others) / k, 0.0)


def _check_gamma(k: Number, gamma: Number) -> None:
    positive(k=k, gamma=gamma)
    product = np.multiply(k, gamma)
    # 1 up to rounding: 1/3 + 1/3 + 1/3 may come as gamma = 0.33333333333333337.
    require(product <= 1 + 1e-12, "k * gamma", product, "at most 1 (masses sum to 1)")
