"""Figure 2: three ways with the norm, three ways with attention, and what is understood."""

import numpy as np
from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.viz.rows.curves import BAND, arm_curve, epochs_of, missing_panel
from grokkit.viz.rows.present import Present
from grokkit.viz.style import Picture, epoch_label, picture, style, titles

NORMS = {
    "decay 1": "weight decay 1",
    "decay 0": "weight decay 0",
    "norm held": "MLP norm held",
}
"""The columns: what is done to the MLP's norm."""
ATTENTIONS = {
    "": "attention free",
    ", oracle": "attention drawn to I*\n(oracle)",
    ", adversarial": "attention drawn away\n(adversarial)",
}
"""The rows: what is done to attention, by the end of the arm's name."""


def norm_vs_structure_figure(row: Row, evidence: Present) -> Picture:
    """Train and test accuracy in nine panels; in each, what was reached at the end."""
    arms = {(norm, attention): f"{norm}{attention}" for attention in ATTENTIONS for norm in NORMS}
    there = [name for name in arms.values() if name in evidence.arms]
    with style():
        figure = picture(9.5, 7)
        axes = figure.subplots(3, 3, sharex=True, sharey=True)
        for ax, ((norm, attention), name) in zip(axes.flat, arms.items(), strict=True):
            if attention == "":
                ax.set_title(f"{NORMS[norm]}\n")  # the second line is that of _panel
            if norm == "decay 1":
                ax.set_ylabel(f"{ATTENTIONS[attention]}\nshare of right answers")
            if name in evidence.arms:
                _panel(ax, evidence, name)
            else:
                missing_panel(ax, f"not run: {name}")
        if there:
            epochs_of(axes[0, 0], evidence, there)
        axes[0, 0].set_ylim(-0.03, 1.08)
        axes[0, 0].set_yticks([0, 0.5, 1])
        for ax in axes[-1]:
            ax.set_xlabel(epoch_label("log"))
        drawn = next((ax for ax in axes.flat if ax.get_lines()), None)
        if drawn is not None:
            figure.legend(*drawn.get_legend_handles_labels(), loc="outside lower left", ncols=2)
        titles(figure, row.question, f"{evidence.about()}; {BAND}")
    return figure


def _panel(ax: Axes, evidence: Present, name: str) -> None:
    arm = evidence.arm(name)
    arm_curve(ax, arm, "train_accuracy", "train accuracy")
    arm_curve(ax, arm, "test_accuracy", "test accuracy")
    grokked = evidence.grokked(name)
    final = np.median(evidence.final(name, "test_accuracy"))
    words = (
        f"test ends at {final:.2f}; {grokked.reached.count(True)}/{len(grokked.values)} reach 0.99"
    )
    ax.set_title(words, loc="right", fontsize=9, fontweight="normal")
