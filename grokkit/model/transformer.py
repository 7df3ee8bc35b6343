"""The model: attention over slots, and what reads it out (section 3.2).

The formulas are those of :mod:`grokkit.core.model`, for slot j with embedding e_j and query slot
q, which is "=" in the last position unless the data set has other queries.

Values are computed once per slot, scores once per pair of a query and a slot, and both are
looked up per sequence. A position after its query, which only next-token prediction has,
gets the score -inf, and so attention 0 and no gradient: the causal mask. In the classifier
readout W_1 also acts on slots, since W_1 sum_j alpha_j v_j = sum_j alpha_j (W_1 v_j):
then no product with W_1 ever meets the sequences.

A norm before attention (:mod:`grokkit.model.norm`) is a function of the slot like all else:
e_j above is then its norm, for the scores, the values, or both. What comes after attention in
the residual readout is in :mod:`grokkit.model.block`; several layers are in
:mod:`grokkit.model.stack`.
"""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.model.attention import Activations, Attention, Scores, attend
from grokkit.model.batch import Batch
from grokkit.model.block import after_attention, after_mlp, attention_reads, unembed
from grokkit.model.slots import Readers, Slots, pool
from grokkit.model.spec import ModelSpec
from grokkit.model.stack import Stack


class Transformer:
    """The forward pass for one batch of sequences; the weights are passed in.

    With several layers, ``slot_scores`` and ``slot_values`` are the first layer's.

    Args:
        spec: the settings of the model.
        batch: the sequences of every run.
        length: the number of positions the weights know; by default the batch's length.
        slots: the slots of the batch, where they are known already.

    Raises:
        SettingError: several layers that are not causal, and positions after a query.
    """

    def __init__(
        self,
        spec: ModelSpec,
        batch: Batch,
        length: int | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.spec = spec
        self.batch = batch
        self.slots = Slots.of(batch, length) if slots is None else slots
        self.readers: Readers = self.slots.readers(spec.heads)
        self.stack = Stack(spec, batch, self.slots) if spec.layers > 1 else None

    def take(self, rows: Int[Tensor, "run row"]) -> "Transformer":
        """The forward pass for some examples of each run, such as a minibatch."""
        return Transformer(self.spec, self.batch.take(rows), slots=self.slots.take(rows))

    def embed(self, weights: Mapping[str, Tensor]) -> Float[Tensor, "run slot embed"]:
        """e_j, the position-aware embedding of every slot."""
        return weights["token_embedding"].index_select(1, self.slots.token) + weights[
            "position_embedding"
        ].index_select(1, self.slots.position)

    def slot_scores(
        self, weights: Mapping[str, Tensor], embedding: Float[Tensor, "run slot embed"]
    ) -> Float[Tensor, "run query slot head"]:
        """l, the score of every slot for every query."""
        heads = self.spec.heads
        read = attention_reads(self.spec, weights, embedding).scores
        query = read.index_select(1, self.slots.queries) @ weights["W_Q"]
        key = read @ weights["W_K"]
        if len(self.slots.queries) == 1:
            by_head = (query * key).unflatten(-1, (heads, -1)).sum(-1).unsqueeze(1)
        else:
            q, k = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (query, key))
            by_head = (q @ k.transpose(2, 3)).movedim(1, -1)
        return by_head / math.sqrt(self.spec.d_model // heads)

    def slot_values(
        self, weights: Mapping[str, Tensor], embedding: Float[Tensor, "run slot embed"]
    ) -> Float[Tensor, "run slot head embed"]:
        """v, what each head adds to h per unit of attention on a slot; W_O folded in.

        Without W_O, head i owns its own d_head of the coordinates and is 0 elsewhere.
        """
        identity = torch.eye(self.spec.d_model, device=embedding.device, dtype=embedding.dtype)
        out = weights["W_O"] if self.spec.output_projection else identity.expand_as(weights["W_V"])
        read = attention_reads(self.spec, weights, embedding).values
        return self.through(read @ weights["W_V"], out)

    def through(self, value: Tensor, matrix: Tensor) -> Tensor:
        """Each head's part of ``value`` times its rows of ``matrix``: [run slot head out].

        Args:
            value: ``[run, slot, embed]``, the heads side by side.
            matrix: ``[run, embed, out]``.
        """
        heads = self.spec.heads
        if heads == 1:
            return (value @ matrix).unsqueeze(2)
        parts = value.unflatten(-1, (heads, -1)).transpose(1, 2)
        return (parts @ matrix.unflatten(1, (heads, -1))).transpose(1, 2)

    def through_backward(
        self, value: Tensor, matrix: Tensor, grad: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The gradients of :meth:`through` for value and matrix, given that of its result."""
        heads = self.spec.heads
        if heads == 1:
            grad = grad.squeeze(2)
            return grad @ matrix.transpose(1, 2), value.transpose(1, 2) @ grad
        parts = value.unflatten(-1, (heads, -1)).transpose(1, 2)
        grad = grad.transpose(1, 2)
        d_parts = grad @ matrix.unflatten(1, (heads, -1)).transpose(2, 3)
        d_matrix = parts.transpose(2, 3) @ grad
        return d_parts.transpose(1, 2).flatten(2), d_matrix.flatten(1, 2)

    def pool(
        self, attention: Attention, cells: Float[Tensor, "run slot head width"]
    ) -> Float[Tensor, "run example width"]:
        """Sum over positions and heads of attention times cells."""
        runs, examples = attention.shape[:2]
        rows = pool(attention.reshape(runs * examples, -1), cells.flatten(0, 2), self.readers)
        return rows.unflatten(0, (runs, examples))

    def look_up(self, table: Float[Tensor, "run *query slot head"]) -> Scores:
        """The table's entry for the query and each position of each sequence."""
        flat = table.flatten().index_select(0, self.readers.pair.flatten())
        scores = flat.view(*self.slots.index.shape, -1)
        if self.slots.future is None:
            return scores
        return scores.masked_fill(self.slots.future.unsqueeze(-1), -math.inf)

    def query_embedding(
        self, embedding: Float[Tensor, "run slot embed"]
    ) -> Float[Tensor, "run #example embed"]:
        """e_q of every example; a single one where all have the same query."""
        queries = embedding.index_select(1, self.slots.queries)
        if self.slots.query_index is None:
            return queries
        run = torch.arange(len(queries), device=queries.device).unsqueeze(1)
        return queries[run, self.slots.query_index]

    def __call__(self, weights: Mapping[str, Tensor]) -> Activations:
        """Scores, attention, hidden layer and logits of every sequence."""
        embedding = self.embed(weights)
        if self.stack is not None:
            return self.stack(weights, embedding)
        scores = self.look_up(self.slot_scores(weights, embedding))
        attention = attend(scores, self.spec.attention, self.batch.oracle)
        read_out = self.classify if self.spec.readout == "classifier" else self.residual
        return read_out(weights, embedding, scores, attention)

    def classify(
        self,
        weights: Mapping[str, Tensor],
        embedding: Float[Tensor, "run slot embed"],
        scores: Scores,
        attention: Attention,
    ) -> Activations:
        """The classifier readout, f(h) = W_2 relu(W_1 h + b_1) + b_2, W_1 over slots."""
        value = attention_reads(self.spec, weights, embedding).values @ weights["W_V"]
        into_hidden = weights["W_1"]
        if self.spec.output_projection:
            into_hidden = weights["W_O"] @ into_hidden
        summed = self.pool(attention, self.through(value, into_hidden))
        hidden = (summed + weights["b_1"].unsqueeze(1)).relu_()
        logits = torch.baddbmm(weights["b_2"].unsqueeze(1), hidden, weights["W_2"])
        if self.spec.readout_scale != 1:
            logits = self.spec.readout_scale * logits
        return Activations(
            scores, attention, hidden, logits, final=hidden, kind=self.spec.attention
        )

    def residual(
        self,
        weights: Mapping[str, Tensor],
        embedding: Float[Tensor, "run slot embed"],
        scores: Scores,
        attention: Attention,
    ) -> Activations:
        """The residual readout: the rest of the block, on the query's stream."""
        added = self.pool(attention, self.slot_values(weights, embedding))
        stream = self.query_embedding(embedding)
        middle = after_attention(self.spec, weights, stream, added)
        hidden, final = after_mlp(self.spec, weights, middle)
        logits = unembed(self.spec, weights, final)
        kind = self.spec.attention
        return Activations(scores, attention, hidden, logits, final, middle, kind=kind)
