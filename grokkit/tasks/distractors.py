"""What stands where nothing is to be learned.

The positions outside I* hold distractors: tokens on which the target does not depend.
Their kind decides what a run looks like, so it is a setting of every task that has them:

* ``"constant"``: every distractor position has one token of its own, like the signs in
  ``a + b . =``. There is nothing to memorise in them.
* ``"alphabet"``: a random symbol out of a few that are no operands. A train set can be
  told apart by them, so attention first goes where it should not.
* ``"random"``: a random operand token. Every sequence is then nearly unique through
  its distractors alone: a trap from which weight decay does not free the model.

Random distractors are drawn once and are fixed in the data set. An input may be seen
with several independent ``draws`` of them, which makes memorising them harder.

Axis names: ``draw`` (a distractor draw), ``input``, ``gap`` (a distractor position).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import check_choice, check_int, refuse

DistractorKind = Literal["constant", "random", "alphabet"]
"""The kinds of distractors."""

DEFAULT_ALPHABET = 4
MAX_ALPHABET = 1000
MAX_DRAWS = 1000


@dataclass(frozen=True)
class Distractors:
    """The distractors of one task.

    Attributes:
        kind: what they are; see the module's text.
        alphabet: the number of symbols of the alphabet; None means
            4 for ``kind="alphabet"`` and must be None for the others.
        draws: how many independent draws of distractors each input is seen with.
    """

    kind: DistractorKind
    alphabet: int | None = None
    draws: int = 1

    def check(self, n_gaps: int) -> None:
        """Refuse settings that make no sense for sequences with that many gaps.

        Raises:
            SettingError: ``distractors`` is unknown; ``alphabet`` is given where it
                would do nothing; ``draws`` above 1 where all draws would be the same.
        """
        check_choice("distractors", self.kind, get_args(DistractorKind))
        if self.alphabet is not None:
            if self.kind != "alphabet":
                refuse("alphabet", self.alphabet, f"None where distractors is {self.kind!r}")
            if n_gaps == 0:
                refuse("alphabet", self.alphabet, "None where no position holds a distractor")
            check_int("alphabet", self.alphabet, 1, MAX_ALPHABET)
        check_int("draws", self.draws, 1, MAX_DRAWS)
        if self.draws > 1 and self.kind == "constant":
            refuse("draws", self.draws, "1 where distractors is 'constant': all draws are the same")
        if self.draws > 1 and n_gaps == 0:
            refuse("draws", self.draws, "1 where no position holds a distractor")

    def names(self, gaps: Sequence[int]) -> tuple[str, ...]:
        """The names of the tokens that distractors add to the vocabulary.

        Args:
            gaps: the positions that hold distractors.

        Returns:
            ``"·1", "·3"`` (the position) for constants, ``"A", "B", ...`` for an
            alphabet, nothing for operand tokens or where there is no gap.
        """
        if not gaps or self.kind == "random":
            return ()
        if self.kind == "constant":
            return tuple(f"·{gap}" for gap in gaps)
        symbols = range(self.alphabet or DEFAULT_ALPHABET)
        return tuple(chr(ord("A") + i % 26) + str(i // 26 or "") for i in symbols)

    def draw(
        self, n_inputs: int, n_gaps: int, n_operands: int, first: int, generator: torch.Generator
    ) -> Int[Tensor, "draw input gap"]:
        """Token ids for all distractor positions of all inputs.

        The draw is the slowest axis, so that asking for more draws keeps the first ones.

        Args:
            n_inputs: the number of inputs.
            n_gaps: the number of distractor positions in a sequence.
            n_operands: operand tokens have the ids 0..n_operands-1 (for ``"random"``).
            first: the id of the first token that the distractors own.
            generator: where the random numbers come from.
        """
        shape = (self.draws, n_inputs, n_gaps)
        if self.kind == "constant":
            return (first + torch.arange(n_gaps)).expand(shape)
        if self.kind == "random":
            return torch.randint(n_operands, shape, generator=generator)
        symbols = self.alphabet or DEFAULT_ALPHABET
        return first + torch.randint(symbols, shape, generator=generator)
