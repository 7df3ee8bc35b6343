"""Small attention tables on which a plausible reading of the paper fails.

Each function builds one, exact and small enough to print. They belong beside the
statement they bound: a theorem is understood where it stops.

Axis names: ``example``, ``pos``, ``embed``, ``head``. Source of the statements: arXiv 2605.15787,
Definition 4.1, Theorem 4.3, Corollary 4.5, Appendix A.3, Conjecture E.2.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from grokkit.theory._checks import Scalar, require
from grokkit.theory.attention import pooled, softmax
from grokkit.theory.statements import states


class Parity(NamedTuple):
    """A network that solves parity and ignores half of its informative tokens.

    Attributes:
        tokens: every bit string, 0 or 1, the query (token 2) last.
        targets: the parity of the informative bits.
        informative: true at the informative positions.
        scores: -30 for a token 0 and for a distractor, 0 for an informative 1 and the query.
        attention: softmax of the scores.
        values: 1 for an informative 1, else 0.
        pooled: m / (1 + m) for m informative ones, to 1e-12.
        output: the MLP's one output, near +1 for odd parity and -1 for even.
        c_margin: the least gap between outputs of different class.
        lipschitz: L_f, the steepest slope of the MLP.
    """

    tokens: Int[np.ndarray, "example pos"]
    targets: Int[np.ndarray, " example"]
    informative: Bool[np.ndarray, " pos"]
    scores: Float[np.ndarray, "example pos"]
    attention: Float[np.ndarray, "example pos"]
    values: Float[np.ndarray, "example pos embed"]
    pooled: Float[np.ndarray, "example embed"]
    output: Float[np.ndarray, " example"]
    c_margin: float
    lipschitz: float


@states("counter to Theorem 4.3")
def parity(k: int = 3, distractors: int = 2) -> Parity:
    """Zero error without B_gamma: sparse parity by counting the ones. Theorem 4.3.

    A token 1 scores 0, like the query; a token 0 scores -30. So h counts the ones,
    h = m / (1 + m), and a piecewise linear MLP reads the parity off it, while the attention
    on an informative 0 is about 1e-13. The pair condition (27) holds throughout: of two
    strings that differ at one bit, one has a 1 there.

    Args:
        k: the number of informative bits, which come first.
        distractors: the number of bits that do not matter.
    """
    require(k >= 1, "k", k, "1 or more")
    require(distractors >= 0, "distractors", distractors, "0 or more")
    length = k + distractors
    bits = np.array(list(product([0, 1], repeat=length)), dtype=np.int64)
    tokens = np.concatenate([bits, np.full((len(bits), 1), 2)], axis=1)
    informative = np.arange(length + 1) < k
    is_one = (tokens == 1) & informative
    targets = is_one.sum(axis=1) % 2
    scores = np.where(is_one | (tokens == 2), 0.0, -30.0)
    attention = softmax(scores)
    values = is_one.astype(np.float64)[..., None]
    h = pooled(attention, values)
    ones = np.arange(k + 1)
    knots = ones / (1 + ones)  # h for m = 0 .. k ones
    slopes = np.diff(np.where(ones % 2 == 1, 1.0, -1.0)) / np.diff(knots)
    # A two-layer ReLU MLP: output = -1 + sum_m (change of slope at knot m) relu(h - knot m).
    hidden = np.maximum(h - knots[:-1], 0.0)
    output = -1.0 + hidden @ np.diff(slopes, prepend=0.0)
    margin = output[targets == 1].min() - output[targets == 0].max()
    return Parity(
        tokens=tokens,
        targets=targets,
        informative=informative,
        scores=scores,
        attention=attention,
        values=values,
        pooled=h,
        output=output,
        c_margin=float(margin),
        lipschitz=float(np.abs(slopes).max()),
    )


class Pair(NamedTuple):
    """Two inputs that differ at one position.

    Attributes:
        position: i, where they differ.
        informative: true at the informative positions.
        scores: the scores of the two, one a row.
        attention: softmax of the scores.
        values: the values of the two.
        pooled: h and h'.
    """

    position: int
    informative: Bool[np.ndarray, " pos"]
    scores: Float[np.ndarray, "2 pos"]
    attention: Float[np.ndarray, "2 pos"]
    values: Float[np.ndarray, "2 pos embed"]
    pooled: Float[np.ndarray, "2 embed"]


@states("counter to (18, 28)")
def collision() -> Pair:
    """B_gamma without h != h': two inputs that pool to the same point. Equations (18), (28).

    alpha_i = 0.2 and alpha'_i = 0.4 with v'_i - m = (v_i - m) / 2, so that the larger mass is
    undone by the shorter value. Every informative mass is at least 0.2.
    """
    informative = np.array([True, True, False])
    scores = np.array([[np.log(0.2 / 0.4), 0.0, 0.0], [np.log(0.4 / 0.3), 0.0, 0.0]])
    centroid = np.array([0.5, 0.5])
    rest = np.array([[1.0, 0.0], [0.0, 1.0]])
    offset = np.array([1.0, -2.0])
    values = np.stack([np.vstack([centroid + offset / s, rest]) for s in (1.0, 2.0)])
    attention = softmax(scores)
    return Pair(0, informative, scores, attention, values, pooled(attention, values))


class LowDivergence(NamedTuple):
    """An attention row that passes the test of Corollary 4.5 and breaks B_gamma.

    Attributes:
        attention: alpha.
        informative: true at the informative positions.
        gamma: the threshold that is broken.
    """

    attention: Float[np.ndarray, " pos"]
    informative: Bool[np.ndarray, " pos"]
    gamma: Scalar


@states("counter to 4.5")
def low_divergence() -> LowDivergence:
    """A divergence below delta_nec without B_gamma. Corollary 4.5 has no converse.

    alpha = (0.02, 0.6, 0.38), the first two informative: KL(alpha* || alpha) is 1.52 nats,
    below log(1 / (2 * 0.05)) = 2.30, and 0.02 is below 0.05.
    """
    return LowDivergence(np.array([0.02, 0.6, 0.38]), np.array([True, True, False]), 0.05)


class Heads(NamedTuple):
    """Two inputs that differ at position 0, seen through two heads.

    Attributes:
        attention: the masses of each head, the same for both inputs.
        values: value vectors with the output matrix folded in.
    """

    attention: Float[np.ndarray, "head pos"]
    values: Float[np.ndarray, "2 head pos embed"]


@states("counter to E.2")
def cancelling_heads() -> Heads:
    """Summed mass without separation: the heads' outputs cancel. Conjecture E.2.

    Both heads put 0.9 on the differing position, with opposite values: the summed mass
    is 1.8 and h = h'.
    """
    attention = np.array([[0.9, 0.1], [0.9, 0.1]])
    value = np.array([1.0, 2.0])
    table = np.zeros((2, 2, 2, 2))
    for example, length in enumerate((1.0, -3.0)):
        table[example, 0, 0] = length * value
        table[example, 1, 0] = -length * value
    return Heads(attention, table)
