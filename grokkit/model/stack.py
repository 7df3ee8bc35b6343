"""The general path: residual blocks one after the other, sequence by sequence.

In the first layer keys and values depend on (position, token) alone, and a single layer is
computed over slots (:mod:`grokkit.model.transformer`). From the second layer on a position
holds what it has read from its own sequence. So here every sequence has its queries, keys
and values. With x the stream, in each layer:

    q, k, v    = x W_Q, x W_K, x W_V           of every position of every sequence
    scores     l_ij = q_i . k_j / sqrt(d_head)
    attention  alpha_ij = softmax over j, none after i in a causal model
    added      = sum_j alpha_ij v_j            (then W_O, where there is one)

and the rest of the block (:mod:`grokkit.model.block`). In the last layer the only row i is that
of the query, as no other is read out; in the first, q, k and v are computed once per slot.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import embedding as look_up

from grokkit.errors import refuse
from grokkit.model.attention import Activations, Attention, Scores, attend
from grokkit.model.batch import Batch
from grokkit.model.block import after_attention, after_mlp, attention_reads, unembed
from grokkit.model.parameters import of_layer
from grokkit.model.slots import Slots
from grokkit.model.spec import ModelSpec


class Stack:
    """The forward pass through all layers of a model with the residual readout.

    Args:
        spec: the settings of the model.
        batch: the sequences of every run.
        slots: their slots.

    Raises:
        SettingError: there are several layers that are not causal, and positions after a
            query: a layer below would hand on what the query must not see.
    """

    def __init__(self, spec: ModelSpec, batch: Batch, slots: Slots) -> None:
        if batch.future is not None and spec.layers > 1 and not spec.causal:
            refuse("causal", False, "True with several layers and positions after a query")
        self.spec, self.batch = spec, batch
        run = torch.arange(batch.runs, device=batch.tokens.device).view(-1, 1, 1)
        # Where each position's slot stands in a flattened table [run, slot].
        self.cell: Int[Tensor, "run example pos"] = slots.index + len(slots) * run
        self.later: Bool[Tensor, "pos pos"] | None = None
        if spec.causal:
            every = torch.ones(batch.length, batch.length, dtype=torch.bool, device=run.device)
            self.later = every.triu(diagonal=1)

    def __call__(
        self, weights: Mapping[str, Tensor], slots: Float[Tensor, "run slot embed"]
    ) -> Activations:
        """Scores and attention of the query in every layer, and the logits."""
        scores: list[Scores] = []
        attention: list[Attention] = []
        rows = slots
        for layer in range(self.spec.layers):
            own = of_layer(weights, layer)
            reads = attention_reads(self.spec, own, rows)
            # The rows of the first layer are slots; from here on it is position by position.
            place = self.look_up if layer == 0 else self.fold
            query, key = (place(reads.scores @ own[name]) for name in ("W_Q", "W_K"))
            value, stream = place(reads.values @ own["W_V"]), place(rows)
            if layer == self.spec.layers - 1:
                query, stream = self.at_query(query), self.at_query(stream)
            of_query, where, pooled = self.attend(query, key, value)
            scores.append(of_query)
            attention.append(where)
            added = pooled.flatten(1, 2)
            if self.spec.output_projection:
                added = added @ own["W_O"]
            middle = after_attention(self.spec, own, stream.flatten(1, 2), added)
            hidden, rows = after_mlp(self.spec, own, middle)
        return Activations(
            scores=torch.cat(scores, dim=3),
            attention=torch.cat(attention, dim=3),
            hidden=hidden,
            logits=unembed(self.spec, weights, rows),
            final=rows,
            middle=middle,
            scores_by_layer=tuple(scores),
            kind=self.spec.attention,
        )

    def attend(
        self,
        query: Float[Tensor, "run example row embed"],
        key: Float[Tensor, "run example pos embed"],
        value: Float[Tensor, "run example pos embed"],
    ) -> tuple[Scores, Attention, Float[Tensor, "run example row embed"]]:
        """Scores and attention of the query; and of each row i sum_j alpha_ij v_j, heads abreast.

        The rows are those of every position, or the query's alone.
        """
        heads, rows = self.spec.heads, query.shape[2]
        q, k, v = (x.unflatten(-1, (heads, -1)).transpose(2, 3) for x in (query, key, value))
        table = (q @ k.transpose(3, 4) / math.sqrt(q.shape[-1])).movedim(2, -1)
        if rows == 1:
            scores = table.squeeze(2)
            if self.batch.future is not None:
                scores = scores.masked_fill(self.batch.future.unsqueeze(-1), -math.inf)
            each = scores
        else:
            if self.later is not None:
                table = table.masked_fill(self.later.unsqueeze(-1), -math.inf)
            # Taken out and put back, so that they can be asked for their gradient.
            scores = self.at_query(table).squeeze(2)
            each = table.scatter(2, self._where(table), scores.unsqueeze(2)).flatten(1, 2)
        oracle = self.batch.oracle if rows == 1 else None  # which only the query has
        attention = attend(each, self.spec.attention, oracle)
        by_row = attention.unflatten(1, (-1, rows))
        pooled = (by_row.movedim(-1, 2) @ v).transpose(2, 3).flatten(3)
        return scores, self.at_query(by_row).squeeze(2) if rows > 1 else attention, pooled

    def look_up(self, table: Float[Tensor, "run slot width"]) -> Float[Tensor, "run example pos _"]:
        """The table's row for each position of each sequence."""
        return look_up(self.cell, table.flatten(0, 1))

    def fold(self, rows: Float[Tensor, "run row width"]) -> Float[Tensor, "run example pos _"]:
        """Rows that are the positions of all sequences, sequence by sequence."""
        return rows.unflatten(1, (self.batch.examples, -1))

    def at_query(self, of_all: Float[Tensor, "run example pos *more"]) -> Tensor:
        """What stands at each example's query: ``[run, example, 1, *more]``."""
        return of_all.gather(2, self._where(of_all))

    def _where(self, like: Tensor) -> Tensor:
        """The query's place along the axis of positions, shaped to be gathered with."""
        position = self.batch.query_position.view(*like.shape[:2], 1, *[1] * (like.dim() - 3))
        return position.expand(*like.shape[:2], 1, *like.shape[3:])
