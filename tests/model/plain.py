"""The model once more, one sequence at a time, in PyTorch's own words: for tests only.

Nothing is shared with grokkit's model but its settings and the names of its weights: no slots,
no run axis, every position of every layer, and ``torch.nn.functional.layer_norm``.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from grokkit.model import ModelSpec


class Seen(NamedTuple):
    """What the query of one sequence saw."""

    scores: Tensor  # [pos, layer * head]
    attention: Tensor  # [pos, layer * head]
    logits: Tensor  # [class]
    final: Tensor  # [embed]


def plain_forward(
    spec: ModelSpec, weights: Mapping[str, Tensor], tokens: Tensor, query: int | None = None
) -> Seen:
    """One sequence, ``[pos]``, with the weights of one run, each without the run axis."""
    length, d_head = len(tokens), spec.d_model // spec.heads
    query = length - 1 if query is None else query
    places = torch.arange(length)
    places[-1] = len(weights["position_embedding"]) - 1
    x = weights["token_embedding"][tokens] + weights["position_embedding"][places]
    hidden_from = torch.zeros(length, length, dtype=torch.bool)
    if spec.causal:
        hidden_from = torch.ones(length, length, dtype=torch.bool).triu(1)
    where = spec.norm
    scores, attentions = [], []
    for layer in range(spec.layers):

        def w(name: str, layer: int = layer) -> Tensor:
            return weights[name if layer == 0 else f"{name}.{layer + 1}"]

        def norm(name: str, value: Tensor, w=w) -> Tensor:
            gain = w(f"gain_{name}") if spec.norm_affine else None
            if spec.norm_kind == "rms":
                root = (value.square().mean(dim=-1, keepdim=True) + spec.norm_eps).sqrt()
                return value / root * (1 if gain is None else gain)
            bias = w(f"bias_{name}") if spec.norm_affine else None
            return functional.layer_norm(value, value.shape[-1:], gain, bias, spec.norm_eps)

        for_scores = norm("A", x) if where in ("A*", "A^qk", "M+A*", "peri") else x
        for_values = norm("A", x) if where in ("A*", "A^v", "M+A*", "M+A^v", "peri") else x
        heads = []
        for head in range(spec.heads):
            cut = slice(head * d_head, (head + 1) * d_head)
            q, k = for_scores @ w("W_Q")[:, cut], for_scores @ w("W_K")[:, cut]
            table = (q @ k.T / math.sqrt(d_head)).masked_fill(hidden_from, -math.inf)
            if spec.attention == "softmax":
                alpha = table.softmax(dim=1)
            else:
                alive = table.relu().sum(dim=1, keepdim=True) > 0
                seen = (~hidden_from).double()
                share = table.relu() / table.relu().sum(dim=1, keepdim=True).clamp_min(1e-300)
                alpha = torch.where(alive, share, seen / seen.sum(dim=1, keepdim=True))
            scores.append(table[query])
            attentions.append(alpha[query])
            heads.append(alpha @ (for_values @ w("W_V")[:, cut]))
        added = torch.cat(heads, dim=1)
        if spec.output_projection:
            added = added @ w("W_O")
        if spec.readout == "classifier":
            hidden = (added[query] @ w("W_1") + w("b_1")).relu()
            logits = spec.readout_scale * (hidden @ w("W_2") + w("b_2"))
            return Seen(torch.stack(scores, 1), torch.stack(attentions, 1), logits, hidden)
        x = x + (norm("A_added", added) if where == "peri" else added)
        x = norm("A_stream", x) if where == "post" else x
        read = norm("M", x) if where in ("M", "M+A*", "M+A^v", "peri") else x
        added = (read @ w("W_1") + w("b_1")).relu() @ w("W_2") + w("b_2")
        x = x + (norm("M_added", added) if where == "peri" else added)
        x = norm("M_stream", x) if where == "post" else x
    logits = spec.readout_scale * (x[query] @ weights["W_U"])
    return Seen(torch.stack(scores, 1), torch.stack(attentions, 1), logits, x[query])
