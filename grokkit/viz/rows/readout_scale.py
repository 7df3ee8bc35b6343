"""Readout scale against grok epoch, the learning rate going with it or not."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.experiments.readout_scale import SCALES as OF_SIZE
from grokkit.viz.rows.censored import LATE, ROOM, later
from grokkit.viz.rows.curves import log_epochs, missing_panel
from grokkit.viz.rows.ln_placement import READ_OFF
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

ACCURACY = 0.95
"""The test accuracy that epochs are counted to, as the claims of this row do."""

SCALES = OF_SIZE["paper"]
"""All the scales of the paper; where only some were run, the axis is the same."""

RULES: Mapping[str, str] = {
    ", rate / a^2": "Learning rate divided by a²",
    "": "One learning rate for all",
}
"""The panels, by the end of the arms' names; at a = 1 they share one arm."""

PUBLISHED: Mapping[float, float] = {0.5: 1800, 0.75: 5300, 1.0: 7700, 1.25: np.inf, 1.5: np.inf}
"""Epochs by scale, the rate divided by a^2, in arXiv 2602.06702 (modulus 113; read off a plot);
inf: not by epoch 10,000, the last."""

_COLOR = LOOKS["test"].color
_DOT: Mapping[str, Any] = {"marker": "o", "linestyle": "", "color": _COLOR, "markersize": 5}
_LATE: Mapping[str, Any] = later("o", _COLOR)
_MEDIAN: Mapping[str, Any] = {"color": INK, "linewidth": 1.6}


def readout_scale_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each rule: a mark for each run, a line through the medians."""
    with style():
        figure = picture(10, 4.6)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        axes[0].set_xlim(SCALES[0] - 0.12, SCALES[-1] + 0.12)
        log_epochs(axes[0], "y")
        axes[0].margins(y=ROOM)
        axes[0].set_xticks(SCALES, [f"{a:g}" for a in SCALES])
        axes[0].set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
        for ax, (end, title) in zip(axes, RULES.items(), strict=True):
            _panel(ax, evidence, end)
            ax.set_title(title)
            ax.set_xlabel("readout scale a")
        _published(axes[0])
        figure.legend(handles=_handles(), loc="outside lower left", ncols=4)
        titles(figure, row.question, f"{evidence.about()}; one mark a seed")
    return figure


def _panel(ax: Axes, evidence: Present, end: str) -> None:
    medians = []
    for a in SCALES:
        name = "a 1" if a == 1 else f"a {a:g}{end}"
        if name not in evidence.arms:
            continue
        times = evidence.grokked(name, ACCURACY)
        n = len(times.values)
        places = a + (np.linspace(-0.03, 0.03, n) if n > 1 else np.zeros(1))
        reached = np.isfinite(times.values)
        ax.plot(places[reached], times.values[reached], **_DOT)
        ax.plot(places[~reached], times.last[~reached], **_LATE)
        medians.append((a, times.median))
        if not np.isfinite(times.median):  # the line cannot come here, and says why
            lowest = np.nanmin([*times.values, *times.last])
            ax.annotate(f"median\n> {times.at_least:,.0f}", (a, lowest), (0, -9), size=8.5,
                        textcoords="offset points", ha="center", va="top")  # fmt: skip
    if not medians:
        missing_panel(ax, f"not run{end}")
        return
    x, y = np.array(medians).T
    ax.plot(x, np.where(np.isfinite(y), y, np.nan), **_MEDIAN)


def _published(ax: Axes) -> None:
    for a, epoch in PUBLISHED.items():
        marker, color, size = (READ_OFF[one] for one in ("marker", "color", "markersize"))
        late = {**later(marker, color, size), "markeredgewidth": 1} if np.isinf(epoch) else {}
        ax.plot(a, min(epoch, 10_000), **{**READ_OFF, **late, "markerfacecolor": "none"})


def _handles() -> list[Line2D]:
    return [
        Line2D([], [], **_DOT, label=f"test accuracy {ACCURACY:g}"),
        Line2D([], [], **_LATE, label=LATE),
        Line2D([], [], **_MEDIAN, label="through the medians"),
        Line2D([], [], **READ_OFF, label="published, read off a plot; modulus 113"),
    ]
