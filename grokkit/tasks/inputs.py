"""Numbering the inputs of a task.

An *input* is a tuple of operands, each one of ``base`` symbols: a pair, k numbers, a bit
string. Its *code* is the number that the operands spell in that base, first operand
first. Codes make inputs comparable, hashable and easy to sample without a table.

Axis names: ``input`` (a distinct input), ``operand`` (a place in it).
"""

import torch
from jaxtyping import Int
from torch import Tensor

MAX_CODE = 2**62
"""Codes lie below this: they must fit a signed 64-bit integer with room for a sum."""

_SHUFFLED_WHOLE = 2**22


def encode(operands: Int[Tensor, "input operand"], base: int) -> Int[Tensor, " input"]:
    """The code of each input: sum_i operand_i * base^(k-1-i).

    Args:
        operands: symbols 0..base-1.
        base: the number of symbols; base^k is at most :data:`MAX_CODE`.
    """
    return (operands * _weights(base, operands.shape[1])).sum(dim=1)


def decode(codes: Int[Tensor, " input"], base: int, k: int) -> Int[Tensor, "input operand"]:
    """The k operands of each code: the inverse of :func:`encode`."""
    return codes[:, None] // _weights(base, k) % base


def sample_codes(total: int, count: int, generator: torch.Generator) -> Int[Tensor, " input"]:
    """``count`` distinct codes out of 0..total-1, every subset equally likely, ascending.

    Args:
        total: how many codes there are, at most :data:`MAX_CODE`.
        count: how many to draw, at most ``total``. All of them need no random number.
        generator: where the random numbers come from.
    """
    if count == total:
        return torch.arange(total)
    if total <= _SHUFFLED_WHOLE:
        return torch.randperm(total, generator=generator)[:count].sort().values
    # Too many to shuffle: draw until enough are distinct, then drop the excess at random
    # (cutting the sorted codes would favour small ones).
    codes = torch.empty(0, dtype=torch.int64)
    while len(codes) < count:
        fresh = torch.randint(total, (count,), generator=generator)
        codes = torch.cat((codes, fresh)).unique()
    keep = torch.randperm(len(codes), generator=generator)[:count]
    return codes[keep].sort().values


def _weights(base: int, k: int) -> Int[Tensor, " operand"]:
    return torch.tensor([base**i for i in reversed(range(k))])
