"""Three accounts on one network: when each signal arrives, and whether controls move too."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.experiments.signals import BASE, SIGNALS, arrivals, gone
from grokkit.experiments.three_accounts import NO_DECAY, TRAPPED
from grokkit.viz.rows.curves import missing_panel
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

LINES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "KL": {"color": LOOKS["structure"].color, "marker": "o"},
        "entropy": {"color": "#56B4E9", "marker": "v", "linestyle": (0, (1, 1))},
        "effective rank": {"color": "#56B4E9", "marker": "s"},
        "alpha": {"color": "#56B4E9", "marker": "D", "linestyle": (0, (5, 2))},
        "relative MED": {"color": "#7F4F24", "marker": "P"},
        "Fourier": {"color": "#CC79A7", "marker": "X"},
        "norm": {"color": LOOKS["norm"].color, "marker": "d", "linestyle": (0, (6, 1.5, 1, 1.5))},
        "unseen pairs": {"color": LOOKS["test"].color, "marker": "o", "linewidth": 2.4},
    }
)
"""How each signal is drawn: a colour for each account, a marker for each of its signals."""

CONTROLS: Mapping[str, Any] = MappingProxyType({NO_DECAY: "full", TRAPPED: "none"})
"""The controls, and how their markers are filled."""

_HALF: Mapping[str, Any] = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}


def three_accounts_figure(row: Row, evidence: Present) -> Picture:
    """When each signal is half-way, the first on top; and how far controls go."""
    names = _in_order(evidence)
    with style():
        figure = picture(9.5, 4.9)
        when, controls = figure.subplots(1, 2, sharey=True, width_ratios=(1.35, 1))
        _draw_arrivals(when, evidence, names)
        _draw_controls(controls, evidence, names)
        when.set_yticks(range(len(names)), names)
        when.set_ylim(len(names) - 0.45, -0.55)
        for ax in (when, controls):
            ax.tick_params(axis="y", length=0)
            ax.grid(False)
            ax.grid(True, axis="x")
            for place in range(1, len(names), 2):
                ax.axhspan(place - 0.5, place + 0.5, color="#F5F5F5", linewidth=0, zorder=0)
        # Below the panels: in them every row has marks on both sides.
        figure.legend(handles=_handles(evidence), loc="outside lower right", ncols=3)
        titles(figure, row.question, f"{evidence.about()}; one mark a seed")
    return figure


def _in_order(evidence: Present) -> list[str]:
    """The signals by how soon they arrive in the baseline; as listed if there is none."""
    names = list(SIGNALS)
    if not evidence.has(BASE):
        return names
    last = arrivals(evidence, "unseen pairs").values
    shares = {name: arrivals(evidence, name).values / last for name in names}
    # What never arrives is last; of what arrives together the first listed comes first.
    return sorted(names, key=lambda name: float(np.median(np.nan_to_num(shares[name], nan=np.inf))))


def _draw_arrivals(ax: Axes, evidence: Present, names: list[str]) -> None:
    """The epoch at which each signal is half-way over that of the unseen pairs."""
    ax.set_title("Half-way, as a share of the epoch\nat which the unseen pairs are")
    if not evidence.has(BASE):
        return missing_panel(ax, f"no run of {BASE}")
    grokked = arrivals(evidence, "unseen pairs").values
    if not np.isfinite(grokked).any():
        return missing_panel(ax, f"no run of {BASE} has grokked")
    ratios = {name: arrivals(evidence, name).values / grokked for name in names}
    for place, name in enumerate(names):
        heights = place + _offsets(len(grokked))
        ax.plot(ratios[name], heights, **{**LINES[name], "linestyle": "", "markersize": 6})
        middle = np.nanmedian(ratios[name]) if np.isfinite(ratios[name]).any() else np.nan
        ax.plot([middle] * 2, [place - 0.38, place + 0.38], color=INK, linewidth=2, zorder=3)
    ax.axvline(1, color=LINES["unseen pairs"]["color"], linewidth=1, zorder=1)
    ax.set_xscale("log")
    low = min(float(np.nanmin(values)) for values in ratios.values() if np.isfinite(values).any())
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5) if tick >= 0.75 * low]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("share of that epoch (log scale); bar: median")


def _draw_controls(ax: Axes, evidence: Present, names: list[str]) -> None:
    """How far each signal goes where nothing is understood."""
    ax.set_title("The way it goes in networks\nthat never grok")
    there = [arm for arm in CONTROLS if evidence.has(arm)]
    if not there or not evidence.has(BASE):
        return missing_panel(ax, "no run of a control and its baseline")
    for number, arm in enumerate(there):
        for place, name in enumerate(names):
            shares = _paired(evidence, name, arm)
            shift = 0.18 * (2 * number - 1) if len(there) > 1 else 0.0
            look = {**LINES[name], "linestyle": "", "markersize": 5, "fillstyle": CONTROLS[arm]}
            ax.plot(np.clip(shares, -1, 2), place + shift + 0.4 * _offsets(len(shares)), **look)
    ax.axvline(0.5, **_HALF)
    ax.axvline(0, color=INK, linewidth=0.5)
    ax.set_xlim(-1.08, 2.08)
    ax.set_xticks([-1, 0, 0.5, 1, 2], ["≤ -1", "0", "½", "1", "≥ 2"])
    ax.set_xlabel("in ways of the baseline, to the end of the run")


def _handles(evidence: Present) -> list[Line2D]:
    """What the right panel's marks and its dashed line are."""
    marks = [
        Line2D([], [], linestyle="", marker="o", color=INK, fillstyle=fill, label=arm)
        for arm, fill in CONTROLS.items()
        if evidence.has(arm)
    ]
    return [*marks, Line2D([], [], **_HALF, label="half-way")] if marks else []


def _paired(evidence: Present, name: str, arm: str) -> np.ndarray:
    """The ways gone in a control, of those seeds that the baseline has too."""
    seeds = [spec.seed for spec in evidence.arms[arm]]
    if seeds != [spec.seed for spec in evidence.arms[BASE]]:
        return np.full(len(seeds), np.nan)
    return gone(evidence, name, arm)


def _offsets(n: int) -> np.ndarray:
    return np.linspace(-0.26, 0.26, n) if n > 1 else np.zeros(1)
