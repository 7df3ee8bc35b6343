"""One run: what became of it, its curves and phases, all its signals on one scale."""

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.diagnostics import half_rise_epoch, measure_transition
from grokkit.diagnostics.phases import PHASES, grok_epoch, memorise_epoch, phase_borders
from grokkit.errors import check_int, refuse
from grokkit.experiments.signals import RANKED, SIGNALS
from grokkit.runtime.history import specs_of
from grokkit.viz.style import (
    INK,
    SHADES,
    SIGNAL_LOOKS,
    Picture,
    curve,
    epoch_axis,
    picture,
    record_axis,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


# --- which run, and what became of it -----------------------------------------------------


def one_run(history: "xr.Dataset", run: int) -> "xr.Dataset":
    """One run of a History, without the records after its end.

    Raises:
        SettingError: there is no such run.
    """
    if "run" in history.dims:
        check_int("run", run, 0, history.sizes["run"] - 1)
        history = history.isel(run=run)
    return history.sel(epoch=history.train_accuracy.notnull())


def headline(history: "xr.Dataset", run: int = 0) -> str:
    """What happened in one run, in one line."""
    one = one_run(history, run)
    memorised, grokked = float(memorise_epoch(one)), float(grok_epoch(one))
    nearly = float(grok_epoch(one, 0.95))
    last = float(one.epoch.values.max(initial=0))
    if np.isnan(memorised) and np.isnan(grokked):
        return f"Not memorised by epoch {last:,.0f}"
    begin = "Not memorised" if np.isnan(memorised) else f"Memorised at epoch {memorised:,.0f}"
    if np.isnan(nearly):
        return f"{begin}, 95 % of the unseen not right by epoch {last:,.0f}"
    well = "" if np.isnan(grokked) else f" (99 % at {grokked:,.0f})"
    return f"{begin}, 95 % of the unseen right at {nearly:,.0f}{well}"


def describe(one: "xr.Dataset", *, end: bool = True) -> str:
    """Which run this is: task, size and seed; and, with ``end``, why it ended."""
    if "spec" not in one.coords:
        return ""
    settings = specs_of(one)[0].settings()
    words = [settings["task"].replace("_", " ")]
    shown = {"p": "p", "weight_decay": "weight decay", "kl_strength": "KL strength", "seed": "seed"}
    words += [f"{word} {settings[name]:g}" for name, word in shown.items() if name in settings]
    message = str(one.message.values) if end and "message" in one.coords else ""
    return ", ".join(words) + (f"; {message}" if message else "")


# --- phases -------------------------------------------------------------------------------


def shade_phases(
    ax: Axes, borders: Iterable[float], last: float | int, *, words: bool = True
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
    to_axes = ax.transData + ax.transAxes.inverted()
    edges = [0.0, *(last if np.isnan(border) else border for border in borders), last]
    for phase, (left, right) in enumerate(itertools.pairwise(edges), start=1):
        if right <= left:
            continue
        ax.axvspan(left, right, color=SHADES[phase], zorder=0, linewidth=0)
        if phase > 1:
            ax.axvline(left, color=INK, linewidth=0.7, zorder=0.5)
        x0, x1 = (to_axes.transform((x, 1.0))[0] for x in (left, right))
        name = f"{phase} {PHASES[phase]}"
        if words and x1 - x0 < 0.019 * len(name):
            name = f"{phase}"
            nameless.append(phase)
        if words and x1 - x0 > 0.02:
            look = {"transform": ax.transAxes, "ha": "center", "va": "top", "size": 8.5}
            ax.text((x0 + x1) / 2, 0.985, name, **look)
    return nameless


# --- the whole run ------------------------------------------------------------------------


def draw_curves(ax: Axes, one: "xr.Dataset", *names: str) -> None:
    """Draw variables of one run by :func:`grokkit.viz.style.curve`."""
    for name in names:
        curve(ax, name, one.epoch.values, one[name].values)


def four_panels(history: "xr.Dataset", run: int = 0) -> Picture:
    """Accuracies, losses, structure and gradients of one run, with its phases shaded.

    Args:
        history: the History.
        run: which of its runs, by position.

    Returns:
        A picture of 10 x 7.8 inches at 100 dots each.

    Raises:
        SettingError: there is no such run.
    """
    one = one_run(history, run)
    with style():
        figure = picture(10, 7.8)
        panels = list(figure.subplots(2, 2).flat)
        accuracy, loss, structure, gradient = panels
        for ax in panels:
            record_axis(ax, one.epoch.values)
        draw_curves(accuracy, one, "train_accuracy", "test_accuracy")
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.1), yticks=np.linspace(0, 1, 6))
        draw_curves(loss, one, "train_loss", "test_loss")
        loss.set(title="What it still loses")
        draw_curves(structure, one, "kl", "informative_mass")
        top = max(1.0, float(one.kl.max()))
        structure.set(title="Where it looks", ylim=(-0.02 * top, 1.1 * top))
        structure.set_ylabel("nats; share of attention")
        draw_curves(gradient, one, "score_gradient", "W_QK_gradient")
        gradient.set(title="What pulls attention, and the norm that must fall")
        norm = gradient.twinx()
        norm.grid(False)
        norm.spines["right"].set_visible(True)
        draw_curves(norm, one, "mlp_norm")
        norm.set_ylim(0, 1.25 * float(one.mlp_norm.max()))
        for ax in (gradient, loss):  # room for the phases' names
            low, high = ax.get_ylim()
            ax.set_ylim(low, high * (high / low) ** 0.08)
        borders, nameless = phase_borders(one).values, []
        for ax in panels:
            nameless = shade_phases(ax, borders, float(one.epoch.values.max(initial=0)))
            drawn = [*ax.get_lines(), *(norm.get_lines() if ax is gradient else [])]
            drawn = [line for line in drawn if not str(line.get_label()).startswith("_")]
            # Below the panel: in it there is no corner that no run passes through.
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "frameon": False}
            ax.legend(handles=drawn, ncols=len(drawn), borderaxespad=0, **below)
        words = [describe(one), *(f"phase {phase}: {PHASES[phase]}" for phase in nameless)]
        titles(figure, headline(history, run), "; ".join(filter(None, words)))
    return figure


