"""A residual network on images: what it answers with twins of the test images in train."""

import numpy as np
from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.viz.rows.curves import BAND, arm_curve, epochs_of, missing_panel
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import summary
from grokkit.viz.style import INK, Picture, epoch_label, picture, style, titles

PANELS = {
    "with twins": "test images have twins in train",
    "without twins": "twins held back together",
}
"""The panels by arm, and what each is called."""


def resnet_grokking_figure(row: Row, evidence: Present) -> Picture:
    """Train and test accuracy of both arms; dotted: the most that could be right."""
    there = [name for name in PANELS if name in evidence.arms]
    with style():
        figure = picture(9, 4.2)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for ax, (name, words) in zip(axes, PANELS.items(), strict=True):
            ax.set_title(f"{words}\n")  # the second line is that of _panel
            if name in evidence.arms:
                _panel(ax, evidence, name)
            else:
                missing_panel(ax, f"not run: {name}")
            ax.set_xlabel(epoch_label("log"))
        epochs_of(axes[0], evidence, there)
        axes[0].set_ylim(-0.03, 1.08)
        axes[0].set_yticks([0, 0.5, 1])
        axes[0].set_ylabel("share of right answers")
        drawn = next(ax for ax in axes if ax.get_lines())
        figure.legend(*drawn.get_legend_handles_labels(), loc="outside lower left", ncols=3)
        titles(figure, row.question, f"{evidence.about()}; {BAND}")
    return figure


def _panel(ax: Axes, evidence: Present, name: str) -> None:
    arm = evidence.arm(name)
    arm_curve(ax, arm, "train_accuracy", "train accuracy")
    arm_curve(ax, arm, "test_accuracy", "test accuracy")
    most = float(np.median(arm.answerable))
    ax.axhline(most, color=INK, linestyle=":", linewidth=1, label="images whose class is in train")
    final = np.median(evidence.final(name, "test_accuracy"))
    grokked = summary(evidence.grokked(name, 0.95), evidence.memorised(name))
    words = f"test ends at {final:.2f}; 0.95 reached: {grokked}"
    ax.set_title(words, loc="right", fontsize=9, fontweight="normal")
