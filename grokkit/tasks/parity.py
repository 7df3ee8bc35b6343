"""Sparse parity: the XOR of k bits out of n, the classic task with most of it distractors.

:class:`AutoregressiveParity` is the same as next-token prediction: every position asks, and
one answer is knowable. A sequence is n bits, "=" and their parity. A language model is trained
to say the next token at every position, from that position and the ones before it alone. So
one string is n + 1 examples, each with its own query:

    0 1 1 0 = 1       query at      sees         target    can it be known?
                      position 0    0            1         no: a fresh bit
                      position 1    0 1          1         no
                      position 2    0 1 1        0         no
                      position 3    0 1 1 0      =         yes, from where it stands
                      position 4    0 1 1 0 =    1         yes, from the k informative bits

No network predicts a fresh bit with less than ln 2 nats. It can memorise those of its train
strings, from the prefix on at which they differ, and will then do worse than ln 2 on others.

The informative positions of the last query are the k bits. No others have any: there the
oracle is undefined, a prior that compares with it adds nothing, and accuracy is not taken.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from grokkit import core
from grokkit.errors import check_choice, check_int, refuse
from grokkit.tasks.base import Sequences, Task, TaskData, register_task, tuples_for_lists
from grokkit.tasks.operands import MAX_TOKENS, check_positions
from grokkit.tasks.split import check_split, encode

DEFAULT_EXAMPLES = 2000
MAX_EXAMPLES = 500_000
MAX_BITS = 62


@register_task("sparse_parity")
@dataclass(frozen=True)
class SparseParity(Task):
    """y = x_i1 XOR ... XOR x_ik for k fixed positions among n random bits.

    The input is the whole bit string, and the distractors are its other bits: so there
    is no setting for their kind, and an input is never seen with other distractors. All
    bits share the tokens "0" and "1"; only its position tells what a bit is for.

    Attributes:
        bits: n, the number of bits, 1..62; a sequence is n bits and the query.
        k: the number of informative bits, 1..n.
        positions: the informative bits; None for the first k.
        examples: the number of distinct bit strings in train and test together; None
            for 2000, or for all 2^n where there are fewer.
        train_fraction: the fraction of bit strings that are trained on.

    >>> data = SparseParity(bits=6, k=2).build(seed=0)
    >>> len(data.train), len(data.test), data.vocabulary
    (32, 32, ('0', '1', '='))
    """

    bits: int = 40
    k: int = 3
    positions: tuple[int, ...] | None = None
    examples: int | None = None
    train_fraction: float = 0.5

    def __post_init__(self) -> None:
        tuples_for_lists(self, "positions")
        # Above 62 bits the number of a bit string no longer fits a 64-bit integer.
        check_int("bits", self.bits, 1, MAX_BITS)
        check_int("k", self.k, 1, self.bits)
        if self.positions is not None:
            check_positions(self.positions, self.k, self.bits + 1)
        if self.examples is not None:
            check_int("examples", self.examples, 2, min(2**self.bits, MAX_EXAMPLES))
        check_split(self.train_fraction, self.n_inputs)

    @property
    def informative(self) -> tuple[int, ...]:
        """I*, the positions of the informative bits."""
        return tuple(range(self.k)) if self.positions is None else self.positions

    @property
    def n_inputs(self) -> int:
        """The number of distinct bit strings in train and test together."""
        return self.examples or min(2**self.bits, DEFAULT_EXAMPLES)

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed, 0 or more: which bit strings, and the split."""
        check_int("seed", seed, 0)
        k, chosen = len(self.informative), self.informative
        data = core.Parity(self.bits, k, chosen, self.n_inputs, self.train_fraction).build(seed)
        train, test = (
            Sequences(one.tokens, one.targets, one.informative, encode(one.tokens[:, :-1], 2))
            for one in (data.train, data.test)
        )
        return TaskData(train, test, vocabulary=data.symbols, n_classes=2)


@register_task("autoregressive_parity")
@dataclass(frozen=True)
class AutoregressiveParity(SparseParity):
    """Sparse parity as next-token prediction, with a causal mask (Appendix G).

    Classes are tokens: "0", "1" and "=". The loss is the mean over all examples, so the
    answer has 1 / (bits + 1) of it. A batch of m examples is m prefixes, of any strings.

    Train and test accuracy are those of the answer alone: the test set has no other queries,
    and of the train set only examples with informative positions are graded. The next bits
    of the test strings are a further test set, ``"next bit"``.

    Attributes:
        bits: n, the number of bits, 1..62; a sequence is n bits and "=".
        predict: ``"all"`` to train on the next token at every position; ``"answer"`` to train
            on the last one alone, which is sparse parity with a third class that never occurs.

    >>> data = AutoregressiveParity(bits=6, k=2).build(seed=0)
    >>> len(data.train), len(data.test), data.n_classes
    (224, 32, 3)
    """

    bits: int = 20
    predict: Literal["all", "answer"] = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("predict", self.predict, ("all", "answer"))
        most = MAX_TOKENS // (self.bits + 1) ** 2
        if self.predict == "all" and self.n_inputs > most:
            refuse("examples", self.examples, f"at most {most} strings of {self.bits} bits")

    def build(self, seed: int) -> TaskData:
        """The data of :class:`SparseParity` for one seed, as next-token examples."""
        data = replace(super().build(seed), n_classes=3)
        if self.predict == "answer":
            return data
        bits = next_token(data.test)
        # With one bit there is no bit after another.
        extra = {"next bit": bits[bits.query_position < self.bits - 1]} if self.bits > 1 else {}
        return replace(data, train=next_token(data.train), extra=extra)


def next_token(answers: Sequences) -> Sequences:
    """The next-token examples of some sequences, those of one sequence side by side.

    Returns:
        As many examples as there are tokens, with a query each; only the last of a sequence
        keeps its informative positions.
    """
    examples, length = answers.tokens.shape
    query = torch.arange(length).expand(examples, length)
    following = torch.cat((answers.tokens[:, 1:], answers.targets[:, None]), dim=1)
    last = (query == length - 1).flatten()
    return Sequences(
        tokens=answers.tokens.repeat_interleave(length, dim=0),
        targets=following.flatten(),
        informative=answers.informative.repeat_interleave(length, dim=0) & last[:, None],
        group=answers.group.repeat_interleave(length),
        query=query.flatten(),
    )
