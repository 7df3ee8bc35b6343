"""The parts of a residual block beside its attention: norms, additions, MLP, unembedding.

Of one stream, the query's or every position's, whichever rows it is given:

    y       = x + attention                   after_attention
    hidden  = relu(y W_1 + b_1)
    z       = y + hidden W_2 + b_2            after_mlp
    logits  = a z W_U                         unembed

with a norm in up to three places of it (:mod:`grokkit.model.norm`). What attention adds is
computed in :mod:`grokkit.model.transformer`, over slots, or in :mod:`grokkit.model.stack`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from grokkit.model.norm import PLACEMENTS
from grokkit.model.spec import ModelSpec


def normalise(
    spec: ModelSpec, weights: Mapping[str, Tensor], name: str, x: Float[Tensor, "run row embed"]
) -> Float[Tensor, "run row embed"]:
    """One norm of a block, over the coordinates of every row.

        layer    gain (x - mean x) / sqrt(var x + eps) + bias
        rms      gain x / sqrt(mean x^2 + eps)

    The variance is that of the population, the mean of squares.

    Args:
        spec: the model, which has a norm of that name.
        weights: the weights of this layer.
        name: which of the block's norms: ``A``, ``M``, ...
        x: what is normalised.
    """
    width = x.shape[-1:]
    if spec.norm_kind == "rms":
        x = functional.rms_norm(x, width, eps=spec.norm_eps)
    else:
        x = functional.layer_norm(x, width, eps=spec.norm_eps)
    if not spec.norm_affine:
        return x
    x = x * weights[f"gain_{name}"].unsqueeze(1)
    return x if spec.norm_kind == "rms" else x + weights[f"bias_{name}"].unsqueeze(1)


class Reads(NamedTuple):
    """What the matrices of attention read: the stream, or its norm.

    Attributes:
        scores: what W_Q and W_K read.
        values: what W_V reads.
    """

    scores: Float[Tensor, "run row embed"]
    values: Float[Tensor, "run row embed"]


def attention_reads(
    spec: ModelSpec, weights: Mapping[str, Tensor], x: Float[Tensor, "run row embed"]
) -> Reads:
    """What W_Q, W_K and W_V read of the stream x.

    Args:
        spec: the model.
        weights: the weights of this layer.
        x: the stream; in the first layer its rows may be slots.
    """
    place = PLACEMENTS[spec.norm]
    if not (place.scores or place.values):
        return Reads(x, x)
    normed = normalise(spec, weights, "A", x)
    return Reads(normed if place.scores else x, normed if place.values else x)


def after_attention(
    spec: ModelSpec,
    weights: Mapping[str, Tensor],
    stream: Float[Tensor, "run #row embed"],
    added: Float[Tensor, "run row embed"],
) -> Float[Tensor, "run row embed"]:
    """y, the stream with what attention adds.

    Args:
        spec: the model.
        weights: the weights of this layer.
        stream: x; a single row where all rows have the same.
        added: the pooled values of all heads, W_O included.
    """
    place = PLACEMENTS[spec.norm]
    if place.added:
        added = normalise(spec, weights, "A_added", added)
    stream = added + stream
    return normalise(spec, weights, "A_stream", stream) if place.stream else stream


def after_mlp(
    spec: ModelSpec,
    weights: Mapping[str, Tensor],
    stream: Float[Tensor, "run row embed"],
    read: Float[Tensor, "run row embed"] | None = None,
) -> tuple[Float[Tensor, "run row hidden"], Float[Tensor, "run row embed"]]:
    """The hidden layer after its ReLU; and z, the stream with what the MLP adds.

    Args:
        spec: the model.
        weights: the weights of this layer.
        stream: y.
        read: what the MLP, with the norm before it, is given in the place of y; None: y.
            For probes that change what the MLP sees and leave the stream as it is.
    """
    place = PLACEMENTS[spec.norm]
    read = stream if read is None else read
    if place.mlp:
        read = normalise(spec, weights, "M", read)
    hidden = torch.baddbmm(weights["b_1"].unsqueeze(1), read, weights["W_1"]).relu_()
    added = torch.baddbmm(weights["b_2"].unsqueeze(1), hidden, weights["W_2"])
    if place.added:
        added = normalise(spec, weights, "M_added", added)
    stream = stream + added
    return hidden, normalise(spec, weights, "M_stream", stream) if place.stream else stream


def unembed(
    spec: ModelSpec, weights: Mapping[str, Tensor], stream: Float[Tensor, "run row embed"]
) -> Float[Tensor, "run row class"]:
    """The logits of the final stream."""
    matrix = weights["W_U"]
    return stream @ (matrix if spec.readout_scale == 1 else spec.readout_scale * matrix)
