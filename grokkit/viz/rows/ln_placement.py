"""When each placement of the LayerNorm groks, and how evenly it looked when it had memorised."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.viz.rows.censored import LATE, ROOM, arrow_handle, later
from grokkit.viz.rows.curves import log_epochs, missing_panel, powers_only
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import dotted, draw_strips, handles
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

ACCURACY = 0.95
"""The test accuracy that both panels count epochs to."""

MARKS: Mapping[str, tuple[str, str]] = {
    "none": ("o", INK),
    "A*": ("s", LOOKS["structure"].color),
    "A^qk": ("v", LOOKS["gradient"].color),
    "A^v": ("P", LOOKS["norm"].color),
    "M": ("^", LOOKS["test"].color),
    "M+A*": ("D", LOOKS["train"].color),
}
"""Marker and colour of every placement, in this figure and in that of compressibility."""

PUBLISHED: Mapping[str, int | float] = {
    "none": 7763, "A*": 7126, "A^qk": np.inf, "A^v": 1700, "M": 954, "M+A*": 3297,
}  # fmt: skip
"""Epochs in arXiv 2602.06702, modulus 113; that of A^v is read off a plot, inf: not by 10,000."""

READ_OFF: Mapping[str, Any] = {
    "marker": "d",
    "linestyle": "",
    "color": "#8C8C8C",
    "markerfacecolor": "none",
    "markersize": 9,
    "zorder": 2,
}
"""How a published figure is marked: pale, for its setting is another one."""


def ln_placement_figure(row: Row, evidence: Present) -> Picture:
    """Strips of grok epochs; beside them grok epoch against entropy, a mark for each run."""
    names = list(evidence.arms)
    with style():
        figure = picture(10, max(4.4, 2.3 + 0.42 * len(names)))
        strips, entropy = figure.subplots(1, 2, width_ratios=(1.3, 1))
        draw_strips(strips, evidence, names, ACCURACY)
        powers_only(strips)
        strips.set_title("When it memorises and when it groks")
        for place, name in enumerate(names):
            if np.isfinite(PUBLISHED.get(name, np.inf)):
                strips.plot(PUBLISHED[name], place, **READ_OFF)
        _entropies(entropy, evidence, names)
        marks = [*handles(ACCURACY), Line2D([], [], **READ_OFF, label="published, modulus 113")]
        figure.legend(handles=marks, loc="outside lower left", ncols=5)
        words = f"{evidence.about()}; one line (left) or mark (right) a seed"
        titles(figure, row.question, words + dotted(evidence, names))
    return figure


def _entropies(ax: Axes, evidence: Present, names: list[str]) -> None:
    ax.set_title("Looking evenly, and grokking")
    known, marks = [], []
    for name in names:
        entropies = evidence.at(name, "map_entropy", evidence.memorised(name))
        grokked = evidence.grokked(name, ACCURACY)
        marker, color = MARKS[name]
        reached = np.isfinite(grokked.values)
        dot = {"marker": marker, "linestyle": "", "color": color, "markersize": 6}
        late = later(marker, color)
        ax.plot(entropies[reached], grokked.values[reached], **dot)
        ax.plot(entropies[~reached], grokked.last[~reached], **late)
        marks.append(Line2D([], [], **(dot if reached.any() else late), label=name))
        known += entropies[np.isfinite(entropies)].tolist()
    if not known:
        ax.clear()
        missing_panel(ax, "nothing has been memorised")
        ax.set_title("Looking evenly, and grokking")
        return
    ax.set_xlabel("entropy of attention when memorised (nats)")
    ax.ticklabel_format(axis="x", useOffset=False)
    low, high = ax.get_xlim()
    ax.set_xticks([tick for tick in ax.get_xticks() if low <= tick <= high])
    log_epochs(ax, "y")
    ax.margins(y=ROOM)
    ax.set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
    late = arrow_handle(LATE.replace("last ", "last\n"))  # as narrow as the names
    ax.legend(handles=[*marks, late], loc="best", handlelength=1.2)
