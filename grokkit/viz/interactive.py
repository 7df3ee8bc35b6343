"""The pictures behind the widgets that show one run: each a pure function of what is chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from grokkit.diagnostics.phases import BORDERS, PHASES, phase_borders, phase_labels
from grokkit.diagnostics.plateau import hindsight_conditions
from grokkit.errors import check_number, refuse
from grokkit.viz.alt import number, tell
from grokkit.viz.attention import draw_mean_attention
from grokkit.viz.one_run import describe, draw_curves, headline, one_run, shade_phases
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    cursor,
    curve,
    epoch_axis,
    fixed_picture,
    record_axis,
    right_axis,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


# --- the plane of Theorem 4.3 -------------------------------------------------------------

LEAST_MASS = 1e-4
"""The least mass that the plane shows; what is smaller is drawn at its lower edge."""


def condition_plane(
    history: "xr.Dataset",
    run: int = 0,
    epoch: float | int | None = None,
    *,
    gamma: float | None = None,
    r_max: float | int | None = None,
) -> Picture:
    """A run's path through the plane of B_gamma and N, up to some epoch.

    Args:
        history: the History.
        run: which of its runs, by position.
        epoch: how far, moved to the nearest record; None: to the end.
        gamma: the threshold of B_gamma; None: the one that the run turned out to have when
            it grokked, by :func:`grokkit.diagnostics.hindsight_conditions`.
        r_max: the largest norm that N allows; None: likewise.

    Returns:
        A picture of 9.6 x 4.4 inches at 100 dots each. A condition whose threshold is not
        known, as the run has not grokked, is not drawn, and the picture says so.

    Raises:
        SettingError: there is no such run; gamma or r_max is not above 0.
    """
    one = one_run(history, run)
    seen = hindsight_conditions(one)
    given = gamma is not None, r_max is not None
    for name, value in (("gamma", gamma), ("r_max", r_max)):
        if value is not None:
            check_number(name, float(value), strict=True)
    gamma = float(seen.gamma if gamma is None else gamma)
    r_max = float(seen.r_max if r_max is None else r_max)
    now = one.isel(epoch=-1) if epoch is None else one.sel(epoch=epoch, method="nearest")
    at = int(now.epoch)
    with style():
        figure = fixed_picture(9.6, 4.4)
        plane, accuracy = figure.subplots(1, 2, width_ratios=[1.5, 1])
        figure.subplots_adjust(wspace=0.22, left=0.085)
        _draw_conditions(plane, one, gamma, r_max)
        _draw_walk(plane, one, at)
        draw_curves(accuracy, one, "train_accuracy", "test_accuracy")
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.04), xlabel="epoch")
        cursor(accuracy, at, float(one.epoch.values[-1]))
        accuracy.legend(loc="lower right").set_zorder(6)
        holds = _verdict(float(now.min_informative_mass), float(now.mlp_norm), gamma, r_max)
        share = f"{float(now.test_accuracy):.0%} of the unseen answers right"
        below = _where_from(given, seen)
        titles(figure, f"Epoch {at:,}: {holds}; {share}", f"{below}; {describe(one, end=False)}")
    return figure


def _verdict(mass: float, norm: float, gamma: float, r_max: float) -> str:
    """Which of the two conditions hold, as far as their thresholds are known."""
    parts = []
    for name, holds, threshold in (("B", mass >= gamma, gamma), ("N", norm <= r_max, r_max)):
        words = "is not known" if np.isnan(threshold) else "holds" if holds else "does not hold"
        parts.append(f"{name} {words}")
    return ", ".join(parts)


def _where_from(given: tuple[bool, bool], seen: "xr.Dataset") -> str:
    """Where the thresholds come from."""
    if all(given):
        return "γ and r_max as given"
    names = [name for name, known in zip(("γ", "r_max"), given, strict=True) if not known]
    if np.isnan(seen.epoch):
        return f"{' and '.join(names)} can be measured on a run that groks only"
    words = f"{' and '.join(names)} as measured when phase 4 began, at {int(seen.epoch):,}"
    if "γ" in names and np.isnan(seen.gamma):
        words = words.replace("γ and r_max", "r_max") if "r_max" in names else "r_max as given"
        words += ", γ not on record"
    return words


def _draw_conditions(ax: Axes, one: "xr.Dataset", gamma: float, r_max: float) -> None:
    norm = one.mlp_norm.values
    right = 1.08 * max(norm.max(), 0.0 if np.isnan(r_max) else r_max)
    ax.set(xlim=(0, right), ylim=(LEAST_MASS, 1.3), yscale="log")
    ax.set(xlabel=VARIABLES["mlp_norm"].label, ylabel="least mass on a position of I* (log)")
    ax.set(title="Where the run is")
    ax.yaxis.set_major_formatter("{x:g}")
    if not np.isnan(gamma):
        ax.axhspan(gamma, 1.3, color=LOOKS["structure"].color, alpha=0.13, linewidth=0)
        ax.axhline(gamma, color=LOOKS["structure"].color, linewidth=1.5)
        words = f"B: γ = {gamma:.2g} or more"
        ax.text(0.015 * right, gamma * 1.15, words, va="bottom", color="#00563F", size=9.5)
    if not np.isnan(r_max):
        ax.axvspan(0, r_max, color=LOOKS["norm"].color, alpha=0.16, linewidth=0)
        ax.axvline(r_max, color=LOOKS["norm"].color, linewidth=1.5)
        words = f"N: r_max = {r_max:.3g} or less"
        ax.text(
            r_max - 0.015 * right, 1.25 * LEAST_MASS, words, ha="right", color="#7A5200", size=9.5
        )


def _draw_walk(ax: Axes, one: "xr.Dataset", at: int) -> None:
    norm = one.mlp_norm.values
    mass = np.maximum(one.min_informative_mass.values, LEAST_MASS)
    past = one.epoch.values <= at
    ax.plot(norm, mass, color=INK, linewidth=1, alpha=0.3)
    ax.plot(norm[past], mass[past], color=INK, linewidth=2)
    ax.plot(norm[0], mass[0], "o", color="white", markeredgecolor=INK, markersize=7)
    ax.annotate("start", (norm[0], mass[0]), (8, 6), textcoords="offset points", size=9)
    begin, now = ((number(norm[i]), number(mass[i])) for i in (0, past.sum() - 1))
    tell(ax, f"From norm {begin[0]}, mass {begin[1]} to norm {now[0]}, mass {now[1]} at this epoch")
    ax.plot(norm[past][-1], mass[past][-1], "o", color=LOOKS["test"].color, markersize=12, zorder=5)


# --- the run at one epoch -----------------------------------------------------------------

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
        draw_mean_attention(attention, now)
        attention.set(title="Where it looks", ylabel="share of attention")
        words = f"KL {float(now.kl):.2f} nats\nline: oracle"
        attention.text(0.98, 0.97, words, transform=attention.transAxes, ha="right", va="top",
                       size=9)  # fmt: skip
        draw_curves(accuracy, one, "train_accuracy", "test_accuracy")
        accuracy.set(title="What it gets right", ylim=(-0.02, 1.04))
        _draw_gradient_and_bounds(gradient, one)
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


def _draw_gradient_and_bounds(ax: Axes, one: "xr.Dataset") -> None:
    curves = [(name, words, line, INK, 1.2) for name, (words, line) in BOUNDS.items()]
    curves += [(_measured(one), "measured", "-", LOOKS["gradient"].color, 2.2)]
    for name, words, line, color, width in curves:
        if name in one:
            values = one[name].where(one[name] > 0).values  # a log axis has no place for 0
            looks: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": width}
            ax.plot(one.epoch.values, values, label=words, **looks)
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


# --- the run while it is trained ----------------------------------------------------------


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
        norm = right_axis(structure)
        panels = {accuracy: ("train_accuracy", "test_accuracy"), structure: ("kl",)}
        for ax, names in (*panels.items(), (norm, ("mlp_norm",))):
            for name in names:
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
        for ax in (accuracy, structure):
            epoch_axis(ax, 1, epochs, "linear")
            ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            ax.set_xlabel("epoch")
        accuracy.legend(loc="lower right")
        drawn = [*structure.get_lines(), *norm.get_lines()]
        named = [line for line in drawn if not str(line.get_label()).startswith("_")]
        structure.legend(handles=named, loc="upper right")
        words = "Nothing trained yet: press Start" if history is None else headline(history)
        titles(figure, words, below)
    return figure


def _points(history: "xr.Dataset | None", name: str) -> tuple[np.ndarray, np.ndarray]:
    if history is None:
        return np.array([]), np.array([])
    return history.epoch.values, history[name].values[0]


# --- the run with phases that the reader has chosen -----------------------------------------


def phases_by_hand(
    history: "xr.Dataset",
    run: int = 0,
    borders: Sequence[float | int] = (0, 0, 0),
    *,
    reveal: bool = False,
) -> Picture:
    """The curves of a run without its phases, and three borders that the reader has chosen.

    Args:
        history: the History.
        run: which of its runs, by position.
        borders: the epochs at which phases 2, 3 and 4 are said to begin, in order.
        reveal: whether to show the borders of :func:`grokkit.diagnostics.phase_borders` too.

    Returns:
        A picture of 9.6 x 5.4 inches at 100 dots each.

    Raises:
        SettingError: there is no such run; not three borders, or they run backward.
    """
    one = one_run(history, run)
    chosen = [float(border) for border in borders]
    if len(chosen) != len(BORDERS) or chosen != sorted(chosen):
        refuse("borders", chosen, "three epochs, none before the one before it")
    rule = [float(border) for border in phase_borders(one).values]
    with style():
        figure = fixed_picture(9.6, 5.4)
        panels = figure.subplots(4, 1, height_ratios=[0.27, 0.27, 1.5, 1.2])
        yours, ours, accuracy, structure = panels
        figure.subplots_adjust(hspace=0.2, left=0.09, right=0.92, top=0.89)
        names = ("train_accuracy", "test_accuracy", "unmirrored_accuracy")
        draw_curves(accuracy, one, *(name for name in names if name in one))
        accuracy.set(ylim=(-0.02, 1.06), ylabel="right answers")
        draw_curves(structure, one, "kl")
        norm = right_axis(structure)
        draw_curves(norm, one, "mlp_norm")
        for ax in (structure, norm):
            ax.set_ylim(0, None)
        for ax in panels:
            record_axis(ax, one.epoch.values)
            ax.label_outer()
        for ax, who, its in ((yours, "you", chosen), (ours, "the rule", rule if reveal else [])):
            ax.set(ylim=(0, 1), xticks=[])
            ax.set_yticks([0.5], [who])
            ax.tick_params(length=0)
            ax.grid(False)
            ax.spines[:].set_visible(True)
            if its:
                tell(ax, f"Borders of {who}: {', '.join(map(number, its))}".replace("nan", "none"))
                shade_phases(ax, its, float(one.epoch.values[-1]), thin=True)
            else:
                ax.text(0.5, 0.5, "?", transform=ax.transAxes, ha="center", va="center")
        for ax in (accuracy, structure):
            for border in chosen:
                ax.axvline(border, color=INK, linewidth=1.5)
            for border in rule if reveal else []:
                ax.axvline(border, color=INK, linewidth=1.5, linestyle=(0, (1, 1.5)))
        accuracy.legend(loc="upper left")
        handles = [*structure.get_lines()[:1], *norm.get_lines()]
        structure.legend(handles=handles, loc="center", bbox_to_anchor=(0.57, 0.66))
        if reveal:
            parts = []
            for name, mine, other in zip(BORDERS, chosen, rule, strict=True):
                when = "not reached" if np.isnan(other) else f"{other:,.0f}"
                parts.append(f"{name}: {when}, you said {mine:,.0f}")
            words = "The borders of the rule (dotted) and yours (solid)", ";  ".join(parts)
        else:
            task = f"move the three borders, then compare; {describe(one, end=False)}"
            words = "Where do plateau, resurgence and grokking begin?", task
        titles(figure, *words)
    return figure
