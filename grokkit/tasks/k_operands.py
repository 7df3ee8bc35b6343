"""Addition of k numbers modulo p: the k-sparse task with k as a setting."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import check_int, refuse
from grokkit.seeding import generator
from grokkit.tasks.base import register_task
from grokkit.tasks.inputs import MAX_CODE, decode, sample_codes
from grokkit.tasks.modular import MAX_P
from grokkit.tasks.operands import OperandTask

DEFAULT_EXAMPLES = 20_000
MAX_EXAMPLES = 1_000_000


@dataclass(frozen=True)
class Summands:
    """The settings of a sum.

    Attributes:
        p: the modulus, 2..1000.
        k: the number of operands, 2 or more; p^k is at most 2^62.
        examples: the number of distinct inputs in train and test together. None for the
            whole table of p^k inputs, or for 20,000 random ones out of a larger table.
    """

    p: int = 31
    k: int = 3
    examples: int | None = None


# Summands comes last so that its settings are listed first, as in grokkit.tasks.modular.
@register_task("k_operand_addition")
@dataclass(frozen=True)
class KOperandAddition(OperandTask, Summands):
    """a_1 + ... + a_k modulo p. See :class:`OperandTask` for the shared settings.

    Under ``split="unordered"`` all orders of the same operands stay on one side.
    """

    length: int = 7

    commutes: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a modulus, a k or a number of inputs that makes no sense."""
        check_int("p", self.p, 2, MAX_P)
        check_int("k", self.k, 2)
        if self.k * (self.p - 1).bit_length() > 1000 or self.p**self.k > MAX_CODE:
            refuse("k", self.k, f"a k for which p**k, here {self.p}**k, is at most 2**62")
        if self.examples is not None:
            check_int("examples", self.examples, 2, min(self.p**self.k, MAX_EXAMPLES))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The numbers 0..p-1."""
        return tuple(map(str, range(self.p)))

    @property
    def n_operands(self) -> int:
        """The setting k."""
        return self.k

    @property
    def n_inputs(self) -> int:
        """The setting ``examples``, or what its None stands for."""
        return self.examples or min(self.p**self.k, DEFAULT_EXAMPLES)

    def inputs(self, seed: int) -> Int[Tensor, "input operand"]:
        """The whole table, or distinct random inputs out of it."""
        codes = sample_codes(self.p**self.k, self.n_inputs, generator(seed, "inputs"))
        return decode(codes, self.p, self.k)

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of the sum of the operands modulo p."""
        return torch.sum(operands, dim=1) % self.p
