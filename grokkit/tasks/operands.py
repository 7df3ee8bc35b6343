"""Tasks with operands at fixed positions (Definition 3.1, k-sparse), and what fills the rest.

The target is a function of k operands alone, y = g(tokens on I*). A sequence of length T has
the query, the "=" sign, at position T - 1: the same token in every sequence, so the model
reads out at one fixed place. Of the other T - 1 positions k are informative (the set I*), and
the rest are *gaps* that hold distractors. Token ids count up through the operands, then the
query, then the distractors' own tokens.

The kind of the distractors decides what a run looks like:

* ``"constant"``: every gap has one token of its own, like the signs in ``a + b . =``. There
  is nothing to memorise in them.
* ``"alphabet"``: a random symbol out of a few that are no operands. A train set can be
  told apart by them, so attention first goes where it should not.
* ``"random"``: a random operand token. Every sequence is then nearly unique through
  its distractors alone: a trap from which weight decay does not free the model.

Random distractors are drawn once and are fixed in the data set. An input may be seen
with several independent ``draws`` of them, which makes memorising them harder.

Axis names: ``input`` (a distinct tuple of operands), ``operand`` (a place in it), ``draw``,
``gap`` (a distractor position), ``sequence`` (an input with one draw), ``pos``.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.core.distractors import DISTRACTORS, Filling
from grokkit.errors import check_choice, check_int, refuse
from grokkit.tasks.base import Sequences, Task, TaskData, tuples_for_lists
from grokkit.tasks.split import SplitKind, check_split, decode, encode, split_operands

QUERY = "="
"""The name of the query token."""

MAX_LENGTH = 1024
MAX_TOKENS = 50_000_000
"""What a classroom machine holds: 400 MB of token ids."""

DistractorKind = Literal["constant", "alphabet", "random"]
"""The kinds of distractors: those of the core's :data:`~grokkit.core.distractors.DISTRACTORS`."""

DEFAULT_ALPHABET = 4
MAX_ALPHABET = 1000
MAX_DRAWS = 1000


@dataclass(frozen=True)
class Distractors:
    """The distractors of one task.

    Attributes:
        kind: what they are; see the module's text.
        alphabet: the number of symbols of the alphabet; None: 4, or that there is none.
        draws: how many independent draws of distractors each input is seen with.
    """

    kind: DistractorKind
    alphabet: int | None = None
    draws: int = 1

    @property
    def n_symbols(self) -> int:
        """The number of symbols of the alphabet."""
        return self.alphabet or DEFAULT_ALPHABET

    @property
    def drawn_anew(self) -> bool:
        """Whether this kind is random, so that two draws differ."""
        two = Distractors(self.kind, draws=2).draw(8, 8, 8, generator(0, "trial"))
        return not torch.equal(two[0], two[1])

    @property
    def draws_operands(self) -> bool:
        """Whether this kind puts operand tokens where there are no operands."""
        return bool((Distractors(self.kind).draw(8, 8, 8, generator(0, "trial")) < 8).any())

    def check(self, n_gaps: int) -> None:
        """Refuse settings that make no sense for sequences with that many gaps."""
        check_choice("distractors", self.kind, get_args(DistractorKind))
        if self.alphabet is not None:
            if not DISTRACTORS[self.kind].has_alphabet:
                refuse("alphabet", self.alphabet, f"None where distractors is {self.kind!r}")
            if n_gaps == 0:
                refuse("alphabet", self.alphabet, "None where no position holds a distractor")
            check_int("alphabet", self.alphabet, 1, MAX_ALPHABET)
        check_int("draws", self.draws, 1, MAX_DRAWS)
        if self.draws > 1 and not self.drawn_anew:
            refuse("draws", self.draws, f"1 with distractors {self.kind!r}: all draws are the same")
        if self.draws > 1 and n_gaps == 0:
            refuse("draws", self.draws, "1 where no position holds a distractor")

    def names(self, gaps: Sequence[int]) -> tuple[str, ...]:
        """The names of the tokens that distractors at some positions add to the vocabulary."""
        return tuple(DISTRACTORS[self.kind].symbols(list(gaps), self.n_symbols))

    def draw(
        self, n_inputs: int, n_gaps: int, n_operands: int, generator: torch.Generator
    ) -> Int[Tensor, "draw input gap"]:
        """Token ids for all distractor positions of all inputs, by the core's rule.

        The draw is the slowest axis, so that asking for more draws keeps the first ones.

        Args:
            n_inputs: the number of inputs.
            n_gaps: the number of distractor positions in a sequence.
            n_operands: the number of operand tokens; the query and the distractors' own follow.
            generator: where the random numbers come from.
        """
        shape = (self.draws, n_inputs, n_gaps)
        return DISTRACTORS[self.kind].draw(Filling(shape, n_operands, self.n_symbols), generator)


RANDOM_KINDS: tuple[DistractorKind, ...] = tuple(
    kind for kind in get_args(DistractorKind) if Distractors(kind).drawn_anew
)
"""The kinds whose tokens do not tell a position."""


def check_length(length: object, k: int) -> None:
    """Refuse a length that has no room for k operands and the query, or is above 1024."""
    check_int("length", length, k + 1, MAX_LENGTH)


