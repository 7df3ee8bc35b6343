"""All seeds of one arm as curves: their median, the band that they span, each one thin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from grokkit.viz.rows.present import Present
from grokkit.viz.seeds import fill_gaps
from grokkit.viz.style import VARIABLES, epoch_axis

if TYPE_CHECKING:
    import xarray as xr

BAND = "line: median over seeds; band: least to greatest; thin: each seed"
"""What the lines and the band of :func:`arm_curve` are; every figure says so."""


def arm_curve(
    ax: Axes, arm: "xr.Dataset", name: str, label: str | None = None, **change: Any
) -> Float[np.ndarray, " epoch"]:
    """Draw one variable of an arm; a run that has stopped counts on with its last value.

    Args:
        ax: where.
        arm: the runs of one arm, dims (run, epoch).
        name: the variable, one of :data:`grokkit.viz.style.VARIABLES`.
        label: its name in a legend; None: that of the variable.
        change: what differs from the variable's look, as keywords for ``Axes.plot``.

    Returns:
        The median.
    """
    shown = VARIABLES[name]
    line = {**shown.line, **change}
    values = fill_gaps(arm.epoch.values, arm[name].transpose("run", "epoch").values.astype(float))
    if shown.log:
        ax.set_yscale("log")
        values = np.where(values > 0, values, np.nan)
    epochs = arm.epoch.values
    low, middle, high = values.min(axis=0), np.median(values, axis=0), values.max(axis=0)
    if len(values) > 1:
        ax.plot(epochs, values.T, color=line["color"], linewidth=0.5, alpha=0.45)
        ax.fill_between(epochs, low, high, color=line["color"], alpha=0.13, linewidth=0)
    if not np.isfinite(middle).any():
        line.pop("markevery", None)  # Markers cannot be spaced along a line of no length.
    ax.plot(epochs, middle, label=shown.label if label is None else label, **line)
    return middle


def epochs_of(ax: Axes, evidence: Present, names: Sequence[str]) -> None:
    """An axis of epochs from the first record to the last of these arms, by their logarithm."""
    epochs = np.concatenate([evidence.arm(name).epoch.values for name in names])
    epoch_axis(ax, float(epochs[epochs > 0].min(initial=epochs.max())), float(epochs.max()), "log")


def powers_only(ax: Axes) -> None:
    """Leave only 0 and the powers of ten on a log axis of epochs: for a narrow panel."""
    ax.set_xticks([tick for tick in ax.get_xticks() if str(int(tick)).strip("0") in ("", "1")])


def log_epochs(ax: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis one of epochs by their logarithm, with ticks at 1, 2 and 5 of each power."""
    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis

    def inside(value: float) -> bool:
        low, high = axis.get_view_interval()
        return bool(low <= value <= high)

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if inside(float(v)) else ""))
    axis.set_minor_locator(NullLocator())


def missing_panel(ax: Axes, words: str) -> None:
    """Say in an empty panel why it is empty."""
    ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", wrap=True, size=9)
    ax.grid(False)
    ax.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
