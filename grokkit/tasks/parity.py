"""Sparse parity: the XOR of k bits out of n, the classic task with most of it distractors."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import check_int
from grokkit.seeding import generator
from grokkit.tasks.base import Sequences, Task, TaskData, register_task, tuples_for_lists
from grokkit.tasks.inputs import decode, sample_codes
from grokkit.tasks.layout import QUERY, check_positions, fixed_mask
from grokkit.tasks.split import check_split, split_inputs

DEFAULT_EXAMPLES = 2000
MAX_EXAMPLES = 500_000
MAX_BITS = 62


@register_task("sparse_parity")
@dataclass(frozen=True)
class SparseParity(Task):
    """y = x_i1 XOR ... XOR x_ik for k fixed positions among n random bits.

    The input is the whole bit string, and the distractors are its other bits: so there
    is no setting for their kind, and an input is never seen with other distractors. All
    bits share the tokens "0" and "1"; only its position tells what a bit is for.

    Attributes:
        bits: n, the number of bits, 1..62; a sequence is n bits and the query.
        k: the number of informative bits, 1..n.
        positions: the informative bits; None for the first k.
        examples: the number of distinct bit strings in train and test together; None
            for 2000, or for all 2^n where there are fewer.
        train_fraction: the fraction of bit strings that are trained on.

    Raises:
        SettingError: a setting makes no sense; the message names it.

    >>> data = SparseParity(bits=6, k=2).build(seed=0)
    >>> len(data.train), len(data.test), data.vocabulary
    (32, 32, ('0', '1', '='))
    """

    bits: int = 40
    k: int = 3
    positions: tuple[int, ...] | None = None
    examples: int | None = None
    train_fraction: float = 0.5

    def __post_init__(self) -> None:
        tuples_for_lists(self, "positions")
        # Above 62 bits the number of a bit string no longer fits a 64-bit integer.
        check_int("bits", self.bits, 1, MAX_BITS)
        check_int("k", self.k, 1, self.bits)
        if self.positions is not None:
            check_positions(self.positions, self.k, self.bits + 1)
        if self.examples is not None:
            check_int("examples", self.examples, 2, min(2**self.bits, MAX_EXAMPLES))
        check_split(self.train_fraction, self.n_inputs)

    @property
    def informative(self) -> tuple[int, ...]:
        """I*, the positions of the informative bits."""
        return tuple(range(self.k)) if self.positions is None else self.positions

    @property
    def n_inputs(self) -> int:
        """The number of distinct bit strings in train and test together."""
        return self.examples or min(2**self.bits, DEFAULT_EXAMPLES)

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed: which bit strings, and the split.

        Args:
            seed: 0 or more.

        Raises:
            SettingError: the seed is no whole number.
        """
        check_int("seed", seed, 0)
        codes = sample_codes(2**self.bits, self.n_inputs, generator(seed, "inputs"))
        train = split_inputs(codes, self.train_fraction, generator(seed, "split"))
        strings = decode(codes, 2, self.bits)
        query = torch.full((len(codes), 1), 2)
        everything = Sequences(
            tokens=torch.cat((strings, query), dim=1),
            targets=self.label(strings),
            informative=fixed_mask(self.informative, len(codes), self.bits + 1),
            group=codes,
        )
        return TaskData(
            train=everything[train],
            test=everything[~train],
            vocabulary=("0", "1", QUERY),
            n_classes=2,
        )

    def label(self, strings: Int[Tensor, "input bit"]) -> Int[Tensor, " input"]:
        """The parity of the informative bits."""
        return strings[:, list(self.informative)].sum(dim=1) % 2
