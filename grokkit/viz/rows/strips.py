"""When each run of each arm memorised and grokked: the figure that serves any row.

Every seed is a thin line from the epoch at which it memorised (a tick) to the one at which
it grokked (a dot): its wait. A run that had not grokked by its last epoch ends in an open
arrow there, and is counted: ``3/5``.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row, Times
from grokkit.viz.alt import tell
from grokkit.viz.rows.marks import LATE, READ_OFF, median_words, reached, spread
from grokkit.viz.rows.present import Present
from grokkit.viz.style import (
    GREY,
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
    row: Row,
    evidence: Present,
    accuracy: float = 0.99,
    scale: EpochScale = "log",
    published: Mapping[str, float | int] = MappingProxyType({}),
    first: str = "",
) -> Picture:
    """The strips of all arms of a row that are there.

    Args:
        row: the experiment.
        evidence: its runs.
        accuracy: the test accuracy at which a run has grokked.
        scale: how epochs are spaced.
        published: grok epochs by arm that others have published, to be marked.
        first: the arms with these words in their names stand above the others.

    Returns:
        A picture 9 inches wide, the higher the more arms there are.
    """
    names = sorted(evidence.arms, key=lambda name: first not in name)
    with style():
        figure = picture(9, 1.9 + min(0.42 * len(names), 8))
        ax = figure.subplots()
        draw_strips(ax, evidence, names, accuracy, scale, published)
        marks = handles(accuracy, published)
        figure.legend(handles=marks, loc="outside lower left", ncols=3 if published else 4)
        titles(
            figure, row.question, f"{evidence.about()}; one line a seed{dotted(evidence, names)}"
        )
    return figure


def draw_strips(
    ax: Axes,
    evidence: Present,
    names: Sequence[str],
    accuracy: float = 0.99,
    scale: EpochScale = "log",
    published: Mapping[str, float | int] = MappingProxyType({}),
) -> None:
    """Draw arms below each other, the first on top; beside each its median and count.

    Args:
        ax: where.
        evidence: the runs.
        names: the arms.
        accuracy: the test accuracy at which a run has grokked.
        scale: how epochs are spaced.
        published: grok epochs by arm that others have published; infinite: not by the last.
    """
    first, last, told = np.inf, 1.0, []
    for place, name in enumerate(names):
        grokked, memorised = evidence.grokked(name, accuracy), evidence.memorised(name)
        _draw_arm(ax, place, grokked, memorised)
        words = summary(grokked, memorised)
        told.append(f"{name}: {words}")
        if np.isfinite(published.get(name, np.inf)):
            ax.plot(published[name], place, **READ_OFF)
            told[-1] += f", published {published[name]:,.0f}"
        _beside(ax, place, words, va="center")
        first = np.fmin(first, np.fmin.reduce([*memorised.values, *grokked.values, np.inf]))
        last = max(last, *grokked.last)
    _beside(ax, -0.55, "median, reached", va="bottom", style="italic")
    tell(ax, f"The median epoch at which a test accuracy of {accuracy:g} is reached, and by how "
         f"many runs. {'; '.join(told)}")  # fmt: skip
    epoch_axis(ax, min(first, last), 1.06 * last, scale)
    ax.set_xlabel(epoch_label(scale))
    arm_axis(ax, names)


def arm_axis(ax: Axes, names: Sequence[str]) -> None:
    """A vertical axis of names, the first on top, every second one on a shade."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.tick_params(axis="y", length=0)
    ax.grid(False)
    ax.grid(True, axis="x")
    for place in range(1, len(names), 2):
        ax.axhspan(place - 0.5, place + 0.5, color="#F5F5F5", linewidth=0, zorder=0)


def summary(grokked: Times, memorised: Times) -> str:
    """The median grok epoch and how many runs reached it; how many memorised, if not all."""
    line = f"{median_words(grokked)}, {reached(grokked)}"
    return line if all(memorised.reached) else f"{line}  (memorised {reached(memorised)})"


def dotted(evidence: Present, names: Sequence[str]) -> str:
    """What dotted lines are, to be added to what the lines are; empty where there are none."""
    known = [bool(np.isfinite(evidence.memorised(name).values).all()) for name in names]
    return "" if all(known) else "; dotted: it never memorised"


def handles(
    accuracy: float, published: Mapping[str, float | int] = MappingProxyType({})
) -> list[Line2D]:
    """What the marks of a strip mean, for a legend."""
    none: Mapping[str, Any] = {"linestyle": ""}
    marks = [
        Line2D([], [], **none, **MEMORISED, label="memorised"),
        Line2D([], [], **none, **GROKKED, label=f"test accuracy {accuracy:g}"),
        Line2D([], [], **none, **CENSORED, label=LATE),
        Line2D([], [], **none, marker="|", markersize=13, markeredgewidth=2.4, color=INK,
               label="median over seeds"),
    ]  # fmt: skip
    others = [Line2D([], [], **READ_OFF, label="published, modulus 113")] if published else []
    return [*marks, *others]


def _draw_arm(ax: Axes, place: int, grokked: Times, memorised: Times) -> None:
    heights = place + spread(len(grokked.values), 0.28)
    for y, end, last, begin in zip(
        heights, grokked.values, grokked.last, memorised.values, strict=True
    ):
        came, known = bool(np.isfinite(end)), bool(np.isfinite(begin))
        stop = end if came else last
        dash = "-" if known else (0, (1, 2))  # a run that never memorised does not wait
        wait = [begin if known else 0, stop]
        ax.plot(wait, [y, y], color=GREY, linewidth=0.8, linestyle=dash)
        if known:
            ax.plot(begin, y, **MEMORISED)
        ax.plot(stop, y, **(GROKKED if came else CENSORED))
    middle = grokked.median
    if np.isfinite(middle):
        ax.plot([middle, middle], [place - 0.4, place + 0.4], **MEDIAN, zorder=3)


def _beside(ax: Axes, place: int | float, words: str, **look: Any) -> None:
    """Words to the right of the axes, clear of the arrows at its edge, at the height of an arm."""
    at = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    ax.annotate(words, (1, place), (7, 0), size=8.5, **at, **look)
