"""The base of all tasks with operands at fixed positions (Definition 3.1, k-sparse).

The target is a function of k operands alone, y = g(x at I*); distractors fill the rest.
A task on this base says what its symbols are and what the label of some operands is; the
rest (positions, distractors, draws, split, mirror rate) is done here, once.

Axis names: ``input`` (a distinct tuple of operands), ``operand`` (a place in it),
``sequence`` (an input with one draw of its distractors), ``pos`` (a position).
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.errors import check_int
from grokkit.seeding import generator
from grokkit.tasks.base import Sequences, Task, TaskData, tuples_for_lists
from grokkit.tasks.distractors import DistractorKind, Distractors
from grokkit.tasks.inputs import decode, encode
from grokkit.tasks.layout import (
    QUERY,
    check_length,
    check_positions,
    check_size,
    default_positions,
    fixed_mask,
    gaps_of,
    lay_out,
)
from grokkit.tasks.split import SplitKind, check_split, split_operands


@dataclass(frozen=True)
class OperandTask(Task):
    """A task whose label is a function of k operands at fixed positions.

    Attributes:
        length: T, the number of positions, the query included; k + 1 or more.
        positions: where the operands stand, in their order; None for every other
            position (0, 2, ...), or the first k where the length is short of that.
        distractors: what fills the other positions: ``"constant"``, ``"random"`` or
            ``"alphabet"``; see :mod:`grokkit.tasks.distractors`.
        alphabet: the number of distractor symbols; None for 4, and None for other kinds.
        draws: how many independent draws of distractors each input is seen with.
        train_fraction: the fraction of inputs that are trained on.
        split: ``"pair"`` (by ordered operands) or ``"unordered"`` (mirror images
            stay together).

    Raises:
        SettingError: a setting makes no sense; the message names it.
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
    def symbols(self) -> tuple[str, ...]:
        """The names of the operand tokens; their ids count from 0."""
        raise NotImplementedError

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

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The target class of each input: the function g of Definition 3.1."""
        raise NotImplementedError

    def held_out(self, operands: Int[Tensor, "input operand"]) -> Bool[Tensor, " input"] | None:
        """The inputs that are never trained on, such as a hole in the table; None: none."""
        return None

    # What this base does.

    @property
    def informative(self) -> tuple[int, ...]:
        """I*, the positions of the operands, in the order of the operands."""
        if self.positions is None:
            return default_positions(self.n_operands, self.length)
        return self.positions

    @property
    def filler(self) -> Distractors:
        """The distractor settings as one value."""
        return Distractors(self.distractors, self.alphabet, self.draws)

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed.

        The split and the distractors have streams of their own: changing the kind of
        distractors leaves the split as it is.

        Args:
            seed: 0 or more.

        Raises:
            SettingError: the seed is no whole number, or the fraction leaves one side
                of an unordered split empty.
        """
        check_int("seed", seed, 0)
        operands = self.inputs(seed)
        train, flags = split_operands(
            operands,
            len(self.symbols),
            self.split,
            self.train_fraction,
            seed,
            self.commutes,
            self.draws,
            self.held_out(operands),
        )
        everything = self._sequences(operands, seed)
        rows = train.repeat_interleave(self.draws)
        return TaskData(
            train=everything[rows],
            test=everything[~rows],
            vocabulary=self._vocabulary(),
            n_classes=self.n_classes,
            mirrored=flags,
        )

    def _vocabulary(self) -> tuple[str, ...]:
        gaps = gaps_of(self.informative, self.length)
        return (*self.symbols, QUERY, *self.filler.names(gaps))

    def _sequences(self, operands: Int[Tensor, "input operand"], seed: int) -> Sequences:
        base = len(self.symbols)
        n_gaps = self.length - 1 - self.n_operands
        stream = generator(seed, "distractors")
        distractors = self.filler.draw(len(operands), n_gaps, base, base + 1, stream)
        tokens = lay_out(operands, distractors, query=base, positions=self.informative)
        return Sequences(
            tokens=tokens,
            targets=self.label(operands).repeat_interleave(self.draws),
            informative=fixed_mask(self.informative, len(tokens), self.length),
            group=encode(operands, base).repeat_interleave(self.draws),
        )
