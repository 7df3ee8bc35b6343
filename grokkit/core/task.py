"""Chapter 1. A sparse task: the answer depends on a few of the positions (Definition 3.1).

A sequence has T positions. Its last token is always "=", the *query*, where the network reads
out its answer. k positions are *informative*, the set I*: the class is y = g(tokens on I*). The
tokens in between are *distractors*. With p = 113, T = 5 and four distractor symbols:

    position       0    1    2    3    4
    token         17    B   40    D    =        class: 17 + 40 = 57 (mod 113)
    informative    x         x
    oracle       1/2    0  1/2    0    0        alpha*: the attention on I* alone, evenly

Token ids: the operands 0..p-1, then "=" (id p), then the distractors' own symbols.

Axes: ``input`` (a pair of operands, or a bit string), ``operand`` (which of them), ``draw`` (one
filling of an input's distractors), ``example`` (a sequence of a set), ``pos`` (a position).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from grokkit.core.common import check_choice, refuse, stream
from grokkit.core.distractors import DISTRACTORS, Filling


class Rule(NamedTuple):
    """How operands make a class.

    ``label`` maps the operands a and b, each ``[input]``, to whole numbers ``[input]``, which are
    then taken modulo p. ``commutes`` says whether (b, a) has the class of (a, b).
    """

    label: Callable[[Tensor, Tensor], Tensor]
    commutes: bool


RULES: dict[str, Rule] = {
    "a+b": Rule(lambda a, b: a + b, True),
    "a-b": Rule(lambda a, b: a - b, False),
    "ab": Rule(lambda a, b: a * b, True),
    "a^2+b^2": Rule(lambda a, b: a**2 + b**2, True),
    "a^2+ab+b^2": Rule(lambda a, b: a**2 + a * b + b**2, True),
    "a^3+b^3": Rule(lambda a, b: a**3 + b**3, True),
    "a^3+ab+b^3": Rule(lambda a, b: a**3 + a * b + b**3, True),
}
"""The arithmetic tasks. A new one is a new line."""


@dataclass(frozen=True)
class Examples:
    """A set of sequences, such as the train set.

    Attributes:
        tokens: token ids, ``[example, pos]``; the last one is the query.
        targets: the class y of each sequence, ``[example]``.
        informative: true on I*, ``[example, pos]``.
    """

    tokens: Tensor
    targets: Tensor
    informative: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, rows: Tensor) -> "Examples":
        return Examples(self.tokens[rows], self.targets[rows], self.informative[rows])

    @property
    def oracle(self) -> Tensor:
        """alpha*, the oracle attention: 1/k on I* and 0 elsewhere, ``[example, pos]``."""
        mask = self.informative.double()
        return mask / mask.sum(dim=1, keepdim=True)

    @property
    def adversary(self) -> Tensor:
        """Attention spread evenly over the distractors, ``[example, pos]``; the query has none."""
        mask = (~self.informative).double()
        mask[:, -1] = 0
        if not mask.any(dim=1).all():
            refuse("target", "adversarial", "oracle: some sequences have no distractors")
        return mask / mask.sum(dim=1, keepdim=True)


@dataclass(frozen=True)
class Data:
    """What a task is for one seed. No input is in both sets.

    Attributes:
        train: the sequences that are trained on.
        test: the others.
        symbols: the name of each token id.
        n_classes: the number of classes.
        mirrored: which test sequences have their :func:`mirror_images` in the train set,
            ``[example]``; None where operands do not commute.
    """

    train: Examples
    test: Examples
    symbols: tuple[str, ...]
    n_classes: int
    mirrored: Tensor | None


@dataclass(frozen=True)
class Task:
    """Arithmetic on two operands modulo p.

    Attributes:
        rule: one of :data:`RULES`.
        p: the modulus, and so the number of operand tokens and of classes.
        length: T, the number of positions, 3 or more.
        positions: where a and b stand; None for 0 and 2, or 0 and 1 where T is 3.
        distractors: one of :data:`DISTRACTORS`.
        alphabet: the number of symbols of the distractors ``alphabet``.
        draws: the number of sequences for each pair, each with distractors of its own.
        train_fraction: the share of the p^2 pairs that is trained on.
        split: ``pair``: each (a, b) is drawn by itself; ``unordered``: (a, b) and (b, a) are
            always on the same side.
    """

    rule: str = "a+b"
    p: int = 113
    length: int = 5
    positions: tuple[int, int] | None = None
    distractors: str = "alphabet"
    alphabet: int = 4
    draws: int = 1
    train_fraction: float = 0.3
    split: str = "pair"

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_choice("distractors", self.distractors, DISTRACTORS)
        check_choice("split", self.split, ("pair", "unordered"))
        if self.length < 3:
            refuse("length", self.length, "3 or more: two operands and the query")
        places = self.informative
        if len(set(places)) < 2 or not set(places) <= set(range(self.length - 1)):
            refuse("positions", places, f"two of 0..{self.length - 2}, before the query")
        for name in ("alphabet", "draws"):
            if getattr(self, name) < 1:
                refuse(name, getattr(self, name), "1 or more")

    @property
    def informative(self) -> tuple[int, int]:
        """I*, the positions of a and b."""
        return self.positions or ((0, 2) if self.length > 3 else (0, 1))

    @property
    def gaps(self) -> list[int]:
        """The positions of the distractors."""
        return [pos for pos in range(self.length - 1) if pos not in self.informative]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The name of each token id."""
        own = DISTRACTORS[self.distractors].symbols(self.gaps, self.alphabet)
        return (*map(str, range(self.p)), "=", *own)

    def build(self, seed: int) -> Data:
        """The train and the test set of one seed.

        >>> data = Task(p=43, train_fraction=0.5).build(seed=0)
        >>> data.train.tokens.shape, len(data.test), data.n_classes
        (torch.Size([924, 5]), 925, 43)
        """
        numbers = torch.arange(self.p)
        pairs = torch.cartesian_prod(numbers, numbers)  # [input, operand]
        a, b = pairs.unbind(dim=1)
        rule = RULES[self.rule]

        # Tokens, [input, draw, pos].
        tokens = torch.full((len(pairs), self.draws, self.length), self.p)
        tokens[:, :, list(self.informative)] = pairs.unsqueeze(1)
        filling = Filling((self.draws, len(pairs), len(self.gaps)), self.p, self.alphabet)
        drawn = DISTRACTORS[self.distractors].draw(filling, stream(seed, "distractors"))
        tokens[:, :, self.gaps] = drawn.transpose(0, 1)

        # The number of the pair, and one that (a, b) and (b, a) share.
        ordered, unordered = a * self.p + b, torch.minimum(a, b) * self.p + torch.maximum(a, b)
        families = unordered if self.split == "unordered" else ordered
        train = split(families, self.train_fraction, stream(seed, "split"))  # [input]
        mirrored = None
        if rule.commutes:
            mirrored = mirror_images(unordered, train).repeat_interleave(self.draws)
        rows = train.repeat_interleave(self.draws)
        everything = examples(
            tokens.flatten(0, 1),
            (rule.label(a, b) % self.p).repeat_interleave(self.draws),
            self.informative,
        )
        return Data(everything[rows], everything[~rows], self.symbols, self.p, mirrored)


