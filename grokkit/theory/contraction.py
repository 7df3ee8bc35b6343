"""Definition 3.2: what weight decay does to a norm, and how long the plateau is.

One step of an optimizer with learning rate eta and decay setting w multiplies a weight
matrix by 1 - a, a = eta * w, and adds a step. Here a is called ``contraction``: it is the
effective decay per step, not the setting. Norms are Frobenius norms.

Equation (5) says how long the norm needs from the memorising solution to the Goldilocks
zone. It follows from neither side: pure decay takes half of it, and an update that
opposes the decay can make the wait longer, or endless. ``plateau_bracket`` is what does
follow. Trained networks lie far from (5) (claim ``four-phases/plateau-length``), and no one norm
tells the grok from other epochs (claim ``four-phases/goldilocks``).

Source: arXiv 2605.15787, Definition 3.2, Propositions B.1 and B.2, (1), (5), (22), (39), (40).
"""

from typing import NamedTuple

import numpy as np

from grokkit.theory._checks import Number, Result, Scalar, non_negative, positive, require
from grokkit.theory.statements import states

# The largest singular value that five Newton-Schulz steps of Muon leave behind: the
# maximum of 3.4445 x - 4.7750 x^3 + 2.0315 x^5 is 1.2024, near x = 0.555.
MUON_LARGEST_SINGULAR_VALUE = 1.21


@states("Definition 3.2 (1, 39)")
def contraction_rate(lr: Number, weight_decay: Number) -> Result:
    """The effective decay per step, a = eta * w (the paper's lambda). Definition 3.2."""
    rate = np.multiply(lr, weight_decay)
    require((rate > 0) & (rate < 1), "lr * weight_decay", rate, "between 0 and 1, both excluded")
    return rate


@states("Proposition B.1 (22)", "Proposition B.2")
def norm_growth(lr: Number, weight_decay: Number, update_norm: Number) -> Result:
    """The growth term rho = (eta / w) * norm(update)^2. Propositions B.1 and B.2, (22).

    With it, norm(W')^2 <= (1 - a) norm(W)^2 + rho holds for W' = (1 - a) W - eta * U, by
    Young's inequality: 2 <x, y> <= t norm(x)^2 + norm(y)^2 / t with t = a / (1 - a). For SGD
    with L2 the update U is the gradient; for a decoupled optimizer it is the step.

    Args:
        lr: eta.
        weight_decay: w, the setting.
        update_norm: norm(U), or a bound B on it.
    """
    contraction_rate(lr, weight_decay)
    non_negative(update_norm=update_norm)
    return np.divide(lr, weight_decay) * np.square(update_norm)


@states("Definition 3.2 (1, 39)")
def contracted_norm_bound(
    norm: Number, contraction: Number, growth: Number, steps: Number = 1
) -> Result:
    """The most that a norm can be after some contractive steps. (1) at one step, (39).

    sqrt((1 - lambda)^t norm^2 + rho (1 - (1 - lambda)^t) / lambda): a bound from *above*. It
    says nothing about the least time a norm needs to fall.

    Args:
        norm: norm(W)_F before the steps.
        contraction: lambda, in (0, 1).
        growth: rho, 0 or more.
        steps: t, the number of steps.
    """
    _check_contraction(contraction)
    non_negative(norm=norm, growth=growth, steps=steps)
    kept = np.exp(np.multiply(steps, np.log1p(np.negative(contraction))))
    return np.sqrt(kept * np.square(norm) + np.divide(growth, contraction) * (1 - kept))


@states("Proposition B.2")
def adamw_update_bound(numel: int, beta1: Scalar = 0.9, beta2: Scalar = 0.999) -> float:
    """A bound B on norm(U)_F for AdamW's step U = m_hat / sqrt(v_hat). Proposition B.2.

    sqrt(numel) * (1 - b1) / sqrt((1 - b2) (1 - b1^2 / b2)), by Cauchy-Schwarz on the two
    moving averages; with bias correction it holds at every step. 7.27 per entry at the
    defaults, approached by a gradient that grows by b2 / b1 each step. A typical entry
    is nearer 1: at w = 1 the floor B / w is usually far above any real norm. There is no bound
    unless beta1^2 < beta2.

    Args:
        numel: the number of entries of W.
        beta1: decay of the first moment.
        beta2: decay of the second moment.
    """
    positive(numel=numel)
    require(0 <= beta1 < 1, "beta1", beta1, "in [0, 1)")
    require(0 < beta2 < 1, "beta2", beta2, "between 0 and 1, both excluded")
    require(beta1**2 < beta2, "beta1", beta1, f"beta1^2 below beta2 = {beta2}")
    return float(np.sqrt(numel) * (1 - beta1) / np.sqrt((1 - beta2) * (1 - beta1**2 / beta2)))


