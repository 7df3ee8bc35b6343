"""Curves over epochs: all runs of one setting with their median, and lines of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Num
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from grokkit.errors import check_choice, refuse
from grokkit.runtime.history import any_specs_of
from grokkit.viz.alt import number, tell
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    picture,
    record_axis,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


def differing_settings(history: "xr.Dataset", allowed: Sequence[str]) -> list[str]:
    """The settings in which the runs of a History differ, without those that are allowed to."""
    settings = [spec.settings() for spec in any_specs_of(history)]
    names = {name for one in settings for name in one} - set(allowed)
    return [n for n in sorted(names) if len({repr(one.get(n)) for one in settings}) > 1]


def fill_gaps(
    epochs: Num[np.ndarray, " epoch"], values: Float[np.ndarray, "run epoch"]
) -> Float[np.ndarray, "run epoch"]:
    """Every run at every epoch: straight lines between its records, its last value after it.

    Runs that were recorded at different epochs have ``nan`` at each other's.
    """
    filled = values.copy()
    for row in filled:
        known = ~np.isnan(row)
        if known.any():
            row[~known] = np.interp(epochs[~known], epochs[known], row[known])
    return filled


def median_curve(ax: Axes, values: "xr.DataArray", line: Mapping[str, Any]) -> None:
    """Draw every run thin to its own end, their median, and the band that they span.

    A run that has stopped counts on with its last value: leaving it out would make the
    median that of the runs that are late.

    Args:
        ax: where.
        values: dims (run, epoch).
        line: keywords of ``Axes.plot`` for the median.
    """
    epochs = values.epoch.values
    runs = values.transpose("run", "epoch").values.astype(float)
    filled, color = fill_gaps(epochs, runs), line["color"]
    if ax.get_yscale() == "log":
        filled = np.where(filled > 0, filled, np.nan)
    middle = np.median(filled, axis=0)
    if len(runs) > 1:
        for one, whole in zip(runs, filled, strict=True):
            own = epochs <= epochs[~np.isnan(one)].max(initial=-1)
            ax.plot(epochs[own], whole[own], color=color, linewidth=0.6, alpha=0.5)
        low, high = filled.min(axis=0), filled.max(axis=0)
        ax.fill_between(epochs, low, high, color=color, alpha=0.13, linewidth=0)
    # Markers cannot be spaced along a line of no length.
    unspaced = {} if np.isfinite(middle).any() else {"markevery": None}
    ax.plot(epochs, middle, **{**line, **unspaced})


def runs_curve(
    ax: Axes, runs: "xr.Dataset", name: str, label: str | None = None, **change: Any
) -> None:
    """Draw one variable of several runs by :func:`median_curve`, in its look.

    Args:
        ax: where.
        runs: the runs, dims (run, epoch).
        name: the variable, one of :data:`grokkit.viz.style.VARIABLES`.
        label: its name in a legend; None: that of the variable.
        change: what differs from the variable's look, as keywords for ``Axes.plot``.
    """
    shown = VARIABLES[name]
    if shown.log:
        ax.set_yscale("log")
    label = shown.label if label is None else label
    median_curve(ax, runs[name], {**shown.line, "label": label, **change})
    ax.set_ylabel(shown.unit)


def seed_curves(
    history: "xr.Dataset",
    variables: str | Sequence[str] = ("train_accuracy", "test_accuracy"),
    *,
    title: str | None = None,
) -> Picture:
    """Every run as a thin line, their median as a thick one, and the band they span.

    Args:
        history: the runs, all of one setting; they may differ in their seed only.
        variables: what to draw, such as ``"kl"``; one panel for each unit.
        title: the headline; None: the names of what is drawn.

    Returns:
        A picture 8 inches wide at 100 dots each, its panels below each other.

    Raises:
        SettingError: the History has no such variable; the runs differ in more than
            their seed.
    """
    variables = [variables] if isinstance(variables, str) else list(variables)
    if not variables:
        refuse("variables", variables, "at least one")
    by_unit: dict[str, list[str]] = {}
    for name in variables:
        check_choice("variables", name, [known for known in VARIABLES if known in history])
        by_unit.setdefault(VARIABLES[name].unit, []).append(name)
    if differing := differing_settings(history, ("seed",)):
        refuse("history", f"runs that differ in {', '.join(differing)}", "runs of one setting")
    runs = history.sizes["run"]
    with style():
        figure = picture(8, 1.3 + 3.1 * len(by_unit))
        axes = figure.subplots(len(by_unit), squeeze=False)[:, 0]
        for ax, names in zip(axes, by_unit.values(), strict=True):
            for name in names:
                runs_curve(ax, history, name, f"{VARIABLES[name].label}: median")
            if "accuracy" in names[0]:
                ax.set_ylim(-0.02, 1.04)
            record_axis(ax, history.epoch.values)
            ax.set_xlabel("" if ax is not axes[-1] else ax.get_xlabel())
            ax.legend(loc="best")
        labels = "; ".join(VARIABLES[name].label for name in variables)
        seeds = f"{runs} seeds" if runs != 1 else "1 seed"
        what = "thick line: median; band: least to greatest; thin lines: each seed"
        titles(figure, title or labels[0].upper() + labels[1:], f"{seeds}; {what}")
    return figure


@dataclass(frozen=True, eq=False)
class Line:
    """One line.

    Attributes:
        x: where its points stand, across.
        y: and up; ``nan`` leaves a gap.
        label: its name in the legend.
        look: the quantity it shows, one of :data:`grokkit.viz.LOOKS`.
        change: what differs from that look, as keywords for ``Axes.plot``.
    """

    x: Num[np.ndarray, " point"] | Sequence[float | int]
    y: Num[np.ndarray, " point"] | Sequence[float | int]
    label: str
    look: str = "test"
    change: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("look", self.look, tuple(LOOKS))
        if np.shape(self.x) != np.shape(self.y):
            refuse("y", np.shape(self.y), f"one for each x, {np.shape(self.x)}")


def lines(
    drawn: Sequence[Line],
    *,
    title: str,
    x: str,
    y: str,
    below: str = "",
    log: Literal["", "x", "y", "xy"] = "",
    marks: Mapping[str, float | int] | None = None,
    xlim: tuple[float | int, float | int] | None = None,
    ylim: tuple[float | int, float | int] | None = None,
    height: float | int = 4,
) -> Picture:
    """Draw lines over one another: for what a lesson computes itself and no History holds.

    Args:
        drawn: the lines, the lowest first.
        title: what the picture shows.
        x: what stands across, with its unit.
        y: what stands up, with its unit.
        below: a plain line under the title.
        log: which axes are logarithmic.
        marks: upright lines: what each means, and where it stands.
        xlim: the ends of the axis across.
        ylim: the ends of the axis up.
        height: of the picture, in inches.

    Returns:
        A picture 8 inches wide at 100 dots each.

    Raises:
        SettingError: there is no line, or no such axis.
    """
    if not drawn:
        refuse("drawn", drawn, "at least one line")
    check_choice("log", log, ("", "x", "y", "xy"))
    with style():
        figure = picture(8, height)
        ax = figure.subplots()
        for one in drawn:
            look = LOOKS[one.look]
            xs, ys = (np.asarray(values, dtype=float) for values in (one.x, one.y))
            ax.plot(xs, ys, label=one.label, **{**look.line, **look.marks, **one.change})
        if "x" in log:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        if "y" in log:
            ax.set_yscale("log")
        ax.set(xlim=xlim, ylim=ylim, xlabel=x, ylabel=y)
        for words, at in (marks or {}).items():
            ax.axvline(at, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
            ax.annotate(
                words, (at, 0.98), (4, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, va="top", ha="left", size=8.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85},
            )  # fmt: skip
        tell(ax, "; ".join(f"{words} at {number(at)}" for words, at in (marks or {}).items()))
        if any(one.label for one in drawn):
            ax.legend(loc="best")
        titles(figure, title, below)
    return figure