@dataclass(frozen=True)
class Parity:
    """Sparse parity: the class is the XOR of k bits out of n; the other bits are distractors.

    Attributes:
        bits: n; a sequence is n bits and the query.
        k: the number of informative bits.
        positions: the informative bits; None for the first k.
        examples: the number of bit strings, train and test together; at most 2^n.
        train_fraction: the share of them that is trained on.
    """

    bits: int = 40
    k: int = 3
    positions: tuple[int, ...] | None = None
    examples: int = 2000
    train_fraction: float = 0.5

    @property
    def informative(self) -> tuple[int, ...]:
        """I*, the positions of the informative bits."""
        return self.positions or tuple(range(self.k))

    def build(self, seed: int) -> Data:
        """The train and the test set of one seed.

        >>> data = Parity(bits=6, k=2, examples=64).build(seed=0)
        >>> len(data.train), len(data.test), data.symbols
        (32, 32, ('0', '1', '='))
        """
        codes = distinct(2**self.bits, self.examples, stream(seed, "inputs"))
        strings = codes.unsqueeze(1) >> torch.arange(self.bits).flip(0) & 1  # [input, operand]
        everything = examples(
            torch.cat((strings, torch.full((len(codes), 1), 2)), dim=1),
            strings[:, list(self.informative)].sum(dim=1) % 2,
            self.informative,
        )
        train = split(codes, self.train_fraction, stream(seed, "split"))
        return Data(everything[train], everything[~train], ("0", "1", "="), 2, None)


def examples(tokens: Tensor, targets: Tensor, informative: tuple[int, ...]) -> Examples:
    """Sequences that all have the same informative positions."""
    mask = torch.zeros_like(tokens, dtype=torch.bool)
    mask[:, list(informative)] = True
    return Examples(tokens, targets, mask)


def split(
    families: Tensor,
    train_fraction: float,
    generator: torch.Generator,
    held_out: Tensor | None = None,
) -> Tensor:
    """Which inputs are trained on, ``[input]``: families in random order, while there is room.

    A family is a set of inputs that stay on the same side.

    Args:
        families: the number of each input's family, ``[input]``.
        train_fraction: the share to train on; with families of two, to within one input.
        generator: the source of the random order.
        held_out: inputs whose families are not trained on, ``[input]``; None: there are none.
    """
    _, family, sizes = torch.unique(families, return_inverse=True, return_counts=True)
    room, size = round(train_fraction * len(families)), sizes.tolist()
    taken = [False] * len(size)
    out = set() if held_out is None else set(family[held_out].tolist())
    for one in torch.randperm(len(size), generator=generator).tolist():
        if size[one] <= room and one not in out:
            taken[one] = True
            room -= size[one]
    train = torch.tensor(taken)[family]
    if not train.any() or train.all():
        refuse("train_fraction", train_fraction, "a share that leaves inputs to train and to test")
    return train


def mirror_images(unordered: Tensor, train: Tensor) -> Tensor:
    """Which test inputs have their mirror image in the train set, ``[test input]``.

    To answer (a, b) where (b, a) is trained on it is enough to know that order does not matter.
    Accuracy on the other test inputs is the honest one. ``unordered`` is a number that (a, b)
    and (b, a) share, ``[input]``; ``train`` says which inputs are trained on, ``[input]``.
    """
    return torch.isin(unordered[~train], unordered[train])


def distinct(total: int, count: int, generator: torch.Generator) -> Tensor:
    """``count`` distinct numbers out of 0..total-1, ascending: every subset is equally likely."""
    if not 2 <= count <= total:
        refuse("examples", count, f"2..{total}")
    if count == total:
        return torch.arange(total)
    if total <= 2**22:
        return torch.randperm(total, generator=generator)[:count].sort().values
    # Too many to shuffle: draw until enough are distinct, then drop the excess at random.
    found = torch.empty(0, dtype=torch.int64)
    while len(found) < count:
        found = torch.cat((found, torch.randint(total, (count,), generator=generator))).unique()
    return found[torch.randperm(len(found), generator=generator)[:count]].sort().values
