"""Composition of permutations: a task whose operands do not commute."""

from dataclasses import dataclass
from itertools import permutations

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import check_int
from grokkit.tasks.base import register_task
from grokkit.tasks.operands import OperandTask


@dataclass(frozen=True)
class Degree:
    """The setting of the symmetric group.

    Attributes:
        n: the number of things permuted, 3..5: S_3, S_4 or S_5, of n! elements.
    """

    n: int = 4


# Degree comes last so that n is listed first, as in grokkit.tasks.modular.
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
