"""Operations on a finite set: the tasks on which grokking was first seen.

Operands are tokens, and so is the class of the result: numbers modulo p, or permutations.
The default, addition modulo 113 in sequences of 5, is the setting of arXiv 2605.15787.
:class:`PrimeField` has the tasks of arXiv 2504.03162: seven functions f(i, j) in sequences
[i, j, =], with a *hole* if wanted: a region of the table of pairs in which nothing is trained
on. A random split leaves every test pair among train pairs. A hole does not:

    square   i, j <= 3                      strip   i <= 3

    j . . x . x . . x                       j # # # # . x . x
      x . . x . . x .                         # # # # x . . x
      # # # # . x . .                         # # # # . x x .
      # # # # x . . x                         # # # # x . . .
      # # # # . . x .                         # # # # . x . x
      # # # # . x . x                         # # # # x . x .
                      i                                       i
    # the hole, unseen    x trained on    . unseen, among train pairs

What it tells depends on mirror images. The square is its own mirror image: where the answer
does not depend on the order, still nothing in it is half-answered. Of the strip, only the
corner i, j <= 3 is like that: the mirror image of any other pair (i, j) in it is (j, i),
which lies outside, may be trained on, and has the same label.
"""

import dataclasses
from dataclasses import dataclass, field
from itertools import permutations
from typing import ClassVar, Literal, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.core.task import RULES, distinct
from grokkit.errors import check_choice, check_int, refuse
from grokkit.settings import OMIT_IF_DEFAULT
from grokkit.tasks.base import TaskData, register_task
from grokkit.tasks.operands import DistractorKind, OperandTask
from grokkit.tasks.split import MAX_CODE, decode

MAX_P = 1000


@dataclass(frozen=True)
class Modulus:
    """The setting that all modular tasks share.

    Attributes:
        p: the modulus, 2..1000, which is the number of operand tokens and of classes.
    """

    p: int = 113


def check_prime(p: int, why: str) -> None:
    """Refuse a modulus of 2 or more that is not prime."""
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


