"""When the features are as compressible as they get, against when the network groks."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.experiments.compressibility import arrives
from grokkit.viz.rows.curves import missing_panel
from grokkit.viz.rows.ln_placement import MARKS, READ_OFF
from grokkit.viz.rows.ln_placement import PUBLISHED as PUBLISHED_GROK
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, Picture, picture, style, titles

ACCURACY = 0.95
"""The test accuracy that epochs are counted to, as the claims of this row do."""

MEASURES: Mapping[str, str] = {
    "effective_rank": "Effective rank",
    "alpha": "Exponent of the spectrum",
}

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "effective_rank": {"M": 4400, "M+A*": 5200, "A*": 8000, "none": 8600},
    "alpha": {"M": 1000, "M+A*": 2400, "A*": 6800, "none": 8200},
}
"""Epochs within 10 % of the least in arXiv 2602.06702, modulus 113."""


def compressibility_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each measure: its arrival against the grok epoch, a mark for each run."""
    with style():
        figure = picture(10, 5.2)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for ax, (variable, title) in zip(axes, MEASURES.items(), strict=True):
            _panel(ax, evidence, variable)
            ax.set_title(title)
            ax.set_xlabel("epoch at which it arrives (log scale)")
        axes[0].set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
        figure.legend(handles=_handles(evidence), loc="outside lower left", ncols=6)
        words = "arrived: within 10 % of its least since memorising (train examples)"
        titles(figure, row.question, f"{evidence.about()}, one mark each; {words}")
    return figure


def _panel(ax: Axes, evidence: Present, variable: str) -> None:
    seen = [1000.0, 9000.0]
    come = 0
    for name in evidence.arms:
        mine, its = arrives(evidence, name, variable).values, evidence.grokked(name, ACCURACY)
        # A measure that is at its least when nothing has been learned has arrived at 0.
        there = np.isfinite(mine) & np.isfinite(its.values) & (mine > 0)
        marker, color = MARKS[name]
        ax.plot(mine[there], its.values[there], marker, color=color, markersize=6)
        seen += [*mine[there], *its.values[there]]
        come += int(there.sum())
        ax.plot(PUBLISHED[variable][name], PUBLISHED_GROK[name], **{**READ_OFF, "marker": marker})
    low, high = min(seen) / 1.3, max(seen) * 1.3
    ax.plot([low, high], [low, high], color=INK, linewidth=1)
    ax.fill_between([low, high], [low, high], high, color=INK, alpha=0.06, linewidth=0)
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.0f}")
        axis.set_minor_formatter("")
    ax.text(0.03, 0.96, "it leads", transform=ax.transAxes, va="top", size=9, style="italic")
    ax.text(0.97, 0.04, "it trails", transform=ax.transAxes, ha="right", size=9, style="italic")
    if not come:
        missing_panel(ax, "no run has grokked")


def _handles(evidence: Present) -> list[Line2D]:
    marks = [
        Line2D([], [], marker=marker, linestyle="", color=color, label=name)
        for name, (marker, color) in MARKS.items()
        if name in evidence.arms
    ]
    return [*marks, Line2D([], [], **READ_OFF, label="pale: published, modulus 113")]
