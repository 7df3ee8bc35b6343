"""Figures of several panels of curves over epochs: a table says which arm stands where."""

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.experiments import Row
from grokkit.viz.curves import runs_curve
from grokkit.viz.rows.marks import reached
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import summary
from grokkit.viz.style import (
    GREY,
    INK,
    VARIABLES,
    Picture,
    missing_panel,
    picture,
    powers_only,
    record_axis,
    style,
    titles,
)

BAND = "line: median over seeds; band: least to greatest; thin: each seed"
"""What the lines and the band of a curve are; every figure says so."""


class Curve(NamedTuple):
    """One variable of one arm: what differs from its look, and the order of its numbers."""

    arm: str
    variable: str
    label: str | None = None
    change: Mapping[str, Any] = MappingProxyType({})
    order: str | None = None


class Panel(NamedTuple):
    """What one panel shows: curves; its title; a note of what came of it; level lines.

    A level is a height and keywords for ``Axes.axhline``.
    """

    curves: Sequence[Curve]
    title: str = ""
    note: str = ""
    levels: Sequence[tuple[float | int, Mapping[str, Any]]] = ()


def draw_panels(
    row: Row,
    evidence: Present,
    lines: Sequence[Sequence[Panel]],
    axes: Mapping[str, tuple[float | int, float | int | None]],
    size: tuple[float | int, float | int],
    *,
    legend: int = 0,
    handles: Sequence[Line2D] = (),
    words: str = "",
) -> Picture:
    """A figure of panels: all share the axis of epochs, the panels of a line their values.

    Args:
        row: the experiment.
        evidence: its runs; a panel of which no arm was run says so.
        lines: the panels, line by line.
        axes: for each line what is counted, and between which values it is shown.
        size: width and height in inches.
        legend: which line's curves the legend names.
        handles: the legend, where that is not enough.
        words: what to add to the line under the headline.
    """
    with style():
        figure = picture(*size)
        figure.set_layout_engine("constrained", wspace=0.05)
        shape = {"nrows": len(lines), "ncols": len(lines[0]), "squeeze": False}
        panels = figure.subplots(**shape, sharex=True, sharey="row")
        for ax, panel in zip(panels.flat, itertools.chain(*lines), strict=True):
            _draw(ax, evidence, panel)
            ax.label_outer()
        epochs = np.concatenate([evidence.arm(name).epoch.values for name in evidence.arms])
        for ax in panels[-1]:
            record_axis(ax, epochs)
        if len(lines[0]) > 3:
            powers_only(panels[0, 0])
        for ax, (unit, limits) in zip(panels[:, 0], axes.items(), strict=True):
            ax.set_ylabel(unit.removesuffix(" "))  # by which two lines of one unit differ
            ax.set_ylim(*limits)
        drawn = [ax.get_legend_handles_labels()[0] for ax in panels[legend]]
        if shown := list(handles) or max(drawn, key=len):
            figure.legend(handles=shown, loc="outside lower left", ncols=4)
        titles(figure, row.question, f"{evidence.about()}; {BAND}{words}")
    return figure


def _draw(ax: Axes, evidence: Present, panel: Panel) -> None:
    there = [curve for curve in panel.curves if curve.arm in evidence.arms]
    known = [curve for curve in there if curve.variable in evidence.arm(curve.arm)]
    for curve in known:
        runs = evidence.arm(curve.arm)
        runs = runs if curve.order is None else runs.sel(order=curve.order)
        runs_curve(ax, runs, curve.variable, curve.label, **curve.change)
    if not known:
        missing_panel(ax, "not recorded" if there else f"not run: {panel.curves[0].arm}")
    for height, look in panel.levels if known else ():
        ax.axhline(height, **look)
    ax.set_title(panel.title + "\n" * bool(panel.title and panel.note))
    ax.set_title(panel.note, loc="right", fontsize=9, fontweight="normal")


def _accuracies(arm: str) -> list[Curve]:
    names = ("train accuracy", "test accuracy")
    return [Curve(arm, name.replace(" ", "_"), name) for name in names]


# --- the table: which arm stands where ----------------------------------------------------

SHARE = "share of right answers"
LIMITS = (-0.03, 1.08)

NORMS = {
    "decay 1": "weight decay 1",
    "decay 0": "weight decay 0",
    "norm held": "MLP norm held",
}
"""The columns of norm-vs-structure: what is done to the MLP's norm."""
ATTENTIONS = {
    "": "attention free",
    ", oracle": "attention drawn to I*\n(oracle)",
    ", adversarial": "attention drawn away\n(adversarial)",
}
"""Its lines: what is done to attention, by the end of the arm's name."""


def norm_vs_structure_figure(row: Row, evidence: Present) -> Picture:
    """Figure 2: three treatments of the norm by three of attention; what was reached."""

    def panel(norm: str, attention: str) -> Panel:
        name, note = f"{norm}{attention}", ""
        if name in evidence.arms:
            final = np.median(evidence.final(name, "test_accuracy"))
            note = f"test ends at {final:.2f}; {reached(evidence.grokked(name))} reach 0.99"
        return Panel(_accuracies(name), NORMS[norm] if attention == "" else "", note)

    lines = [[panel(norm, attention) for norm in NORMS] for attention in ATTENTIONS]
    axes = {f"{words}\n{SHARE}": LIMITS for words in ATTENTIONS.values()}
    return draw_panels(row, evidence, lines, axes, (9.5, 7))


