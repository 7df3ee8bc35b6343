"""Figure 1: the phases of one run, and how the wait depends on the weight decay."""

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics import PHASES, phase_borders
from grokkit.experiments import Row, Times
from grokkit.viz.rows.censored import arrow_handle, later
from grokkit.viz.rows.curves import missing_panel
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import median_words
from grokkit.viz.run_panels import shade_phases
from grokkit.viz.style import (
    INK,
    LOOKS,
    Picture,
    curve,
    epoch_axis,
    epoch_label,
    picture,
    style,
    titles,
)

ONE = "decay 1"
"""The arm of which one run is shown."""
PANELS = (("train_accuracy", "test_accuracy"), ("kl",), ("W_QK_gradient",))
"""What is shown of it, from top to bottom."""
WAITS = (
    (("decay 0.5", "decay 1", "decay 2", "decay 4"), ("o", LOOKS["norm"].color, 1)),
    (("rate x2, decay 0.5", "rate x2"), ("s", LOOKS["gradient"].color, -1)),
)
"""The arms whose waits are compared, by learning rate; marker, colour, and side of the words."""
ACCURACY = 0.95
"""The wait ends at this test accuracy, as in the claim of this row."""


def four_phases_figure(row: Row, evidence: Present) -> Picture:
    """One run's curves with its phases; the waits of all runs against rate times decay."""
    with style():
        figure = picture(10, 6.4)
        grid = figure.add_gridspec(3, 2, width_ratios=(1.2, 1), height_ratios=(1.25, 1, 1))
        axes = [figure.add_subplot(grid[i, 0]) for i in range(3)]
        if ONE in evidence.arms:
            _one_run(axes, evidence)
        else:
            for ax in axes:
                missing_panel(ax, f"not run: {ONE}")
        _waits(figure.add_subplot(grid[:, 1]), evidence)
        words = "left: one seed; right: one mark a seed, bar: median, n/n: how many came there"
        titles(figure, row.question, f"{evidence.about()}; {words}")
    return figure


def _one_run(axes: list[Axes], evidence: Present) -> None:
    one, nameless = evidence.runs(ONE)[0], []
    epochs = one.epoch.values
    borders = [float(border) for border in phase_borders(one).values]
    for ax, names in zip(axes, PANELS, strict=True):
        epoch_axis(ax, float(epochs[epochs > 0].min(initial=1)), float(epochs[-1]), "log")
        for name in names:
            curve(ax, name, epochs, one[name].values)
        if ax is axes[0]:
            ax.set_ylim(-0.03, 1.24)  # the names of the phases stand above the curves
            ax.set_yticks([0, 0.5, 1])
        nameless += shade_phases(ax, borders, float(epochs[-1]), words=ax is axes[0])
        ax.legend(loc="center left" if ax is axes[0] else "best")
        if ax is not axes[-1]:
            ax.tick_params(labelbottom=False)
    spec = evidence.arms[ONE][0]
    axes[0].set_title(f"One run in phases ({ONE}, seed {spec.seed})" + "\n" * bool(nameless))
    names = ", ".join(f"{phase} {PHASES[phase]}" for phase in nameless)  # the title's second line
    axes[0].set_title(names, loc="right", fontsize=9, fontweight="normal")
    axes[1].set_title("Attention's divergence from the oracle")
    axes[2].set_title("The gradient that would teach attention")
    axes[-1].set_xlabel(epoch_label("log"))


def _waits(ax: Axes, evidence: Present) -> None:
    """The waits against learning rate x decay."""
    drawn, lengths, at_one = [], [], None
    for arms, (marker, color, side) in WAITS:
        there = [name for name in arms if name in evidence.arms]
        for name in there:
            product = _product(evidence, name)
            wait = evidence.grokked(name, ACCURACY).after(evidence.memorised(name))
            _marks(ax, product, wait, marker, color, side)
            if name == ONE and np.isfinite(wait.median):
                at_one = (product, wait.median)
            lengths += [*wait.values, *wait.last]
            drawn.append(name)
        if there:
            rates = {evidence.arms[name][0].settings()["learning_rate"] for name in there}
            label = f"learning rate {', '.join(f'{one:g}' for one in rates)}"
            ax.plot([], [], linestyle="", marker=marker, color=color, label=label)
    ax.set_title("The wait against weight decay")
    if not drawn:
        missing_panel(ax, "not run: other weight decays")
        return
    if at_one is not None and len({_product(evidence, name) for name in drawn}) > 1:
        x = np.array([0.35, 6.0]) * at_one[0]
        line = {"color": INK, "linestyle": "--", "linewidth": 1.2}
        ax.plot(x, at_one[1] * at_one[0] / x, **line, label=f"slope -1 through {ONE}")
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel("learning rate × weight decay (share lost a step)")
    ax.set_ylabel(f"epochs from memorising to test accuracy {ACCURACY:g}")
    ax.set_xticks([], [], minor=True)
    products = sorted({_product(evidence, name) for name in drawn})
    ax.set_xticks(products, [f"{product:g}" for product in products])
    ax.set_xlim(0.6 * products[0], 1.7 * products[-1])
    known = [one for one in lengths if np.isfinite(one) and one > 0]
    _round_ticks(ax, min(known, default=1.0), max(known, default=1.0))
    ax.legend(handles=[*ax.get_legend_handles_labels()[0], arrow_handle()], loc="lower left")
    if "decay 0" in evidence.arms:
        never = evidence.grokked("decay 0", ACCURACY)
        ax.text(0.98, 0.98, f"decay 0: {never}", transform=ax.transAxes, ha="right", va="top",
                size=9)  # fmt: skip


def _product(evidence: Present, name: str) -> float:
    settings = evidence.arms[name][0].settings()
    return float(settings["learning_rate"] * settings["weight_decay"])


def _marks(ax: Axes, product: float, wait: Times, marker: str, color: str, side: int) -> None:
    # Side by side, so that equal waits do not hide each other.
    n = len(wait.values)
    places = product * np.geomspace(0.93, 1.075, n) if n > 1 else np.array([product])
    reached = np.isfinite(wait.values)
    ax.plot(places[reached], wait.values[reached], linestyle="", marker=marker, color=color,
            markersize=5)  # fmt: skip
    begun = ~reached & np.isfinite(wait.last) & (wait.last > 0)
    ax.plot(places[begun], wait.last[begun], **later(marker, color))
    if np.isfinite(wait.median):
        ax.plot([0.87 * product, 1.15 * product], [wait.median] * 2, color=INK, linewidth=2)
    ax.annotate(
        f"{median_words(wait)}\n{int(reached.sum())}/{n}",
        (product * 1.2**side, wait.median if np.isfinite(wait.median) else max(wait.at_least, 1.0)),
        ha="left" if side > 0 else "right",
        va="center",
        size=8,
    )


def _round_ticks(ax: Axes, low: float, high: float) -> None:
    """Whole numbers on a log axis of epochs, a few of them."""
    ticks = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    ax.set_ylim(0.6 * low, 1.6 * high)
    kept = [tick for tick in ticks if 0.6 * low <= tick <= 1.6 * high]
    ax.set_yticks([], [], minor=True)
    ax.set_yticks(kept, [f"{tick:,}" for tick in kept])
