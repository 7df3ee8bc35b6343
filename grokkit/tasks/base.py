"""What a sparse task is, and the data that it becomes (Definition 3.1).

A *task* is a small frozen dataclass of settings (``ModularAddition(p=43, ...)``); its
``build(seed)`` makes *task data*: token sequences, target classes, and the positions on
which the target truly depends. Everything later in the package sees only task data.

Axis names: ``example`` (a sequence), ``pos`` (a position in it).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.errors import refuse
from grokkit.registry import Registry

D = TypeVar("D", bound=Any)


@dataclass(frozen=True, eq=False)
class Sequences:
    """A set of sequences with their targets: a train set, a test set, or a longer one.

    Attributes:
        tokens: token ids; the last one is the "=" sign.
        targets: the class of each sequence.
        informative: true where the target depends on the token: the set I* of each
            sequence. The same row for every sequence where I* is fixed. A row without any
            is an example with nothing to be right about, such as the next random bit.
        group: the number of the underlying input (an operand pair, a bit string), the
            same for several distractor draws of it. No group is in train and test.
        query: the position of each sequence's query, which is what the target is read out
            at; it sees itself and the positions before it. None for the last position.
    """

    tokens: Int[Tensor, "example pos"]
    targets: Int[Tensor, " example"]
    informative: Bool[Tensor, "example pos"]
    group: Int[Tensor, " example"]
    query: Int[Tensor, " example"] | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, rows: Tensor | slice) -> "Sequences":
        return change_arrays(self, lambda part: part[rows])

    @property
    def length(self) -> int:
        """T, the number of positions, the query included."""
        return self.tokens.shape[1]

    @cached_property
    def oracle(self) -> Float[Tensor, "example pos"]:
        """alpha*, the oracle attention: 1/k on the informative positions, 0 elsewhere.

        All 0, which is no distribution, for an example without informative positions.
        """
        mask = self.informative.to(torch.float32)
        return mask / mask.sum(dim=1, keepdim=True).clamp_min(1)

    @property
    def query_position(self) -> Int[Tensor, " example"]:
        """The position of each sequence's query."""
        if self.query is None:
            return torch.full_like(self.targets, self.length - 1)
        return self.query


def change_arrays(one: D, change: Callable[[Tensor], Tensor], **more: object) -> D:
    """A copy of a dataclass in which each tensor is changed, and ``more`` is as given."""
    parts = {field.name: getattr(one, field.name) for field in fields(one)}
    arrays = {name: change(part) for name, part in parts.items() if isinstance(part, Tensor)}
    return replace(one, **arrays, **more)


@dataclass(frozen=True, eq=False)
class TaskData:
    """Train and test sequences over one vocabulary. Train and test share no group.

    Attributes:
        train: the sequences that are trained on.
        test: the held-out sequences of the same kind.
        vocabulary: the name of each token id, for people: "17", "=", "A".
        n_classes: the number of target classes.
        extra: further test sets by name, such as longer sequences ("length 12").
        mirrored: which test sequences have a mirror image, the operands in another
            order, in the train set; None where operands do not commute.
        extra_mirrored: the same of each further test set, by name; empty where not known.
    """

    train: Sequences
    test: Sequences
    vocabulary: tuple[str, ...]
    n_classes: int
    extra: Mapping[str, Sequences] = field(default_factory=dict)
    mirrored: Bool[Tensor, " example"] | None = None
    extra_mirrored: Mapping[str, Bool[Tensor, " _"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in (self.train, self.test, *self.extra.values()):
            if len(one) == 0:
                continue
            least, most = int(one.targets.min()), int(one.targets.max())
            if least < 0 or most >= self.n_classes:
                refuse("targets", f"{least}..{most}", f"classes 0..{self.n_classes - 1}")
        if self.extra_mirrored and list(self.extra_mirrored) != list(self.extra):
            refuse("extra_mirrored", list(self.extra_mirrored), f"all or none of {[*self.extra]}")

    @property
    def n_tokens(self) -> int:
        """The number of token ids."""
        return len(self.vocabulary)

    @property
    def mirror_rate(self) -> float:
        """The fraction of test sequences that are mirrored; ``nan`` for None."""
        return float("nan") if self.mirrored is None else self.mirrored.double().mean().item()

    def spell(self, tokens: Int[Tensor, " pos"]) -> str:
        """One sequence in words: ``"17 A 5 C ="``."""
        return " ".join(self.vocabulary[token] for token in tokens.tolist())

    @property
    def max_length(self) -> int:
        """The longest sequence in any of the sets."""
        return max(s.length for s in (self.train, self.test, *self.extra.values()))


class Task(ABC):
    """The base of every task: a frozen dataclass of settings with a ``build``.

    A task of your own is a frozen dataclass that inherits from this class, is decorated
    with :func:`grokkit.tasks.register_task`, and refuses settings that make no sense in
    ``__post_init__`` (:func:`grokkit.errors.refuse` names the field).
    """

    kind: ClassVar[str]

    @abstractmethod
    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed: the split and the distractors."""


def tuples_for_lists(task: Any, *names: str) -> None:
    """Turn the named settings of a new task into tuples where they are lists.

    A task read from JSON has lists, and a learner may type one; a frozen task with a list
    in it could not be hashed. To be called first thing in ``__post_init__``.
    """
    for name in names:
        value = getattr(task, name)
        if isinstance(value, list):
            object.__setattr__(task, name, tuple(value))


tasks: Registry[Task] = Registry("task")
"""The tasks by name: ``tasks["modular_addition"]`` is :class:`ModularAddition`."""

register_task = tasks.register
"""A class decorator, ``@register_task("my_task")``, that adds a task to :data:`tasks`."""
