"""A run while it is trained: curves that grow to the right."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from grokkit.viz.run_panels import headline
from grokkit.viz.style import (
    LOOKS,
    VARIABLES,
    Picture,
    curve,
    epoch_axis,
    fixed_picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


def live_curves(
    history: "xr.Dataset | None",
    epochs: int,
    below: str = "",
    before: "xr.Dataset | None" = None,
) -> Picture:
    """What a run gets right, where it looks and how large its MLP is, as far as it is.

    Args:
        history: one run so far; None before its first record.
        epochs: where the axis of epochs ends: the length of the whole run.
        below: the line under the headline: which run this is, and how fast.
        before: another run, drawn thin and pale to compare with.

    Returns:
        A picture of 9 x 3.2 inches at 100 dots each, small enough to be drawn many times.
    """
    with style():
        figure = fixed_picture(9, 3.2)
        accuracy, structure = figure.subplots(1, 2)
        figure.subplots_adjust(wspace=0.25, right=0.93)
        norm = structure.twinx()
        names = {accuracy: ("train_accuracy", "test_accuracy"), structure: ("kl",)}
        for ax, curves in (*names.items(), (norm, ("mlp_norm",))):
            for name in curves:
                curve(ax, name, *_points(history, name))
                if before is not None:
                    color = LOOKS[VARIABLES[name].look].color
                    ax.plot(*_points(before, name), color=color, linewidth=1, alpha=0.4)
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.04), yticks=[0, 0.5, 1])
        structure.set_title("Where it looks, and the norm")
        for ax in (structure, norm):
            highest = ax.dataLim.y1
            ax.set_ylim(0, 1.08 * highest if 0 < highest < np.inf else 1)
            ax.yaxis.set_major_locator(MaxNLocator(4))  # half of the time goes into labels
        norm.grid(False)
        norm.spines["right"].set_visible(True)
        for ax in (accuracy, structure):
            epoch_axis(ax, 1, epochs, "linear")
            ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            ax.set_xlabel("epoch")
        accuracy.legend(loc="lower right")
        lines = [*structure.get_lines(), *norm.get_lines()]
        named = [line for line in lines if not str(line.get_label()).startswith("_")]
        structure.legend(handles=named, loc="upper right")
        words = "Nothing trained yet: press Start" if history is None else headline(history)
        titles(figure, words, below)
    return figure


def _points(history: "xr.Dataset | None", name: str) -> tuple[np.ndarray, np.ndarray]:
    if history is None:
        return np.array([]), np.array([])
    return history.epoch.values, history[name].values[0]
