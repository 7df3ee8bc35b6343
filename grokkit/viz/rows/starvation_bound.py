"""Figure 5: the gradient of attention against the loss, and the bounds that it stays under."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics.phases import MEMORISED
from grokkit.experiments import Row
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

if TYPE_CHECKING:
    import xarray as xr

ARMS = {"baseline": "Without a prior", "KL 1": "With the KL prior, beta 1"}
BOUNDS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "starvation_bound": (
        "bound (4), root of the loss",
        {"color": INK, "linestyle": "-", "linewidth": 1.8},
    ),
    "starvation_bound_position": (
        "by position, (33, 34)",
        {"color": "#555555", "linestyle": "--", "linewidth": 1.4},
    ),
    "starvation_bound_linear": (
        "linear in the loss",
        {"color": "#777777", "linestyle": (0, (1, 1)), "linewidth": 2.0},
    ),
}
"""Each bound's name and line."""


def starvation_bound_figure(row: Row, evidence: Present) -> Picture:
    """Every record of every seed as a point; the bounds of the same records as lines."""
    there = [name for name in ARMS if name in evidence.arms]
    with style():
        figure = picture(10 if len(there) > 1 else 8.5, 5.2)
        axes = figure.subplots(1, len(there), sharex=True, sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, there, strict=True):
            _panel(ax, evidence.runs(name))
            _guides(ax, evidence.runs(name))
            ax.set_title(ARMS[name])
            ax.set_xlabel("train loss (nats, log scale); time runs to the left")
        axes[0].set_ylabel("largest |∂CE/∂score|, mean over examples")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
        words = f"{evidence.about()}, every record a mark; lines: median of each bound"
        titles(figure, row.question, words)
    return figure


def _panel(ax: Axes, runs: "list[xr.Dataset]") -> None:
    ax.set(xscale="log", yscale="log")
    look = LOOKS["gradient"]
    marks = {"linestyle": "", "marker": look.marker, "color": look.color, "markersize": 3}
    for number, one in enumerate(runs):
        seen = (one.train_loss.values > 0) & (one.score_gradient_max.values > 0)
        label = "measured" if number == 0 else None
        x, y = one.train_loss.values[seen], one.score_gradient_max.values[seen]
        ax.plot(x, y, **marks, alpha=0.7, label=label)
    for name, (label, line) in BOUNDS.items():
        x, y = _by_loss(runs, name)
        ax.plot(x, y, label=label, **line)


def _by_loss(runs: "list[xr.Dataset]", name: str) -> tuple[np.ndarray, np.ndarray]:
    """The median of a bound over the records of all seeds, in slices of the loss."""
    loss = np.concatenate([one.train_loss.values for one in runs]).astype(float)
    bound = np.concatenate([one[name].values for one in runs]).astype(float)
    seen = (loss > 0) & (bound > 0)
    loss, bound = loss[seen], bound[seen]
    slices = np.round(4 * np.log10(loss))
    at = np.unique(slices)
    middle = [(np.median(loss[slices == s]), np.median(bound[slices == s])) for s in at]
    x, y = np.array(middle).reshape(-1, 2).T
    return x, y


def _guides(ax: Axes, runs: "list[xr.Dataset]") -> None:
    """What falling with the loss, and with its root, would look like from memorising on."""
    starts = [one.where(one.train_accuracy >= MEMORISED, drop=True) for one in runs]
    starts = [one for one in starts if one.sizes["epoch"]]
    if not starts:
        return
    loss = float(np.median([one.train_loss.values[0] for one in starts]))
    gradient = float(np.median([one.score_gradient_max.values[0] for one in starts]))
    least = min(float(one.train_loss.where(one.train_loss > 0).min()) for one in starts)
    for power, words, shift in ((1.0, "∝ loss", (14, -10)), (0.5, "∝ √loss", (14, -10))):
        end = gradient * (least / loss) ** power
        ax.plot([least, loss], [end, gradient], color=INK, linewidth=0.9)
        ax.annotate(words, (least, end), shift, textcoords="offset points", size=8.5)
