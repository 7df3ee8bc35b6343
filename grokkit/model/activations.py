"""What one forward pass computed."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model.attention import Attention, AttentionKind, Scores, log_attention


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
        """Log alpha, see :func:`grokkit.model.attention.log_attention`."""
        return log_attention(self.attention, self.scores, self.kind)

    def run(self, index: int) -> "Activations":
        """What one run of the group computed, as a group of one."""
        one = slice(index, index + 1)
        return Activations(
            self.scores[one],
            self.attention[one],
            self.hidden[one],
            self.logits[one],
            None if self.final is None else self.final[one],
            None if self.middle is None else self.middle[one],
            tuple(scores[one] for scores in self.scores_by_layer),
            self.kind,
        )

    def score_gradient(self, value: Float[Tensor, ""]) -> Scores:
        """The gradient of a number with respect to :attr:`scores`; the graph is kept.

        That of a lower layer's scores includes all that the layers above make of them. 0
        where there is no dependence.

        Args:
            value: computed from these activations.
        """
        gradients = torch.autograd.grad(
            value, self.scores_by_layer or self.scores, retain_graph=True, materialize_grads=True
        )
        return gradients[0] if len(gradients) == 1 else torch.cat(gradients, dim=3)
