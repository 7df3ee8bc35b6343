"""A sweep of the prior's strength: the runs of one beta, and the 1/beta law over all of them."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics import InverseFit, fit_inverse, grok_epoch, kl_times
from grokkit.errors import refuse
from grokkit.runtime.history import specs_of
from grokkit.viz.curves import runs_curve
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    epoch_axis,
    epoch_label,
    fixed_picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr

ACCURACY = 0.95
"""The test accuracy at which a run of a sweep counts as grokked."""

SHARE = 0.8
"""The attention has arrived when every informative position has this share of its 1/k."""

# What may differ between the runs of a sweep.
_FREE = ("seed", "kl_strength")


class BetaSweep(NamedTuple):
    """The runs of a History that differ in nothing but their seed and the strength.

    Attributes:
        history: those runs.
        left_out: how many others there were.
        betas: the strengths, in order; 0 for runs without a prior.
    """

    history: "xr.Dataset"
    left_out: int
    betas: tuple[float, ...]


def find_sweep(history: "xr.Dataset") -> BetaSweep:
    """The largest sweep of the KL prior's strength in a History.

    Args:
        history: the runs; those whose other settings are not those of most are left out.

    Raises:
        SettingError: there is no such sweep: fewer than two strengths above 0.
    """
    settings = [spec.settings() for spec in specs_of(history)]
    keys = [repr({n: v for n, v in one.items() if n not in _FREE}) for one in settings]
    with_strength = [key for key, one in zip(keys, settings, strict=True) if "kl_strength" in one]
    most = Counter(with_strength).most_common(1)
    runs = [run for run, key in enumerate(keys) if most and key == most[0][0]]
    betas = tuple(sorted({float(settings[run]["kl_strength"]) for run in runs}))
    if sum(beta > 0 for beta in betas) < 2:
        found = f"runs with kl_strength {', '.join(f'{beta:g}' for beta in betas) or 'nowhere'}"
        refuse("history", found, "runs that differ in kl_strength, two or more of it above 0")
    return BetaSweep(history.isel(run=runs), len(keys) - len(runs), betas)


def inverse_law(sweep: BetaSweep) -> InverseFit:
    """The line floor + slope / beta through the grok epochs of a sweep's runs with a prior."""
    prior = sweep.history.kl_strength.values > 0
    epochs = grok_epoch(sweep.history, ACCURACY).values
    return fit_inverse(sweep.history.kl_strength.values[prior], epochs[prior])


def arrival_times(sweep: BetaSweep) -> "xr.Dataset":
    """When attention arrives in each run, and what (7) says, in epochs.

    Arrived means KL <= log(1 / 0.8), 80 % of the oracle on every informative position. (7)
    needs beta~, which is known up to a factor only: beta~ = factor * learning rate * beta
    with one factor for all runs, the one that makes (7) right for the weakest prior.

    Returns:
        ``measured`` and ``claimed`` over run, ``nan`` where there is no prior; ``delta`` in
        nats; and the ``factor``.
    """
    spec = specs_of(sweep.history)[0]
    k = int(spec.task.build(spec.seed).train.informative[0].sum())
    times = kl_times(sweep.history, k, SHARE / k)
    ratio = (times.claimed / times.measured).where(times.measured > 0)
    weakest = times.kl_strength.where(ratio.notnull()).min()
    factor = ratio.where(times.kl_strength == weakest).median()
    claimed = (times.claimed / factor).assign_attrs(meaning="(7), with one factor for all runs")
    return times[["measured", "delta"]].assign(claimed=claimed, factor=factor)


def beta_picture(sweep: BetaSweep, beta: float | int) -> Picture:
    """The runs of one strength, and where they stand on the 1/beta line.

    Args:
        sweep: the sweep.
        beta: one of its strengths.

    Returns:
        A picture of 9.7 x 4.6 inches at 100 dots each.

    Raises:
        SettingError: the sweep has no such strength.
    """
    if beta not in sweep.betas:
        refuse("beta", beta, ", ".join(f"{one:g}" for one in sweep.betas))
    runs = np.flatnonzero(sweep.history.kl_strength.values == beta)
    some, times, fit = sweep.history.isel(run=runs), arrival_times(sweep), inverse_law(sweep)
    recorded = sweep.history.epoch[sweep.history.kl.notnull().any("run")].values
    first, last = float(recorded[:2].max(initial=1)), float(sweep.history.ended.max())
    with style():
        figure = fixed_picture(9.7, 4.6)
        grid = figure.add_gridspec(2, 2, width_ratios=[1.05, 1], hspace=0.3, wspace=0.22)
        accuracy, divergence = (figure.add_subplot(grid[row, 0]) for row in (0, 1))
        for ax, name in ((accuracy, "test_accuracy"), (divergence, "kl")):
            runs_curve(ax, some, name)
            # Attention arrives in a hundredth of the run.
            epoch_axis(ax, first, last, "log")
            ax.set_title(VARIABLES[name].label[0].upper() + VARIABLES[name].label[1:])
        accuracy.set_ylabel("right answers")
        accuracy.tick_params(labelbottom=False)
        divergence.set(xlabel=epoch_label("log"), ylim=(0, None))
        _arrivals(divergence, times.isel(run=runs))
        _law(figure.add_subplot(grid[:, 1]), sweep, times, fit, float(beta))
        titles(figure, _headline(some, fit, float(beta)), _below(sweep, fit, times))
    return figure