@states("Proposition B.2")
def muon_update_bound(rank: int, scale: Scalar = 1.0) -> float:
    """A bound B on norm(U)_F for Muon: scale * sqrt(rank) * 1.21. Proposition B.2.

    Newton-Schulz drives singular values towards 1 without landing on it; 1.21 is the most
    it leaves (in exact arithmetic; a bfloat16 implementation adds its own rounding).

    Args:
        rank: the rank of the update, at most the smaller side of the matrix.
        scale: the ratio of the step's learning rate to the one that decay uses.
    """
    positive(rank=rank, scale=scale)
    return float(scale * np.sqrt(rank) * MUON_LARGEST_SINGULAR_VALUE)


@states("Proposition B.2")
def sign_update_bound(numel: int) -> float:
    """The bound B = sqrt(numel) for Lion and sign-SGD: entries are -1, 0 or 1. Prop. B.2."""
    positive(numel=numel)
    return float(np.sqrt(numel))


@states("Proposition B.2")
def norm_floor(update_bound: Number, weight_decay: Number) -> Result:
    """The norm f = B / w above which a step must shrink W. Proposition B.2.

    norm(W') <= (1 - a) norm(W) + eta B is below norm(W) only where norm(W) > B / w. Below
    the floor the theory promises nothing, so measure the real trajectory.
    """
    non_negative(update_bound=update_bound)
    positive(weight_decay=weight_decay)
    return np.divide(update_bound, weight_decay)


@states("eqs. (5, 40)")
def plateau_length_claimed(norm0: Number, r_max: Number, contraction: Number) -> Result:
    """Equation (5) as the paper has it, in steps: (2 / lambda) log(norm0 / r_max).

    The paper reads it as a lower bound on the wait. It is not one, and no upper bound
    either: see ``plateau_bracket``. 0 where the norm is already at or below r_max.

    Args:
        norm0: norm(theta_mem)_F, the norm of the memorising MLP.
        r_max: the outer radius of the Goldilocks zone.
        contraction: lambda.
    """
    _check_contraction(contraction)
    positive(norm0=norm0, r_max=r_max)
    return np.divide(2.0, contraction) * np.log(np.maximum(np.divide(norm0, r_max), 1.0))


class PlateauBracket(NamedTuple):
    """Between how many steps a decaying norm reaches its target.

    Attributes:
        earliest: no trajectory is there before this many steps.
        latest: every trajectory is there within this many, rounded up; ``inf`` if the
            floor is not below the target, for then it may never be reached.
    """

    earliest: Result
    latest: Result


@states("corrected (5)")
def plateau_bracket(
    norm0: Number, r_max: Number, contraction: Number, floor: Number
) -> PlateauBracket:
    """What replaces (5): bounds on the steps from norm0 to r_max under decoupled decay.

    From (1 - a) n - a f <= n' <= (1 - a) n + a f, with f the floor B / w:
    earliest log((n0 + f) / (r_max + f)) / -log(1 - a), and, if f < r_max,
    latest log((n0 - f) / (r_max - f)) / -log(1 - a). Both are attained, by updates that
    help, or oppose, the decay throughout. With f = 0 both are log(n0 / r_max) / -log(1 - a),
    half of (5).

    Args:
        norm0: the norm at the start.
        r_max: the norm to reach.
        contraction: a, in (0, 1).
        floor: f = B / w, from ``norm_floor``; 0 for pure decay.
    """
    _check_contraction(contraction)
    positive(norm0=norm0, r_max=r_max)
    non_negative(floor=floor)
    start, target, f = np.broadcast_arrays(*(np.asarray(x, float) for x in (norm0, r_max, floor)))
    decades = -np.log1p(np.negative(contraction))
    wait = start > target
    earliest = np.where(wait, np.log((start + f) / (target + f)), 0.0) / decades
    guaranteed = wait & (f < target)
    ratio = np.where(guaranteed, start - f, 1.0) / np.where(guaranteed, target - f, 1.0)
    latest = np.where(wait & ~guaranteed, np.inf, np.log(ratio)) / decades
    return PlateauBracket(earliest, latest)


def _check_contraction(contraction: Number) -> None:
    rate = np.asarray(contraction)
    require((rate > 0) & (rate < 1), "contraction", contraction, "between 0 and 1, both excluded")
