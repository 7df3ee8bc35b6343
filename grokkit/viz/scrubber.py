"""One run at one epoch: where it looks, what it gets right, what still pulls at attention."""

from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from grokkit.diagnostics.phases import PHASES, phase_labels
from grokkit.runtime.history import specs_of
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
            f"{_gradient_in_words(now)}; {describe(one, end=False)}",
        )
    return figure


def _attention(ax: Axes, one: "xr.Dataset", now: "xr.Dataset") -> None:
    spec = specs_of(one)[0]
    oracle = spec.task.build(spec.seed).train.oracle.double().mean(dim=0).numpy()
    mass = now.attention_mass.mean("head").values[: len(oracle)]  # the rest is padding
    draw_bars(ax, mass, oracle > 0, oracle)
    if len(oracle) > 10:
        ax.set_xticks([*range(0, len(oracle) - 1, 5), len(oracle) - 1])
        ax.set_xticklabels([*map(str, range(0, len(oracle) - 1, 5)), "="])
    ax.set(title="Where it looks", ylabel="share of attention")
    words = f"KL {float(now.kl):.2f} nats\nline: oracle"
    ax.text(0.98, 0.97, words, transform=ax.transAxes, ha="right", va="top", size=9)


def _gradient(ax: Axes, one: "xr.Dataset") -> None:
    epochs = one.epoch.values
    measured = LOOKS["gradient"].color
    curves = [(name, words, line, INK, 1.2) for name, (words, line) in BOUNDS.items()]
    curves += [(_measured(one), "measured", "-", measured, 2.2)]
    for name, words, line, color, width in curves:
        if name in one:
            values = one[name].where(one[name] > 0).values  # a log axis has no place for 0
            looks: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": width}
            ax.plot(epochs, values, label=words, **looks)
    ax.set(yscale="log", title="What pulls at attention", ylabel="|∂L/∂l|, nats per unit of score")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.45)


def _measured(one: "xr.Dataset") -> str:
    """The record that the bounds are about, or what a recording without them has instead."""
    return "score_gradient_max" if "score_gradient_max" in one else "score_gradient"


def _gradient_in_words(now: "xr.Dataset") -> str:
    words = f"score gradient {float(now[_measured(now)]):.2g}"
    if "starvation_bound" not in now:
        return f"{words}, its bounds not recorded"
    bound = float(now.starvation_bound)
    allowed = f"{bound:,.0f}" if bound >= 10 else f"{bound:.2g}"
    return f"largest {words}, where (4) allows {allowed}"
