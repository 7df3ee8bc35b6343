"""How long the waits should be, and how long they were: (5), (7) and what corrects them.

Everything here looks at a History (and the settings in its coordinates), so it serves
recorded runs. One epoch is one step: runs are full-batch. Times are in epochs.

The plateau. The paper has (2 / lambda) log(norm0 / r_max) for the norm's way from memorising
down to the Goldilocks zone. Its r_max is given nowhere: here it is an argument, or, in
hindsight, the norm that a run had when it grokked.

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


def plateau_lengths(
    history: "xr.Dataset",
    r_max: "float | xr.DataArray | None" = None,
    update_bound: "float | xr.DataArray" = 0.0,
) -> "xr.Dataset":
    """The wait for the norm by (5) and by the bracket that corrects it, against the real one.

    Args:
        history: with ``mlp_norm`` and what :func:`phase_borders` needs, over (run, epoch),
            and coordinates ``learning_rate`` and ``weight_decay``.
        r_max: the outer radius of N; None for the norm of each run at border 3|4 (where it
            groks), which explains a wait and cannot predict one.
        update_bound: B, an upper bound on norm(U)_F of the MLP's part of a step, such as
            ``theory.adamw_update_bound(numel)`` or one measured by
            :func:`grokkit.engine.measure_contraction`; 0 for pure decay, where both ends of
            the bracket are the same.

    Returns:
        Over the axes of a run, in epochs, ``nan`` where undefined (no decay, not memorised,
        not grokked):

        - ``norm0``, ``r_max``: the norm at border 1|2, and the radius;
        - ``claimed``: (5); ``earliest``, ``latest``: the bracket, ``latest`` may be inf;
        - ``norm_wait``: from border 1|2 to the first record with a norm of r_max or less,
          which is what the bracket is a theorem about;
        - ``plateau``: phase 2, from border 1|2 to 2|3;
        - ``measured``: from border 1|2 to 3|4, the wait for understanding.
    """
    import xarray as xr

    from grokkit import theory

    for field, value, strict in (("r_max", r_max, True), ("update_bound", update_bound, False)):
        for one in [] if value is None else np.ravel(value):
            check_number(field, float(one), strict=strict)
    borders = phase_borders(history)
    memorised, structured, grokked = (borders.sel(border=b, drop=True) for b in borders.border)
    norm0 = history.mlp_norm.where(history.epoch == memorised).max("epoch")
    if r_max is None:
        r_max = history.mlp_norm.where(history.epoch == grokked).max("epoch")
    radius = xr.zeros_like(norm0) + r_max
    decay = history.learning_rate * history.weight_decay
    floor = _where(history.weight_decay > 0, theory.norm_floor, update_bound, history.weight_decay)
    defined = (norm0 > 0) & (radius > 0) & (decay > 0) & (decay < 1)
    claimed = _where(defined, theory.plateau_length_claimed, norm0, radius, decay)
    earliest, latest = (
        _where(
            defined,
            lambda *args, end=end: theory.plateau_bracket(*args)[end],
            norm0,
            radius,
            decay,
            floor,
        )
        for end in (0, 1)
    )
    inside = (history.mlp_norm <= radius) & (history.epoch >= memorised)
    lengths = xr.Dataset(
        {
            "norm0": norm0,
            "r_max": radius,
            "claimed": claimed,
            "earliest": earliest,
            "latest": latest,
            "norm_wait": history.epoch.where(inside).min("epoch") - memorised,
            "plateau": structured - memorised,
            "measured": grokked - memorised,
        }
    )
    lengths.attrs = {"meaning": "waits in epochs from border 1|2; nan: undefined or censored"}
    return lengths


def kl_times(
    history: "xr.Dataset",
    k: int,
    gamma: float,
) -> "xr.Dataset":
    """The time to delta_nec by (7) and by the corrected law, against the measured one.

    Args:
        history: with ``kl`` over (run, epoch), ``attention_mass`` (for the length), and
            coordinates ``learning_rate`` and ``kl_strength``.
        k: the number of informative positions, below the length.
        gamma: the threshold of B_gamma; delta = log(1 / (k gamma)), so k gamma is below 1.

    Returns:
        Over the axes of a run, in epochs, ``nan`` where there is no prior:

        - ``divergence0``: D at the first record; ``delta``;
        - ``claimed``: (7); ``uniform``: the true law from a uniform start; ``guaranteed``:
          its upper bound for any start;
        - ``measured``: the first record with D at or below delta (``nan``: never), for runs
          without a prior too.
    """
    import xarray as xr

    from grokkit import theory

    length = history.sizes["pos"]
    check_int("k", k, 1, length - 1)
    delta = float(theory.delta_necessary(k, gamma))
    # At k gamma = 1 only the oracle is left, which no finite time reaches.
    check_number("1 - k * gamma", 1 - k * gamma, strict=True)
    divergence0 = history.kl.isel(epoch=0, drop=True)
    rate = xr.zeros_like(divergence0) + history.learning_rate * history.kl_strength
    defined = (divergence0 > 0) & (rate > 0)
    claimed = _where(defined, theory.time_claimed, divergence0, delta, rate)
    uniform, guaranteed = (
        _where(defined, theory.sparse_time, divergence0, delta, kappa(length, k), rate)
        for kappa in (theory.kappa_uniform, theory.kappa_guaranteed)
    )
    return xr.Dataset(
        {
            "divergence0": divergence0,
            "delta": xr.full_like(divergence0, delta),
            "claimed": claimed,
            "uniform": uniform,
            "guaranteed": guaranteed,
            "measured": history.epoch.where(history.kl <= delta).min("epoch"),
        }
    )


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
