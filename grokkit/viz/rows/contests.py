"""The figure of the row of operators: how far each rival's law lies from the truth."""

import numpy as np
from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.experiments.operators import scores
from grokkit.operators import RIVALS
from grokkit.viz.alt import tell
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, missing_panel, picture, style, titles

NAMES = {
    "true_gaussian": "Gaussian of the true\nmean and covariance",
    "fno": "FNO, squared error",
    "fno_covariance": "FNO + one covariance",
    "ensemble": "ensemble of 4 FNOs",
    "variance": "variance at each place",
    "mno_2": "MNO, rank 2",
    "mno_8": "MNO, rank 8",
    "mno_16": "MNO, rank 16",
    "diffusion": "diffusion",
}
"""What each rival is called in the figure, from the top."""


def operators_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each system: by how much the energy score lies above that of the truth."""
    with style():
        figure = picture(10, 4.6)
        axes = figure.subplots(1, len(evidence.arms), sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, evidence.arms, strict=True):
            ax.set_title(name.replace(", ", ",\n"), fontsize=10)
            _draw_arm(ax, evidence, name)
        axes[0].set_yticks(range(len(NAMES)), list(NAMES.values()))
        axes[0].set_ylim(len(NAMES) - 0.5, -0.5)
        figure.supxlabel("energy score above that of the truth itself (%, linear below 1)", size=10)
        words = "dot: one seed; bar: median; left is better, and 0 is as good as can be"
        titles(figure, row.question, f"{evidence.about()}; {words}")
    return figure


def _draw_arm(ax: Axes, evidence: Present, name: str) -> None:
    truth = scores(evidence, name, "energy", RIVALS[0])
    medians = {}
    for height, rival in enumerate(NAMES):
        above = 100 * (scores(evidence, name, "energy", rival) / truth - 1)
        above = above[np.isfinite(above)]
        if not len(above):
            continue
        color = LOOKS["test"].color if rival.startswith("mno") else INK
        lift = np.linspace(-0.2, 0.2, len(above)) if len(above) > 1 else np.zeros(1)
        ax.plot(above, height + lift, "o", color=color, markersize=4, alpha=0.7)
        medians[rival] = middle = float(np.median(above))
        ax.plot([middle, middle], [height - 0.33, height + 0.33], color=color, linewidth=2)
    if not medians:
        missing_panel(ax, "cut short")
        return
    ax.axvline(0, color=INK, linewidth=1)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    ax.set_xlim(min(-1.5, *medians.values()), 1.5 * max(100, *medians.values()))
    tell(ax, "; ".join(f"{rival} {value:.1f} %" for rival, value in medians.items()))
