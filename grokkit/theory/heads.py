"""Conjecture E.2: several heads share the work of attending.

The pooled representation is a sum over heads, and so is the bound on what one position
can change. Necessity therefore carries over, with the heads' masses added. Sufficiency
does not: heads can cancel, see ``counterexamples.cancelling_heads``.

Axis names: ``head``, ``pos``, ``embed``. Source: arXiv 2605.15787, Conjecture E.2, (54), (55).
"""

import numpy as np
from jaxtyping import Bool, Float

from grokkit.theory._checks import Scalar, mass_below_one, non_negative, positive
from grokkit.theory.statements import states


@states("Conjecture E.2 (54, 55)")
def multi_head_pooled(
    attention: Float[np.ndarray, "*#batch head pos"],
    values: Float[np.ndarray, "*#batch head pos embed"],
) -> Float[np.ndarray, "*batch embed"]:
    """H = sum over heads and positions of alpha_j^h W_O^h v_j^h. Equation (54).

    Args:
        attention: alpha, one row per head.
        values: value vectors with W_O^h folded in.
    """
    return np.einsum("...hp,...hpe->...e", attention, values)


@states("Conjecture E.2 (54, 55)")
def multi_head_gap_bound(
    mass: Float[np.ndarray, "*#batch head"],
    mass_other: Float[np.ndarray, "*#batch head"],
    spread: Float[np.ndarray, "*#batch head"],
) -> Float[np.ndarray, "*batch"]:
    """norm(h - h') <= sum_h (alpha_i^h + alpha'_i^h) Delta^h: necessity for several heads.

    Args:
        mass: alpha_i of each head.
        mass_other: alpha'_i of each head.
        spread: Delta of each head's values, W_O folded in.

    Raises:
        SettingError: a mass is not in [0, 1), or a spread is negative.
    """
    for field, value in (("mass", mass), ("mass_other", mass_other)):
        mass_below_one(field, value)
    non_negative("spread", spread)
    return np.asarray(((mass + mass_other) * spread).sum(axis=-1))


@states("Conjecture E.2 (54, 55)")
def distributed_condition(
    attention: Float[np.ndarray, "*#batch head pos"],
    informative: Bool[np.ndarray, "*#batch pos"],
    gamma_pooled: Scalar,
) -> Bool[np.ndarray, "*batch"]:
    """Whether sum_h alpha_j^h >= a pooled threshold for every informative j. Equation (55).

    Raises:
        SettingError: the threshold is not above 0.
    """
    positive("gamma_pooled", gamma_pooled)
    summed = attention.sum(axis=-2)
    return np.asarray(np.where(informative, summed, np.inf).min(axis=-1) >= gamma_pooled)
