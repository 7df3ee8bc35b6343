"""Length generalisation: trained at one length, tested at longer ones as well."""

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

import torch

from grokkit.errors import refuse
from grokkit.seeding import generator
from grokkit.tasks.base import Sequences, TaskData, register_task, tuples_for_lists
from grokkit.tasks.layout import MAX_LENGTH, MAX_TOKENS
from grokkit.tasks.modular import ModularAddition


@register_task("longer_addition")
@dataclass(frozen=True)
class LongerAddition(ModularAddition):
    """Addition modulo p, with further test sets of longer sequences.

    A longer test set has the rows of the test set, in the same order, with more
    distractors between the old ones and the query:

        length 6:   a A b C B =
        length 8:   a A b C B D A =

    So the operands stay where they were in training, and the query is last as always. New
    to the model are a longer sum in the softmax, of which the distractors take more, and
    every position after ``length - 1``. A learned embedding of positions has had no
    training there, which shows in two places: in the scores of the new distractors, and
    in the query itself, which reads from where it never stood. A model whose query has
    one embedding wherever it stands meets only the first of these.

    The sets are nested: each holds the distractors of the shorter ones. Constant
    distractors are refused, since the tokens of the new positions would be unseen.

    Attributes:
        longer: the lengths of the further test sets, ascending, each above ``length``.
            The sets stand in ``TaskData.extra`` as ``"length 8"`` and so on.
    """

    length: int = 6
    longer: tuple[int, ...] = (8, 12, 16, 24)

    def __post_init__(self) -> None:
        tuples_for_lists(self, "longer")
        super().__post_init__()
        if self.distractors == "constant":
            refuse("distractors", self.distractors, "random, alphabet")
        good = (
            isinstance(self.longer, tuple)
            and len(self.longer) > 0
            and all(isinstance(n, int) and not isinstance(n, bool) for n in self.longer)
            and all(a < b for a, b in pairwise((self.length, *self.longer, MAX_LENGTH + 1)))
        )
        if not good:
            allowed = f"ascending lengths {self.length + 1}..{MAX_LENGTH}, at least one"
            refuse("longer", self.longer, allowed)
        most = MAX_TOKENS // (self.n_inputs * self.draws)
        if sum(self.longer) > most:
            refuse("longer", self.longer, f"lengths of {most} together for so many sequences")
        if self.length == 3 and self.distractors == "alphabet":
            # Without a distractor in training, its tokens would be missing or untrained.
            refuse("length", self.length, "4 or more: some distractors must be trained on")

    def build(self, seed: int) -> TaskData:
        """The data of :class:`ModularAddition`, and the longer test sets.

        Args:
            seed: 0 or more.

        Raises:
            SettingError: as for any task with operands.
        """
        data = super().build(seed)
        test = data.test
        once = dataclasses.replace(self.filler, draws=1)
        stream = generator(seed, "longer distractors")
        n_more = self.longer[-1] - self.length
        (more,) = once.draw(len(test), n_more, self.p, self.p + 1, stream)
        extra = {f"length {n}": _insert(test, more[:, : n - self.length]) for n in self.longer}
        return dataclasses.replace(data, extra=extra)


def _insert(short: Sequences, more: torch.Tensor) -> Sequences:
    """The same sequences with more distractors before the query."""
    tokens = torch.cat((short.tokens[:, :-1], more, short.tokens[:, -1:]), dim=1)
    blank = torch.zeros_like(more, dtype=torch.bool)
    mask = torch.cat((short.informative[:, :-1], blank, short.informative[:, -1:]), dim=1)
    return Sequences(tokens, short.targets, mask, short.group)
