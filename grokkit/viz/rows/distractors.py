"""Ours: what the distractors are, where attention goes, and what is understood."""

from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.viz.rows.curves import BAND, arm_curve, epochs_of, powers_only
from grokkit.viz.rows.present import Present
from grokkit.viz.style import VARIABLES, Picture, epoch_label, picture, style, titles

PRIORS = {
    "": ("no prior", {"linestyle": (0, (2, 1)), "linewidth": 1.5, "marker": None}),
    ", KL 1": ("KL prior, beta 1", {"linestyle": "-", "linewidth": 2.2, "marker": None}),
}
"""What is told to attention, by the end of the arm's name, and how it is drawn."""
VARIABLES_SHOWN = ("informative_mass", "test_accuracy")


def distractors_figure(row: Row, evidence: Present) -> Picture:
    """A column for each kind of distractors: informative mass above, test accuracy below."""
    kinds = list(dict.fromkeys(name.removesuffix(", KL 1") for name in evidence.arms))
    with style():
        figure = picture(max(9.5, 2.5 * len(kinds)), 5.8)
        figure.set_layout_engine("constrained", wspace=0.05)
        axes = figure.subplots(2, len(kinds), sharex=True, sharey=True, squeeze=False)
        for column, kind in zip(axes.T, kinds, strict=True):
            column[0].set_title(f"distractors: {kind}" if kind == kinds[0] else kind)
            for ax, variable in zip(column, VARIABLES_SHOWN, strict=True):
                _panel(ax, evidence, kind, variable)
            column[1].set_xlabel(epoch_label("log"))
        epochs_of(axes[0, 0], evidence, list(evidence.arms))
        powers_only(axes[0, 0])
        axes[0, 0].set_ylim(-0.03, 1.06)
        axes[0, 0].set_ylabel("attention on I* (share)")
        axes[1, 0].set_ylabel("test accuracy (share right)")
        figure.legend(handles=_handles(), loc="outside lower left", ncols=4)
        words = f"{evidence.about()}; {BAND}; n/n: how many reach 0.99"
        titles(figure, row.question, words)
    return figure


def _panel(ax: Axes, evidence: Present, kind: str, variable: str) -> None:
    counts = []
    for end, (label, look) in PRIORS.items():
        name = f"{kind}{end}"
        if name in evidence.arms:
            arm_curve(ax, evidence.arm(name), variable, label, **look)
            grokked = evidence.grokked(name).reached
            counts.append(f"{label.split(',')[0]} {grokked.count(True)}/{len(grokked)}")
        else:
            counts.append(f"{label.split(',')[0]} not run")
    if variable == "test_accuracy":
        ax.set_title(", ".join(counts), loc="right", fontsize=9, fontweight="normal")


def _handles() -> list:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=VARIABLES[variable].line["color"], **look, label=f"{word}, {label}")
        for variable, word in zip(VARIABLES_SHOWN, ("mass", "accuracy"), strict=True)
        for label, look in PRIORS.values()
    ]
