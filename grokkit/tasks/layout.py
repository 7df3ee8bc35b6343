"""Where the operands, the distractors and the query stand in a sequence.

A sequence of length T has the query, the "=" sign, at position T - 1: the same token in
every sequence, so the model reads out at one fixed place. Of the other T - 1 positions k
are informative (the set I*), and the rest are *gaps*, filled with distractors. Token ids
count up through the operands, then the query, then the distractors' own tokens.
"""

from jaxtyping import Bool, Int
from torch import Tensor, empty, int64, zeros
from torch import bool as boolean

from grokkit.errors import check_int, refuse

QUERY = "="
"""The name of the query token."""

MAX_LENGTH = 1024
MAX_TOKENS = 50_000_000
"""What a classroom machine holds: 400 MB of token ids."""


def check_length(length: object, k: int) -> None:
    """Refuse a length that has no room for k operands and the query.

    Raises:
        SettingError: ``length`` is no int in k+1..1024.
    """
    check_int("length", length, k + 1, MAX_LENGTH)


def check_positions(positions: object, k: int, length: int) -> None:
    """Refuse informative positions that are not k distinct ones before the query.

    Raises:
        SettingError: naming ``positions``.
    """
    good = (
        isinstance(positions, tuple)
        and all(isinstance(i, int) and not isinstance(i, bool) for i in positions)
        and len(positions) == len(set(positions)) == k
        and all(0 <= i < length - 1 for i in positions)
    )
    if not good:
        allowed = f"{k} distinct positions 0..{length - 2} (the query is position {length - 1})"
        refuse("positions", positions, allowed)


def check_size(n_inputs: int, length: int, draws: int) -> None:
    """Refuse more sequences than fit the memory of a classroom machine.

    Raises:
        SettingError: naming ``length`` or ``draws``.
    """
    if n_inputs * length > MAX_TOKENS:
        refuse("length", length, f"at most {MAX_TOKENS // n_inputs} for {n_inputs} inputs")
    if n_inputs * length * draws > MAX_TOKENS:
        most = MAX_TOKENS // (n_inputs * length)
        refuse("draws", draws, f"at most {most} for {n_inputs} inputs of length {length}")


def default_positions(k: int, length: int) -> tuple[int, ...]:
    """Every other position, as in ``a + b . =``, or the first k where that is too long."""
    return tuple(range(0, 2 * k, 2)) if length >= 2 * k else tuple(range(k))


def gaps_of(positions: tuple[int, ...], length: int) -> list[int]:
    """The distractor positions: neither informative nor the query."""
    return [i for i in range(length - 1) if i not in positions]


def lay_out(
    operands: Int[Tensor, "input operand"],
    distractors: Int[Tensor, "draw input gap"],
    query: int,
    positions: tuple[int, ...],
) -> Int[Tensor, "sequence pos"]:
    """The sequences, the draws of one input next to each other.

    Args:
        operands: the tokens for the informative positions, in the order of ``positions``.
        distractors: the tokens for the gaps, from the left.
        query: the token of the last position.
        positions: the informative positions.

    Returns:
        ``sequence`` counts input * draws + draw; ``pos`` is operands + gaps + 1 long.
    """
    draws, inputs, gaps = distractors.shape
    length = operands.shape[1] + gaps + 1
    tokens = empty(inputs, draws, length, dtype=int64)
    tokens[:, :, list(positions)] = operands[:, None]
    tokens[:, :, gaps_of(positions, length)] = distractors.transpose(0, 1)
    tokens[:, :, -1] = query
    return tokens.flatten(0, 1)


def fixed_mask(positions: tuple[int, ...], n: int, length: int) -> Bool[Tensor, "sequence pos"]:
    """The informative mask of n sequences that share their informative positions."""
    mask = zeros(length, dtype=boolean)
    mask[list(positions)] = True
    return mask.expand(n, length)
