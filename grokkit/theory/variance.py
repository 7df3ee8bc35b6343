"""Conjecture E.1: weight decay bounds how unequal softmax scores can be.

Softmax does not feel a common shift of its scores, so what decay must shrink is their
variance over positions. It is bounded through the norm of M = W_Q^T W_K. The bound is a
theorem; that attention therefore smooths towards uniform in the plateau is the conjecture.

Axis names: ``pos``. Source: arXiv 2605.15787, Conjecture E.1.
"""

import numpy as np
from jaxtyping import Float

from grokkit.theory._checks import Number, Result, non_negative, positive
from grokkit.theory.statements import states


@states("Conjecture E.1")
def logit_variance(scores: Float[np.ndarray, "*batch pos"]) -> Float[np.ndarray, "*batch"]:
    """Var_j(l_j), the population variance of the scores over positions."""
    return np.asarray(scores.var(axis=-1))


@states("Conjecture E.1")
def logit_variance_bound(
    interaction_norm: Number, query_norm: Number, embedding_norm: Number, d_head: int
) -> Result:
    """Var_j(l_j) <= norm(M)_F^2 norm(e_q)^2 max_j norm(e_j)^2 / d_head. Conjecture E.1.

    Args:
        interaction_norm: norm(M)_F, M = W_Q^T W_K.
        query_norm: norm(e_q).
        embedding_norm: the largest norm(e_j).
        d_head: the width of a head.
    """
    positive(d_head=d_head)
    non_negative(
        interaction_norm=interaction_norm, query_norm=query_norm, embedding_norm=embedding_norm
    )
    product = np.multiply(np.multiply(interaction_norm, query_norm), embedding_norm)
    return np.square(product) / d_head
