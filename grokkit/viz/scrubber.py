"""One run at one epoch: where it looks, what it gets right, what still pulls at attention."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics.phases import PHASES, phase_labels
from grokkit.training.history import specs_of
from grokkit.viz.attention import draw_bars
from grokkit.viz.run_panels import describe, one_run
from grokkit.viz.style import INK, LOOKS, Picture, cursor, curve, fixed_picture, style, titles

if TYPE_CHECKING:
    import xarray as xr

BOUNDS = {
    "starvation_bound": ("bound (4)", "-"),
    "starvation_bound_position": ("by position (34)", (0, (5, 2))),
    "starvation_bound_linear": ("linear form", (0, (1, 1.2))),
}
"""The bounds of Lemma 5.1 that are drawn: their names and lines."""


def run_at_epoch(history: "xr.Dataset", run: int = 0, epoch: float | int = 0) -> Picture:
    """The attention at an epoch, and accuracy and score gradient with the epoch marked.

    Args:
        history: the History.
        run: which of its runs, by position.
        epoch: the epoch, moved to the nearest record.

    Returns:
        A picture of 9.7 x 3.8 inches at 100 dots each.

    Raises:
        SettingError: there is no such run.
    """
    one = one_run(history, run)
    now = one.sel(epoch=epoch, method="nearest")
    at, last = int(now.epoch), float(one.epoch.values[-1])
    phase = int(phase_labels(one).sel(epoch=at))
    with style():
        figure = fixed_picture(9.7, 3.8)
        attention, accuracy, gradient = figure.subplots(1, 3, width_ratios=[1, 1.2, 1.2])
        figure.subplots_adjust(wspace=0.32)
        _attention(attention, one, now)
        for name in ("train_accuracy", "test_accuracy"):
            curve(accuracy, name, one.epoch.values, one[name].values)
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.04))
        _gradient(gradient, one)
        for ax in (accuracy, gradient):
            ax.set_xlabel("epoch")
            cursor(ax, at, last)
            ax.legend(loc="lower right" if ax is accuracy else "upper right").set_zorder(6)
        shares = [f"{float(now[name]):.0%}" for name in ("train_accuracy", "test_accuracy")]
        titles(
            figure,
            f"Epoch {at:,}, phase {phase} ({PHASES[phase]}): {shares[0]} of the train answers "
            f"right, {shares[1]} of the unseen",
            f"largest score gradient {float(now.score_gradient_max):.2g}, where (4) allows "
            f"{float(now.starvation_bound):.2g}; {describe(one).split('; ')[0]}",
        )
    return figure


def _attention(ax: Axes, one: "xr.Dataset", now: "xr.Dataset") -> None:
    spec = specs_of(one)[0]
    oracle = spec.task.build(spec.seed).train.oracle.double().mean(dim=0).numpy()
    draw_bars(ax, now.attention_mass.mean("head").values, oracle > 0, oracle)
    ax.set(title="Where it looks", ylabel="share of attention")
    words = f"KL {float(now.kl):.2f} nats\nline: oracle"
    ax.text(0.98, 0.97, words, transform=ax.transAxes, ha="right", va="top", size=9)


def _gradient(ax: Axes, one: "xr.Dataset") -> None:
    epochs = one.epoch.values
    for name, (words, line) in BOUNDS.items():
        values = one[name].values
        positive = np.where(values > 0, values, np.nan)
        ax.plot(epochs, positive, color=INK, linestyle=line, linewidth=1.2, label=words)
    measured = one.score_gradient_max.values
    looks = LOOKS["gradient"]
    positive = np.where(measured > 0, measured, np.nan)
    ax.plot(epochs, positive, color=looks.color, linewidth=2.2, label="measured")
    ax.set(yscale="log", title="What pulls at attention", ylabel="|∂L/∂l|, nats per unit of score")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.45)
