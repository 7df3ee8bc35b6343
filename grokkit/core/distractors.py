"""Chapter 1. What fills the positions that say nothing about the answer."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Filling(NamedTuple):
    """What the distractors of all inputs are made from.

    ``shape`` is (draw, input, gap), a *gap* being a distractor position.
    """

    shape: tuple[int, int, int]
    p: int  # the number of operand tokens
    alphabet: int  # the number of distractor symbols


class Distractors(NamedTuple):
    """A kind of distractors: token ids ``[draw, input, gap]``, and the names of its own symbols.

    These follow from the positions of the gaps and the size of the alphabet, in order of ids.
    """

    draw: Callable[[Filling, torch.Generator], Tensor]
    symbols: Callable[[list[int], int], list[str]] = lambda gaps, alphabet: []

    @property
    def has_alphabet(self) -> bool:
        """Whether the size of the alphabet is a setting of this kind: its symbols depend on it."""
        return self.symbols([0], 2) != self.symbols([0], 3)


DISTRACTORS: dict[str, Distractors] = {
    # Every gap has one symbol of its own, as in "a + b . =": there is nothing to memorise.
    "constant": Distractors(
        lambda f, _: (f.p + 1 + torch.arange(f.shape[2])).expand(f.shape),
        lambda gaps, _: [f"·{gap}" for gap in gaps],
    ),
    # A random symbol out of a few: sequences can be told apart by their distractors.
    "alphabet": Distractors(
        lambda f, g: f.p + 1 + torch.randint(f.alphabet, f.shape, generator=g),
        lambda gaps, n: [f"{chr(65 + i % 26)}{i // 26 or ''}" for i in range(n) if gaps],
    ),
    # A random operand token: nearly every sequence is unique by its distractors alone.
    "random": Distractors(lambda f, g: torch.randint(f.p, f.shape, generator=g)),
}
"""The kinds of distractors. A new one is a new entry."""