def _headline(some: "xr.Dataset", fit: InverseFit, beta: float) -> str:
    epochs = grok_epoch(some, ACCURACY).values
    come = int(np.isfinite(epochs).sum())
    middle = float(np.median(np.nan_to_num(epochs, nan=np.inf)))
    when = f"at {middle:,.0f}" if np.isfinite(middle) else "not within the runs"
    words = f"β = {beta:g}: groks {when} (median; {come} of {len(epochs)} runs do)"
    line = f"; the line says {fit.at(beta):,.0f}" if beta > 0 and np.isfinite(fit.slope) else ""
    return words + line


def _below(sweep: BetaSweep, fit: InverseFit, times: "xr.Dataset") -> str:
    parts = []
    if np.isfinite(fit.slope):
        r_squared = "" if np.isnan(fit.r_squared) else f", R² {fit.r_squared:.2f}"
        censored = f", {fit.censored} not grokked left out" if fit.censored else ""
        parts.append(
            f"grok epoch = {fit.floor:,.0f} + {fit.slope:,.3g}/β{r_squared} "
            f"({fit.used} runs{censored})"
        )
    factor = float(times.factor)
    if np.isfinite(factor):
        shown = f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"
        parts.append(f"(7) with β̃ = {shown} ηβ, fitted at the weakest β")
    if sweep.left_out:
        parts.append(f"{sweep.left_out} runs of other settings not shown")
    return "; ".join(parts)


def _arrivals(ax: Axes, times: "xr.Dataset") -> None:
    """When attention arrived, and when (7) says it does."""
    low = float(times.delta.max())
    words = f"{SHARE:.0%} of the oracle: {low:.2g} nats"
    ax.axhline(low, color=INK, linewidth=0.8, linestyle=(0, (3, 2)), label=words)
    for name, words, line in (("measured", "arrived", "-"), ("claimed", "says (7)", (0, (1, 1.2)))):
        when = times[name].values
        if np.isfinite(when).any():
            at = np.nanmedian(when)
            ax.axvline(at, color=INK, linestyle=line, linewidth=1.6, label=f"{words}: {at:,.0f}")
    ax.legend(loc="upper right", fontsize=8.5, labelspacing=0.3)


def _law(ax: Axes, sweep: BetaSweep, times: "xr.Dataset", fit: InverseFit, beta: float) -> None:
    strength = sweep.history.kl_strength.values
    prior = strength > 0
    x = 1 / strength[prior]
    right = 1.06 * x.max()
    epochs = grok_epoch(sweep.history, ACCURACY).values
    chosen: dict[str, Any] = {"markersize": 9, "markeredgecolor": INK, "linestyle": ""}
    for values, look, mark, words in (
        (epochs, "test", "D", f"groks (test accuracy {ACCURACY:g})"),
        (times.measured.values, "structure", "o", "attention has arrived"),
    ):
        color = LOOKS[look].color
        ax.plot(x, values[prior], mark, color=color, markersize=5, alpha=0.55, label=words)
        here = prior & (strength == beta)
        ax.plot(1 / strength[here], values[here], mark, color=color, **chosen)
    line = np.array([0.0, right])
    if np.isfinite(fit.slope):
        looks = {"color": LOOKS["test"].color, "linewidth": 1.5}
        ax.plot(line, fit.floor + fit.slope * line, label="floor + slope/β, all runs", **looks)
    per_x = times.claimed.values[prior] / x
    if np.isfinite(per_x).any():
        looks = {"color": LOOKS["structure"].color, "linestyle": (0, (1, 1.2))}
        ax.plot(line, np.nanmedian(per_x) * line, label="(7)", linewidth=1.8, **looks)
    if beta > 0:
        ax.axvline(1 / beta, color=INK, linewidth=0.8, zorder=0)
    without = epochs[~prior]
    if np.isfinite(without).any():
        at = float(np.median(np.nan_to_num(without, nan=np.inf)))
        if np.isfinite(at):
            ax.axhline(at, color="#8C8C8C", linewidth=1.2, linestyle=(0, (5, 2)))
            ax.text(right, at, "no prior ", ha="right", va="bottom", size=9, color="#555555")
    ax.set(xlim=(0, right), ylim=(0, None), xlabel="1/β", ylabel="epoch", title="The 1/β law")
    ax.set_ylim(0, 1.3 * ax.get_ylim()[1])  # room for the legend
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="upper center", ncols=2, fontsize=8.5, columnspacing=1.2, handlelength=1.6)