def signals_of_a_run(one: "xr.Dataset") -> Picture:
    """The accuracies of a run, and below them every signal as a share of its whole change.

    0 is where memorising left a signal, 1 where it ends; it is half-way for good at its mark.

    Args:
        one: a single run, with features recorded.

    Returns:
        A picture 9 inches wide at 100 dots each.

    Raises:
        SettingError: there are several runs; or this one has not both memorised and reached a
            test accuracy of 0.95.
    """
    if "run" in one.dims:
        refuse("one", f"{one.sizes['run']} runs", "one run, such as history.isel(run=0)")
    one = one.isel(epoch=one.train_loss.notnull().values)
    start, grokked = (float(of) for of in (memorise_epoch(one), grok_epoch(one, 0.95)))
    if np.isnan(start) or np.isnan(grokked):
        refuse("one", "a run that has not grokked", "one that reached a test accuracy of 0.95")
    epochs = one.epoch.values
    after = epochs >= start
    with style():
        figure = picture(9, 6.2)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2.1))
        draw_curves(above, one, "train_accuracy", "mirrored_accuracy", "unmirrored_accuracy")
        above.set(ylim=(-0.03, 1.05), ylabel="share right")
        above.legend(loc="center left", fontsize=8)
        keys = []
        for name, signal in SIGNALS.items():
            values = signal.of(one)
            change = measure_transition(epochs, values, start)
            look = {"linewidth": 1.6, **SIGNAL_LOOKS[name]}
            marker = look.pop("marker")
            below.plot(epochs[after], change.share(values[after]), label=name, **look)
            mark = {"marker": marker, "markersize": 8, "markeredgecolor": INK}
            owner = f" ({signal.account})" if name in RANKED else ""
            keys.append(Line2D([], [], label=name + owner, **look, **mark))
            when = half_rise_epoch(epochs, values, change)
            if not np.isnan(when):
                height = change.share(values[epochs == when])[0]
                below.plot(when, height, color=look["color"], **mark, zorder=4)
        below.axhline(0.5, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        below.set(ylim=(-0.55, 1.55), ylabel="share of its whole change")
        below.legend(handles=keys, loc="upper left", ncols=2, fontsize=8)
        epoch_axis(below, start, float(epochs[-1]), "log")
        below.set_xlim(0.8 * start, epochs[-1])
        below.set_xlabel("epoch (log scale)")
        seed = f"seed {int(one.seed)}; " if "seed" in one.coords else ""
        words = "0: when memorised, 1: at the end; a mark is where 50% is done for good"
        titles(figure, "Every signal on the same scale", seed + words)
    return figure
