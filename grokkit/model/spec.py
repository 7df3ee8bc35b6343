"""The settings of the model."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from grokkit import core
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.model.attention import ATTENTIONS, AttentionKind
from grokkit.model.norm import IN_ATTENTION, NormKind, NormPlacement
from grokkit.settings import OMIT_IF_DEFAULT, later, refuse_idle

InitKind = Literal["uniform", "lecun", "kaiming"]
WeightStreams = Literal["array", "one"]


@dataclass(frozen=True)
class ModelSpec(core.Model):
    """The core's Transformer, and what arXiv 2605.15787 does not have: all from ``norm`` on.

    At their defaults the further settings make the model that of the paper.

    Attributes:
        attention: how scores become attention: ``softmax``; ``relu``: the positive parts
            divided by their sum (uniform where no score is positive: our choice);
            ``oracle``: frozen at the oracle, whatever the scores, so that W_Q and W_K
            learn nothing and only decay.
        output_projection: whether values pass through W_O. Off, as in the paper's
            h = sum alpha_j v_j, heads are concatenated.
        norm: where normalisation stands, in the notation of arXiv 2602.06702, x the stream
            into the block and y the stream after attention. ``none``; ``A*``: q, k and v
            read LN(x); ``A^qk``: q and k alone; ``A^v``: v alone; ``M``: the MLP reads
            LN(y); ``M+A*`` (the usual pre-norm block), ``M+A^v``: both; ``post``: LN of the
            stream after each addition; ``peri``: LN of what each sub-layer reads and of
            what it adds. The classifier readout has no stream: ``none`` and those of
            attention alone.
        norm_kind: ``layer``: LayerNorm; ``rms``: RMSNorm, which subtracts no mean.
        norm_eps: added to the variance, or the mean square, before its root; 0 is allowed.
        norm_affine: whether a norm has a learned gain (and, LayerNorm, a learned bias),
            1 and 0 at the start. On, as in PyTorch; they decay as all weights do.
        readout_scale: a, a constant factor on the matrix that makes the logits, not
            learned: logits = a * (stream W_U), or a * f(h) in the classifier readout.
        layers: the number of residual blocks, one after the other, each with weights of
            its own; more than 1 need the residual readout.
        causal: whether a position sees itself and what is before it, and nothing after. In
            one layer it changes nothing, for there a query sees no more in any case.
        init: how matrices with n inputs begin. ``uniform``: in [-1, 1] / sqrt(n);
            ``lecun``: normal, cut off at 2 standard deviations, of standard deviation
            1 / sqrt(n); ``kaiming``: normal, of standard deviation sqrt(2 / n).
        toeplitz_length: s, over how many tokens the initial embeddings of the numbers
            resemble each other, which makes their covariance a Toeplitz matrix: see
            :func:`grokkit.model.initial.smooth`. 0: they are independent.
        weight_streams: where the random numbers of the initial weights come from. ``array``:
            each array of weights, and each row of an embedding, has its own, so that models
            which differ in their distractors or their length share all that they both have.
            ``one``: all arrays share one stream, as in the runs that were recorded first.
    """

    attention: AttentionKind = "softmax"
    readout: Literal["classifier", "residual"] = "classifier"
    norm: NormPlacement = field(default="none", metadata=OMIT_IF_DEFAULT)
    norm_kind: NormKind = field(default="layer", metadata=OMIT_IF_DEFAULT)
    norm_eps: float = field(default=1e-5, metadata=OMIT_IF_DEFAULT)
    norm_affine: bool = field(default=True, metadata=OMIT_IF_DEFAULT)
    readout_scale: float = field(default=1.0, metadata=OMIT_IF_DEFAULT)
    layers: int = field(default=1, metadata=OMIT_IF_DEFAULT)
    causal: bool = field(default=False, metadata=OMIT_IF_DEFAULT)
    init: InitKind = field(default="uniform", metadata=OMIT_IF_DEFAULT)
    toeplitz_length: float = field(default=0.0, metadata=OMIT_IF_DEFAULT)
    weight_streams: WeightStreams = field(default="array", metadata=later("one"))

    def __post_init__(self) -> None:
        for name in ("d_model", "d_mlp", "heads", "layers"):
            check_int(name, getattr(self, name), 1)
        if self.d_model % self.heads:
            refuse("heads", self.heads, f"a divisor of d_model = {self.d_model}")
        check_choice("attention", self.attention, ATTENTIONS)
        check_choice("readout", self.readout, ("classifier", "residual"))
        check_choice("norm", self.norm, get_args(NormPlacement))
        check_choice("norm_kind", self.norm_kind, get_args(NormKind))
        check_choice("init", self.init, get_args(InitKind))
        check_choice("weight_streams", self.weight_streams, get_args(WeightStreams))
        for name in ("output_projection", "norm_affine", "causal"):
            if not isinstance(getattr(self, name), bool):
                refuse(name, getattr(self, name), "True, False")
        for name in ("init_scale", "embedding_scale", "readout_scale"):
            check_number(name, getattr(self, name), strict=True)
        for name in ("norm_eps", "toeplitz_length"):
            check_number(name, getattr(self, name))
        # What makes no sense side by side.
        if self.readout == "classifier":
            if self.norm not in IN_ATTENTION:
                allowed = f"{', '.join(IN_ATTENTION)}; others with readout = 'residual'"
                refuse("norm", self.norm, allowed)
            if self.layers > 1:
                refuse("layers", self.layers, "1 with readout = 'classifier'")
        if self.norm == "none":
            # norm_eps may wait for a norm: the preset inductive-bias sets it.
            refuse_idle(self, ("norm_kind", "norm_affine"), "with norm = 'none'")
        if self.layers > 1 and self.attention == "oracle":
            # Only the query has an oracle; below the last layer every position attends.
            refuse("attention", self.attention, f"softmax, relu with layers = {self.layers}")
        if self.norm != "none" and self.norm_kind == "layer" and self.d_model == 1:
            refuse("d_model", self.d_model, "2 or more with a LayerNorm, which leaves 0 of one")
