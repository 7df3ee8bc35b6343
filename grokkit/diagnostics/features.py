"""How compressible features are: the spectrum of Z = h^T h.

h are the features that the readout sees, one row an example: the final residual stream, or
the hidden layer. Z is uncentred; its eigenvalues z_i, the squared singular values of h,
say how the features' power is spread over directions. Whether the features of train or of
test examples are meant is the caller's choice: they differ, and both are worth a curve.

effective_rank  exp(-sum p_i log p_i), p_i = z_i / sum z
numerical_rank  how many z_i are not 0, up to rounding
stable_rank     norm(h)_F^2 / norm(h)_2^2 = sum z / max z
norm_ratio      norm(Z)_F / norm(Z)_2 = sqrt(sum z^2) / max z
alpha           the exponent of a power law through the z_i (:mod:`~.power_law`)

All but the numerical rank's threshold are free of the features' scale, and all are free of
their basis. None is free of their mean: a vector added to every row is a direction of its own.

Source: arXiv 2602.06702; effective rank: Roy and Vetterli, "The effective rank: a measure of
effective dimensionality", 2007.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.diagnostics.power_law import fit_power_law

_SINGLE = torch.finfo(torch.float32).eps


@dataclass(frozen=True, eq=False)
class Compressibility:
    """The spectrum of the features of each run in five numbers; see the module.

    Attributes:
        effective_rank: from 1 to the number of eigenvalues.
        numerical_rank: a whole number.
        stable_rank: from 1 up; it counts directions about as strong as the strongest.
        norm_ratio: from 1 up, at most the root of the numerical rank.
        alpha: low is a heavy tail: few directions far stronger than the many.
        tail: the number of eigenvalues that alpha is fitted to.
    """

    effective_rank: Float[Tensor, " run"]
    numerical_rank: Int[Tensor, " run"]
    stable_rank: Float[Tensor, " run"]
    norm_ratio: Float[Tensor, " run"]
    alpha: Float[Tensor, " run"]
    tail: Int[Tensor, " run"]


def compressibility(features: Float[Tensor, "run example width"]) -> Compressibility:
    """All measures of the spectrum of some features.

    ``nan`` (a numerical rank of 0) where the features are 0 or not finite.
    """
    spectrum = feature_spectrum(features)
    law = fit_power_law(spectrum, floor=spectrum.shape[1] * _SINGLE)
    return Compressibility(
        effective_rank(spectrum),
        numerical_rank(spectrum),
        stable_rank(spectrum),
        norm_ratio(spectrum),
        law.alpha,
        law.tail,
    )


@torch.no_grad()
def feature_spectrum(
    features: Float[Tensor, "run example width"],
) -> Float[Tensor, "run value"]:
    """The eigenvalues of Z = h^T h, the largest first, in float64.

    As many as there are examples or dimensions, whichever are fewer; all others are 0.
    ``nan`` for a run whose features are not finite.
    """
    h = features.double()
    short = h.transpose(1, 2) @ h if h.shape[1] >= h.shape[2] else h @ h.transpose(1, 2)
    # A decomposition refuses the whole group where one run has diverged.
    finite = short.isfinite().flatten(1).all(dim=1)
    short = torch.where(finite.view(-1, 1, 1), short, 0)
    spectrum = torch.linalg.eigvalsh(short).flip(1).clamp_min(0)
    return torch.where(finite.unsqueeze(1), spectrum, torch.nan)


def effective_rank(spectrum: Float[Tensor, "run value"]) -> Float[Tensor, " run"]:
    """exp(-sum p log p) with p = z / sum z and 0 log 0 = 0.

    r eigenvalues of one size and none besides give r.
    """
    share = spectrum / spectrum.sum(dim=1, keepdim=True)
    return (-torch.xlogy(share, share).sum(dim=1)).exp()


def numerical_rank(
    spectrum: Float[Tensor, "run value"], tolerance: float | None = None
) -> Int[Tensor, " run"]:
    """The number of eigenvalues that are more than rounding.

    Args:
        spectrum: from :func:`feature_spectrum`.
        tolerance: the share of the largest that an eigenvalue must exceed; None for the
            number of eigenvalues times float32's relative precision, which is where
            ``torch.linalg.matrix_rank`` draws the line for Z in the precision that
            networks train in. In 128 dimensions a direction 1/256 as strong as the
            strongest is lost there.
    """
    share = spectrum.shape[1] * _SINGLE if tolerance is None else tolerance
    return (spectrum > share * spectrum.amax(dim=1, keepdim=True)).sum(dim=1)


def stable_rank(spectrum: Float[Tensor, "run value"]) -> Float[Tensor, " run"]:
    """norm(h)_F^2 / norm(h)_2^2 = sum z / max z, at most the rank."""
    return spectrum.sum(dim=1) / spectrum.amax(dim=1)


def norm_ratio(spectrum: Float[Tensor, "run value"]) -> Float[Tensor, " run"]:
    """norm(Z)_F / norm(Z)_2 = sqrt(sum z^2) / max z, as arXiv 2602.06702 reports it.

    Not the stable rank: r equal eigenvalues give sqrt(r).
    """
    return torch.linalg.vector_norm(spectrum, dim=1) / spectrum.amax(dim=1)
