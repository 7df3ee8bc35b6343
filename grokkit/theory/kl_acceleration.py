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


@states("eq. (45)")
def kl_score_gradient(
    oracle: Float[np.ndarray, "*#batch pos"],
    attention: Float[np.ndarray, "*#batch pos"],
    kl_strength: Scalar,
) -> Float[np.ndarray, "*batch pos"]:
    """The penalty's gradient on softmax scores, beta (alpha_j - alpha*_j). Equation (45).

    Per example and head; a mean over N examples or H heads divides it by N or H. The
    gradient of the penalised loss is this plus the task's gradient, (8).
    """
    non_negative(kl_strength=kl_strength)
    return kl_strength * (attention - oracle)


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
    """
    from scipy.integrate import solve_ivp

    non_negative(kl_rate=kl_rate)
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


@states("eqs. (51, 52)")
def divergence_claimed(
    times: Number, divergence0: Number, oracle: Float[np.ndarray, " pos"], kl_rate: Scalar
) -> Result:
    """D_0 exp(-2 mu rate t), in nats: the claimed bound on D(t). Equations (51), (52).

    Fails at once from a uniform start with a sparse oracle, and in the end from any start.
    """
    non_negative(kl_rate=kl_rate)
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
    """
    positive(divergence0=divergence0, delta=delta, kl_rate=kl_rate)
    return np.log(np.maximum(np.divide(divergence0, delta), 1.0)) / kl_rate
