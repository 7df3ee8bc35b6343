"""The model again, as a textbook would write it: one run, ordinary PyTorch, nothing shared.

Every sequence gets keys and values of its own, every position is a query, and the readout
runs on every position. grokkit's model must equal this one, and be faster.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokkit.errors import refuse
from grokkit.model import ModelSpec


@dataclass
class Seen:
    """What one forward pass computed, for every query of every sequence."""

    scores: Tensor  # [example, head, query, key]
    attention: Tensor  # [example, head, query, key]
    pooled: Tensor  # [example, query, embed], what attention hands on
    logits: Tensor  # [example, query, class]


class Textbook(nn.Module):
    """One layer without norms: embeddings, multi-head attention, ReLU MLP.

    ``last_only`` leaves out the readout of all positions but the last, for comparisons of
    speed: that much even an ordinary loop may save.

    Raises:
        SettingError: the model has norms, several layers or a readout scale.
    """

    def __init__(
        self,
        spec: ModelSpec,
        n_tokens: int,
        length: int,
        n_classes: int,
        dtype: torch.dtype = torch.float32,
        last_only: bool = False,
    ) -> None:
        super().__init__()
        for name, plain in (("norm", "none"), ("layers", 1), ("readout_scale", 1)):
            if getattr(spec, name) != plain:
                refuse(name, getattr(spec, name), f"{plain} in the textbook's model")
        self.spec = spec
        self.last_only = last_only
        d, m = spec.d_model, spec.d_mlp

        def new(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, dtype=dtype) / math.sqrt(shape[0]))

        self.token_embedding = new(n_tokens, d)
        self.position_embedding = new(length, d)
        self.W_Q, self.W_K, self.W_V = new(d, d), new(d, d), new(d, d)
        if spec.output_projection:
            self.W_O = new(d, d)
        self.W_1, self.b_1 = new(d, m), new(m)
        if spec.readout == "classifier":
            self.W_2, self.b_2 = new(m, n_classes), new(n_classes)
        else:
            self.W_2, self.b_2, self.W_U = new(m, d), new(d), new(d, n_classes)

    def load(self, weights: Mapping[str, Tensor], run: int = 0) -> "Textbook":
        """Take over the weights of one run of a grokkit model."""
        assert set(weights) == {name for name, _ in self.named_parameters()}
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(weights[name][run])
        return self

    def heads(self, x: Tensor) -> Tensor:
        """[example, pos, embed] -> [example, head, pos, embed / heads]."""
        examples, length, _ = x.shape
        return x.view(examples, length, self.spec.heads, -1).transpose(1, 2)

    def forward(self, tokens: Tensor, causal: bool = False) -> Seen:
        """Scores, attention, pooled and logits for ``tokens``, ``[example, pos]``.

        With ``causal`` a query sees itself and what is before it, as in a language model.
        """
        examples, length = tokens.shape
        # The query has the last position of the longest sequence, whatever the length.
        positions = torch.arange(length)
        positions[-1] = len(self.position_embedding) - 1
        x = self.token_embedding[tokens] + self.position_embedding[positions]
        query, key, value = (self.heads(x @ w) for w in (self.W_Q, self.W_K, self.W_V))
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        visible = torch.ones(length, length, dtype=torch.bool)
        if causal:
            visible = visible.tril()
            scores = scores.masked_fill(~visible, -math.inf)
        if self.spec.attention == "softmax":
            attention = functional.softmax(scores, dim=-1)
        else:
            positive = functional.relu(scores)
            total = positive.sum(dim=-1, keepdim=True)
            share = positive / torch.where(total > 0, total, 1.0)
            uniform = visible.to(scores.dtype) / visible.sum(dim=1, keepdim=True)
            attention = torch.where(total > 0, share, uniform)
        pooled = (attention @ value).transpose(1, 2).reshape(examples, length, -1)
        if self.spec.output_projection:
            pooled = pooled @ self.W_O
        if self.last_only:
            x, pooled = x[:, -1:], pooled[:, -1:]
        if self.spec.readout == "classifier":
            logits = functional.relu(pooled @ self.W_1 + self.b_1) @ self.W_2 + self.b_2
        else:
            stream = x + pooled
            stream = stream + functional.relu(stream @ self.W_1 + self.b_1) @ self.W_2 + self.b_2
            logits = stream @ self.W_U
        return Seen(scores, attention, pooled, logits)


def objective(
    seen: Seen, targets: Tensor, informative: Tensor | None = None, kl_strength: float = 0.0
) -> Tensor:
    """Mean cross-entropy of the last position plus beta * mean KL(oracle || attention).

    ``informative`` is ``[example, pos]``; it is needed for a strength above 0 only.
    """
    loss = functional.cross_entropy(seen.logits[:, -1], targets)
    if kl_strength == 0:
        return loss
    assert informative is not None
    log_attention = seen.attention[:, :, -1].log()  # [example, head, pos]
    k = informative.sum(dim=1)[:, None]
    mean_log = (log_attention * informative[:, None]).sum(dim=2) / k
    return loss + kl_strength * (-k.log() - mean_log).mean()
