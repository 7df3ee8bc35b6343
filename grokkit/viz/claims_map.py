"""The map of the course as one picture: the paper says, we measured, the verdict."""

from textwrap import wrap

from grokkit.experiments import claims_map as lines_of
from grokkit.viz.alt import tell
from grokkit.viz.style import GREY, INK, Picture, picture, style

COLORS = {
    "reproduced": "#00694C",
    "partly": "#7A5200",
    "not reproduced": "#9C3D00",
    "undecided": "#595959",
}
"""The colour of a verdict; each has a contrast of 4.5 or more with white."""

MARKS = {"reproduced": "✔", "partly": "◐", "not reproduced": "✘", "undecided": "?"}
"""Its mark, so that nothing hangs on the colour."""

COLUMNS = (0.0, 0.07, 0.44, 0.84)
"""Where the columns begin, as shares of the width: lesson, claim, measured, verdict."""

WIDTHS = (50, 52)
"""The letters of a line of the two wide columns."""

WIDTH, LINE, ROW = 10.5, 0.165, 0.12
"""Inches: the picture's width, a line of words, and the room between two rows."""


def claims_map(upto: int | None = None) -> Picture:
    """What is said, what was measured, and the verdict, a row for each claim of the course.

    Args:
        upto: a lesson; its own claims are shown whole, those of the lessons before it without what
            was measured. None: all claims, whole.

    Returns:
        A picture of 10.5 inches' width that is as high as its rows; in words:
        :attr:`Picture.alt`.

    Raises:
        SettingError: ``upto`` is not a whole number from 0 on.
    """
    lines = lines_of(upto)
    rows: list[tuple[int, list[str], list[str], str, str]] = []
    told: list[str] = []
    for one in lines:
        words, whole = f"{one.says} ({one.who})", upto in (None, one.lesson)
        said = wrap(words, WIDTHS[0] if whole else sum(WIDTHS))
        seen = wrap(one.measured, WIDTHS[1]) if whole else []
        verdict, _, how = one.verdict.partition(": ")
        mark = f"{MARKS.get(verdict, '')} {verdict}"
        if how and whole:
            mark += f"\n    ({how})"
        rows.append((one.lesson, said, seen, mark, COLORS.get(verdict, INK)))
        measured = f" Measured: {one.measured};" if whole else ""
        told.append(f"Lesson {one.lesson:02}, {one.who}: {one.says}{measured} {one.verdict}.")
    heights = [
        LINE * max(len(said), len(seen), mark.count("\n") + 1) + ROW
        for _, said, seen, mark, _ in rows
    ]
    total = sum(heights) + 0.75
    with style():
        figure = picture(WIDTH, total, "none")
        ax = figure.add_axes((0.01, 0.0, 0.98, 1.0))
        ax.set(xlim=(0, 1), ylim=(total, 0))
        ax.axis("off")
        heads = ("lesson", "it is said that …", "we measured", "verdict")
        for x, head in zip(COLUMNS, heads, strict=True):
            ax.text(x, 0.36, head, fontsize=10.5, fontweight="bold", va="bottom")
        y = 0.45
        for (lesson, said, seen, mark, color), height in zip(rows, heights, strict=True):
            ax.axhline(y, color=GREY, linewidth=0.6)
            top = y + ROW / 2
            look = {"fontsize": 9.5, "va": "top", "linespacing": 1.2}
            ax.text(COLUMNS[0], top, f"{lesson:02}", color=INK, **look)
            ax.text(COLUMNS[1], top, "\n".join(said), color=INK, **look)
            if seen:
                ax.text(COLUMNS[2], top, "\n".join(seen), color=INK, **look)
            ax.text(COLUMNS[3], top, mark, color=color, fontweight="bold", **look)
            y += height
        ax.axhline(y, color=GREY, linewidth=0.6)
        ax.text(0, y + 0.06, NOTE, fontsize=8.5, va="top", color=INK)
        tell(ax, " ".join(told))
    return figure


NOTE = (
    "Where a paper gives no number, the bound is ours. Brackets: an interval for the median over "
    "seeds, right about 95 times in 100 (lesson 00)."
)
