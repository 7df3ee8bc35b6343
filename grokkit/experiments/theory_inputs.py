"""Random inputs for the statements: pairs of sequences, attention rows, small networks."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grokkit import theory
from grokkit.experiments.claims import Part
from grokkit.experiments.judges import Judge, part, spread
from grokkit.experiments.row import SEEDS

INPUTS = 200
"""How many random inputs each seed draws."""


class Change(NamedTuple):
    """Two sequences that differ at one position, pooled by softmax attention."""

    a: float
    b: float
    v: np.ndarray
    w: np.ndarray
    centroid: np.ndarray
    difference: np.ndarray


def change(rng: np.random.Generator) -> Change:
    """A random pair: lengths 3 to 7, embeddings of 1 to 5 numbers, mild to sharp scores."""
    length, embed = int(rng.integers(3, 8)), int(rng.integers(1, 6))
    at = int(rng.integers(length))
    scores = rng.normal(size=length) * rng.choice([0.1, 1.0, 4.0])
    other = scores.copy()
    other[at] = rng.normal() * 3
    values = rng.normal(size=(length, embed))
    values_other = values.copy()
    values_other[at] = rng.normal(size=embed)
    alpha, beta = theory.softmax(scores), theory.softmax(other)
    difference = theory.pooled(alpha, values) - theory.pooled(beta, values_other)
    centroid = theory.rest_centroid(alpha, values, at)
    return Change(
        float(alpha[at]), float(beta[at]), values[at], values_other[at], centroid, difference
    )


class Row(NamedTuple):
    """A row of attention and the oracle it should be: length 4 to 8, k from 1 to length - 1."""

    scores: np.ndarray
    attention: np.ndarray
    informative: np.ndarray
    oracle: np.ndarray
    k: int


def row(rng: np.random.Generator) -> Row:
    """A random row of attention with a sparse oracle."""
    length = int(rng.integers(4, 9))
    k = int(rng.integers(1, length))
    informative = np.arange(length) < k
    scores = rng.normal(size=length) * rng.choice([0.3, 1.0, 3.0])
    oracle = theory.oracle_attention(informative)
    return Row(scores, theory.softmax(scores), informative, oracle, k)


def draws(seed: int, count: int = INPUTS) -> Iterator[np.random.Generator]:
    """A generator of random numbers for each input of a seed."""
    for number in range(count):
        yield np.random.default_rng([seed, number])


def always(says: str, excess: Callable[[np.random.Generator], float], count: int = INPUTS) -> Judge:
    """A statement holds on every random input.

    Args:
        says: the statement.
        excess: how far an input is beyond what is allowed; above 0 breaks the statement.
        count: how many inputs for each seed.
    """

    def judge(_: object) -> Sequence[Part]:
        worst, broken = [], []
        for seed in SEEDS:
            values = np.array([excess(rng) for rng in draws(seed, count)])
            worst.append(float(values.max()))
            broken.append(int((values > 0).sum()))
        share = spread([b / count for b in broken])
        seen = (
            f"of {count} random inputs, broken on a share of {share}"
            if any(broken)
            else (f"holds on all of {count} random inputs")
        )
        return [part(says, [b == 0 for b in broken], seen)]

    return judge


def constructed(says: str, holds: Callable[[], tuple[bool, str]]) -> Judge:
    """A reading of a statement, put to a constructed example: no randomness, one answer."""

    def judge(_: object) -> Sequence[Part]:
        answer, seen = holds()
        return [part(says, [answer], seen)]

    return judge
