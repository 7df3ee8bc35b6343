"""Definition 3.1: a task whose target depends on k fixed positions only.

Axis names: ``example`` (a sequence), ``pos`` (a position in it), ``pair``.

Source: arXiv 2605.15787, Definition 3.1; the pairs are those of Appendix C.1.2.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Int

from grokkit.theory.statements import states


@states("Definition 3.1")
def is_sparse_task(
    tokens: Int[np.ndarray, "example pos"],
    targets: Int[np.ndarray, " example"],
    informative: Bool[np.ndarray, " pos"],
) -> bool:
    """Whether y = g(x_I*): equal tokens on I* always mean equal targets. Definition 3.1.

    It can only speak for the sequences it is given; give it all of them for a proof.
    """
    inputs, row = np.unique(tokens[:, informative], axis=0, return_inverse=True)
    pairs = np.unique(np.stack([row.ravel(), targets]), axis=1)
    return pairs.shape[1] == len(inputs)


@states("Definition 3.1")
def class_distinct_pairs(
    tokens: Int[np.ndarray, "example pos"],
    targets: Int[np.ndarray, " example"],
    position: int,
) -> Int[np.ndarray, "pair 2"]:
    """Pairs of examples that differ at one position only and have different targets.

    These are the pairs for which the necessary condition (27) of Theorem 4.3 speaks. A
    position that has none, in the whole input space, is not informative.

    Args:
        tokens: the sequences.
        targets: their classes.
        position: the position at which the two may differ.

    Returns:
        Example numbers, one pair a row, the smaller first; shape (0, 2) if there is none.
    """
    rest = np.delete(tokens, position, axis=1)
    _, row = np.unique(rest, axis=0, return_inverse=True)
    row = row.ravel()
    order = np.argsort(row, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(row[order])) + 1)
    found = [
        pair
        for group in groups
        for pair in combinations(group.tolist(), 2)
        if targets[pair[0]] != targets[pair[1]]
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
