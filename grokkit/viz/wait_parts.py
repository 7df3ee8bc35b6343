"""The wait in its two parts: a search for where to look, and then learning to add."""

from collections.abc import Mapping

import numpy as np

from grokkit.errors import refuse
from grokkit.viz.alt import number, tell
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
"""What words lie on, where a bar runs below them."""


def wait_parts(
    parts: Mapping[str, tuple[float | int, float | int]], *, title: str, below: str = ""
) -> Picture:
    """Draw the two parts of the wait as bars, one for each arm.

    Args:
        parts: for each arm, by the words to show for it: the epoch from which attention is
            right, and the epoch of the grok. What is not finite never came.
        title: what the picture shows.
        below: a plain line under the title.

    Returns:
        A picture 8 inches wide at 100 dots each.

    Raises:
        SettingError: there is no arm.
    """
    if not parts:
        refuse("parts", parts, "at least one arm")
    search, whole = np.array(list(parts.values()), dtype=float).T
    adding = np.zeros(len(parts))
    np.subtract(whole, search, out=adding, where=np.isfinite(search) & np.isfinite(whole))
    known = np.where(np.isfinite(whole), whole, np.where(np.isfinite(search), search, 0.0))
    end = max(known.max(), 1) * 1.25
    at = np.arange(len(parts))
    with style():
        figure = picture(8, 1.7 + 0.42 * len(parts))
        ax = figure.subplots()
        green, red = LOOKS["structure"].color, LOOKS["test"].color
        shown = np.where(np.isfinite(search), search, end)
        ax.barh(at, shown, 0.62, color=green, label="searching: attention is not right yet")
        ax.barh(
            at, adding, 0.62, left=shown, color=red, hatch="//",
            edgecolor="white", label="learning to add: attention is right",
        )  # fmt: skip
        for y, total in zip(at, whole, strict=True):
            words = f" {number(total)}" if np.isfinite(total) else " not in these runs"
            inside = not np.isfinite(search[y])
            place = end * 0.02 if inside else known[y]
            ax.text(place, float(y), words, va="center", color=INK, size=9, bbox=PAPER)
        ax.set_yticks(at, list(parts))
        ax.invert_yaxis()
        ax.set(xlabel="epochs until 95 % of the unseen pairs are right", xlim=(0, end))
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ax.grid(axis="x")
        ax.grid(axis="y", visible=False)
        told = (
            f"{name}: attention right {_epoch(one)}, 95 % {_epoch(two)}"
            for name, (one, two) in parts.items()
        )
        tell(ax, "; ".join(told))
        figure.legend(loc="outside lower left", ncols=2)
        titles(figure, title, below)
    return figure


def _epoch(value: float | int) -> str:
    return f"at epoch {number(value)}" if np.isfinite(value) else "never in these runs"
