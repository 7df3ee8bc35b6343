"""Minibatches: which examples each optimizer step of an epoch sees.

An epoch is one pass over a permutation of the train set, cut into pieces of batch_size;
the last piece is smaller where the size does not divide the set. The permutation is drawn
from the run's seed and the number of the epoch, so that a resumed run needs no state, and
a run's order does not depend on its group.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.errors import refuse


class Minibatches:
    """The minibatches of a group of runs.

    Args:
        size: the number of examples in each but the last.
        examples: the number of train examples of each run.
        seeds: the seed of each run.
        device: where the numbers of the examples are wanted.

    Raises:
        SettingError: the size is not below the number of examples: that is a full batch,
            which is ``batch_size=None``.
    """

    def __init__(
        self, size: int, examples: int, seeds: Sequence[int], device: torch.device | str = "cpu"
    ) -> None:
        if size >= examples:
            allowed = f"1..{examples - 1}, or None for all {examples} train examples"
            refuse("batch_size", size, allowed)
        self.size = size
        self.examples = examples
        self.seeds = list(seeds)
        self.device = torch.device(device)

    def __call__(self, epoch: int) -> Iterator[Int[Tensor, "run row"]]:
        """The examples of each step of an epoch, each run's own."""
        order = torch.stack(
            [
                torch.randperm(self.examples, generator=generator(seed, f"batches/{epoch}"))
                for seed in self.seeds
            ]
        )
        yield from order.to(self.device).split(self.size, dim=1)
