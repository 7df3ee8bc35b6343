"""Marks for the epochs of runs, of which some had not come by a run's last epoch (censored).

Where epochs run upwards, a censored run is an open mark at its last epoch, in the shape and
colour that it would have had, and an arrow that says that the epoch lies beyond. Where epochs
run to the right, strips have arrows of their own (:mod:`grokkit.viz.rows.strips`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from grokkit.experiments import Times
from grokkit.viz.style import GREY, INK

ROOM = 0.08
"""The margin of an axis of epochs in which an arrow at its end can be seen, as a share of it."""

LATE = "not by its last epoch (censored)"
"""What an arrow means, in every legend."""

READ_OFF: Mapping[str, Any] = {
    "marker": "d",
    "linestyle": "",
    "color": GREY,
    "markerfacecolor": "none",
    "markersize": 9,
    "zorder": 2,
}
"""How a published figure is marked: pale, for its setting is another one."""

_RADIUS = 0.39
"""How far the mark reaches from the point; the arrow goes on from there to 1."""


def spread(n: int, width: float) -> np.ndarray:
    """Places side by side for n marks, so that equal ones do not hide each other."""
    return np.linspace(-width, width, n) if n > 1 else np.zeros(n)


def median_words(times: Times) -> str:
    """The median of epochs, of which some may be censored: ``"3,100"``, ``"> 4,000"``."""
    if not any(times.reached):
        return "never"
    middle = times.median
    return f"{middle:,.0f}" if np.isfinite(middle) else f"> {times.at_least:,.0f}"


def reached(times: Times) -> str:
    """How many runs came there: ``"4/5"``."""
    return f"{times.reached.count(True)}/{len(times.values)}"


def draw_times(
    ax: Axes, x: Any, times: Times, marker: str, color: str, size: int | float = 5
) -> None:
    """Draw a mark for each run at its epoch, upwards; censored ones by :func:`later`.

    Args:
        ax: where.
        x: where each stands, across: one place or ``[run]``.
        times: the epochs; a run that is not even known to have begun has no mark.
        marker: in matplotlib's terms.
        color: a hex colour.
        size: in points.
    """
    x = np.broadcast_to(x, times.values.shape)
    there = np.isfinite(times.values)
    late = ~there & np.isfinite(times.last) & (times.last > 0)
    look = {"marker": marker, "linestyle": "", "color": color, "markersize": size}
    ax.plot(x[there], times.values[there], **look)
    ax.plot(x[late], times.last[late], **later(marker, color))


def later(marker: str, color: str) -> dict[str, Any]:
    """The look of a censored point: keywords for ``Axes.plot``.

    Args:
        marker: the shape of the points that are not censored.
        color: their colour.
    """
    return {
        "marker": _with_arrow(marker),
        "linestyle": "",
        "markersize": 7 / _RADIUS,  # the open mark without its arrow has 7 points
        "markerfacecolor": "white",
        "markeredgecolor": color,
        "markeredgewidth": 1.2,
    }


def arrow_handle(label: str = LATE) -> Line2D:
    """The arrow alone, for the legend of a figure whose arms differ in their marks."""
    middle = Affine2D().translate(0, -(1 + _RADIUS) / 2)
    look = {"linestyle": "", "markersize": 7, "markerfacecolor": "white", "markeredgecolor": INK}
    return Line2D([], [], marker=_arrow().transformed(middle), **look, label=label)


@cache
def _with_arrow(marker: str) -> Path:
    shape = MarkerStyle(marker)
    # Matplotlib's own shapes reach from -1/2 to 1/2.
    to_radius = shape.get_transform() + Affine2D().scale(2 * _RADIUS)
    return Path.make_compound_path(shape.get_path().transformed(to_radius), _arrow())


def _arrow() -> Path:
    stem, head = [(0, _RADIUS), (0, 1)], [(-0.22, 0.7), (0, 1), (0.22, 0.7)]
    begin, go = Path.MOVETO, Path.LINETO
    return Path([*stem, *head], [begin, go, begin, go, go])
