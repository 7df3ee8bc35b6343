"""How compressible features are: the spectrum of Z = h^T h, and a power law through it.

h are the features that the readout sees, one row an example: the final residual stream, or
the hidden layer. Z is uncentred; its eigenvalues z_i, the squared singular values of h,
say how the features' power is spread over directions. Whether the features of train or of
test examples are meant is the caller's choice: they differ, and both are worth a curve.

effective_rank  exp(-sum p_i log p_i), p_i = z_i / sum z
numerical_rank  how many z_i are not 0, up to rounding
stable_rank     norm(h)_F^2 / norm(h)_2^2 = sum z / max z
norm_ratio      norm(Z)_F / norm(Z)_2 = sqrt(sum z^2) / max z
alpha           the exponent of a power law through the z_i

All but the numerical rank's threshold are free of the features' scale, and all are free of
their basis. None is free of their mean: a vector added to every row is a direction of its own.

The power law p(x) ~ x^-alpha, x >= xmin, is fitted by maximum likelihood. Where it begins is
part of the question. So every value is tried as xmin; given it,

    alpha = 1 + n / sum log(x_i / xmin)          over the n values from xmin up
    D     = max abs(S(x_i) - (1 - (x_i / xmin)^(1 - alpha)))

S(x_i) being the share of those n values below x_i. The xmin with the least D, the distance
of Kolmogorov and Smirnov, wins. A fit always comes out, of whatever values: a small
exponent means a heavy tail and no more than that.

The two largest values are not tried, for too little is left of the tail. This is the
method of Python's ``powerlaw`` package too, but for one thing: from version 2.0 on it looks
for an alpha of at most 3 and, where the best one is larger, returns another fit or 3.
There is no such limit here.

Source: arXiv 2602.06702; effective rank: Roy and Vetterli, "The effective rank: a measure of
effective dimensionality", 2007; power law: A. Clauset, C. Shalizi, M. Newman, "Power-law
distributions in empirical data", arXiv 0706.1062, (3.1), (3.9) and section 3.3.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

_SINGLE = torch.finfo(torch.float32).eps


def compressibility(features: Float[Tensor, "run example width"]) -> dict[str, Tensor]:
    """The spectrum of the features of each run in five numbers, ``[run]`` by record.

    ==============  ========================================================================
    effective_rank  from 1 to the number of eigenvalues
    numerical_rank  a whole number
    stable_rank     from 1 up; it counts directions about as strong as the strongest
    norm_ratio      from 1 up, at most the root of the numerical rank
    alpha           low is a heavy tail: few directions far stronger than the many
    ==============  ========================================================================

    ``nan`` (a numerical rank of 0) where the features are 0 or not finite.
    """
    spectrum = feature_spectrum(features)
    alpha = fit_power_law(spectrum, floor=spectrum.shape[1] * _SINGLE).alpha
    return ranks(spectrum) | {"alpha": alpha}


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


def ranks(spectrum: Float[Tensor, "run value"]) -> dict[str, Tensor]:
    """The four ranks of a spectrum, ``[run]`` by record; 0 log 0 = 0.

    r eigenvalues of one size and none besides have the effective, the numerical and the stable
    rank r, and the norm ratio sqrt(r), as arXiv 2602.06702 reports it. More than rounding
    are eigenvalues that exceed the largest times their number times float32's relative precision,
    which is where ``torch.linalg.matrix_rank`` draws the line for Z in the precision that
    networks train in. In 128 dimensions a direction 1/256 as strong as the strongest is lost.
    """
    share = spectrum / spectrum.sum(dim=1, keepdim=True)
    most = spectrum.amax(dim=1)
    return {
        "effective_rank": (-torch.xlogy(share, share).sum(dim=1)).exp(),
        "numerical_rank": (spectrum > spectrum.shape[1] * _SINGLE * most.unsqueeze(1)).sum(dim=1),
        "stable_rank": spectrum.sum(dim=1) / most,
        "norm_ratio": torch.linalg.vector_norm(spectrum, dim=1) / most,
    }


class PowerLaw(NamedTuple):
    """The best fit for each run; ``nan`` and 0 where fewer than four values differ.

    Attributes:
        alpha: the exponent, above 1.
        xmin: where the power law begins; one of the values.
        distance: D.
        tail: the number of values from xmin up, on which alpha stands.
    """

    alpha: Float[Tensor, " run"]
    xmin: Float[Tensor, " run"]
    distance: Float[Tensor, " run"]
    tail: Int[Tensor, " run"]


@torch.no_grad()
def fit_power_law(values: Float[Tensor, "run value"], floor: float = 0.0) -> PowerLaw:
    """Fit a power law to the values of each run, the place where it begins included.

    Args:
        values: of any order.
        floor: values up to ``floor`` times the run's largest are left out, and all that are
            not above 0. Eigenvalues need it: those that are 0 come out as rounding errors.
    """
    fits = [_fit(row, floor) for row in values.double()]
    alpha, xmin, distance = torch.stack([fit[:3] for fit in fits]).unbind(dim=1)
    return PowerLaw(alpha, xmin, distance, torch.stack([fit[3] for fit in fits]).long())


def _fit(values: Float[Tensor, " value"], floor: float) -> Float[Tensor, "4"]:
    """alpha, xmin, D and the length of the tail of a single set of values."""
    x = values[(values > 0) & (values > floor * values.max())].sort().values
    # An xmin and the two values above it have to differ; of equal values the first is tried.
    distinct = x.unique()
    if len(distinct) < 4 or not bool(x.isfinite().all()):
        return x.new_tensor([torch.nan, torch.nan, torch.nan, 0])
    first = torch.searchsorted(x, distinct[:-2])
    place = torch.arange(len(x), device=x.device)
    n = len(x) - first
    above = place >= first.unsqueeze(1)
    log_ratio = torch.where(above, x.log() - x[first].log().unsqueeze(1), 0)
    alpha = 1 + n / log_ratio.sum(dim=1)
    below = (place - first.unsqueeze(1)) / n.unsqueeze(1)
    model = -torch.expm1((1 - alpha).unsqueeze(1) * log_ratio)
    distance = torch.where(above, (below - model).abs(), 0).amax(dim=1)
    best = distance.argmin()
    return torch.stack((alpha[best], x[first[best]], distance[best], n[best].to(x.dtype)))
