"""Arithmetic modulo p: the tasks on which grokking was first seen.

Two operands a and b, each a token 0..p-1, and the class of the result, 0..p-1. The
default, addition modulo 113 in sequences of 5, is the setting of arXiv 2605.15787.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import check_int, refuse
from grokkit.tasks.base import register_task
from grokkit.tasks.operands import OperandTask

MAX_P = 1000


@dataclass(frozen=True)
class Modulus:
    """The setting that all modular tasks share.

    Attributes:
        p: the modulus, 2..1000, which is the number of operand tokens and of classes.
    """

    p: int = 113


def check_prime(p: int, why: str) -> None:
    """Refuse a modulus of 2 or more that is not prime.

    Args:
        p: the modulus.
        why: what would go wrong, for the message.

    Raises:
        SettingError: naming ``p``.
    """
    if any(p % i == 0 for i in range(2, int(p**0.5) + 1)):
        refuse("p", p, f"a prime number: {why}")


# Modulus comes last: a dataclass lists its last base's fields first, and p should be first.
@dataclass(frozen=True)
class ModularTask(OperandTask, Modulus):
    """The base of the modular tasks: symbols 0..p-1 and p classes.

    A modular task of your own needs a ``label`` and nothing else. See
    :class:`OperandTask` for the shared settings.
    """

    def check(self) -> None:
        """Refuse a modulus that is no whole number in 2..1000."""
        check_int("p", self.p, 2, MAX_P)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The numbers 0..p-1."""
        return tuple(map(str, range(self.p)))


@register_task("modular_addition")
@dataclass(frozen=True)
class ModularAddition(ModularTask):
    """a + b modulo p.

    >>> data = ModularAddition(p=7, distractors="constant", train_fraction=0.5).build(seed=0)
    >>> data.n_tokens, data.n_classes, len(data.train), len(data.test)
    (10, 7, 24, 25)
    """

    commutes: ClassVar[bool] = True

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of a + b modulo p."""
        a, b = operands.unbind(dim=1)
        return (a + b) % self.p


@register_task("modular_subtraction")
@dataclass(frozen=True)
class ModularSubtraction(ModularTask):
    """a - b modulo p. The order of the operands matters, so no mirror image leaks."""

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of a - b modulo p."""
        a, b = operands.unbind(dim=1)
        return (a - b) % self.p


@register_task("modular_multiplication")
@dataclass(frozen=True)
class ModularMultiplication(ModularTask):
    """a * b modulo p, zeros included."""

    commutes: ClassVar[bool] = True

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of a * b modulo p."""
        a, b = operands.unbind(dim=1)
        return (a * b) % self.p


@register_task("modular_division")
@dataclass(frozen=True)
class ModularDivision(ModularTask):
    """a / b modulo a prime p: the c with b * c = a modulo p. No input has b = 0."""

    def check(self) -> None:
        """Refuse a p that is not prime: some b would then have no inverse."""
        super().check()
        check_prime(self.p, "modulo others, some b has no inverse")

    @property
    def n_inputs(self) -> int:
        """The number of pairs with any a and any b but 0: p * (p - 1)."""
        return self.p * (self.p - 1)

    def inputs(self, seed: int) -> Int[Tensor, "input operand"]:
        """All pairs whose b is not 0."""
        pairs = super().inputs(seed)
        return pairs[pairs[:, 1] != 0]

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of a times the inverse of b, modulo p."""
        # 0 has no inverse; its entry is never read.
        inverse = torch.tensor([0] + [pow(b, -1, self.p) for b in range(1, self.p)])
        a, b = operands.unbind(dim=1)
        return (a * inverse[b]) % self.p


@register_task("modular_quadratic")
@dataclass(frozen=True)
class ModularQuadratic(ModularTask):
    """a^2 + a * b + b^2 modulo p: symmetric, yet not a function of a + b."""

    commutes: ClassVar[bool] = True

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of a^2 + a * b + b^2 modulo p."""
        a, b = operands.unbind(dim=1)
        return (a * a + a * b + b * b) % self.p
