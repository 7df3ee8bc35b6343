"""Theorem 5.2: what a KL penalty towards the oracle does to attention, as the paper has it.

The penalty is beta * KL(alpha* || alpha), (6). Its gradient on a softmax score is
beta (alpha_j - alpha*_j), (45), whatever the loss. Following it on the scores alone,

    dl/dt = -rate (alpha - alpha*),    dD/dt = -rate norm(alpha - alpha*)^2    (47), (48),

with D = KL(alpha* || alpha) and ``rate`` the effective rate beta~, proportional to learning
rate times beta. From here the paper concludes that D falls exponentially, (49) to (53).
That is right late, and for an oracle with full support; for a sparse oracle, the one
it is used with, D falls like 1/t: see ``sparse_rate``.

In code: ``kl_strength`` is beta, ``kl_rate`` is beta~. Axis names: ``pos``, ``time``.
Divergences are in nats; times in units in which ``kl_rate`` is per unit time.

Source: arXiv 2605.15787, Theorem 5.2, Lemma D.1, (6) to (8), (41) to (53).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from grokkit.theory._checks import Number, Result, Scalar, non_negative, positive, require
from grokkit.theory.attention import log_softmax, softmax
from grokkit.theory.statements import states


@states("eq. (6)")
def penalised_loss(loss: Number, divergence: Number, kl_strength: Number) -> Result:
    """L_CE + beta * E_x KL(alpha* || alpha(x)). Equation (6).

    Args:
        loss: the mean cross-entropy.
        divergence: the mean divergence.
        kl_strength: beta, 0 or more.

    Raises:
        SettingError: the strength is negative.
    """
    non_negative("kl_strength", kl_strength)
    return np.add(loss, np.multiply(kl_strength, divergence))


@states("eq. (45)")
def kl_score_gradient(
    oracle: Float[np.ndarray, "*#batch pos"],
    attention: Float[np.ndarray, "*#batch pos"],
    kl_strength: Scalar,
) -> Float[np.ndarray, "*batch pos"]:
    """The penalty's gradient on softmax scores, beta (alpha_j - alpha*_j). Equation (45).

    Per example and head; a mean over N examples or H heads divides it by N or H. The
    gradient of the penalised loss is this plus the task's gradient, (8).

    Raises:
        SettingError: the strength is negative.
    """
    non_negative("kl_strength", kl_strength)
    return kl_strength * (attention - oracle)


@states("eq. (45)")
def kl_score_gradient_relu(
    oracle: Float[np.ndarray, "*#batch pos"],
    scores: Float[np.ndarray, "*#batch pos"],
    kl_strength: Scalar,
) -> Float[np.ndarray, "*batch pos"]:
    """The same for normalised ReLU attention: beta (alpha_j - alpha*_j) / l_j, 0 if l_j <= 0.

    Raises:
        SettingError: the strength is negative, or an informative position has no positive
            score: the divergence is infinite there and has no gradient that could help.
    """
    non_negative("kl_strength", kl_strength)
    needed = np.where(oracle > 0, scores, np.inf)
    require(needed > 0, "scores", needed, "a positive score wherever the oracle is positive")
    live = scores > 0
    attention = np.maximum(scores, 0.0)
    attention = attention / attention.sum(axis=-1, keepdims=True)
    return np.where(live, kl_strength * (attention - oracle) / np.where(live, scores, 1.0), 0.0)


class KLFlow(NamedTuple):
    """A trajectory of the flow (47).

    Attributes:
        times: when.
        scores: l at each time.
        attention: alpha at each time.
        divergence: D at each time, in nats.
    """

    times: Float[np.ndarray, " time"]
    scores: Float[np.ndarray, "time pos"]
    attention: Float[np.ndarray, "time pos"]
    divergence: Float[np.ndarray, " time"]


@states("eq. (47)")
def kl_flow(
    scores0: Float[np.ndarray, " pos"],
    oracle: Float[np.ndarray, " pos"],
    kl_rate: Scalar,
    times: Float[np.ndarray, " time"],
    gram: Float[np.ndarray, "pos pos"] | None = None,
) -> KLFlow:
    """Integrate dl/dt = -rate (alpha - alpha*), or -rate G (alpha - alpha*). Equation (47).

    The paper's flow lets every score move freely. Real scores move through shared
    parameters, which brings the Gram matrix of the embeddings, G_ij = e_i . e_j (divided by
    the head's width and times the strength of the query, which the rate absorbs). If G is
    singular, D can stall above 0: two positions with equal embeddings stay equal.

    Args:
        scores0: the scores at time 0.
        oracle: alpha*.
        kl_rate: beta~, 0 or more.
        times: when to report; increasing, the first 0 or more.
        gram: G, or none for the ideal flow.

    Raises:
        SettingError: a negative rate, or times that are not increasing.
    """
    from scipy.integrate import solve_ivp

    non_negative("kl_rate", kl_rate)
    require(times.size > 0, "times", times.size, "at least one time")
    require(times >= 0, "times", times, "0 or more")
    if times.size > 1:
        require(np.diff(times) > 0, "times", times[1:], "increasing times")

    def velocity(_: float, scores: np.ndarray) -> np.ndarray:
        gap = softmax(scores) - oracle
        return -kl_rate * (gap if gram is None else gram @ gap)

    if times[-1] == 0:
        scores = scores0[None].astype(np.float64)
    else:
        # LSODA: the flow turns stiff late, when scores creep while attention has settled.
        solution = solve_ivp(
            velocity, (0.0, times[-1]), scores0, "LSODA", times, rtol=1e-10, atol=1e-12
        )
        scores = solution.y.T
    log_attention = log_softmax(scores)
    support = oracle > 0
    gaps = np.log(oracle[support]) - log_attention[:, support]
    return KLFlow(times, scores, np.exp(log_attention), gaps @ oracle[support])


@states("eq. (48)")
def divergence_velocity(
    oracle: Float[np.ndarray, "*#batch pos"],
    attention: Float[np.ndarray, "*#batch pos"],
    kl_rate: Scalar,
) -> Float[np.ndarray, "*batch"]:
    """dD/dt = -rate norm(alpha - alpha*)^2 along the ideal flow. Equations (46), (48).

    Raises:
        SettingError: the rate is negative.
    """
    non_negative("kl_rate", kl_rate)
    return np.asarray(-kl_rate * ((attention - oracle) ** 2).sum(axis=-1))


@states("eq. (49)")
def quadratic_divergence(
    oracle: Float[np.ndarray, "*#batch pos"], attention: Float[np.ndarray, "*#batch pos"]
) -> Float[np.ndarray, "*batch"]:
    """D to second order, (1/2) sum_j (alpha_j - alpha*_j)^2 / alpha*_j. Equation (49).

    Raises:
        SettingError: the oracle has a zero: the expansion needs full support.
    """
    require(oracle > 0, "oracle", oracle, "above 0 everywhere (full support)")
    return np.asarray(((attention - oracle) ** 2 / oracle).sum(axis=-1) / 2)


@states("eq. (50)")
def pl_constant_claimed(oracle: Float[np.ndarray, "*batch pos"]) -> Float[np.ndarray, "*batch"]:
    """2 mu, mu the least positive alpha*_j, in the claim norm(delta)^2 >= 2 mu D. (50).

    The claim fails for a sparse oracle, and far from a full one: it is a statement about
    a neighbourhood. What holds everywhere is ``pl_constant``.
    """
    return np.asarray(2 * np.where(oracle > 0, oracle, np.inf).min(axis=-1))


@states("corrected (50)")
def pl_constant(
    oracle: Float[np.ndarray, "*#batch pos"], attention: Float[np.ndarray, "*#batch pos"]
) -> Float[np.ndarray, "*batch"]:
    """2 min_j min(alpha_j, alpha*_j): with it norm(delta)^2 >= constant * D, exactly.

    The corrected (50). It is 0 for a sparse oracle: there is no such inequality then.
    """
    return np.asarray(2 * np.minimum(oracle, attention).min(axis=-1))


@states("corrected (51, 52)")
def late_rate(oracle: Float[np.ndarray, " pos"], kl_rate: Scalar) -> float:
    """The exponential rate of D near the oracle: 2 rate lambda_2(diag(alpha*) - alpha* alpha*^T).

    lambda_2 is the second smallest eigenvalue of the softmax Jacobian (the smallest, 0,
    belongs to a common shift of all scores). At least 2 mu rate for a full oracle; 0 for a
    sparse one, which has no exponential rate. The corrected (51).

    Raises:
        SettingError: fewer than 2 positions, or a negative rate.
    """
    require(oracle.size >= 2, "oracle", oracle.size, "at least 2 positions")
    non_negative("kl_rate", kl_rate)
    jacobian = np.diag(oracle) - np.outer(oracle, oracle)
    return float(2 * kl_rate * max(np.linalg.eigvalsh(jacobian)[1], 0.0))


@states("eqs. (51, 52)")
def divergence_claimed(
    times: Number, divergence0: Number, oracle: Float[np.ndarray, " pos"], kl_rate: Scalar
) -> Result:
    """D_0 exp(-2 mu rate t), in nats: the claimed bound on D(t). Equations (51), (52).

    Fails at once from a uniform start with a sparse oracle, and in the end from any start.

    Raises:
        SettingError: the rate is negative.
    """
    non_negative("kl_rate", kl_rate)
    decay = pl_constant_claimed(oracle) * kl_rate
    return np.multiply(divergence0, np.exp(-decay * np.asarray(times)))


@states("eqs. (7, 53)")
def time_claimed(divergence0: Number, delta: Number, kl_rate: Number) -> Result:
    """log(D_0 / delta) / rate: the claimed longest wait, 2 mu absorbed. Equations (7), (53).

    0 where D_0 is already at or below delta.

    Args:
        divergence0: D_0.
        delta: the threshold, such as ``decoupling.delta_necessary``.
        kl_rate: beta~.

    Raises:
        SettingError: an argument is not above 0.
    """
    positive("divergence0", divergence0)
    positive("delta", delta)
    positive("kl_rate", kl_rate)
    return np.log(np.maximum(np.divide(divergence0, delta), 1.0)) / kl_rate
