"""Slots: the distinct (position, token) pairs of a data set.

In one layer the key and the value of a token depend on its position and its identity alone,
and not on its sequence. There are a few hundred such pairs, *slots*, and thousands of
sequences: compute keys and values once per slot and look them up. A score belongs to two
slots, the query's and the key's, so scores are a table of pairs. Where the query is the same
in every sequence, the "=" sign, that table has a single row. This is exact, and it is why
grokkit is fast.

The second half of this file sums over slots, with a backward pass that never scatters vectors.

    pooled[row] = sum over its entries of attention[entry] * values[cell(entry)]

Left to autograd, the gradient with respect to ``values`` writes one vector per (example,
position) into a small table: slow, for no place may be written twice at a time. But which
row reads which cell is known beforehand (:class:`Readers`), so that
gradient is again a weighted sum over neighbours, the same operation as the forward pass:

    d values[cell] = sum over its entries of attention[entry] * d pooled[row(entry)]

The sums are PyTorch's ``embedding_bag``, which runs on every CPU and GPU. It also has the
gradient with respect to its weights, d attention[entry] = values[cell] . d pooled[row].
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from grokkit.errors import refuse
from grokkit.model.batch import Batch


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of a batch, and which of them each sequence uses.

    Runs share the list of slots; which sequence reads which slot is each run's own.

    Attributes:
        position: the position of each slot.
        token: the token of each slot.
        queries: the slots that are some example's query.
        index: the slot at each position of each sequence.
        query_index: which of the queries each example has; None where there is one.
        future: true at positions after an example's query; None where there are none.
    """

    position: Int[Tensor, " slot"]
    token: Int[Tensor, " slot"]
    queries: Int[Tensor, " query"]
    index: Int[Tensor, "run example pos"]
    query_index: Int[Tensor, "run example"] | None = None
    future: Bool[Tensor, "run example pos"] | None = None

    @classmethod
    def of(cls, batch: Batch, length: int | None = None) -> "Slots":
        """The slots of these sequences.

        The last token counts as position length - 1, so that in sequences of any length
        "=" is the same query; a longer sequence differs in its distractors alone.

        Args:
            batch: the sequences.
            length: the number of rows of the position embedding, at least the batch's
                own length, which is the default.
        """
        tokens = batch.tokens
        width = int(tokens.max()) + 1
        pair = tokens + width * torch.arange(tokens.shape[-1], device=tokens.device)
        used, index = torch.unique(pair, return_inverse=True)
        position = used // width
        position[position == tokens.shape[-1] - 1] = (length or tokens.shape[-1]) - 1
        at_query = index.gather(2, batch.query_position.unsqueeze(-1)).squeeze(-1)
        queries, query_index = torch.unique(at_query, return_inverse=True)
        one = len(queries) == 1
        return cls(
            position, used % width, queries, index, None if one else query_index, batch.future
        )

    def __len__(self) -> int:
        return len(self.token)

    @cached_property
    def used(self) -> Bool[Tensor, "run slot"]:
        """Which slots occur in each run's own sequences: runs share the list."""
        index = self.index.flatten(1)
        blank = torch.zeros(len(index), len(self), dtype=torch.bool, device=index.device)
        return blank.scatter_(1, index, True)

    @property
    def query(self) -> int:
        """The slot of the query, where every example has the same.

        Raises:
            SettingError: queries differ; what asks for *the* query is not defined then.
        """
        if len(self.queries) > 1:
            refuse("query", f"{len(self.queries)} different queries", "a task with one query")
        return int(self.queries[0])

    def take(self, rows: Int[Tensor, "run row"]) -> "Slots":
        """The slots of some examples of each run; the list of slots stays as it is."""
        run = torch.arange(len(rows), device=rows.device).unsqueeze(1)
        index, query_index, future = (
            None if part is None else part[run, rows]
            for part in (self.index, self.query_index, self.future)
        )
        assert index is not None
        return Slots(self.position, self.token, self.queries, index, query_index, future)

    def readers(self, heads: int) -> "Readers":
        """Who reads which slot, for a number of heads."""
        device, runs = self.index.device, self.index.shape[0]
        index = _cells(self.index, len(self), heads)
        counts = torch.bincount(index.flatten(), minlength=runs * len(self) * heads)
        order = torch.argsort(index.flatten(), stable=True)
        reads = index.shape[1]
        pair = index
        if self.query_index is not None:
            numbers = self.index + len(self) * self.query_index.unsqueeze(-1)
            pair = _cells(numbers, len(self.queries) * len(self), heads)
        return Readers(
            index=index,
            order=order,
            row=order // reads,
            starts=counts.cumsum(0) - counts,
            row_of_entry=torch.arange(len(order), device=device) // reads,
            row_starts=reads * torch.arange(len(index), device=device),
            pair=pair,
        )


def _cells(
    number: Int[Tensor, "run example pos"], size: int, heads: int
) -> Int[Tensor, "row read"]:
    """Where in a flattened [run, size, head] table each example reads, for every head."""
    runs, device = number.shape[0], number.device
    cell = number[..., None] * heads + torch.arange(heads, device=device)
    cell = cell + size * heads * torch.arange(runs, device=device).view(-1, 1, 1, 1)
    return cell.flatten(2).flatten(0, 1)


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
        pair: where each entry's score stands in a table [run, query, slot, head]; the
            same as ``index`` where there is one query.
    """

    index: Int[Tensor, "row read"]
    order: Int[Tensor, " entry"]
    row: Int[Tensor, " entry"]
    starts: Int[Tensor, " cell"]
    row_of_entry: Int[Tensor, " entry"]
    row_starts: Int[Tensor, " row"]
    pair: Int[Tensor, "row read"]


class _WithValuesGradient(torch.autograd.Function):
    """The identity on ``pooled`` that sends its gradient to ``values``."""

    @staticmethod
    def forward(
        ctx: Any, pooled: Tensor, values: Tensor, attention: Tensor, readers: Readers
    ) -> Tensor:
        ctx.save_for_backward(attention)
        ctx.readers = readers
        return pooled.view_as(pooled)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (attention,) = ctx.saved_tensors
        readers: Readers = ctx.readers
        d_values = embedding_bag(
            readers.row,
            grads[0],
            readers.starts,
            per_sample_weights=attention.flatten()[readers.order],
            mode="sum",
        )
        return grads[0], d_values, None, None


def pool(
    attention: Float[Tensor, "row read"],
    values: Float[Tensor, "cell width"],
    readers: Readers,
) -> Float[Tensor, "row width"]:
    """Each row's attention-weighted sum of the cells that it reads.

    Differentiable in both. ``width`` may be the embedding, or the hidden layer: a sum
    commutes with a matrix, so the matrix may act on the few cells instead of on the many
    rows, pool(attention, values) W = pool(attention, values W).
    """
    pooled = embedding_bag(readers.index, values.detach(), per_sample_weights=attention, mode="sum")
    return _WithValuesGradient.apply(pooled, values, attention.detach(), readers)
