"""arXiv 2504.03162: the table with a hole, and what is right inside it and outside."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grokkit.engine import RunSpec
from grokkit.experiments import Row
from grokkit.tasks.split import decode
from grokkit.viz.rows.present import Present
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

PARTS = {
    "outside": ("#F2F2F2", "unseen, outside the hole"),
    "train": (LOOKS["train"].color, "trained on"),
    "mirrored": ("#F3B48B", "in the hole, mirror image trained on"),
    "unmirrored": (LOOKS["test"].color, "in the hole, mirror image unseen"),
}
"""The kinds of pairs: their colours and names."""

MEASURED = {
    "outside": ("outside\nthe hole", "outside the hole", "extra_accuracy", "#9A9A9A"),
    "hole": ("in the\nhole", "hole", "extra_accuracy", INK),
    "mirrored": ("mirror\nin train", "hole", "extra_mirrored_accuracy", "#E08A4F"),
    "unmirrored": (
        "mirror\nunseen", "hole", "extra_unmirrored_accuracy", LOOKS["test"].color,
    ),
}  # fmt: skip
"""What a panel counts: its label, the test set, the variable, the colour."""


def holes_figure(row: Row, evidence: Present) -> Picture:
    """A column for each hole: the table of one seed above, the last accuracies below."""
    names = list(evidence.arms)
    with style():
        figure = picture(max(8.0, 2.4 * len(names)), 6)
        axes = figure.subplots(2, len(names), squeeze=False, height_ratios=[1, 1.1])
        for (table, dots), name in zip(axes.T, names, strict=True):
            first = evidence.arms[name][0]
            assert isinstance(first, RunSpec)  # the row has no runs on images
            _table(table, first)
            table.set_title(name)
            _accuracies(dots, evidence, name)
            dots.sharey(axes[1, 0])
        axes[0, 0].set_ylabel("j")
        axes[1, 0].set_ylabel("share of right answers,\nlast record")
        marks: list[Artist] = [
            Patch(facecolor=color, edgecolor="#9A9A9A", linewidth=0.5, label=words)
            for color, words in PARTS.values()
        ]
        marks.append(Line2D([], [], color=INK, linewidth=2.4, label="median over seeds"))
        figure.legend(handles=marks, loc="outside lower left", ncols=3)
        titles(figure, row.question, f"{evidence.about()}; tables: first seed; dots: each seed")
    return figure


def table_of_parts(spec: RunSpec) -> np.ndarray:
    """Which kind of pair every pair is, by its place in :data:`PARTS`; ``[i, j]``."""
    task = spec.task
    p = spec.settings()["p"]
    data = task.build(spec.seed)
    table = np.zeros((p, p), dtype=int)
    train = decode(data.train.group, p, 2).numpy()
    table[tuple(train.T)] = 1
    hole = decode(data.extra["hole"].group, p, 2).numpy()
    mirrored = data.extra_mirrored.get("hole")
    table[tuple(hole.T)] = 3
    if mirrored is not None:
        table[tuple(hole[mirrored.numpy()].T)] = 2
    return table


def _table(ax: Axes, spec: RunSpec) -> None:
    colors = ListedColormap([color for color, _ in PARTS.values()])
    ax.imshow(
        table_of_parts(spec).T, cmap=colors, vmin=-0.5, vmax=3.5, origin="lower",
        interpolation="nearest",
    )  # fmt: skip
    settings = spec.settings()
    ticks = sorted({0, settings["hole_edge"], settings["p"] - 1})
    ax.set(xlabel="i", xticks=ticks, yticks=ticks)
    ax.grid(False)
    ax.tick_params(labelsize=8)


def _accuracies(ax: Axes, evidence: Present, name: str) -> None:
    labels = []
    runs = evidence.runs(name)
    for place, (label, extra, variable, color) in enumerate(MEASURED.values()):
        labels.append(label)
        values = np.array(
            [
                float(one[variable].sel(extra=extra).values[-1]) if variable in one else np.nan
                for one in runs
            ]
        )
        values = values[~np.isnan(values)]  # a square has no pair whose mirror is trained on
        if not len(values):
            ax.text(place, 0.03, "none", ha="center", size=8, color="#7A7A7A")
            continue
        across = place + (np.linspace(-0.2, 0.2, len(values)) if len(values) > 1 else np.zeros(1))
        ax.plot(across, values, marker="o", markersize=4, linestyle="", color=color)
        middle = np.median(values)
        ax.plot([place - 0.32, place + 0.32], [middle, middle], color=INK, linewidth=2.4, zorder=3)
    ax.set_xticks(range(len(labels)), labels, fontsize=7.5)
    ax.set(xlim=(-0.5, len(labels) - 0.5), ylim=(-0.03, 1.06))
    ax.set_title("what is right", fontsize=9, fontweight="normal")
