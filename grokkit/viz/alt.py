"""A figure in words: what is drawn and its main numbers, for those who cannot see it."""

from typing import Any, SupportsFloat

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D


def tell(ax: Axes, words: str) -> None:
    """Say what a panel shows, where the lines of its legend do not say it.

    Args:
        ax: the panel; its label, which matplotlib shows nowhere, keeps the words.
        words: one or more sentences, the numbers included.
    """
    ax.set_label(words)


def number(value: SupportsFloat) -> str:
    """A number as it is read: three digits, whole from 1,000 on."""
    value = float(value)
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{round(value, 12) + 0.0:.3g}"


def alt_text(figure: Figure) -> str:
    """A figure in sentences: its headline and the line below it, then each panel.

    Args:
        figure: the figure; every line with a label is told by where it begins, where it ends
            and between which values it lies, as far as its axes show them.
    """
    above = [text.get_text() for text in figure.texts]
    panels = [_panel(ax) for ax in figure.axes if ax.get_visible()]
    return " ".join(_sentence(words) for words in (*above, *panels) if words.strip())


def _panel(ax: Axes) -> str:
    title = ", ".join(_line(ax.get_title(side)) for side in ("left", "right") if ax.get_title(side))
    axes = " against ".join(filter(None, (_line(ax.get_ylabel()), _line(ax.get_xlabel()))))
    # Matplotlib gives every axes a name of its own, such as "_child0".
    own = "" if str(ax.get_label()).startswith("_") else str(ax.get_label())
    handles, labels = ax.get_legend_handles_labels()
    named = [_line(label) + _course(one) for one, label in zip(handles, labels, strict=True)]
    if not own and not named:
        courses = [course for course in map(_course, ax.get_lines()) if course]
        named = [f"a line{course}" for course in courses[:4]]
        named += [f"and {len(courses) - 4} more"] if len(courses) > 4 else []
    written = [] if own else [_line(text.get_text()) for text in ax.texts]
    head = f"{title} ({axes})" if title and axes else title or axes
    words = [own, "; ".join(dict.fromkeys(named)), ", ".join(filter(None, written))]
    said = " ".join(_sentence(part) for part in words if part)
    return f"{head}: {said}" if head and said else head or said


def _course(drawn: Any) -> str:
    """Where a line goes: from its first value to its last; empty for what has no course."""
    line = drawn[0] if isinstance(drawn, ErrorbarContainer) else drawn
    if not isinstance(line, Line2D):
        return ""
    xy = np.asarray(line.get_xydata(), dtype=float)
    xy = xy[np.isfinite(xy).all(axis=1)]
    if len(xy) < 2 or np.ptp(xy[:, 0]) == 0:
        return ""  # a mark of a legend, or an upright line: its label says where
    y = xy[:, 1]
    if np.ptp(y) == 0:
        return f" at {number(y[0])}"
    if str(line.get_linestyle()) == "None":
        return f": {len(y)} marks from {number(y.min())} to {number(y.max())}"
    course = f" goes from {number(y[0])} to {number(y[-1])}"
    low, high = float(y.min()), float(y.max())
    reach = max(abs(high), abs(low), 1e-300)
    for word, value in (("least", low), ("greatest", high)):
        if min(abs(value - end) for end in (y[0], y[-1])) > 0.02 * reach:
            course += f", {word} {number(value)}"
    return course


def _line(words: str) -> str:
    """Words on one line."""
    return " ".join(words.split())


def _sentence(words: str) -> str:
    """Words on one line that end as a sentence does."""
    words = _line(words)
    return words if not words or words[-1] in ".?!" else f"{words}."
