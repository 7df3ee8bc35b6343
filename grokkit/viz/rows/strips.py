"""When each run of each arm memorised and grokked: the figure that serves any row.

Every seed is a thin line from the epoch at which it memorised (a tick) to the one at which
it grokked (a dot): its wait. A run that had not grokked by its last epoch ends in an open
arrow there, and is counted: ``3/5``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row, Times
from grokkit.viz.alt import tell
from grokkit.viz.rows.marks import LATE, median_words, reached, spread
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
    powers_only,
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


@dataclass(frozen=True)
class Beside:
    """A second panel that stands beside the strips of a row.

    Attributes:
        draw: draws it.
        side: where it stands; on the left it is the main panel and the larger one.
        title: of the strips.
        arms: which arms are strips; None: all.
        marked: marks that belong on the strips: epoch by arm.
        mark: their look, with a label.
        words: what to add to the line under the headline.
    """

    draw: Callable[[Axes, Present], None]
    side: Literal["left", "right", "above"]
    title: str
    arms: Callable[[Present], list[str]] | None = None
    marked: Mapping[str, float] | None = None
    mark: Mapping[str, Any] | None = None
    words: str = ""


def strip_figure(
    row: Row,
    evidence: Present,
    accuracy: float = 0.99,
    scale: EpochScale = "log",
    beside: Beside | None = None,
) -> Picture:
    """The strips of the arms of a row that are there.

    Args:
        row: the experiment.
        evidence: its runs.
        accuracy: the test accuracy at which a run has grokked.
        scale: how epochs are spaced.
        beside: a second panel; None: the strips stand alone.

    Returns:
        A picture 9 or 10 inches wide, the higher the more arms there are.
    """
    names = beside.arms(evidence) if beside and beside.arms else list(evidence.arms)
    height = 1.9 + 0.42 * len(names)
    marks, ncols, side = handles(accuracy), 4, beside.side if beside else ""
    with style():
        if beside is None:
            figure = picture(9, height)
            ax = figure.subplots()
        elif side == "above":
            figure = picture(9, height + 3)
            other, ax = figure.subplots(2, 1, height_ratios=(3, height - 1.3))
        else:
            figure = picture(10, max(4.6, height))
            ratios = (1.25, 1) if side == "left" else (1.3, 1)
            other, ax = figure.subplots(1, 2, width_ratios=ratios)
            other, ax = (other, ax) if side == "left" else (ax, other)
        draw_strips(ax, evidence, names, accuracy, scale)
        words = f"{evidence.about()}; one line a seed"
        if beside is not None:
            ax.set_title(beside.title)
            beside.draw(other, evidence)
            if side in ("left", "right"):
                powers_only(ax)
                strips = "right" if side == "left" else "left"
                words = f"{evidence.about()}; one mark ({side}) or line ({strips}) a seed"
                ncols = 2 if side == "left" else 5
            for place, name in enumerate(names):
                if beside.mark and np.isfinite((beside.marked or {}).get(name, np.inf)):
                    ax.plot((beside.marked or {})[name], place, **beside.mark)
            marks += [Line2D([], [], **beside.mark)] if beside.mark else []
        corner = "outside lower right" if side == "left" else "outside lower left"
        figure.legend(handles=marks, loc=corner, ncols=ncols)
        if not all(np.isfinite(evidence.memorised(name).values).all() for name in names):
            words += "; dotted: it never memorised"
        titles(figure, row.question, words + (beside.words if beside else ""))
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
    first, last, told = np.inf, 1.0, []
    for place, name in enumerate(names):
        grokked, memorised = evidence.grokked(name, accuracy), evidence.memorised(name)
        _draw_arm(ax, place, grokked, memorised)
        words = summary(grokked, memorised)
        told.append(f"{name}: {words}")
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