@dataclass(frozen=True)
class RuleTask(ModularTask):
    """A modular task whose label is one of the core's :data:`~grokkit.core.task.RULES`."""

    rule: ClassVar[str]

    @property
    def commutes(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the class of (a, b) is that of (b, a)."""
        return RULES[self.rule].commutes

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class: the rule's number modulo p."""
        return RULES[self.rule].label(*operands.unbind(dim=1)) % self.p


@register_task("modular_addition")
@dataclass(frozen=True)
class ModularAddition(RuleTask):
    """a + b modulo p.

    >>> data = ModularAddition(p=7, distractors="constant", train_fraction=0.5).build(seed=0)
    >>> data.n_tokens, data.n_classes, len(data.train), len(data.test)
    (10, 7, 24, 25)
    """

    rule: ClassVar[str] = "a+b"


@register_task("modular_subtraction")
@dataclass(frozen=True)
class ModularSubtraction(RuleTask):
    """a - b modulo p. The order of the operands matters, so no mirror image leaks."""

    rule: ClassVar[str] = "a-b"


@register_task("modular_multiplication")
@dataclass(frozen=True)
class ModularMultiplication(RuleTask):
    """a * b modulo p, zeros included."""

    rule: ClassVar[str] = "ab"


@register_task("modular_quadratic")
@dataclass(frozen=True)
class ModularQuadratic(RuleTask):
    """a^2 + a * b + b^2 modulo p: symmetric, yet not a function of a + b."""

    rule: ClassVar[str] = "a^2+ab+b^2"


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


Function = Literal["x+y", "x-y", "xy", "x^2+y^2", "x^2+xy+y^2", "x^3+y^3", "x^3+xy+y^3"]
"""The functions of :class:`PrimeField`: the core's rules, with x and y for a and b."""

HoleKind = Literal["none", "square", "strip"]
"""The shapes of a hole."""


@dataclass(frozen=True)
class FunctionSetting:
    """The setting of the function.

    Attributes:
        function: f, one of :data:`Function`, as in ``"x^2+xy+y^2"``.
    """

    function: Function = "x+y"


# FunctionSetting comes last so that its setting is listed first.
@register_task("prime_field")
@dataclass(frozen=True)
class PrimeField(RuleTask, FunctionSetting):
    """f(x, y) modulo a prime p.

    See :class:`OperandTask` for the shared settings. The train fraction is one of all p^2
    pairs, hole or no hole. With a hole, the test set is all that is not trained on; its two
    parts are further test sets, ``"hole"`` and ``"outside the hole"``, each with its own
    mirrored pairs.

    Attributes:
        length: as in every task; 3 here, which is [x, y, =] with no room for distractors.
        distractors: as in every task, where the length leaves room for some.
        hole: ``"square"``: i and j up to ``hole_edge``. ``"strip"``: i up to ``hole_edge``.
            ``"none"``: there is no hole.
        hole_edge: the last number inside; None where there is no hole.

    >>> task = PrimeField("x^2+y^2", p=97, hole="square", hole_edge=30)
    >>> data = task.build(seed=0)
    >>> len(data.train), {name: len(part) for name, part in data.extra.items()}
    (2823, {'hole': 961, 'outside the hole': 5625})
    """

    p: int = 97
    length: int = 3
    distractors: DistractorKind = "constant"
    hole: HoleKind = field(default="none", metadata=OMIT_IF_DEFAULT)
    hole_edge: int | None = field(default=None, metadata=OMIT_IF_DEFAULT)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("hole", self.hole, get_args(HoleKind))
        if self.hole == "none":
            if self.hole_edge is not None:
                refuse("hole_edge", self.hole_edge, "None where there is no hole")
            return
        # Some of what is outside must be trained on, and some be left to test.
        table = self.p**2
        edge = check_int("hole_edge", self.hole_edge, 0, self.p - 2) + 1
        outside = table - edge * (edge if self.hole == "square" else self.p)
        # Where mirror images stay together, those of a strip are held out with it.
        mirrored_too = (self.hole, self.split) == ("strip", "unordered")
        free = (self.p - edge) ** 2 if mirrored_too else outside
        most = min(free, outside - 1)
        if round(self.train_fraction * table) > most:
            where = f"of which {free} may be trained on and one must be left to test"
            allowed = f"at most {most}/{table}: {outside} pairs lie outside the hole, {where}"
            refuse("train_fraction", self.train_fraction, allowed)

    def check(self) -> None:
        """Refuse an unknown function, or a p that is not prime."""
        check_choice("function", self.function, get_args(Function))
        super().check()
        check_prime(self.p, "the others make no field")

    @property
    def rule(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The core's name of the function."""
        return self.function.replace("x", "a").replace("y", "b")

    def held_out(self, operands: Int[Tensor, "input operand"]) -> Bool[Tensor, " input"] | None:
        """The pairs in the hole; None where there is none."""
        if self.hole_edge is None:
            return None
        i, j = (operands <= self.hole_edge).unbind(dim=1)
        return i & j if self.hole == "square" else i

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed, 0 or more."""
        data = super().build(seed)
        inside = self.held_out(decode(data.test.group, self.p, 2))
        if inside is None:
            return data
        parts = {"hole": inside, "outside the hole": ~inside}
        flags = data.mirrored
        return dataclasses.replace(
            data,
            extra={name: data.test[part] for name, part in parts.items()},
            extra_mirrored={} if flags is None else {n: flags[part] for n, part in parts.items()},
        )


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


@register_task("k_operand_addition")
@dataclass(frozen=True)
class KOperandAddition(ModularTask, Summands):
    """a_1 + ... + a_k modulo p. See :class:`OperandTask` for the shared settings.

    Under ``split="unordered"`` all orders of the same operands stay on one side.
    """

    p: int = 31
    length: int = 7

    commutes: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a modulus, a k or a number of inputs that makes no sense."""
        super().check()
        check_int("k", self.k, 2)
        if self.k * (self.p - 1).bit_length() > 1000 or self.p**self.k > MAX_CODE:
            refuse("k", self.k, f"a k for which p**k, here {self.p}**k, is at most 2**62")
        if self.examples is not None:
            check_int("examples", self.examples, 2, min(self.p**self.k, MAX_EXAMPLES))

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
        codes = distinct(self.p**self.k, self.n_inputs, generator(seed, "inputs"))
        return decode(codes, self.p, self.k)

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of the sum of the operands modulo p."""
        return torch.sum(operands, dim=1) % self.p


@dataclass(frozen=True)
class Degree:
    """The setting of the symmetric group.

    Attributes:
        n: the number of things permuted, 3..5: S_3, S_4 or S_5, of n! elements.
    """

    n: int = 4


@register_task("permutation_composition")
@dataclass(frozen=True)
class PermutationComposition(OperandTask, Degree):
    """The product a b in S_n: first b, then a, so that (a b)(i) = a(b(i)).

    Every element is one token, and one class, numbered in lexicographic order of its one-line
    notation: the token ``"021"`` maps 0 to 0, 1 to 2, 2 to 1, and ``"012"`` is the
    identity. See :class:`OperandTask` for the shared settings; the train fraction is larger
    here, since a group without much commutativity gives fewer hints per pair (our choice).
    """

    train_fraction: float = 0.5

    def check(self) -> None:
        """Refuse a degree outside 3..5."""
        check_int("n", self.n, 3, 5)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The n! elements in one-line notation."""
        return tuple("".join(map(str, images)) for images in permutations(range(self.n)))

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The element a b."""
        images = torch.tensor(list(permutations(range(self.n))))
        # An element is known by its images read as a number, which ascends with its id.
        weights = self.n ** torch.arange(self.n - 1, -1, -1)
        a, b = images[operands].unbind(dim=1)
        product = a.gather(1, b)
        return torch.searchsorted(images @ weights, product @ weights)
