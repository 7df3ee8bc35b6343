"""The settings of the model."""

from dataclasses import dataclass
from typing import Literal

from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.model.attention import ATTENTIONS, AttentionKind


@dataclass(frozen=True)
class ModelSpec:
    """A one-layer Transformer (section 3.2, Table G.2).

    Attributes:
        d_model: d, the width of embeddings, values and the pooled representation.
        d_mlp: the number of hidden ReLU units.
        heads: the number of attention heads; each has width d_model / heads.
        attention: how scores become attention: ``softmax``; ``relu``: the positive parts
            divided by their sum (uniform where no score is positive: our choice);
            ``oracle``: frozen at the oracle, whatever the scores, so that W_Q and W_K
            learn nothing and only decay.
        readout: what reads the pooled representation. ``classifier``: the MLP maps it to
            the classes (the paper's f, the default). ``residual``: the usual block, query
            stream + attention, + MLP, then an unembedding. The paper's text leaves this
            open; both readings are here.
        output_projection: whether values pass through W_O. Off, as in the paper's
            h = sum alpha_j v_j, heads are concatenated.
        init_scale: a factor on every initial weight but the embeddings (our choice).
        embedding_scale: the standard deviation of the initial embeddings times
            sqrt(d_model), so that 1 gives embeddings of norm near 1 (our choice).
    """

    d_model: int = 64
    d_mlp: int = 256
    heads: int = 1
    attention: AttentionKind = "softmax"
    readout: Literal["classifier", "residual"] = "classifier"
    output_projection: bool = False
    init_scale: float = 1.0
    embedding_scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ("d_model", "d_mlp", "heads"):
            check_int(name, getattr(self, name), 1)
        if self.d_model % self.heads:
            refuse("heads", self.heads, f"a divisor of d_model = {self.d_model}")
        check_choice("attention", self.attention, ATTENTIONS)
        check_choice("readout", self.readout, ("classifier", "residual"))
        if not isinstance(self.output_projection, bool):
            refuse("output_projection", self.output_projection, "True, False")
        for name in ("init_scale", "embedding_scale"):
            check_number(name, getattr(self, name), strict=True)
