"""The corrected Theorem 5.2: for a sparse oracle the divergence falls like 1/t.

The oracle puts 1/k on k of T positions. With eps the attention left on distractors, D is
about eps, but norm(alpha - alpha*)^2 is about eps^2: no inequality norm^2 >= constant * D can
hold near the oracle, and without it there is no exponential decay. What holds for every
attention is

    norm(alpha - alpha*)^2 >= kappa (1 - exp(-D))^2,    kappa = T / ((T - 1) k^2),

which is integrated in closed form with y = 1 / (exp(D) - 1):

    y + log y >= y_0 + log y_0 + kappa * rate * t.

It is an equality with kappa = T / (k (T - k)) when attention is uniform inside I* and inside
the distractors, which every start becomes. So D is about k (T - k) / (T rate t) in the end.
That the time goes as 1 / rate survives for the flow, which depends on rate * t alone. Networks
trained by AdamW do not show it (claim ``kl-acceleration/attention-time``): it divides every
gradient by its own size.

In code: ``length`` is T, ``k`` is the number of informative positions. Not in the paper;
it replaces (50), (52) and (53) of arXiv 2605.15787 for its own oracle.
"""

import numpy as np

from grokkit.theory._checks import Number, Result, non_negative, positive, require
from grokkit.theory.statements import states


@states("corrected (50)")
def kappa_guaranteed(length: int, k: int) -> float:
    """Kappa = T / ((T - 1) k^2), valid for every attention.

    From the geometric mean of the informative masses, which is at least their smallest,
    and from the mass that is missing there being spread over all other positions.
    """
    _check_sizes(length, k)
    return length / ((length - 1) * k**2)


@states("corrected (50)")
def kappa_uniform(length: int, k: int) -> float:
    """Kappa = T / (k (T - k)), exact for attention uniform inside I* and outside it."""
    _check_sizes(length, k)
    require(k < length, "k", k, f"below the length {length}")
    return length / (k * (length - k))


@states("corrected (50)")
def squared_gap_bound(divergence: Number, kappa: Number) -> Result:
    """Kappa (1 - exp(-D))^2, at most norm(alpha - alpha*)^2. Replaces (50).

    Args:
        divergence: D = KL(alpha* || alpha), in nats.
        kappa: from ``kappa_guaranteed`` (a bound) or ``kappa_uniform`` (equality).
    """
    non_negative(divergence=divergence)
    positive(kappa=kappa)
    return np.multiply(kappa, np.expm1(np.negative(divergence)) ** 2)


@states("corrected (51, 52)")
def sparse_divergence(times: Number, divergence0: Number, kappa: Number, kl_rate: Number) -> Result:
    """D(t) from y + log y = y_0 + log y_0 + kappa rate t, in nats. Replaces (52).

    A bound from above with ``kappa_guaranteed``; the trajectory itself with
    ``kappa_uniform`` from a start that is uniform inside I* and inside the distractors.

    Args:
        times: t, 0 or more.
        divergence0: D_0, above 0.
        kappa: one of the two kappas.
        kl_rate: beta~, 0 or more.
    """
    from scipy.special import wrightomega  # y + log y = z is what this function solves

    non_negative(times=times, kl_rate=kl_rate)
    positive(kappa=kappa)
    log_y0 = _log_y(divergence0)
    z = np.exp(log_y0) + log_y0 + np.multiply(kappa, kl_rate) * np.asarray(times)
    y = wrightomega(z)
    # log y = z - y, the form that keeps its digits where y itself underflows (a huge D).
    log_y = np.where(y > 1, np.log(np.maximum(y, 1.0)), z - y)
    return np.logaddexp(0.0, -log_y)


@states("corrected (7, 53)")
def sparse_time(divergence0: Number, delta: Number, kappa: Number, kl_rate: Number) -> Result:
    """The time from D_0 to delta: [y_delta - y_0 + log(y_delta / y_0)] / (kappa rate).

    Replaces (7) and (53): the longest wait with ``kappa_guaranteed``, the wait itself with
    ``kappa_uniform`` from a uniform start. About 1 / (delta kappa rate) for a small delta, where
    the paper has log(D_0 / delta) / rate. 0 where D_0 is already at or below delta.
    """
    positive(kappa=kappa, kl_rate=kl_rate, delta=delta)
    log_start = _log_y(divergence0)
    log_end = np.maximum(_log_y(delta), log_start)
    rise = np.exp(log_end) - np.exp(log_start) + log_end - log_start
    return rise / np.multiply(kappa, kl_rate)


@states("corrected (51, 52)")
def late_divergence(times: Number, length: int, k: int, kl_rate: Number) -> Result:
    """K (T - k) / (T rate t), in nats: what D becomes from any start. Replaces (51)."""
    positive(times=times, kl_rate=kl_rate)
    return 1 / (kappa_uniform(length, k) * np.multiply(kl_rate, times))


def _log_y(divergence: Number) -> Result:
    """Log of y = 1 / (exp(D) - 1), without overflow for a large D."""
    positive(divergence=divergence)
    return -(np.asarray(divergence) + np.log(-np.expm1(np.negative(divergence))))


def _check_sizes(length: int, k: int) -> None:
    require(length >= 2, "length", length, "2 or more")
    require(1 <= k <= length, "k", k, f"from 1 to the length {length}")
