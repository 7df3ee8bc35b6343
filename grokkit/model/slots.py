"""Slots: the distinct (position, token) pairs of a data set.

The query token is the same in every sequence. So in one layer the score, the key and the
value of a token depend on its position and its identity alone, and not on its sequence.
There are a few hundred such pairs, *slots*, and thousands of sequences: compute keys and
values once per slot and look them up. This is exact, and it is why grokkit is fast.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from grokkit.errors import refuse
from grokkit.model.batch import Batch


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of a batch, and which of them each sequence uses.

    Runs share the list of slots; which sequence reads which slot is each run's own.

    Attributes:
        position: the position of each slot.
        token: the token of each slot.
        query: the number of the slot that holds the query.
        index: the slot at each position of each sequence.
    """

    position: Int[Tensor, " slot"]
    token: Int[Tensor, " slot"]
    query: int
    index: Int[Tensor, "run example pos"]

    @classmethod
    def of(cls, batch: Batch, length: int | None = None) -> "Slots":
        """The slots of these sequences.

        The query counts as position length - 1, so that in sequences of any length it is
        the same query; a longer sequence differs in its distractors alone.

        Args:
            batch: the sequences.
            length: the number of rows of the position embedding, at least the batch's
                own length, which is the default.

        Raises:
            SettingError: the last token is not the same in every sequence, so that keys
                and values could not be shared.
        """
        tokens = batch.tokens
        if not bool((tokens[..., -1] == tokens[0, 0, -1]).all()):
            refuse("tokens", "queries that differ", "the same query token in every sequence")
        width = int(tokens.max()) + 1
        pair = tokens + width * torch.arange(tokens.shape[-1], device=tokens.device)
        used, index = torch.unique(pair, return_inverse=True)
        query = int(index[0, 0, -1])
        position = used // width
        position[query] = (length or tokens.shape[-1]) - 1
        return cls(position, used % width, query, index)

    def __len__(self) -> int:
        return len(self.token)

    def readers(self, heads: int) -> "Readers":
        """Who reads which slot, for a number of heads."""
        device, runs = self.index.device, self.index.shape[0]
        block = len(self) * heads
        cell = self.index[..., None] * heads + torch.arange(heads, device=device)
        cell = cell + block * torch.arange(runs, device=device).view(-1, 1, 1, 1)
        index = cell.flatten(2).flatten(0, 1)
        counts = torch.bincount(index.flatten(), minlength=runs * block)
        order = torch.argsort(index.flatten(), stable=True)
        reads = index.shape[1]
        return Readers(
            index=index,
            order=order,
            row=order // reads,
            starts=counts.cumsum(0) - counts,
            row_of_entry=torch.arange(len(order), device=device) // reads,
            row_starts=reads * torch.arange(len(index), device=device),
        )


@dataclass(frozen=True, eq=False)
class Readers:
    """The reads of a whole group, as two lists: by sequence, and by what is read.

    A *cell* is a (run, slot, head); a *row* is a (run, example); an *entry* is one read,
    numbered row by row. A row sums the cells that it reads, and in the backward pass a
    cell sums the rows that read it. With entries sorted by cell both are sums over
    neighbours, without scattered writes.

    Attributes:
        index: the cell of each entry.
        order: the entries, sorted by their cell.
        row: the row of each of those sorted entries.
        starts: where the entries of each cell start in ``order``.
        row_of_entry: the row of each entry, in their own order.
        row_starts: the first entry of each row.
    """

    index: Int[Tensor, "row read"]
    order: Int[Tensor, " entry"]
    row: Int[Tensor, " entry"]
    starts: Int[Tensor, " cell"]
    row_of_entry: Int[Tensor, " entry"]
    row_starts: Int[Tensor, " row"]