TWINS = {
    "with twins": "test images have twins in train",
    "without twins": "twins held back together",
}
"""The panels of resnet-grokking by arm, and what each is called."""


def resnet_grokking_figure(row: Row, evidence: Present) -> Picture:
    """A residual network on images, with twins of the test images in train or without."""

    def panel(name: str) -> Panel:
        if name not in evidence.arms:
            return Panel(_accuracies(name), TWINS[name])
        look = {"color": INK, "linestyle": ":", "linewidth": 1}
        most = float(np.median(evidence.arm(name).answerable))
        final = np.median(evidence.final(name, "test_accuracy"))
        came = summary(evidence.grokked(name, 0.95), evidence.memorised(name))
        note = f"test ends at {final:.2f}; 0.95 reached: {came}"
        level = (most, {**look, "label": "images whose class is in train"})
        return Panel(_accuracies(name), TWINS[name], note, [level])

    return draw_panels(row, evidence, [[panel(name) for name in TWINS]], {SHARE: LIMITS}, (9, 4.2))


def accuracies_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each arm: where the test accuracy ends, and how steadily."""

    def panel(name: str) -> Panel:
        arm = evidence.arm(name)
        end = evidence.each(name, lambda one: one.test_accuracy[-1])  # cut short or not
        came = reached(evidence.grokked(name, 0.95))
        enough = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 3)), "zorder": 1}
        # What a network gets for nothing that cannot tell (a, b) from (b, a).
        chance = {"color": INK, "linewidth": 1, "linestyle": ":"}
        chance["label"] = "share of unseen pairs whose mirror image is trained on"
        return Panel(
            _accuracies(name),
            name,
            f"{came} reach 0.95; end: {end.min():.2f} to {end.max():.2f}",
            [
                (0.95, {**enough, "label": "0.95 right"}),
                (float(np.median(arm.mirror_rate)), chance),
            ],
        )

    panels = [panel(name) for name in evidence.arms]
    return draw_panels(row, evidence, [panels], {SHARE: LIMITS}, (max(9, 2.7 * len(panels)), 4.4))


PRIORS = {
    "": ("no prior", {"linestyle": (0, (2, 1)), "linewidth": 1.5, "marker": None}),
    ", KL 1": ("KL prior, beta 1", {"linestyle": "-", "linewidth": 2.2, "marker": None}),
}
"""What is told to attention in distractors, by the end of the arm's name; how it is drawn."""


def distractors_figure(row: Row, evidence: Present) -> Picture:
    """A column for each kind of distractors: informative mass above, test accuracy below."""
    kinds = list(dict.fromkeys(name.removesuffix(", KL 1") for name in evidence.arms))
    shown = {"informative_mass": "mass", "test_accuracy": "accuracy"}

    def count(name: str, label: str) -> str:
        came = reached(evidence.grokked(name)) if name in evidence.arms else "not run"
        return f"{label.split(',')[0]} {came}"

    def panel(kind: str, variable: str) -> Panel:
        curves = [Curve(kind + end, variable, *PRIORS[end]) for end in PRIORS]
        if variable == "informative_mass":
            return Panel(curves, f"distractors: {kind}" if kind == kinds[0] else kind)
        counts = [count(kind + end, label) for end, (label, _) in PRIORS.items()]
        return Panel(curves, note=", ".join(counts))

    marks = [
        Line2D([], [], color=VARIABLES[name].line["color"], **look, label=f"{word}, {label}")
        for name, word in shown.items()
        for label, look in PRIORS.values()
    ]
    lines = [[panel(kind, variable) for kind in kinds] for variable in shown]
    axes = {"attention on I* (share)": LIMITS, "test accuracy (share right)": LIMITS}
    size, words = (max(9.5, 2.5 * len(kinds)), 5.8), "; n/n: how many reach 0.99"
    return draw_panels(row, evidence, lines, axes, size, handles=marks, words=words)


WALKS = {"xy": "logarithm"}
"""The order in which the numbers are walked, where it is not the natural one."""


def med_tracking_figure(row: Row, evidence: Present) -> Picture:
    """A column for each function: MED, relative MED and its null, test accuracy."""

    def column(name: str) -> list[Panel]:
        walk = WALKS.get(name, "natural")
        measures = ("relative_med", "best_med", "best_med_null")
        return [
            Panel([Curve(name, "med", order=walk)], name),
            Panel([Curve(name, one, order=walk) for one in measures], note=f"{walk} order"),
            Panel([Curve(name, "test_accuracy")], note=reached(evidence.grokked(name, 0.95))),
        ]

    lines = list(zip(*map(column, evidence.arms), strict=True))
    arms = [evidence.arm(name) for name in evidence.arms]
    least = [float(arm[one].min()) for arm in arms for one in ("best_med",) if one in arm]
    most = [float(arm.relative_med.max()) for arm in arms if "relative_med" in arm]
    axes = {
        "MED (units of\nthe embedding)": (0, None),
        "MED / mean distance\nof all pairs": (min([0.45, *least]), 1.03 * max([1.17, *most])),
        "test accuracy\n(share right)": LIMITS,
    }
    size, words = (max(9.5, 2.4 * len(lines[0])), 7.2), "; n/n: how many reach 0.95"
    return draw_panels(row, evidence, lines, axes, size, legend=1, words=words)
