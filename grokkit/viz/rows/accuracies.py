"""What is understood over epochs, arm beside arm: for rows that ask how high, and how steadily."""

import numpy as np

from grokkit.experiments import Row
from grokkit.viz.rows.curves import BAND, arm_curve, epochs_of
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, epoch_label, picture, style, titles

THRESHOLD = 0.95

MIRRORED = "share of unseen pairs whose mirror image is trained on"


def accuracies_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each arm: train accuracy, test accuracy by seed; dotted: mirror images."""
    names = list(evidence.arms)
    with style():
        figure = picture(9, 4.4)
        axes = figure.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, names, strict=True):
            arm = evidence.arm(name)
            arm_curve(ax, arm, "train_accuracy", "train accuracy", linewidth=1.2)
            arm_curve(ax, arm, "test_accuracy", "test accuracy")
            for one in evidence.runs(name):
                color = LOOKS["test"].color
                ax.plot(one.epoch, one.test_accuracy, color=color, linewidth=0.8, alpha=0.7)
            dashes = {"color": "#9A9A9A", "linewidth": 0.8, "linestyle": (0, (4, 3))}
            ax.axhline(THRESHOLD, **dashes, zorder=1, label=f"{THRESHOLD:g} right")
            # What a network gets for nothing that cannot tell (a, b) from (b, a).
            mirrored = float(np.median(arm.mirror_rate))
            ax.axhline(mirrored, color=INK, linewidth=1, linestyle=":", label=MIRRORED)
            reached = evidence.grokked(name, THRESHOLD).reached
            best = arm.test_accuracy.max("epoch").values
            ax.set_title(
                f"{name}\n{reached.count(True)}/{len(reached)} reach {THRESHOLD}; "
                f"best {best.min():.2f} to {best.max():.2f}",
                fontsize=10,
            )
            ax.set_xlabel(epoch_label("log"))
        epochs_of(axes[0], evidence, names)
        axes[0].set(ylim=(-0.03, 1.06), ylabel="share of right answers")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
        titles(figure, row.question, f"{evidence.about()}; {BAND}")
    return figure
