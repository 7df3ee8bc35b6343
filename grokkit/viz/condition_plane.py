"""The plane of Theorem 4.3: the norm of the MLP, and the least mass on I*."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics.conditions import hindsight_conditions
from grokkit.errors import check_number
from grokkit.viz.run_panels import describe, one_run
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    cursor,
    curve,
    fixed_picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr

LEAST_MASS = 1e-4
"""The least mass that the plane shows; what is smaller is drawn at its lower edge."""


def condition_plane(
    history: "xr.Dataset",
    run: int = 0,
    epoch: float | int | None = None,
    *,
    gamma: float | None = None,
    r_max: float | int | None = None,
) -> Picture:
    """A run's way through the plane of B_gamma and N, up to some epoch.

    Args:
        history: the History.
        run: which of its runs, by position.
        epoch: how far, moved to the nearest record; None: to the end.
        gamma: the threshold of B_gamma; None: the one that the run turned out to have when
            it grokked, by :func:`grokkit.diagnostics.hindsight_conditions`.
        r_max: the largest norm that N allows; None: likewise.

    Returns:
        A picture of 9.6 x 4.4 inches at 100 dots each. A condition whose threshold is not
        known, as the run has not grokked, is not drawn, and the picture says so.

    Raises:
        SettingError: there is no such run; gamma or r_max is not above 0.
    """
    one = one_run(history, run)
    seen = hindsight_conditions(one)
    given = gamma is not None, r_max is not None
    for name, value in (("gamma", gamma), ("r_max", r_max)):
        if value is not None:
            check_number(name, float(value), strict=True)
    gamma = float(seen.gamma if gamma is None else gamma)
    r_max = float(seen.r_max if r_max is None else r_max)
    now = one.isel(epoch=-1) if epoch is None else one.sel(epoch=epoch, method="nearest")
    at = int(now.epoch)
    with style():
        figure = fixed_picture(9.6, 4.4)
        plane, accuracy = figure.subplots(1, 2, width_ratios=[1.5, 1])
        figure.subplots_adjust(wspace=0.22, left=0.085)
        _regions(plane, one, gamma, r_max)
        _walk(plane, one, at)
        _accuracy(accuracy, one, at)
        holds = _verdict(float(now.min_informative_mass), float(now.mlp_norm), gamma, r_max)
        share = f"{float(now.test_accuracy):.0%} of the unseen answers right"
        below = _where_from(given, seen)
        titles(figure, f"Epoch {at:,}: {holds}; {share}", f"{below}; {describe(one, end=False)}")
    return figure


def _verdict(mass: float, norm: float, gamma: float, r_max: float) -> str:
    """Which of the two conditions hold, as far as their thresholds are known."""
    parts = []
    for name, holds, threshold in (("B", mass >= gamma, gamma), ("N", norm <= r_max, r_max)):
        words = "is not known" if np.isnan(threshold) else "holds" if holds else "does not hold"
        parts.append(f"{name} {words}")
    return ", ".join(parts)


def _where_from(given: tuple[bool, bool], seen: "xr.Dataset") -> str:
    """Where the thresholds come from."""
    if all(given):
        return "γ and r_max as given"
    names = [name for name, known in zip(("γ", "r_max"), given, strict=True) if not known]
    if np.isnan(seen.epoch):
        return f"{' and '.join(names)} can be measured on a run that groks only"
    words = f"{' and '.join(names)} as measured when phase 4 began, at {int(seen.epoch):,}"
    if "γ" in names and np.isnan(seen.gamma):
        words = words.replace("γ and r_max", "r_max") if "r_max" in names else "r_max as given"
        words += ", γ not on record"
    return words


def _regions(ax: Axes, one: "xr.Dataset", gamma: float, r_max: float) -> None:
    norm = one.mlp_norm.values
    right = 1.08 * max(norm.max(), 0.0 if np.isnan(r_max) else r_max)
    ax.set(xlim=(0, right), ylim=(LEAST_MASS, 1.3), yscale="log")
    ax.set(xlabel=VARIABLES["mlp_norm"].label, ylabel="least mass on a position of I* (log)")
    ax.set(title="Where the run is")
    ax.yaxis.set_major_formatter("{x:g}")
    if not np.isnan(gamma):
        ax.axhspan(gamma, 1.3, color=LOOKS["structure"].color, alpha=0.13, linewidth=0)
        ax.axhline(gamma, color=LOOKS["structure"].color, linewidth=1.5)
        words = f"B: γ = {gamma:.2g} or more"
        ax.text(0.015 * right, gamma * 1.15, words, va="bottom", color="#00563F", size=9.5)
    if not np.isnan(r_max):
        ax.axvspan(0, r_max, color=LOOKS["norm"].color, alpha=0.16, linewidth=0)
        ax.axvline(r_max, color=LOOKS["norm"].color, linewidth=1.5)
        words = f"N: r_max = {r_max:.3g} or less"
        ax.text(
            r_max - 0.015 * right, 1.25 * LEAST_MASS, words, ha="right", color="#7A5200", size=9.5
        )


def _walk(ax: Axes, one: "xr.Dataset", at: int) -> None:
    norm = one.mlp_norm.values
    mass = np.maximum(one.min_informative_mass.values, LEAST_MASS)
    past = one.epoch.values <= at
    ax.plot(norm, mass, color=INK, linewidth=1, alpha=0.3)
    ax.plot(norm[past], mass[past], color=INK, linewidth=2)
    ax.plot(norm[0], mass[0], "o", color="white", markeredgecolor=INK, markersize=7)
    ax.annotate("start", (norm[0], mass[0]), (8, 6), textcoords="offset points", size=9)
    ax.plot(norm[past][-1], mass[past][-1], "o", color=LOOKS["test"].color, markersize=12, zorder=5)


def _accuracy(ax: Axes, one: "xr.Dataset", at: int) -> None:
    curve(ax, "train_accuracy", one.epoch.values, one.train_accuracy.values)
    curve(ax, "test_accuracy", one.epoch.values, one.test_accuracy.values)
    ax.set(title="What it gets right", ylim=(-0.02, 1.04), xlabel="epoch")
    cursor(ax, at, float(one.epoch.values[-1]))
    ax.legend(loc="lower right").set_zorder(6)
