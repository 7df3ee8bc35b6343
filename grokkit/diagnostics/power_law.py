"""The exponent of a power law, p(x) ~ x^-alpha for x >= xmin, by maximum likelihood.

Where a power law begins is part of the question. So every value is tried as xmin; given it,

    alpha = 1 + n / sum log(x_i / xmin)          over the n values from xmin up
    D     = max abs(S(x_i) - (1 - (x_i / xmin)^(1 - alpha)))

S(x_i) being the share of those n values below x_i. The xmin with the least D, the distance
of Kolmogorov and Smirnov, wins. A fit always comes out, of whatever values: a small
exponent means a heavy tail and no more than that.

The two largest values are not tried, for too little is left of the tail. This is the
method of Python's ``powerlaw`` package too, but for one thing: from version 2.0 on it looks
for an alpha of at most 3 and, where the best one is larger, returns another fit or 3.
There is no such limit here.

Source: A. Clauset, C. Shalizi, M. Newman, "Power-law distributions in empirical data",
arXiv 0706.1062, (3.1), (3.9) and section 3.3.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class PowerLaw:
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
