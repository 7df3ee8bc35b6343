"""Where to look, when places are not enough: longer sequences, and operands that move.

In most tasks I* is fixed, so attention may learn *positions*. :class:`LongerAddition` tests
such a network on longer sequences. In :class:`MarkedAddition` the two positions are drawn for
every sequence, and the operands carry a mark, so attention must learn *tokens*: the oracle
differs from sequence to sequence.

Why the mark is in the token. In one layer the score of position j is
l_j = (W_Q e_q) . (W_K e_j) / sqrt(d) with e_j = E[x_j] + P_j and a fixed query e_q: a
function of the token at j and of j alone. A marker token *beside* an operand changes the
score of its own position and no other, so one layer cannot attend to "whatever follows
a marker"; that takes a second layer, to carry the mark over first. So marker and operand
are fused: each number has a marked token, ``"17*"``, apart from the plain ``"17"``. Then
one direction that all marked embeddings share, with W_Q e_q along it, puts the attention
on I* wherever it is; and since addition ignores order, the pooled values suffice.
"""

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

import torch

from grokkit.core.common import stream as generator
from grokkit.errors import check_int, refuse
from grokkit.tasks.arithmetic import MAX_P, ModularAddition
from grokkit.tasks.base import Sequences, Task, TaskData, register_task, tuples_for_lists
from grokkit.tasks.operands import (
    MAX_LENGTH,
    MAX_TOKENS,
    QUERY,
    RANDOM_KINDS,
    DistractorKind,
    Distractors,
    check_length,
    check_size,
)
from grokkit.tasks.split import SplitKind, check_split, decode, encode, split_operands


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
        if not self.filler.drawn_anew:
            refuse("distractors", self.distractors, ", ".join(RANDOM_KINDS))
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
        if self.length == 3 and self.distractors != "random":
            # Without a distractor in training, its tokens would be missing or untrained.
            refuse("length", self.length, "4 or more: some distractors must be trained on")

    def build(self, seed: int) -> TaskData:
        """The data of :class:`ModularAddition`, and the longer test sets."""
        data = super().build(seed)
        test = data.test
        once = dataclasses.replace(self.filler, draws=1)
        stream = generator(seed, "longer distractors")
        n_more = self.longer[-1] - self.length
        (more,) = once.draw(len(test), n_more, self.p, stream)
        extra = {f"length {n}": _insert(test, more[:, : n - self.length]) for n in self.longer}
        return dataclasses.replace(data, extra=extra)


def _insert(short: Sequences, more: torch.Tensor) -> Sequences:
    """The same sequences with more distractors before the query."""
    tokens = torch.cat((short.tokens[:, :-1], more, short.tokens[:, -1:]), dim=1)
    blank = torch.zeros_like(more, dtype=torch.bool)
    mask = torch.cat((short.informative[:, :-1], blank, short.informative[:, -1:]), dim=1)
    return Sequences(tokens, short.targets, mask, short.group)


@register_task("marked_addition")
@dataclass(frozen=True)
class MarkedAddition(Task):
    """a + b modulo p, with a and b marked and anywhere before the query, a before b.

    Token ids: 0..p-1 the marked numbers, p the query, then the distractors' tokens. To a
    network these are names only, so plain numbers as distractors are an alphabet of p.

    Attributes:
        p: the modulus, 2..1000.
        length: T, the number of positions, the query included; 3 or more.
        distractors: a kind that is drawn at random: a token of a position's own would give the
            operands' places away. Where it draws operands (``"random"``), plain numbers.
        alphabet: the number of distractor symbols; None: 4, or that there is none.
        draws: how many sequences each pair gives, every one with positions and
            distractors of its own.
        train_fraction: the fraction of pairs that are trained on.
        split: ``"pair"`` or ``"unordered"``, as in :mod:`grokkit.tasks.split`.
    """

    p: int = 113
    length: int = 6
    distractors: DistractorKind = "alphabet"
    alphabet: int | None = None
    draws: int = 1
    train_fraction: float = 0.3
    split: SplitKind = "pair"

    def __post_init__(self) -> None:
        check_int("p", self.p, 2, MAX_P)
        check_length(self.length, k=2)
        self._filler.check(self.length - 3)
        if not self._filler.drawn_anew:
            refuse("distractors", self.distractors, ", ".join(RANDOM_KINDS))
        check_size(self.n_inputs, self.length, self.draws)
        check_split(self.train_fraction, self.n_inputs, self.split)

    @property
    def n_inputs(self) -> int:
        """The number of distinct pairs in train and test together."""
        return self.p**2

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed, 0 or more: split, positions and distractors."""
        check_int("seed", seed, 0)
        n = self.n_inputs
        pairs = decode(torch.arange(n), self.p, 2)
        train, flags = split_operands(
            pairs, self.p, self.split, self.train_fraction, seed, commutes=True, draws=self.draws
        )
        names = self._filler.names(range(self.length - 3))
        stream = generator(seed, "distractors")
        filled = self._filler.draw(n, self.length - 1, self.p, stream)
        # A number among the distractors is plain: its token follows all others.
        filled = torch.where(filled < self.p, filled + self.p + 1 + len(names), filled)
        # The first two of a random order of the positions are a random pair of them.
        stream = generator(seed, "positions")
        chance = torch.rand(filled.shape, generator=stream, dtype=torch.float32)
        places = chance.argsort(dim=2)[:, :, :2].sort(dim=2).values
        filled = filled.scatter(2, places, pairs.expand(self.draws, n, 2))
        mask = torch.zeros(filled.shape, dtype=torch.bool).scatter(2, places, True)
        # From (draw, input) to sequences with the draws of one pair next to each other.
        tokens, informative = (x.transpose(0, 1).flatten(0, 1) for x in (filled, mask))
        query = torch.full((len(tokens), 1), self.p)
        everything = Sequences(
            tokens=torch.cat((tokens, query), dim=1),
            targets=(pairs.sum(dim=1) % self.p).repeat_interleave(self.draws),
            informative=torch.cat((informative, torch.zeros_like(query, dtype=torch.bool)), dim=1),
            group=encode(pairs, self.p).repeat_interleave(self.draws),
        )
        rows = train.repeat_interleave(self.draws)
        marked = (f"{number}*" for number in range(self.p))
        plain = map(str, range(self.p if self._filler.draws_operands else 0))
        vocabulary = (*marked, QUERY, *names, *plain)
        return TaskData(everything[rows], everything[~rows], vocabulary, self.p, mirrored=flags)

    @property
    def _filler(self) -> Distractors:
        return Distractors(self.distractors, self.alphabet, self.draws)
