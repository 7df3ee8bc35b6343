"""Inputs by number, and which of them are trained on.

An *input* is a tuple of operands, each one of ``base`` symbols: a pair, k numbers, a bit
string. Its *code* is the number that the operands spell in that base, first operand first.

The split is by input, never by sequence: all distractor draws of one input stand on one
side, so no test sequence has its operands in the train set. What can leak all the same
is the *mirror image*: where a + b = b + a, training on (b, a) half-answers (a, b). The
unordered split keeps mirror images together; :func:`split_operands` says which leak.
"""

from typing import Literal, NoReturn, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.core.task import mirror_images, split
from grokkit.errors import check_choice, check_fraction, refuse

SplitKind = Literal["pair", "unordered"]
"""``"pair"``: by ordered operands. ``"unordered"``: {a, b} and {b, a} on the same side."""

MAX_CODE = 2**62
"""Codes lie below this: they must fit a signed 64-bit integer with room for a sum."""


def encode(operands: Int[Tensor, "input operand"], base: int) -> Int[Tensor, " input"]:
    """The code of each input: sum_i operand_i * base^(k-1-i).

    >>> encode(torch.tensor([[1, 2], [2, 1]]), base=10).tolist()
    [12, 21]

    Args:
        operands: symbols 0..base-1.
        base: the number of symbols; base^k is at most :data:`MAX_CODE`.
    """
    return (operands * _weights(base, operands.shape[1])).sum(dim=1)


def decode(codes: Int[Tensor, " input"], base: int, k: int) -> Int[Tensor, "input operand"]:
    """The k operands of each code: the inverse of :func:`encode`."""
    return codes[:, None] // _weights(base, k) % base


def _weights(base: int, k: int) -> Int[Tensor, " operand"]:
    return torch.tensor([base**i for i in reversed(range(k))])


def check_split(train_fraction: object, n_inputs: int, split: object = "pair") -> None:
    """Refuse a split that makes no sense.

    Args:
        train_fraction: the fraction of inputs to train on.
        n_inputs: how many inputs there are.
        split: one of :data:`SplitKind`.
    """
    check_choice("split", split, get_args(SplitKind))
    fraction = check_fraction("train_fraction", train_fraction)
    if not 0 < round(fraction * n_inputs) < n_inputs:
        _refuse_empty(train_fraction, n_inputs)


def split_operands(
    operands: Int[Tensor, "input operand"],
    base: int,
    kind: SplitKind,
    train_fraction: float,
    seed: int,
    commutes: bool,
    draws: int = 1,
    held_out: Bool[Tensor, " input"] | None = None,
) -> tuple[Bool[Tensor, " input"], Bool[Tensor, " test_example"] | None]:
    """Choose the train inputs by pair or by unordered pair, and say which test pairs leak.

    A test input is *mirrored* if another order of its operands is in the train set: about a
    ``train_fraction`` of them under the split by pair, none under the unordered split. An
    input such as (a, a) is its own mirror image and does not count.

    Args:
        operands: all inputs.
        base: the number of operand symbols.
        kind: which inputs stay together.
        train_fraction: the fraction of inputs to train on.
        seed: names the random order, which is the seed's own for the split.
        commutes: whether the label ignores the order of the operands.
        draws: the number of sequences of each input.
        held_out: inputs that must not be trained on; None for none.

    Returns:
        True where an input is trained on; and for each test sequence in order whether it is
        mirrored, or None where operands do not commute: there a mirror image has another
        label, and nothing leaks.
    """
    unordered = encode(operands.sort(dim=1).values, base)
    families = unordered if kind == "unordered" else encode(operands, base)
    try:
        train = split(families, train_fraction, generator(seed, "split"), held_out)
    except ValueError:
        _refuse_empty(train_fraction, len(families))
    if not commutes:
        return train, None
    return train, mirror_images(unordered, train).repeat_interleave(draws)


def _refuse_empty(train_fraction: object, n_inputs: int) -> NoReturn:
    allowed = f"a fraction of the {n_inputs} inputs that leaves some to train on and some to test"
    refuse("train_fraction", train_fraction, allowed)
