"""Phase borders drawn by hand over one run, and those of the rule."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics.phases import BORDERS, PHASES, phase_borders
from grokkit.errors import refuse
from grokkit.viz.run_panels import describe, one_run
from grokkit.viz.style import (
    INK,
    SHADES,
    Picture,
    curve,
    epoch_axis,
    epoch_label,
    fixed_picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


def phases_by_hand(
    history: "xr.Dataset",
    run: int = 0,
    borders: Sequence[float | int] = (0, 0, 0),
    *,
    reveal: bool = False,
) -> Picture:
    """The curves of a run without its phases, and three borders that somebody has chosen.

    Args:
        history: the History.
        run: which of its runs, by position.
        borders: the epochs at which phases 2, 3 and 4 are said to begin, in order.
        reveal: whether to show the borders of :func:`grokkit.diagnostics.phase_borders` too.

    Returns:
        A picture of 9.6 x 5.4 inches at 100 dots each.

    Raises:
        SettingError: there is no such run; not three borders, or they run backward.
    """
    one = one_run(history, run)
    chosen = [float(border) for border in borders]
    if len(chosen) != len(BORDERS) or chosen != sorted(chosen):
        refuse("borders", chosen, "three epochs, none before the one before it")
    rule = [float(border) for border in phase_borders(one).values]
    with style():
        figure = fixed_picture(9.6, 5.4)
        strips, accuracy, structure = figure.subplots(3, 1, height_ratios=[0.55, 1.5, 1.2])
        figure.subplots_adjust(hspace=0.2, left=0.09, right=0.92, top=0.89)
        for name in ("train_accuracy", "test_accuracy", "unmirrored_accuracy"):
            if name in one:
                curve(accuracy, name, one.epoch.values, one[name].values)
        accuracy.set(ylim=(-0.02, 1.06), ylabel="right answers")
        curve(structure, "kl", one.epoch.values, one.kl.values)
        structure.set_ylim(0, None)
        norm = structure.twinx()
        curve(norm, "mlp_norm", one.epoch.values, one.mlp_norm.values)
        norm.set_ylim(0, None)
        norm.grid(False)
        norm.spines["right"].set_visible(True)
        for ax in (strips, accuracy, structure):
            _epochs(ax, one)
            if ax is not structure:
                ax.tick_params(labelbottom=False)
        structure.set_xlabel(epoch_label("log"))
        _strip(strips, 1, chosen, one)
        _strip(strips, 0, rule if reveal else None, one)
        strips.set(ylim=(-0.55, 1.55))
        strips.set_yticks([0, 1], ["the rule", "you"])
        strips.grid(False)
        strips.spines[:].set_visible(False)
        strips.tick_params(length=0)
        for ax in (accuracy, structure):
            for border in chosen:
                ax.axvline(border, color=INK, linewidth=1.5)
            for border in rule if reveal else []:
                ax.axvline(border, color=INK, linewidth=1.5, linestyle=(0, (1, 1.5)))
        accuracy.legend(loc="upper left")
        handles = [*structure.get_lines()[:1], *norm.get_lines()]
        structure.legend(handles=handles, loc="center", bbox_to_anchor=(0.57, 0.66))
        titles(figure, *_words(one, chosen, rule, reveal))
    return figure


def _words(
    one: "xr.Dataset", chosen: list[float], rule: list[float], reveal: bool
) -> tuple[str, str]:
    """The headline, and the line below it."""
    if not reveal:
        task = f"move the three borders, then compare; {describe(one, end=False)}"
        return "Where do plateau, resurgence and grokking begin?", task
    parts = []
    for name, mine, other in zip(BORDERS, chosen, rule, strict=True):
        when = "not reached" if np.isnan(other) else f"{other:,.0f}"
        parts.append(f"{name}: {when}, you said {mine:,.0f}")
    return "The borders of the rule (dotted) and yours (solid)", ";  ".join(parts)


def _strip(ax: Axes, row: int, borders: list[float] | None, one: "xr.Dataset") -> None:
    """The phases as a row of boxes; without borders, an empty one."""
    last = float(one.epoch.values[-1])
    if borders is None:
        ax.barh(row, last, height=0.8, color="white", edgecolor=INK, linewidth=0.8)
        ax.text(0.5, row, "?", transform=ax.get_yaxis_transform(), ha="center", va="center")
        return
    edges = [0.0, *(last if np.isnan(border) else border for border in borders), last]
    to_axes = ax.transData + ax.transAxes.inverted()
    for phase, (left, right) in enumerate(itertools.pairwise(edges), start=1):
        if right <= left:
            continue
        looks = {"color": SHADES[phase], "edgecolor": INK, "linewidth": 0.8}
        ax.barh(row, right - left, left=left, height=0.8, **looks)
        x0, x1 = (to_axes.transform((x, 0.0))[0] for x in (left, right))
        words = f"{phase} {PHASES[phase]}"
        if x1 - x0 < 0.0115 * len(words):
            words = f"{phase}" if x1 - x0 > 0.015 else ""
        where = {"transform": ax.get_yaxis_transform(), "ha": "center", "va": "center"}
        ax.text((x0 + x1) / 2, row, words, size=9, **where)


def _epochs(ax: Axes, one: "xr.Dataset") -> None:
    epochs = one.epoch.values
    first = epochs[epochs > 0][0] if (epochs > 0).any() else 1
    epoch_axis(ax, float(first), float(epochs[-1]), "log")
