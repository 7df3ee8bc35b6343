"""Conjecture E.2: several heads share the work of attending.

The pooled representation is a sum over heads, and so is the bound on what one position
can change. Necessity therefore carries over, with the heads' masses added. Sufficiency
does not: heads can cancel, see ``counterexamples.cancelling_heads``.

Axis names: ``head``, ``pos``, ``embed``. Source: arXiv 2605.15787, Conjecture E.2, (54), (55).
"""

import numpy as np
from jaxtyping import Bool, Float

from grokkit.theory._checks import Scalar, positive
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
def distributed_condition(
    attention: Float[np.ndarray, "*#batch head pos"],
    informative: Bool[np.ndarray, "*#batch pos"],
    gamma_pooled: Scalar,
) -> Bool[np.ndarray, "*batch"]:
    """Whether sum_h alpha_j^h >= a pooled threshold for every informative j. Equation (55)."""
    positive("gamma_pooled", gamma_pooled)
    summed = attention.sum(axis=-2)
    return np.asarray(np.where(informative, summed, np.inf).min(axis=-1) >= gamma_pooled)
