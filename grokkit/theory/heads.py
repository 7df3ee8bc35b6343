"""Conjecture E.2: several heads share the work of attending.

The pooled representation is a sum over heads, and so is the bound on what one position
can change. Necessity therefore carries over, with the heads' masses added. Sufficiency
does not: heads can cancel, see ``counterexamples.cancelling_heads``. The condition (55) on a batch
is :func:`grokkit.diagnostics.distributed_share`.

Axis names: ``head``, ``pos``, ``embed``. Source: arXiv 2605.15787, Conjecture E.2, (54), (55).
"""

import numpy as np
from jaxtyping import Float

from grokkit.theory.statements import states


@states("Conjecture E.2 (54)")
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
