"""Lines in one panel: for what a lesson computes itself and no History holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Num
from matplotlib.ticker import FuncFormatter

from grokkit.errors import check_choice, refuse
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles


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
    """Draw lines over one another.

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
        if any(one.label for one in drawn):
            ax.legend(loc="best")
        titles(figure, title, below)
    return figure