def check_positions(positions: object, k: int, length: int) -> None:
    """Refuse informative positions that are not k distinct ones before the query."""
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
    """Refuse more sequences than fit the memory of a classroom machine."""
    most = MAX_TOKENS // n_inputs
    if length > most:
        refuse("length", length, f"at most {most} for {n_inputs} inputs")
    if length * draws > most:
        allowed = f"at most {most // length} for {n_inputs} inputs of length {length}"
        refuse("draws", draws, allowed)


@dataclass(frozen=True)
class OperandTask(Task):
    """A task whose label is a function of k operands at fixed positions.

    A task on this base says what its symbols are and what the label of some operands is; the
    rest (positions, distractors, draws, split, mirror rate) is done here, once.

    Attributes:
        length: T, the number of positions, the query included; k + 1 or more.
        positions: where the operands stand, in their order; None for every other
            position (0, 2, ...), or the first k where the length is short of that.
        distractors: what fills the other positions; see the module's text.
        alphabet: the number of distractor symbols; None: 4, or that the kind has none.
        draws: how many independent draws of distractors each input is seen with.
        train_fraction: the fraction of inputs that are trained on.
        split: ``"pair"`` (by ordered operands) or ``"unordered"`` (mirror images
            stay together).
    """

    length: int = 5
    positions: tuple[int, ...] | None = None
    distractors: DistractorKind = "alphabet"
    alphabet: int | None = None
    draws: int = 1
    train_fraction: float = 0.3
    split: SplitKind = "pair"

    commutes: ClassVar[bool] = False
    """Whether the label ignores the order of the operands."""

    def __post_init__(self) -> None:
        tuples_for_lists(self, "positions")
        self.check()
        check_length(self.length, self.n_operands)
        if self.positions is not None:
            check_positions(self.positions, self.n_operands, self.length)
        self.filler.check(self.length - 1 - self.n_operands)
        check_size(self.n_inputs, self.length, self.draws)
        check_split(self.train_fraction, self.n_inputs, self.split)

    # What a task on this base says.

    def check(self) -> None:
        """Refuse settings of one's own; called first, before the shared ones are read."""

    @property
    @abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """The names of the operand tokens; their ids count from 0."""

    @property
    def n_classes(self) -> int:
        """The number of target classes; as many as symbols unless overridden."""
        return len(self.symbols)

    @property
    def n_operands(self) -> int:
        """k, the number of operands."""
        return 2

    @property
    def n_inputs(self) -> int:
        """The number of distinct inputs in train and test together."""
        return len(self.symbols) ** self.n_operands

    def inputs(self, seed: int) -> Int[Tensor, "input operand"]:
        """The distinct inputs; the whole table, in ascending order, unless overridden."""
        table = torch.arange(len(self.symbols) ** self.n_operands)
        return decode(table, len(self.symbols), self.n_operands)

    @abstractmethod
    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The target class of each input: the function g of Definition 3.1."""

    def held_out(self, operands: Int[Tensor, "input operand"]) -> Bool[Tensor, " input"] | None:
        """The inputs that are never trained on, such as a hole in the table; None: none."""
        return None

    # What this base does.

    @property
    def informative(self) -> tuple[int, ...]:
        """I*, the positions of the operands, in the order of the operands."""
        if self.positions is not None:
            return self.positions
        k = self.n_operands
        # Every other position, as in "a + b . =", or the first k where that is too long.
        return tuple(range(0, 2 * k, 2)) if self.length >= 2 * k else tuple(range(k))

    @property
    def filler(self) -> Distractors:
        """The distractor settings as one value."""
        return Distractors(self.distractors, self.alphabet, self.draws)

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed, 0 or more.

        The split and the distractors have streams of their own: changing the kind of
        distractors leaves the split as it is.
        """
        check_int("seed", seed, 0)
        operands, base = self.inputs(seed), len(self.symbols)
        train, flags = split_operands(
            operands,
            base,
            self.split,
            self.train_fraction,
            seed,
            self.commutes,
            self.draws,
            self.held_out(operands),
        )
        gaps = [i for i in range(self.length - 1) if i not in self.informative]
        stream = generator(seed, "distractors")
        drawn = self.filler.draw(len(operands), len(gaps), base, stream)
        # [input, draw, pos]: the draws of one input stand next to each other.
        tokens = torch.full((len(operands), self.draws, self.length), base)
        tokens[:, :, list(self.informative)] = operands.unsqueeze(1)
        tokens[:, :, gaps] = drawn.transpose(0, 1)
        tokens = tokens.flatten(0, 1)
        mask = torch.zeros(self.length, dtype=torch.bool)
        mask[list(self.informative)] = True
        everything = Sequences(
            tokens=tokens,
            targets=self.label(operands).repeat_interleave(self.draws),
            informative=mask.expand(len(tokens), -1),
            group=encode(operands, base).repeat_interleave(self.draws),
        )
        vocabulary = (*self.symbols, QUERY, *self.filler.names(gaps))
        rows = train.repeat_interleave(self.draws)
        return TaskData(
            everything[rows], everything[~rows], vocabulary, self.n_classes, mirrored=flags
        )
