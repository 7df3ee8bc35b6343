"""The 1/beta law: how grok epochs fall with the strength of a prior, down to a floor.

Theorem 5.2 has the prior bring attention to the oracle in a time proportional to 1 / beta.
What a run needs besides (to memorise, to let the norm fall) no prior shortens. So

    grok epoch = floor + slope / beta,

a straight line over 1 / beta, whose intercept is the wait that stays at any strength.

Source: arXiv 2605.15787, (7), (53), Figure 3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Num

from grokkit.errors import refuse


class InverseFit(NamedTuple):
    """The line through grok epochs over 1 / beta.

    Attributes:
        slope: in epochs times beta: what the wait loses per unit of 1 / beta.
        floor: the epoch that is left as beta grows without bound.
        r_squared: the share of the variance of the epochs that the line explains, at most 1.
        used: how many runs the line goes through.
        censored: how many runs had not grokked and were left out.
    """

    slope: float
    floor: float
    r_squared: float
    used: int
    censored: int

    def at(self, beta: float | int) -> float:
        """The epoch on the line: floor + slope / beta."""
        return self.floor + self.slope / beta


def fit_inverse(
    beta: Num[np.ndarray, "..."] | Sequence[float | int],
    epochs: Num[np.ndarray, "..."] | Sequence[float | int],
) -> InverseFit:
    """Fit grok epoch = floor + slope / beta by least squares, one point for each run.

    Args:
        beta: the strength of each run's prior, above 0.
        epochs: its grok epoch; ``nan`` where it is censored. Such a run would lie above
            the line, so the line is too low at strengths at which some are: look at
            ``censored`` before believing it.

    Returns:
        The line; its numbers are ``nan`` where fewer than two strengths are left, and
        ``r_squared`` is where all epochs are the same.
    """
    strength, when = np.asarray(beta, dtype=float), np.asarray(epochs, dtype=float)
    if strength.ndim != 1 or strength.shape != when.shape:
        refuse("epochs", when.shape, f"one for each beta, {strength.shape}")
    for one in strength:
        if not 0 < one < np.inf:
            refuse("beta", float(one), "finite numbers above 0: runs without a prior are no part")
    seen = ~np.isnan(when)
    x, y = 1 / strength[seen], when[seen]
    slope = floor = r_squared = np.nan
    if len(np.unique(x)) > 1:
        dx, dy = x - x.mean(), y - y.mean()
        slope = (dx @ dy) / (dx @ dx)
        floor = y.mean() - slope * x.mean()
        rest = dy - slope * dx
        r_squared = 1 - (rest @ rest) / (dy @ dy) if dy.any() else np.nan
    return InverseFit(
        float(slope), float(floor), float(r_squared), int(seen.sum()), int((~seen).sum())
    )
