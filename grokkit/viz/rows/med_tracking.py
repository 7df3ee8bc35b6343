"""arXiv 2504.03162: how evenly the embeddings lie, beside what is understood, for each function."""

from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.viz.rows.curves import BAND, arm_curve, epochs_of, missing_panel, powers_only
from grokkit.viz.rows.present import Present
from grokkit.viz.style import Picture, epoch_label, picture, style, titles

WALKS = {"xy": "logarithm"}
"""The order in which the numbers are walked, where it is not the natural one."""
MEASURES = ("relative_med", "best_med", "best_med_null")


def med_tracking_figure(row: Row, evidence: Present) -> Picture:
    """A column for each function: MED, relative MED and its null, accuracy."""
    names = list(evidence.arms)
    with style():
        figure = picture(max(9.5, 2.4 * len(names)), 7.2)
        figure.set_layout_engine("constrained", wspace=0.05)
        axes = figure.subplots(3, len(names), sharex=True, sharey="row", squeeze=False)
        for (med, relative, accuracy), name in zip(axes.T, names, strict=True):
            med.set_title(name)
            walk = WALKS.get(name, "natural")
            relative.set_title(f"{walk} order", loc="right", fontsize=9, fontweight="normal")
            _panels(med, relative, accuracy, evidence, name, walk)
            accuracy.set_xlabel(epoch_label("log"))
        epochs_of(axes[0, 0], evidence, names)
        powers_only(axes[0, 0])
        axes[0, 0].set_ylabel("MED (units of\nthe embedding)")
        axes[0, 0].set_ylim(bottom=0)
        axes[1, 0].set_ylabel("MED / mean distance\nof all pairs")
        low, high = axes[1, 0].get_ylim()
        axes[1, 0].set_ylim(min(0.45, low), max(1.2, high))
        axes[2, 0].set_ylabel("test accuracy\n(share right)")
        axes[2, 0].set_ylim(-0.03, 1.06)
        figure.legend(
            *axes[1, 0].get_legend_handles_labels(), loc="outside lower left", ncols=3,
            title="relative MED", title_fontsize=9, alignment="left",
        )  # fmt: skip
        titles(figure, row.question, f"{evidence.about()}; {BAND}; n/n: how many reach 0.95")
    return figure


def _panels(
    med: Axes, relative: Axes, accuracy: Axes, evidence: Present, name: str, walk: str
) -> None:
    arm = evidence.arm(name)
    if "med" in arm:
        walked = arm.sel(order=walk)
        arm_curve(med, walked.sel(), "med")
        for measure in MEASURES:
            arm_curve(relative, walked, measure)
    else:
        for ax in (med, relative):
            missing_panel(ax, "not recorded")
    arm_curve(accuracy, arm, "test_accuracy")
    reached = evidence.grokked(name, 0.95).reached
    words = f"{reached.count(True)}/{len(reached)}"
    accuracy.set_title(words, loc="right", fontsize=9, fontweight="normal")
