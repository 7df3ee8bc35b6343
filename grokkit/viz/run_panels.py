"""One run in four panels: what it gets right, what it loses, where it looks, what pulls it."""

import itertools
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics.phases import PHASES, grok_epoch, memorise_epoch, phase_borders
from grokkit.errors import check_int
from grokkit.runtime.history import specs_of
from grokkit.viz.style import (
    INK,
    SHADES,
    EpochScale,
    Picture,
    curve,
    epoch_axis,
    epoch_label,
    picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


def four_panels(history: "xr.Dataset", run: int = 0, *, epoch_scale: EpochScale = "log") -> Picture:
    """Accuracies, losses, structure and gradients of one run, with its phases shaded.

    Args:
        history: the History.
        run: which of its runs, by position.
        epoch_scale: ``"log"`` shows memorising, which takes a hundredth of the run, and
            understanding side by side; ``"linear"`` shows how long the wait is.

    Returns:
        A picture of 10 x 7.8 inches at 100 dots each.

    Raises:
        SettingError: there is no such run, or no such scale.
    """
    one = one_run(history, run)
    with style():
        figure = picture(10, 7.8)
        (accuracy, loss), (structure, gradient) = figure.subplots(2, 2)
        for ax in (accuracy, loss, structure, gradient):
            _epochs(ax, one, epoch_scale)

        _draw(accuracy, one, "train_accuracy", "test_accuracy")
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.1))
        accuracy.set_yticks(np.linspace(0, 1, 6))

        _draw(loss, one, "train_loss", "test_loss")
        loss.set(title="What it still loses")

        _draw(structure, one, "kl", "informative_mass")
        top = max(1.0, float(one.kl.max()))
        structure.set(title="Where it looks", ylim=(-0.02 * top, 1.1 * top))
        structure.set_ylabel("nats; share of attention")

        _draw(gradient, one, "score_gradient", "W_QK_gradient")
        gradient.set(title="What pulls attention, and the norm that must fall")
        norm = gradient.twinx()
        _draw(norm, one, "mlp_norm")
        norm.set_ylim(0, 1.25 * float(one.mlp_norm.max()))
        norm.grid(False)
        norm.spines["right"].set_visible(True)
        _room_above(gradient)
        _room_above(loss)

        borders, nameless = _border_epochs(one), []
        for ax in (accuracy, loss, structure, gradient):
            nameless = shade_phases(ax, borders, _last(one))
            ax.set_xlabel(epoch_label(epoch_scale))
            lines = [*ax.get_lines(), *(norm.get_lines() if ax is gradient else [])]
            lines = [line for line in lines if not str(line.get_label()).startswith("_")]
            # Below the panel: in it there is no corner that no run passes through.
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "frameon": False}
            ax.legend(handles=lines, ncols=len(lines), borderaxespad=0, **below)
        words = [describe(one), *(f"phase {phase}: {PHASES[phase]}" for phase in nameless)]
        titles(figure, headline(history, run), "; ".join(filter(None, words)))
    return figure


def headline(history: "xr.Dataset", run: int = 0) -> str:
    """What happened in one run, in one line.

    Args:
        history: the History.
        run: which of its runs, by position.
    """
    one = one_run(history, run)
    memorised, grokked = float(memorise_epoch(one)), float(grok_epoch(one))
    nearly = float(grok_epoch(one, 0.95))
    last = _last(one)
    if np.isnan(memorised) and np.isnan(grokked):
        return f"Not memorised by epoch {last:,.0f}"
    begin = "Not memorised" if np.isnan(memorised) else f"Memorised at epoch {memorised:,.0f}"
    if not np.isnan(grokked):
        return f"{begin}, understood at {grokked:,.0f}"
    if not np.isnan(nearly):
        return f"{begin}, 95 % understood at {nearly:,.0f}, not 99 % by epoch {last:,.0f}"
    return f"{begin}, not understood by epoch {last:,.0f}"


def describe(one: "xr.Dataset", *, end: bool = True) -> str:
    """Which run this is: task, size and seed; and, with ``end``, what is said of its end."""
    if "spec" not in one.coords:
        return ""
    settings = specs_of(one)[0].settings()
    words = [settings["task"].replace("_", " ")]
    shown = {"p": "p", "weight_decay": "weight decay", "kl_strength": "KL strength", "seed": "seed"}
    words += [f"{word} {settings[name]:g}" for name, word in shown.items() if name in settings]
    message = str(one.message.values) if end and "message" in one.coords else ""
    return ", ".join(words) + (f"; {message}" if message else "")


def one_run(history: "xr.Dataset", run: int) -> "xr.Dataset":
    """One run of a History, without the records after its end.

    Raises:
        SettingError: there is no such run.
    """
    if "run" in history.dims:
        check_int("run", run, 0, history.sizes["run"] - 1)
        history = history.isel(run=run)
    return history.sel(epoch=history.train_accuracy.notnull())


def shade_phases(
    ax: Axes, borders: "list[float]", last: int | float, words: bool = True
) -> list[int]:
    """Shade and number the phases of a run.

    Args:
        ax: where; its epoch axis must be final.
        borders: the epochs at which phases 2, 3 and 4 begin; ``nan`` where they do not.
        last: the epoch at which the run ends.
        words: whether to write the phases' numbers and names.

    Returns:
        The phases for whose names there was no room.
    """
    nameless = []
    edges = [0.0, *(last if np.isnan(border) else border for border in borders), last]
    to_axes = ax.transData + ax.transAxes.inverted()
    for phase, (left, right) in enumerate(itertools.pairwise(edges), start=1):
        if right <= left:
            continue
        ax.axvspan(left, right, color=SHADES[phase], zorder=0, linewidth=0)
        if phase > 1:
            ax.axvline(left, color=INK, linewidth=0.7, zorder=0.5)
        if not words:
            continue
        x0, x1 = (to_axes.transform((x, 1.0))[0] for x in (left, right))
        name = f"{phase} {PHASES[phase]}"
        if x1 - x0 < 0.019 * len(name):
            name = f"{phase}"
            nameless.append(phase)
        if x1 - x0 > 0.02:
            ax.text(
                (x0 + x1) / 2, 0.985, name, transform=ax.transAxes, ha="center", va="top", size=8.5
            )
    return nameless


def _draw(ax: Axes, one: "xr.Dataset", *names: str) -> None:
    for name in names:
        curve(ax, name, one.epoch.values, one[name].values)


def _epochs(ax: Axes, one: "xr.Dataset", scale: EpochScale) -> None:
    epochs = one.epoch.values
    first = epochs[epochs > 0][0] if (epochs > 0).any() else 1
    epoch_axis(ax, float(first), _last(one), scale)


def _room_above(ax: Axes) -> None:
    """Leave the top of a log axis to the phases' names."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.08)


def _border_epochs(one: "xr.Dataset") -> "list[float]":
    return [float(border) for border in phase_borders(one).values]


def _last(one: "xr.Dataset") -> float:
    return float(one.epoch.values[-1]) if one.sizes["epoch"] else 0.0
