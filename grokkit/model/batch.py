"""The sequences of a group of runs, with the run axis in front.

The runs of a group may differ in their seed, and so in their split and their distractors;
they agree in the number of examples, the length, and the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.errors import refuse
from grokkit.tasks.base import Sequences, change_arrays


@dataclass(frozen=True, eq=False)
class Batch:
    """One set of sequences for each run, such as the train sets.

    Attributes:
        tokens: token ids.
        targets: the class of each sequence.
        informative: true where the target depends on the token, I*.
        oracle: alpha*, 1/k on the informative positions and 0 elsewhere; all 0 where no
            position is informative.
        query: the position that each example is read out at, which sees itself and what is
            before it; None where that is the last position of every sequence.
    """

    tokens: Int[Tensor, "run example pos"]
    targets: Int[Tensor, "run example"]
    informative: Bool[Tensor, "run example pos"]
    oracle: Float[Tensor, "run example pos"]
    query: Int[Tensor, "run example"] | None = None

    @classmethod
    def of(
        cls,
        sequences: Sequence[Sequences],
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> "Batch":
        """Stack one set of sequences per run, all of the same shape.

        Raises:
            SettingError: ``query`` is no position of the sequence, or ``informative`` is
                true at a position after the query.
        """

        def stack(name: str) -> Tensor:
            return torch.stack([getattr(one, name) for one in sequences]).to(device)

        informative = stack("informative")
        mask = informative.to(dtype)
        # Where there is no informative position the oracle is 0, and not 0/0.
        oracle = mask / mask.sum(dim=-1, keepdim=True).clamp_min(1)
        if all(one.query is None for one in sequences):
            return cls(stack("tokens"), stack("targets"), informative, oracle)
        query = torch.stack([one.query_position for one in sequences]).to(device)
        batch = cls(stack("tokens"), stack("targets"), informative, oracle, query)
        if bool(((query < 0) | (query >= batch.length)).any()):
            refuse("query", "a position outside", f"positions 0..{batch.length - 1}")
        if batch.future is not None and bool((informative & batch.future).any()):
            refuse("informative", "a position after the query", "what the query can see")
        return batch

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.tokens.shape[0]

    @property
    def examples(self) -> int:
        """The number of sequences of each run."""
        return self.tokens.shape[1]

    @property
    def length(self) -> int:
        """T, the number of positions, those after the query included."""
        return self.tokens.shape[2]

    @cached_property
    def query_position(self) -> Int[Tensor, "run example"]:
        """The position that each example is read out at."""
        if self.query is None:
            return torch.full_like(self.targets, self.length - 1)
        return self.query

    @cached_property
    def future(self) -> Bool[Tensor, "run example pos"] | None:
        """True after the query, where attention must be 0; None where nothing is."""
        if self.query is None:
            return None
        place = torch.arange(self.length, device=self.query.device)
        future = place > self.query.unsqueeze(-1)
        return future if bool(future.any()) else None

    @cached_property
    def fixed_query(self) -> bool:
        """Whether every example has the same query: one token, in the last position."""
        last = self.tokens[..., -1]
        return self.future is None and bool((last == last[0, 0]).all())

    @cached_property
    def graded(self) -> Int[Tensor, "run row"] | None:
        """The examples that have an informative position; None where all have.

        The others have nothing to be right about, such as the next random bit. Accuracy,
        and everything that compares with the oracle, is taken over graded examples.

        Raises:
            SettingError: no example is graded, or more of one run's than of another's.
        """
        graded = self.informative.any(dim=-1)
        if bool(graded.all()):
            return None
        counts = graded.sum(dim=1)
        if bool((counts != counts[0]).any()) or not bool(counts.any()):
            refuse("informative", counts.tolist(), "as many graded examples in every run, not 0")
        return graded.nonzero()[:, 1].view(self.runs, -1)

    def run(self, index: int) -> "Batch":
        """The sequences of one run, as a group of one."""
        return change_arrays(self, lambda part: part[index : index + 1])

    def take(self, rows: Int[Tensor, "run row"]) -> "Batch":
        """Some examples of each run, such as a minibatch; which ones is each run's own."""
        run = torch.arange(self.runs, device=rows.device).unsqueeze(1)
        return change_arrays(self, lambda part: part[run, rows])
