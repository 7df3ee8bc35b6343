"""Figure 8: accuracy on sequences longer than those that were trained on."""

import re

import numpy as np
from matplotlib.axes import Axes

from grokkit.experiments import Row
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import dotted, draw_strips, handles
from grokkit.viz.style import LOOKS, Picture, picture, style, titles

LINES = ((0, (2, 1)), "-", (0, (6, 1.5, 1, 1.5)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D")


def routing_figure(row: Row, evidence: Present) -> Picture:
    """Accuracy by test length, and the grok epochs of all arms below."""
    names = list(evidence.arms)
    longer = [name for name in names if _lengths(evidence, name)]
    with style():
        figure = picture(9, 1.9 + 0.42 * len(names) + 3.0 * bool(longer))
        if longer:
            heights = (3.0, 0.6 + 0.42 * len(names))
            above, below = figure.subplots(2, 1, height_ratios=heights)
            _by_length(above, evidence, longer)
        else:
            below = figure.subplots()
        draw_strips(below, evidence, names)
        below.set_title("When each arm groks at the length that it was trained on")
        figure.legend(handles=handles(0.99), loc="outside lower left", ncols=4)
        words = f"{evidence.about()}; one line a seed{dotted(evidence, names)}"
        if longer:
            words += "; above: median, bars: least to greatest"
        titles(figure, row.question, words)
    return figure


def _by_length(ax: Axes, evidence: Present, names: list[str]) -> None:
    """The test accuracy at the end of each run, by the length of the test sequences."""
    width = 0.16
    shift = np.linspace(-width, width, len(names)) if len(names) > 1 else np.zeros(1)
    lengths: list[int] = []
    for number, name in enumerate(names):
        own = evidence.arms[name][0].settings()["length"]
        by_length = {own: evidence.final(name, "test_accuracy")}
        for length in _lengths(evidence, name):
            runs = evidence.runs(name)
            by_length[length] = np.array(
                [float(one.extra_accuracy.sel(extra=f"length {length}").values[-1]) for one in runs]
            )
        lengths = sorted({*lengths, *by_length})
        middle = np.array([np.median(v) for v in by_length.values()])
        low = middle - np.array([v.min() for v in by_length.values()])
        high = np.array([v.max() for v in by_length.values()]) - middle
        ax.errorbar(
            np.array([lengths.index(one) for one in by_length]) + shift[number],
            middle,
            np.stack([low, high]),
            color=LOOKS["structure"].color if "KL" in name else LOOKS["test"].color,
            linestyle=LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)],
            capsize=3,
            label=name,
        )
    ax.set_title("Accuracy at the end of each run, on sequences of each length")
    ax.set_xticks(range(len(lengths)), [str(one) for one in lengths])
    ax.set(xlabel="length of the test sequences (positions)", ylim=(-0.03, 1.05))
    ax.set_ylabel("test accuracy (share right)")
    ax.legend(loc="best")


def _lengths(evidence: Present, name: str) -> list[int]:
    """The lengths of the further test sets of an arm."""
    arm = evidence.arm(name)
    if "extra_accuracy" not in arm or "extra" not in arm.coords:
        return []
    known = arm.extra_accuracy.notnull().any(["run", "epoch"]).values
    found = [re.fullmatch(r"length (\d+)", str(one)) for one in arm.extra.values[known]]
    return sorted(int(match[1]) for match in found if match)
