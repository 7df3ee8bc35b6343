"""When each run of each arm memorised and grokked: the figure that serves any row.

Every seed is a thin line from the epoch at which it memorised (a tick) to the one at which
it grokked (a dot): its wait. A run that had not grokked by its last epoch ends in an open
arrow there, and is counted: ``3/5``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row, Times
from grokkit.viz.rows.censored import LATE
from grokkit.viz.rows.present import Present
from grokkit.viz.style import (
    INK,
    LOOKS,
    EpochScale,
    Picture,
    epoch_axis,
    epoch_label,
    picture,
    style,
    titles,
)

MEMORISED: Mapping[str, Any] = {
    "marker": "|",
    "color": LOOKS["train"].color,
    "markersize": 6,
    "markeredgewidth": 1.6,
    "zorder": 4,  # seen on a dot, where both came at once
}
GROKKED: Mapping[str, Any] = {"marker": "o", "color": LOOKS["test"].color, "markersize": 5}
CENSORED: Mapping[str, Any] = {
    "marker": ">",
    "markerfacecolor": "white",
    "markeredgecolor": LOOKS["test"].color,
    "markersize": 7,
    "markeredgewidth": 1.2,
    "clip_on": False,  # the axes end with the longest run
}
MEDIAN: Mapping[str, Any] = {"color": INK, "linewidth": 2.4}
"""The marks of a strip."""


def strip_figure(
    row: Row, evidence: Present, accuracy: float = 0.99, scale: EpochScale = "log"
) -> Picture:
    """The strips of all arms of a row that are there.

    Args:
        row: the experiment.
        evidence: its runs.
        accuracy: the test accuracy at which a run has grokked.
        scale: how epochs are spaced.

    Returns:
        A picture 9 inches wide, the higher the more arms there are.
    """
    names = list(evidence.arms)
    with style():
        figure = picture(9, 1.9 + 0.42 * len(names))
        ax = figure.subplots()
        draw_strips(ax, evidence, names, accuracy, scale)
        figure.legend(handles=handles(accuracy), loc="outside lower left", ncols=4)
        words = f"{evidence.about()}; one line a seed{dotted(evidence, names)}"
        titles(figure, row.question, words)
    return figure


def draw_strips(
    ax: Axes,
    evidence: Present,
    names: Sequence[str],
    accuracy: float = 0.99,
    scale: EpochScale = "log",
) -> None:
    """Draw arms below each other, the first on top; beside each its median and count.

    Args:
        ax: where.
        evidence: the runs.
        names: the arms.
        accuracy: the test accuracy at which a run has grokked.
        scale: how epochs are spaced.
    """
    first, last = np.inf, 1.0
    for place, name in enumerate(names):
        grokked, memorised = evidence.grokked(name, accuracy), evidence.memorised(name)
        _draw_arm(ax, place, grokked, memorised)
        _beside(ax, place, summary(grokked, memorised), va="center")
        first = np.fmin(first, np.fmin.reduce([*memorised.values, *grokked.values, np.inf]))
        last = max(last, *grokked.last)
    _beside(ax, -0.55, "median, reached", va="bottom", style="italic")
    epoch_axis(ax, min(first, last), 1.06 * last, scale)
    ax.set_xlabel(epoch_label(scale))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.tick_params(axis="y", length=0)
    ax.grid(False)
    ax.grid(True, axis="x")
    for place in range(1, len(names), 2):
        ax.axhspan(place - 0.5, place + 0.5, color="#F5F5F5", linewidth=0, zorder=0)


def summary(grokked: Times, memorised: Times) -> str:
    """The median grok epoch and how many runs reached it; how many memorised, if not all."""
    n, come = len(grokked.values), grokked.reached.count(True)
    line = f"{median_words(grokked)}, {come}/{n}"
    if not all(memorised.reached):
        line += f"  (memorised {memorised.reached.count(True)}/{n})"
    return line


def median_words(times: Times) -> str:
    """The median of epochs, of which some may be censored: ``"3,100"``, ``"> 4,000"``."""
    if not any(times.reached):
        return "never"
    middle = times.median
    return f"{middle:,.0f}" if np.isfinite(middle) else f"> {times.at_least:,.0f}"


def dotted(evidence: Present, names: Sequence[str]) -> str:
    """What dotted lines are, to be added to what the lines are; empty where there are none."""
    known = [bool(np.isfinite(evidence.memorised(name).values).all()) for name in names]
    return "" if all(known) else "; dotted: it never memorised"


def handles(accuracy: float) -> list[Line2D]:
    """What the marks of a strip mean, for a legend."""
    none: Mapping[str, Any] = {"linestyle": ""}
    return [
        Line2D([], [], **none, **MEMORISED, label="memorised"),
        Line2D([], [], **none, **GROKKED, label=f"test accuracy {accuracy:g}"),
        Line2D([], [], **none, **CENSORED, label=LATE),
        Line2D([], [], **none, marker="|", markersize=13, markeredgewidth=2.4, color=INK,
               label="median over seeds"),
    ]  # fmt: skip


def _draw_arm(ax: Axes, place: int, grokked: Times, memorised: Times) -> None:
    n = len(grokked.values)
    heights = place + (np.linspace(-0.28, 0.28, n) if n > 1 else np.zeros(1))
    for y, end, last, begin in zip(
        heights, grokked.values, grokked.last, memorised.values, strict=True
    ):
        reached, known = bool(np.isfinite(end)), bool(np.isfinite(begin))
        stop = end if reached else last
        dash = "-" if known else (0, (1, 2))  # a run that never memorised does not wait
        ax.plot(
            [begin if known else 0, stop], [y, y], color="#9A9A9A", linewidth=0.8, linestyle=dash
        )
        if known:
            ax.plot(begin, y, **MEMORISED)
        ax.plot(stop, y, **(GROKKED if reached else CENSORED))
    middle = grokked.median
    if np.isfinite(middle):
        ax.plot([middle, middle], [place - 0.4, place + 0.4], **MEDIAN, zorder=3)


def _beside(ax: Axes, place: int | float, words: str, **look: Any) -> None:
    """Words to the right of the axes, clear of the arrows at its edge, at the height of an arm."""
    at = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    ax.annotate(words, (1, place), (7, 0), size=8.5, **at, **look)
