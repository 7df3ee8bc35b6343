"""Attention, a point of the simplex over positions; and all that one forward pass computes."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.tasks.base import change_arrays

Scores = Float[Tensor, "run example pos head"]
Attention = Float[Tensor, "run example pos head"]
AttentionKind = Literal["softmax", "relu", "oracle"]
ATTENTIONS: tuple[str, ...] = get_args(AttentionKind)


def attend(
    scores: Scores,
    kind: AttentionKind = "softmax",
    oracle: Float[Tensor, "run example pos"] | None = None,
) -> Attention:
    """Attention from scores, over positions, as :func:`grokkit.core.model.attend` has it.

    Beyond that, a score of -inf gets no attention and no gradient; where no score of a sequence
    is positive ``relu`` is uniform over the visible positions, and where an example has no
    oracle so is ``oracle`` (our choice).

    Args:
        scores: the attention logits l.
        kind: how they become attention.
        oracle: alpha*, needed by the kind of that name only.
    """
    if kind == "softmax":
        return scores.softmax(dim=2)
    if kind == "oracle":
        assert oracle is not None
        fixed = oracle.unsqueeze(-1).expand_as(scores)
        return torch.where(fixed.sum(dim=2, keepdim=True) > 0, fixed, _uniform(scores))
    positive = scores.relu()
    total = positive.sum(dim=2, keepdim=True)
    alive = total > 0
    # The inner `where` keeps 0/0 out of the backward pass, where it would be 0 * inf.
    share = positive / torch.where(alive, total, torch.ones_like(total))
    return torch.where(alive, share, _uniform(scores))


def log_attention(attention: Attention, scores: Scores, kind: AttentionKind) -> Attention:
    """Log alpha, also where alpha itself is too small for its precision.

    In float32 a softmax gives exactly 0 from a score gap of about 104, and coarse steps from
    87. There log alpha_j = l_j - log sum_i exp(l_i), with the gradient of that. Where
    normalised ReLU, the oracle or the causal mask gives exactly 0, log alpha is that of the
    smallest normal number, with gradient 0.

    Args:
        attention: alpha.
        scores: the attention logits l.
        kind: how they became alpha.
    """
    floor = torch.finfo(attention.dtype).tiny
    log = attention.clamp_min(floor).log()
    if kind != "softmax":
        return log
    rounded_off = (attention < floor) & scores.isfinite()
    return torch.where(rounded_off, scores.log_softmax(dim=2), log)


def _uniform(scores: Scores) -> Attention:
    """Equal attention on every position that may be attended to."""
    visible = (scores > -torch.inf).to(scores.dtype)
    return visible / visible.sum(dim=2, keepdim=True)


@dataclass(frozen=True, eq=False)
class Activations:
    """What one forward pass computed.

    With several layers the axis ``head`` runs over the heads of all layers, those of the
    first layer first. In every layer the scores and the attention are those of the query:
    where the other positions of a lower layer look is not here.

    Attributes:
        scores: the attention logits l; -inf at a position after the query.
        attention: alpha.
        hidden: the hidden layer after its ReLU, of the last layer.
        logits: the class scores.
        final: what the matrix that makes the logits reads: z, the final stream at the query;
            in the classifier readout the hidden layer.
        middle: y, the query's stream between attention and MLP, of the last layer; None in
            the classifier readout, which has no stream.
        scores_by_layer: the scores of each layer as the forward pass used them; empty where
            they are ``scores`` itself.
        kind: how scores became attention.
    """

    scores: Scores
    attention: Attention
    hidden: Float[Tensor, "run example hidden"]
    logits: Float[Tensor, "run example class"]
    final: Float[Tensor, "run example width"] | None = None
    middle: Float[Tensor, "run example embed"] | None = None
    scores_by_layer: tuple[Float[Tensor, "run example pos _"], ...] = ()
    kind: AttentionKind = "softmax"

    @property
    def log_attention(self) -> Attention:
        """Log alpha, see :func:`log_attention`."""
        return log_attention(self.attention, self.scores, self.kind)

    def run(self, index: int) -> "Activations":
        """What one run of the group computed, as a group of one."""
        one = slice(index, index + 1)
        by_layer = tuple(scores[one] for scores in self.scores_by_layer)
        return change_arrays(self, lambda part: part[one], scores_by_layer=by_layer)

    def score_gradient(self, value: Float[Tensor, ""]) -> Scores:
        """The gradient of a number with respect to :attr:`scores`; the graph is kept.

        That of a lower layer's scores includes all that the layers above make of them. 0
        where there is no dependence.
        """
        gradients = torch.autograd.grad(
            value, self.scores_by_layer or self.scores, retain_graph=True, materialize_grads=True
        )
        return gradients[0] if len(gradients) == 1 else torch.cat(gradients, dim=3)
