"""When the features are as compressible as they get, against when the network groks."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.experiments.compressibility import arrives
from grokkit.viz.rows.censored import ROOM, arrow_handle, later
from grokkit.viz.rows.curves import log_epochs
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
        figure = picture(10, 4.9)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        log_epochs(axes[0], "x")
        log_epochs(axes[0], "y")
        axes[0].margins(y=ROOM)
        axes[0].set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
        for ax, (variable, title) in zip(axes, MEASURES.items(), strict=True):
            come = _panel(ax, evidence, variable)
            ax.set_xlabel("epoch at which it arrives (log scale)")
            ax.set_title(title if come else f"{title}: no run has grokked")
        _above(list(axes))
        figure.legend(handles=_handles(evidence), loc="outside lower left", ncols=7)
        words = "arrived: within 10 % of its least since memorising (train examples)"
        never = [evidence.memorised(name).reached.count(False) for name in evidence.arms]
        if any(never):  # of these there is no mark
            words += f"; {sum(never)} never memorised"
        titles(figure, row.question, f"{evidence.about()}, one mark each; {words}")
    return figure


def _panel(ax: Axes, evidence: Present, variable: str) -> int:
    """A mark for each run that has memorised; returns how many have grokked."""
    come = 0
    for name in evidence.arms:
        mine, its = arrives(evidence, name, variable).values, evidence.grokked(name, ACCURACY)
        known, late = np.isfinite(mine) & (mine > 0), np.isnan(its.values)
        there = known & ~late & (its.values > 0)
        marker, color = MARKS[name]
        ax.plot(mine[there], its.values[there], marker, color=color, markersize=6)
        ax.plot(mine[known & late], its.last[known & late], **later(marker, color))
        ax.plot(PUBLISHED[variable][name], PUBLISHED_GROK[name], **{**READ_OFF, "marker": marker})
        come += int(there.sum())
    return come


def _above(axes: Sequence[Axes]) -> None:
    """Shade where a measure arrives before the network groks."""
    across, up = axes[0].get_xlim(), axes[0].get_ylim()
    ends = np.array([min(*across, *up), max(*across, *up)])
    for ax in axes:
        ax.plot(ends, ends, color=INK, linewidth=1, zorder=1)
        ax.fill_between(ends, ends, 10 * ends[1], color=INK, alpha=0.06, linewidth=0)
        for x, word, side in ((0.02, "it leads", "left"), (0.98, "it trails", "right")):
            ax.text(x, 0.03, word, transform=ax.transAxes, ha=side, size=9, style="italic")
    axes[0].set(xlim=across, ylim=(up[0] / 1.2, up[1]))  # room for the words


def _handles(evidence: Present) -> list[Line2D]:
    marks = [
        Line2D([], [], marker=marker, linestyle="", color=color, label=name)
        for name, (marker, color) in MARKS.items()
        if name in evidence.arms
    ]
    published = Line2D([], [], **READ_OFF, label="pale: published, modulus 113")
    return [*marks, arrow_handle(), published]
