"""The weights that a run begins with."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.core.model import initial
from grokkit.model.parameters import Layout, Parameters
from grokkit.model.spec import InitKind, ModelSpec

CUT = 2.0
"""Where LeCun's normal is cut off, in standard deviations of the normal before the cut."""

KEPT_DEVIATION = math.sqrt(
    1 - 2 * CUT * math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi) / math.erf(CUT / math.sqrt(2))
)
"""The standard deviation of a standard normal that is cut off there."""


def initialise(layout: Layout, spec: ModelSpec, seeds: Sequence[int]) -> Parameters:
    """Fresh weights, one row of the buffer for each seed.

    They are those of :func:`grokkit.core.model.initial`, but for these: embeddings of the numbers
    are made :func:`smooth` where the spec says so, a matrix is drawn by :func:`draw_matrix`,
    gains start at 1. Drawn on the CPU in float32, so that a seed means the same weights on every
    device, and a run's weights do not depend on the rest of its group.
    """
    rows = []
    for seed in seeds:
        shared = generator(seed, "parameters")
        parts = []
        for name, shape in layout.shapes.items():
            own = spec.weight_streams == "array"
            stream = generator(seed, f"parameters/{name}") if own else shared
            if name.endswith("embedding"):
                if own:
                    part = initial(name, shape, spec, seed)
                else:
                    part = spec.embedding_scale / math.sqrt(spec.d_model) * _normal(shape, stream)
                if name == "token_embedding" and spec.toeplitz_length > 0:
                    numbers = min(layout.n_classes, shape[0])
                    part[:numbers] = smooth(part[:numbers], spec.toeplitz_length)
            elif len(shape) == 1:
                part = torch.full(shape, float(name.startswith("gain")), dtype=torch.float32)
            else:
                part = draw_matrix(spec.init, shape, spec.init_scale, stream)
            parts.append(part.flatten())
        rows.append(torch.cat(parts))
    return Parameters(layout, torch.stack(rows))


def draw_matrix(
    kind: InitKind, shape: Sequence[int], scale: float, stream: torch.Generator
) -> Float[Tensor, "input output"]:
    """One matrix, by its number n of inputs.

    ``uniform``: uniform in [-1, 1] / sqrt(n), PyTorch's own default for a linear layer, of
    standard deviation 1 / sqrt(3 n). ``lecun``: normal, cut off at two of its standard
    deviations and then scaled to 1 / sqrt(n). ``kaiming``: normal of standard deviation
    sqrt(2 / n), which keeps the size of what passes through a ReLU.

    Args:
        kind: which of these.
        shape: (inputs, outputs).
        scale: a factor on all entries.
        stream: where the random numbers come from.
    """
    n = shape[0]
    if kind == "uniform":
        bound = scale / math.sqrt(n)
        return bound * (2 * torch.rand(shape, generator=stream, dtype=torch.float32) - 1)
    if kind == "kaiming":
        return scale * math.sqrt(2 / n) * _normal(shape, stream)
    normal = torch.empty(shape, dtype=torch.float32)
    torch.nn.init.trunc_normal_(normal, a=-CUT, b=CUT, generator=stream)
    return scale / (KEPT_DEVIATION * math.sqrt(n)) * normal


def _normal(shape: Sequence[int], stream: torch.Generator) -> Tensor:
    # Whatever the default type: float64 would be other numbers, not the same more exactly.
    return torch.randn(shape, generator=stream, dtype=torch.float32)


def smooth(white: Float[Tensor, "token embed"], length: float) -> Float[Tensor, "token embed"]:
    """Independent embeddings of tokens 0..p-1 made alike for numbers near each other.

    The correlation of tokens i and j, in every coordinate, becomes

        c(i - j) = exp( (p / (2 pi s))^2 (cos(2 pi (i - j) / p) - 1) )

    which is about exp(-(i - j)^2 / (2 s^2)) for near ones, and 1 for i = j: sizes stay what
    they were. The covariance is a Toeplitz matrix, and as numbers modulo p lie on a circle, a
    circulant one: 0 and p - 1 are neighbours, and its eigenvectors are the waves over
    the tokens. So the white noise is filtered: each wave is multiplied with the root of its
    eigenvalue, the Fourier transform of c, a circular convolution of the noise.

    Linear would have done, too; circular is our choice, since the account that asks for such
    embeddings (arXiv 2504.03162) speaks of a closed curve, phi(p) = phi(0). Which tokens are
    the numbers is not the model's to know: those are taken whose ids are classes, as in
    every modular task.

    Args:
        white: independent normal numbers.
        length: s, the length of the correlation in tokens, above 0.
    """
    p = len(white)
    angle = 2 * math.pi * torch.arange(p, dtype=torch.float64) / p
    # Beyond 1e9 neighbours are independent to the last bit.
    sharpness = min((p / (2 * math.pi * length)) ** 2, 1e9)
    correlation = torch.exp(sharpness * (angle.cos() - 1))
    eigenvalues = torch.fft.rfft(correlation).real.clamp_min(0)
    waves = torch.fft.rfft(white.double(), dim=0)
    filtered = waves * eigenvalues.sqrt().unsqueeze(1)
    return torch.fft.irfft(filtered, n=p, dim=0).to(white.dtype)
