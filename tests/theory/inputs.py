"""Random inputs that the theory's tests share: rows of scores, values, pairs of inputs."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from grokkit.theory import pooled, relu_attention, rest_centroid, softmax

# A seed stands for a whole random input: hypothesis varies it, NumPy draws the arrays.
seeds = st.integers(0, 2**32 - 1)
lengths = st.integers(2, 7)


class Change(NamedTuple):
    """Two inputs that differ at one position, and what geometry says about them."""

    position: int
    attention: np.ndarray
    attention_other: np.ndarray
    values: np.ndarray
    values_other: np.ndarray
    mass: float
    mass_other: float
    value: np.ndarray
    value_other: np.ndarray
    centroid: np.ndarray
    difference: np.ndarray


def random_change(
    seed: int, length: int, kind: str, position: int | None = None, embed: int | None = None
) -> Change:
    """A random pair that differs at one position, under softmax or normalised ReLU."""
    rng = np.random.default_rng(seed)
    embed = int(rng.integers(1, 5)) if embed is None else embed
    position = int(rng.integers(length)) if position is None else position
    scores = rng.normal(size=length) * rng.choice([0.1, 1, 4])
    if kind == "relu":
        # Something must be positive beside the position that changes.
        scores[(position + 1) % length] = abs(scores[(position + 1) % length]) + 0.1
    scores_other = scores.copy()
    scores_other[position] = rng.normal() * 3
    values = rng.normal(size=(length, embed))
    values_other = values.copy()
    values_other[position] = rng.normal(size=embed)
    attend = softmax if kind == "softmax" else relu_attention
    a, b = attend(scores), attend(scores_other)
    return Change(
        position, a, b, values, values_other, float(a[position]), float(b[position]),
        values[position], values_other[position], rest_centroid(a, values, position),
        pooled(a, values) - pooled(b, values_other),
    )  # fmt: skip
