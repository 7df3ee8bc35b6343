"""What had not come by a run's last epoch, where epochs run upwards: an open mark, and an arrow.

The mark stands at that last epoch and keeps the shape and colour that it would have had; the
arrow says that the epoch lies beyond. Where epochs run to the right, strips have arrows of
their own (:mod:`grokkit.viz.rows.strips`).
"""

from functools import cache
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from grokkit.viz.style import INK

ROOM = 0.08
"""The margin of an axis of epochs in which an arrow at its end can be seen, as a share of it."""

LATE = "not by its last epoch (censored)"
"""What an arrow means, in every legend."""

_RADIUS = 0.39
"""How far the mark reaches from the point; the arrow goes on from there to 1."""


def later(marker: str, color: str, size: int | float = 7) -> dict[str, Any]:
    """The look of a censored point: keywords for ``Axes.plot``.

    Args:
        marker: the shape of the points that are not censored.
        color: their colour.
        size: of the open mark without its arrow, in points.
    """
    return {
        "marker": _with_arrow(marker),
        "linestyle": "",
        "markersize": size / _RADIUS,
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
