"""Several seeds of one setting in one picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Num
from matplotlib.axes import Axes

from grokkit.errors import check_choice, refuse
from grokkit.runtime.history import any_specs_of
from grokkit.viz.style import (
    VARIABLES,
    EpochScale,
    Picture,
    curve,
    epoch_axis,
    epoch_label,
    picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


def seed_curves(
    history: "xr.Dataset",
    variables: str | Sequence[str] = ("train_accuracy", "test_accuracy"),
    *,
    epoch_scale: EpochScale = "log",
    title: str | None = None,
) -> Picture:
    """Every run as a thin line, their median as a thick one, and the band they span.

    A run that has stopped counts on with its last value: leaving it out would make the
    median that of the runs that are late.

    Args:
        history: the runs, all of one setting; they may differ in their seed only.
        variables: what to draw, such as ``"kl"``; one panel for each unit.
        epoch_scale: ``"log"`` or ``"linear"``.
        title: the headline; None: the names of what is drawn.

    Returns:
        A picture 8 inches wide at 100 dots each, its panels below each other.

    Raises:
        SettingError: the History has no such variable; the runs differ in more than
            their seed; there is no such scale.
    """
    variables = [variables] if isinstance(variables, str) else list(variables)
    if not variables:
        refuse("variables", variables, "at least one")
    by_unit: dict[str, list[str]] = {}
    for name in variables:
        check_choice("variables", name, [known for known in VARIABLES if known in history])
        by_unit.setdefault(VARIABLES[name].unit, []).append(name)
    check_same_setting(history)
    epochs, runs = history.epoch.values, history.sizes["run"]
    first = epochs[epochs > 0][0] if (epochs > 0).any() else 1
    with style():
        figure = picture(8, 1.3 + 3.1 * len(by_unit))
        axes = figure.subplots(len(by_unit), squeeze=False)[:, 0]
        for ax, names in zip(axes, by_unit.values(), strict=True):
            epoch_axis(ax, float(first), float(epochs[-1]), epoch_scale)
            for name in names:
                draw_runs(ax, history, name)
            ax.legend(loc="best")
        axes[-1].set_xlabel(epoch_label(epoch_scale))
        labels = "; ".join(VARIABLES[name].label for name in variables)
        words = labels[0].upper() + labels[1:]
        seeds = f"{runs} seeds" if runs != 1 else "1 seed"
        what = "thick line: median; band: least to greatest; thin lines: each seed"
        titles(figure, title or words, f"{seeds}; {what}")
    return figure


def check_same_setting(history: "xr.Dataset") -> None:
    """Refuse a History whose runs differ in more than their seed.

    Raises:
        SettingError: they do; the message names what differs.
    """
    settings = [spec.settings() for spec in any_specs_of(history)]
    names = {name for one in settings for name in one} - {"seed"}
    differing = [n for n in sorted(names) if len({repr(one.get(n)) for one in settings}) > 1]
    if differing:
        refuse("history", f"runs that differ in {', '.join(differing)}", "runs of one setting")


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


def draw_runs(ax: Axes, history: "xr.Dataset", name: str) -> None:
    """Draw one variable of every run thin, their median thick, and the band they span.

    Args:
        ax: where.
        history: the runs.
        name: the variable.
    """
    epochs = history.epoch.values
    values = history[name].transpose("run", "epoch").values.astype(float)
    filled = fill_gaps(epochs, values)
    color = VARIABLES[name].line["color"]
    for one, whole in zip(values, filled, strict=True):
        own = epochs <= epochs[~np.isnan(one)].max(initial=-1)
        ax.plot(epochs[own], whole[own], color=color, linewidth=0.7, alpha=0.55)
    low, high = filled.min(axis=0), filled.max(axis=0)
    ax.fill_between(epochs, low, high, color=color, alpha=0.14, linewidth=0)
    curve(ax, name, epochs, np.median(filled, axis=0), ": median")
    if "accuracy" in name:
        ax.set_ylim(-0.02, 1.04)
