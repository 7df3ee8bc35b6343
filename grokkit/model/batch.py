"""The sequences of a group of runs, with the run axis in front.

The runs of a group may differ in their seed, and so in their split and their distractors;
they agree in the number of examples, the length, and the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.tasks.base import Sequences


@dataclass(frozen=True, eq=False)
class Batch:
    """One set of sequences for each run, such as the train sets.

    Attributes:
        tokens: token ids; the last position is the query.
        targets: the class of each sequence.
        informative: true where the target depends on the token, I*.
        oracle: alpha*, 1/k on the informative positions and 0 elsewhere.
    """

    tokens: Int[Tensor, "run example pos"]
    targets: Int[Tensor, "run example"]
    informative: Bool[Tensor, "run example pos"]
    oracle: Float[Tensor, "run example pos"]

    @classmethod
    def of(
        cls,
        sequences: Sequence[Sequences],
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> "Batch":
        """Stack one set of sequences per run, all of the same shape."""

        def stack(name: str) -> Tensor:
            return torch.stack([getattr(one, name) for one in sequences]).to(device)

        informative = stack("informative")
        mask = informative.to(dtype)
        oracle = mask / mask.sum(dim=-1, keepdim=True)
        return cls(stack("tokens"), stack("targets"), informative, oracle)

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.tokens.shape[0]

    @property
    def examples(self) -> int:
        """The number of sequences of each run."""
        return self.tokens.shape[1]

    def run(self, index: int) -> "Batch":
        """The sequences of one run, as a group of one."""
        one = slice(index, index + 1)
        return Batch(self.tokens[one], self.targets[one], self.informative[one], self.oracle[one])
