"""Chapter 2. The network: one layer of attention, read out at the query (section 3.2).

With token x_j at position j, and the query q, which is the last position:

    embedding   e_j    = E[x_j] + P_j
    score       l_j    = (W_Q e_q) . (W_K e_j) / sqrt(d_head)
    attention   alpha  = softmax(l)                 or relu(l) / sum relu(l), or alpha* itself
    value       v_j    = W_V e_j                    (then W_O, where there is one)
    pooled      h      = sum_j alpha_j v_j
    logits      f(h)   = W_2 relu(W_1 h + b_1) + b_2                       ("classifier")
                or z W_U with y = e_q + h, z = y + W_2 relu(W_1 y + b_1) + b_2   ("residual")

The query token is the same in every sequence, so l_j depends on x_j and j alone. Attention learns
*where* to look, f what to make of the mixture h that it finds there. Theorem 4.3 (in measures.py)
says what each must do.

In the formulas, as in the paper, a vector is a column. In the code it is a row, and its matrix
stands to the right, ``e @ W_V``, so shapes read ``[.., in] @ [in, out]``.

Axes: ``example``, ``pos`` (T), ``head`` (H), ``embed`` (d_model), ``d_head`` (d_model / H),
``hidden`` (d_mlp), ``class``.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokkit.core.common import check_choice, refuse, stream


@dataclass(frozen=True)
class Model:
    """The settings of the network (Table G.2).

    Attributes:
        d_model: the width of embeddings, values and the pooled representation.
        d_mlp: the number of hidden ReLU units.
        heads: H; each head has width d_model / H.
        attention: ``softmax``; ``relu``: the positive parts of the scores, divided by their sum;
            ``oracle``: frozen at alpha*, so that W_Q and W_K learn nothing.
        readout: ``classifier``: the MLP maps h to the classes; ``residual``: the usual block,
            query + attention, + MLP, then an unembedding. The paper leaves this open.
        output_projection: whether values pass through W_O.
        init_scale: a factor on every initial matrix but the embeddings.
        embedding_scale: the norm that initial embeddings have on average.
    """

    d_model: int = 64
    d_mlp: int = 256
    heads: int = 1
    attention: str = "softmax"
    readout: str = "classifier"
    output_projection: bool = False
    init_scale: float = 1.0
    embedding_scale: float = 1.0

    def __post_init__(self) -> None:
        check_choice("attention", self.attention, ("softmax", "relu", "oracle"))
        check_choice("readout", self.readout, ("classifier", "residual"))
        if self.d_model % self.heads:
            refuse("heads", self.heads, f"a divisor of d_model = {self.d_model}")


class Seen(NamedTuple):
    """What one forward pass computed.

    Attributes:
        scores: l, ``[example, head, pos]``.
        attention: alpha, ``[example, head, pos]``.
        log_attention: log alpha, ``[example, head, pos]``; see :func:`attend`.
        pooled: h, ``[example, embed]``.
        logits: f(h), ``[example, class]``.
    """

    scores: Tensor
    attention: Tensor
    log_attention: Tensor
    pooled: Tensor
    logits: Tensor


class Transformer(nn.Module):
    """The network of one run, with the initial weights of its seed.

    Args:
        settings: its sizes and kinds.
        n_tokens: the number of token ids.
        length: T, the number of positions.
        n_classes: the number of classes.
        seed: the seed of the initial weights.
    """

    def __init__(
        self, settings: Model, n_tokens: int, length: int, n_classes: int, seed: int = 0
    ) -> None:
        super().__init__()
        self.settings = settings
        d, m = settings.d_model, settings.d_mlp

        def new(name: str, *shape: int) -> nn.Parameter:
            return nn.Parameter(initial(name, shape, settings, seed))

        self.token_embedding = new("token_embedding", n_tokens, d)
        self.position_embedding = new("position_embedding", length, d)
        self.W_Q, self.W_K, self.W_V = (new(name, d, d) for name in ("W_Q", "W_K", "W_V"))
        if settings.output_projection:
            self.W_O = new("W_O", d, d)
        out = n_classes if settings.readout == "classifier" else d
        self.W_1, self.b_1 = new("W_1", d, m), new("b_1", m)
        self.W_2, self.b_2 = new("W_2", m, out), new("b_2", out)
        if settings.readout == "residual":
            self.W_U = new("W_U", d, n_classes)

    def forward(self, tokens: Tensor, oracle: Tensor | None = None) -> Seen:
        """Scores, attention and logits of some sequences.

        Args:
            tokens: token ids, ``[example, pos]``.
            oracle: alpha*, ``[example, pos]``; only the attention ``oracle`` needs it.
        """
        e = functional.embedding(tokens, self.token_embedding) + self.position_embedding
        e_q = e[:, -1]  # [example, embed]

        # Attention: one query, every position.
        query = self.by_head(e_q @ self.W_Q)  # [example, head, d_head]
        key = self.by_head(e @ self.W_K)  # [example, pos, head, d_head]
        value = self.by_head(e @ self.W_V)
        scores = torch.einsum("ehd,ephd->ehp", query, key) / math.sqrt(query.shape[-1])
        attention, log_attention = attend(scores, self.settings.attention, oracle)
        h = torch.einsum("ehp,ephd->ehd", attention, value).flatten(1)  # [example, embed]
        if self.settings.output_projection:
            h = h @ self.W_O

        # Readout: from h to the classes.
        if self.settings.readout == "classifier":
            logits = self.mlp(h)
        else:
            y = e_q + h
            logits = (y + self.mlp(y)) @ self.W_U
        return Seen(scores, attention, log_attention, h, logits)

    def mlp(self, x: Tensor) -> Tensor:
        """W_2 relu(W_1 x + b_1) + b_2; the norm of its weights is what Definition 4.2 bounds."""
        return functional.relu(x @ self.W_1 + self.b_1) @ self.W_2 + self.b_2

    def by_head(self, x: Tensor) -> Tensor:
        """``[.., embed]`` as ``[.., head, d_head]``."""
        return x.unflatten(-1, (self.settings.heads, -1))


def attend(scores: Tensor, kind: str, oracle: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Alpha and log alpha from the scores, each ``[example, head, pos]``.

    log alpha is what the KL prior of chapter 6 needs. With softmax it comes from the scores, not
    from alpha: in float32 exp(-104) is 0, and the logarithm of that would say nothing of how far
    away attention is. Where normalised ReLU or the oracle gives a position exactly 0, log alpha
    is the logarithm of the smallest normal float, with gradient 0.

    Args:
        scores: l, ``[example, head, pos]``.
        kind: as in :class:`Model`. ``relu`` is uniform where no score is positive (our choice).
        oracle: alpha*, ``[example, pos]``.
    """
    if kind == "softmax":
        log_attention = functional.log_softmax(scores, dim=-1)
        return functional.softmax(scores, dim=-1), log_attention
    if kind == "oracle":
        assert oracle is not None, "oracle attention needs the oracle"
        attention = oracle.to(scores).unsqueeze(1).expand_as(scores)
    else:
        positive = functional.relu(scores)
        total = positive.sum(dim=-1, keepdim=True)
        alive = total > 0
        share = positive / torch.where(alive, total, 1.0)
        attention = torch.where(alive, share, 1 / scores.shape[-1])
    return attention, attention.clamp_min(torch.finfo(attention.dtype).tiny).log()


