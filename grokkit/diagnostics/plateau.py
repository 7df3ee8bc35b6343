"""How long the waits should be, and how long they were: (5), (7) and what corrects them.

Everything here looks at a History (and the settings in its coordinates), so it serves
recorded runs. One epoch is one step: runs are full-batch. Times are in epochs.

The plateau. The paper has (2 / lambda) log(norm0 / r_max) for the norm's way from memorising
down to the Goldilocks zone. Its r_max is given nowhere: here it is, in hindsight, the norm that
a run had when it grokked.

The prior. The paper has log(D_0 / delta) / beta~ for the divergence's way down to delta. Its
beta~, the effective rate on the scores, is only known to be proportional to learning
rate * beta; here it is that product. So compare how times
change with beta; their absolute size needs the factor.

The conditions. Theorem 4.3 needs a gamma and Definition 4.2 an r_max, and the paper measures
neither. Both
are read off a run here, where it grokked: at border 3|4 of its phases. That explains a run
and cannot predict one.

Source: arXiv 2605.15787, Definitions 4.1 and 4.2, Theorem 4.3, (5), (7), (24), (25), (40), (53);
corrections in :mod:`grokkit.theory`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from grokkit.diagnostics.phases import phase_borders
from grokkit.errors import check_int, check_number

if TYPE_CHECKING:
    import xarray as xr


def plateau_lengths(history: "xr.Dataset") -> "xr.Dataset":
    """The wait for the norm by (5), told in hindsight the norm at the grok, against the real one.

    Args:
        history: with ``mlp_norm`` and what :func:`phase_borders` needs, over (run, epoch),
            and coordinates ``learning_rate`` and ``weight_decay``.

    Returns:
        Over the axes of a run, in epochs, ``nan`` where undefined (no decay, not memorised,
        not grokked):

        - ``norm0``, ``r_max``: the norm at border 1|2, and at border 3|4, where the run groks;
        - ``claimed``: (5);
        - ``measured``: from border 1|2 to 3|4, the wait for understanding.
    """
    import xarray as xr

    from grokkit import theory

    borders = phase_borders(history)
    memorised, grokked = (borders.sel(border=b, drop=True) for b in ("1|2", "3|4"))
    norm0, r_max = (
        history.mlp_norm.where(history.epoch == epoch).max("epoch")
        for epoch in (memorised, grokked)
    )
    decay = history.learning_rate * history.weight_decay
    defined = (norm0 > 0) & (r_max > 0) & (decay > 0) & (decay < 1)
    claimed = _where(defined, theory.plateau_length_claimed, norm0, r_max, decay)
    measured = grokked - memorised
    lengths = {"norm0": norm0, "r_max": r_max, "claimed": claimed, "measured": measured}
    words = "waits in epochs from border 1|2; nan: undefined or censored"
    return xr.Dataset(lengths, attrs={"meaning": words})


def kl_times(history: "xr.Dataset", k: int, gamma: float) -> "xr.Dataset":
    """The time to delta_nec by (7), against the measured one.

    Args:
        history: with ``kl`` over (run, epoch), ``attention_mass`` (for the length), and
            coordinates ``learning_rate`` and ``kl_strength``.
        k: the number of informative positions, below the length.
        gamma: the threshold of B_gamma; delta = log(1 / (k gamma)), so k gamma is below 1.

    Returns:
        Over the axes of a run, in epochs:

        - ``delta``, in nats;
        - ``claimed``: (7); ``nan`` where there is no prior;
        - ``measured``: the first record with D at or below delta (``nan``: never).
    """
    import xarray as xr

    from grokkit import theory

    check_int("k", k, 1, history.sizes["pos"] - 1)
    delta = float(theory.delta_necessary(k, gamma))
    # At k gamma = 1 only the oracle is left, which no finite time reaches.
    check_number("1 - k * gamma", 1 - k * gamma, strict=True)
    start = history.kl.isel(epoch=0, drop=True)
    rate = xr.zeros_like(start) + history.learning_rate * history.kl_strength
    claimed = _where((start > 0) & (rate > 0), theory.time_claimed, start, delta, rate)
    measured = history.epoch.where(history.kl <= delta).min("epoch")
    times = {"delta": xr.full_like(start, delta), "claimed": claimed, "measured": measured}
    return xr.Dataset(times)


def _where(defined: "xr.DataArray", formula: Callable[..., Any], *arguments: Any) -> "xr.DataArray":
    """The formula where it is defined, ``nan`` elsewhere: the theory refuses the rest."""
    import xarray as xr

    def masked(where: np.ndarray, *values: Any) -> Float[np.ndarray, "..."]:
        inside, *broadcast = np.broadcast_arrays(where, *values)
        result = np.full(inside.shape, np.nan)
        if inside.any():
            result[inside] = formula(*(value[inside].astype(float) for value in broadcast))
        return result

    return xr.apply_ufunc(masked, defined, *arguments)


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

    from grokkit import theory

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
        l_max = history.lipschitz.where(inside).max("epoch")
        defined = (margin > 0) & (l_max > 0) & (radius > 0)
        c_margin = _where(defined, theory.output_gap_from_margin, margin)
        gamma = _where(defined, theory.gamma_threshold, c_margin, l_max, 2 * radius)
    return xr.Dataset({"epoch": grokked, "r_max": r_max, "gamma": gamma})
