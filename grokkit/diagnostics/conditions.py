"""B_gamma and N with numbers: the thresholds that a grokked run turned out to have.

Theorem 4.3 needs a gamma and Definition 4.2 an r_max, and the paper measures neither. Both
are read off a run here, where it grokked: at border 3|4 of its phases. That explains a run
and cannot predict one.

Source: arXiv 2605.15787, Definitions 4.1 and 4.2, Theorem 4.3, (24), (25).
"""

from typing import TYPE_CHECKING

import numpy as np

from grokkit import theory
from grokkit.diagnostics.phases import phase_borders

if TYPE_CHECKING:
    import xarray as xr


def hindsight_conditions(history: "xr.Dataset") -> "xr.Dataset":
    """The gamma of B_gamma and the r_max of N, as each run had them when it grokked.

        gamma = c_margin / (L_max Delta_emb),    c_margin = sqrt(2) least logit margin

    L_max is the largest L_f of any record from border 1|2 on at which the norm is r_max or
    less; for Delta_emb stands its bound 2R, (24), so gamma is rather too small. The margin
    is that of the train sequences.

    Args:
        history: with ``mlp_norm`` and what :func:`phase_borders` needs, over (..., epoch),
            and with ``lipschitz``, ``logit_margin`` and ``value_radius`` for gamma.

    Returns:
        Over the axes of a run: ``epoch``, border 3|4, at which all is measured; ``r_max``,
        the norm there; ``gamma``. ``nan`` for a run that has not grokked; gamma is
        ``nan`` too where a train sequence is wrong at that epoch, and in a History without
        ``lipschitz``, ``logit_margin`` or ``value_radius``.
    """
    import xarray as xr

    borders = phase_borders(history)
    memorised, grokked = (borders.sel(border=b, drop=True) for b in ("1|2", "3|4"))
    then = history.epoch == grokked
    r_max = history.mlp_norm.where(then).max("epoch")
    gamma = xr.full_like(r_max, np.nan)
    if {"lipschitz", "logit_margin", "value_radius"} <= set(history.data_vars):
        margin, radius = (
            history[name].where(then).max("epoch") for name in ("logit_margin", "value_radius")
        )
        inside = (history.mlp_norm <= r_max) & (history.epoch >= memorised)
        gamma = xr.apply_ufunc(_gamma, margin, history.lipschitz.where(inside).max("epoch"), radius)
    return xr.Dataset({"epoch": grokked, "r_max": r_max, "gamma": gamma})


def _gamma(margin: np.ndarray, l_max: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """The threshold where it is defined, ``nan`` elsewhere: the theory refuses the rest."""
    margin, l_max, radius = (np.asarray(x, dtype=float) for x in (margin, l_max, radius))
    gamma = np.full(margin.shape, np.nan)
    defined = (margin > 0) & (l_max > 0) & (radius > 0)
    if defined.any():
        c_margin = theory.output_gap_from_margin(margin[defined])
        gamma[defined] = theory.gamma_threshold(c_margin, l_max[defined], 2 * radius[defined])
    return gamma