def initial(name: str, shape: tuple[int, ...], settings: Model, seed: int) -> Tensor:
    """The initial value of one array of weights, in float32.

    Embeddings are normal with standard deviation embedding_scale / sqrt(d_model). A matrix with n
    inputs is uniform in [-1, 1] * init_scale / sqrt(n), PyTorch's own default. Biases are 0. The
    paper gives no initialisation: this is our choice.

    Every array has a stream of its own. Embeddings are drawn row by row: of tokens in the order
    of their ids, of positions the last one (the query) first, then 0, 1, ... So networks
    that differ in their distractors or their length share all that they both have.

    Args:
        name: the name of the array.
        shape: its shape.
        settings: the two scales.
        seed: the seed of the run.
    """
    generator = stream(seed, f"parameters/{name}")
    if name.endswith("embedding"):
        rows = torch.empty(shape, dtype=torch.float32)
        for row in rows:
            row.normal_(generator=generator)
        rows = rows.roll(-1, dims=0) if name == "position_embedding" else rows
        return settings.embedding_scale / math.sqrt(settings.d_model) * rows
    if name.startswith("b_"):
        return torch.zeros(shape, dtype=torch.float32)
    bound = settings.init_scale / math.sqrt(shape[0])
    return bound * (2 * torch.rand(shape, generator=generator, dtype=torch.float32) - 1)
