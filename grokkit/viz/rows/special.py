"""The figures that are like no other: phases, bounds, lengths, holes, three accounts, theory."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grokkit import theory
from grokkit.diagnostics import PHASES, phase_borders
from grokkit.diagnostics.phases import MEMORISED
from grokkit.engine import RunSpec
from grokkit.experiments import SEEDS, Row
from grokkit.experiments.signals import BASE, SIGNALS, arrivals, gone
from grokkit.experiments.three_accounts import NO_DECAY, TRAPPED
from grokkit.tasks.split import decode
from grokkit.viz.alt import number, tell
from grokkit.viz.one_run import draw_curves, shade_phases
from grokkit.viz.rows.marks import spread
from grokkit.viz.rows.points import ONE, draw_waits
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import arm_axis, dotted, draw_strips, handles, strip_figure
from grokkit.viz.style import (
    GREY,
    INK,
    LOOKS,
    SIGNAL_LOOKS,
    VARIABLES,
    Picture,
    missing_panel,
    picture,
    record_axis,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr


# --- four-phases --------------------------------------------------------------------------

PANELS = {
    ("train_accuracy", "test_accuracy"): "",
    ("kl",): "Attention's divergence from the oracle",
    ("W_QK_gradient",): "The gradient that would teach attention",
}
"""What is shown of one run, from top to bottom, with its title."""


def four_phases_figure(row: Row, evidence: Present) -> Picture:
    """Figure 1: one run's curves with its phases; the waits of all runs against decay."""
    with style():
        figure = picture(10, 6.4)
        grid = figure.add_gridspec(3, 2, width_ratios=(1.2, 1), height_ratios=(1.25, 1, 1))
        axes = [figure.add_subplot(grid[i, 0]) for i in range(3)]
        if ONE in evidence.arms:
            _draw_phases(axes, evidence)
        else:
            for ax in axes:
                missing_panel(ax, f"not run: {ONE}")
        draw_waits(figure.add_subplot(grid[:, 1]), evidence)
        words = "left: one seed; right: one mark a seed, bar: median, n/n: how many came there"
        titles(figure, row.question, f"{evidence.about()}; {words}")
    return figure


def _draw_phases(axes: list[Axes], evidence: Present) -> None:
    one, nameless = evidence.runs(ONE)[0], []
    epochs, borders = one.epoch.values, phase_borders(one).values
    for ax, (names, title) in zip(axes, PANELS.items(), strict=True):
        record_axis(ax, epochs)
        draw_curves(ax, one, *names)
        if ax is axes[0]:
            ax.set_ylim(-0.03, 1.24)  # the names of the phases stand above the curves
            ax.set_yticks([0, 0.5, 1])
        nameless += shade_phases(ax, borders, float(epochs[-1]), words=ax is axes[0])
        ax.legend(loc="center left" if ax is axes[0] else "best")
        ax.set_title(title)
        if ax is not axes[-1]:
            ax.tick_params(labelbottom=False)
            ax.set_xlabel("")
    seed = evidence.arms[ONE][0].seed
    axes[0].set_title(f"One run in phases ({ONE}, seed {seed})" + "\n" * bool(nameless))
    names = ", ".join(f"{phase} {PHASES[phase]}" for phase in nameless)  # the title's second line
    axes[0].set_title(names, loc="right", fontsize=9, fontweight="normal")


# --- starvation-bound ---------------------------------------------------------------------

ARMS = {"baseline": "Without a prior", "KL 1": "With the KL prior, beta 1"}
BOUNDS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "starvation_bound": (
        "bound (4), root of the loss",
        {"color": INK, "linestyle": "-", "linewidth": 1.8},
    ),
    "starvation_bound_position": (
        "by position, (33, 34)",
        {"color": "#555555", "linestyle": "--", "linewidth": 1.4},
    ),
    "starvation_bound_linear": (
        "linear in the loss",
        {"color": "#757575", "linestyle": (0, (1, 1)), "linewidth": 2.0},
    ),
}
"""Each bound's name and line."""


def starvation_bound_figure(row: Row, evidence: Present) -> Picture:
    """Figure 5: the gradient of attention against the loss, and the bounds on it.

    Every record of every seed is a point; the bounds of the same records are lines.
    """
    there = [name for name in ARMS if name in evidence.arms]
    with style():
        figure = picture(10 if len(there) > 1 else 8.5, 5.2)
        axes = figure.subplots(1, len(there), sharex=True, sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, there, strict=True):
            runs = evidence.runs(name)
            ax.set(xscale="log", yscale="log", title=ARMS[name])
            ax.set_xlabel("train loss (nats, log scale); time runs to the left")
            _draw_gradients(ax, runs)
            _draw_guides(ax, runs)
        axes[0].set_ylabel("largest |∂CE/∂score|, mean over examples")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
        words = f"{evidence.about()}, every record a mark; lines: median of each bound"
        titles(figure, row.question, words)
    return figure


def _draw_gradients(ax: Axes, runs: "list[xr.Dataset]") -> None:
    look = LOOKS["gradient"]
    marks = {"linestyle": "", "marker": look.marker, "color": look.color, "markersize": 3}
    for i, one in enumerate(runs):
        seen = (one.train_loss.values > 0) & (one.score_gradient_max.values > 0)
        x, y = one.train_loss.values[seen], one.score_gradient_max.values[seen]
        ax.plot(x, y, **marks, alpha=0.7, label="measured" if i == 0 else None)
    loss = np.concatenate([one.train_loss.values for one in runs]).astype(float)
    for name, (label, line) in BOUNDS.items():  # the median, in slices of the loss
        bound = np.concatenate([one[name].values for one in runs]).astype(float)
        seen = (loss > 0) & (bound > 0)
        slices = np.round(4 * np.log10(np.where(seen, loss, 1)))
        parts = [seen & (slices == at) for at in np.unique(slices[seen])]
        x, y = ([np.median(values[part]) for part in parts] for values in (loss, bound))
        ax.plot(x, y, label=label, **line)


def _draw_guides(ax: Axes, runs: "list[xr.Dataset]") -> None:
    """What falling with the loss, and with its root, would look like from memorising on."""
    starts = [one.where(one.train_accuracy >= MEMORISED, drop=True) for one in runs]
    starts = [one for one in starts if one.sizes["epoch"]]
    if not starts:
        return
    loss = float(np.median([one.train_loss.values[0] for one in starts]))
    gradient = float(np.median([one.score_gradient_max.values[0] for one in starts]))
    least = min(float(one.train_loss.where(one.train_loss > 0).min()) for one in starts)
    for power, words in ((1.0, "∝ loss"), (0.5, "∝ √loss")):
        end = gradient * (least / loss) ** power
        ax.plot([least, loss], [end, gradient], color=INK, linewidth=0.9)
        ax.annotate(words, (least, end), (14, -10), textcoords="offset points", size=8.5)


# --- routing ----------------------------------------------------------------------------

LINES = ((0, (2, 1)), "-", (0, (6, 1.5, 1, 1.5)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D")


def routing_figure(row: Row, evidence: Present) -> Picture:
    """Figure 8: accuracy by test length, and the grok epochs of all arms below."""
    names = list(evidence.arms)
    longer = [name for name in names if _lengths(evidence, name)]
    if not longer:
        return strip_figure(row, evidence)
    height = 0.6 + 0.42 * len(names)
    with style():
        figure = picture(9, 4.3 + height)
        above, below = figure.subplots(2, 1, height_ratios=(3.0, height))
        _draw_by_length(above, evidence, longer)
        draw_strips(below, evidence, names)
        below.set_title("When each arm groks at the length that it was trained on")
        figure.legend(handles=handles(0.99), loc="outside lower left", ncols=4)
        words = f"one line a seed{dotted(evidence, names)}; above: median, bars: least to greatest"
        titles(figure, row.question, f"{evidence.about()}; {words}")
    return figure


def _draw_by_length(ax: Axes, evidence: Present, names: list[str]) -> None:
    """The test accuracy at the end of each run, by the length of the test sequences."""
    lengths: list[int] = []
    for i, (name, shift) in enumerate(zip(names, spread(len(names), 0.16), strict=True)):
        own = evidence.arms[name][0].settings()["length"]
        by_length = {own: evidence.final(name, "test_accuracy")}
        for length in _lengths(evidence, name):
            last = [one.extra_accuracy.sel(extra=f"length {length}") for one in evidence.runs(name)]
            by_length[length] = np.array([float(one.values[-1]) for one in last])
        lengths = sorted({*lengths, *by_length})
        low, middle, high = (np.array([f(v) for v in by_length.values()])
                             for f in (np.min, np.median, np.max))  # fmt: skip
        ax.errorbar(
            np.array([lengths.index(one) for one in by_length]) + shift,
            middle,
            np.stack([middle - low, high - middle]),
            color=LOOKS["structure"].color if "KL" in name else LOOKS["test"].color,
            linestyle=LINES[i % len(LINES)],
            marker=MARKERS[i % len(MARKERS)],
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


# --- holes --------------------------------------------------------------------------------

_MIRRORED = VARIABLES["mirrored_accuracy"].line["color"]

PARTS = {
    "outside": ("#F2F2F2", "unseen, outside the hole"),
    "train": (LOOKS["train"].color, "trained on"),
    "mirrored": (_MIRRORED, "in the hole, mirror image trained on"),
    "unmirrored": (LOOKS["test"].color, "in the hole, mirror image unseen"),
}
"""The kinds of pairs: their colours and names."""

MEASURED = {
    "outside": ("outside\nthe hole", "outside the hole", "extra_accuracy", GREY),
    "hole": ("in the\nhole", "hole", "extra_accuracy", INK),
    "mirrored": ("mirror\nin train", "hole", "extra_mirrored_accuracy", _MIRRORED),
    "unmirrored": ("mirror\nunseen", "hole", "extra_unmirrored_accuracy", LOOKS["test"].color),
}
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
            _draw_table(table, first)
            table.set_title(name)
            _draw_accuracies(dots, evidence, name)
            dots.sharey(axes[1, 0])
        axes[0, 0].set_ylabel("j")
        axes[1, 0].set_ylabel("share of right answers,\nlast record")
        marks: list[Artist] = [
            Patch(facecolor=color, edgecolor=GREY, linewidth=0.5, label=words)
            for color, words in PARTS.values()
        ]
        marks.append(Line2D([], [], color=INK, linewidth=2.4, label="median over seeds"))
        figure.legend(handles=marks, loc="outside lower left", ncols=3)
        titles(figure, row.question, f"{evidence.about()}; tables: first seed; dots: each seed")
    return figure


def table_of_parts(spec: RunSpec) -> np.ndarray:
    """Which kind of pair every pair is, by its place in :data:`PARTS`; ``[i, j]``."""
    p = spec.settings()["p"]
    data = spec.task.build(spec.seed)
    table = np.zeros((p, p), dtype=int)
    table[tuple(decode(data.train.group, p, 2).numpy().T)] = 1
    hole = decode(data.extra["hole"].group, p, 2).numpy()
    mirrored = data.extra_mirrored.get("hole")
    table[tuple(hole.T)] = 3
    if mirrored is not None:
        table[tuple(hole[mirrored.numpy()].T)] = 2
    return table


def _draw_table(ax: Axes, spec: RunSpec) -> None:
    table = table_of_parts(spec)
    colors = ListedColormap([color for color, _ in PARTS.values()])
    look: dict[str, Any] = {"origin": "lower", "interpolation": "nearest"}
    ax.imshow(table.T, cmap=colors, vmin=-0.5, vmax=3.5, **look)
    counts = np.bincount(table.ravel(), minlength=len(PARTS))
    kinds = zip(counts, PARTS.values(), strict=True)
    each = "; ".join(f"{count:,} {words}" for count, (_, words) in kinds)
    tell(ax, f"Of the {table.size:,} pairs {each}")
    settings = spec.settings()
    ticks = sorted({0, settings["hole_edge"], settings["p"] - 1})
    ax.set(xlabel="i", xticks=ticks, yticks=ticks)
    ax.grid(False)
    ax.tick_params(labelsize=8)


def _draw_accuracies(ax: Axes, evidence: Present, name: str) -> None:
    runs, told = evidence.runs(name), []
    for place, (label, extra, variable, color) in enumerate(MEASURED.values()):
        there = [one[variable].sel(extra=extra).values[-1] for one in runs if variable in one]
        values = np.array(there, dtype=float)
        values = values[~np.isnan(values)]  # a square has no pair whose mirror is trained on
        if not len(values):
            ax.text(place, 0.03, "none", ha="center", size=8, color="#555555")
            continue
        across = place + spread(len(values), 0.2)
        ax.plot(across, values, marker="o", markersize=4, linestyle="", color=color)
        middle = np.median(values)
        ax.plot([place - 0.32, place + 0.32], [middle, middle], color=INK, linewidth=2.4, zorder=3)
        told.append(f"{label} {number(float(middle))}")
    tell(ax, f"Medians: {'; '.join(told)}")
    labels = [label for label, *_ in MEASURED.values()]
    ax.set_xticks(range(len(labels)), labels, fontsize=7.5)
    ax.set(xlim=(-0.5, len(labels) - 0.5), ylim=(-0.03, 1.06))
    ax.set_title("what is right", fontsize=9, fontweight="normal")


# --- three accounts -----------------------------------------------------------------------

CONTROLS: Mapping[str, Any] = MappingProxyType({NO_DECAY: "full", TRAPPED: "none"})
"""The controls, and how their markers are filled."""

_HALF: Mapping[str, Any] = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}


def three_accounts_figure(row: Row, evidence: Present) -> Picture:
    """When each signal is half-way, the first on top; and how far controls go."""
    names = list(SIGNALS)
    shares: dict[str, np.ndarray] = {}
    if evidence.has(BASE):
        last = arrivals(evidence, "unseen pairs").values
        shares = {name: arrivals(evidence, name).values / last for name in names}
        # What never arrives is last; of what arrives together the first listed comes first.
        names.sort(key=lambda name: float(np.median(np.nan_to_num(shares[name], nan=np.inf))))
    with style():
        figure = picture(9.5, 4.9)
        when, controls = figure.subplots(1, 2, sharey=True, width_ratios=(1.35, 1))
        _draw_half_ways(when, names, shares)
        there = [arm for arm in CONTROLS if evidence.has(arm)]
        _draw_controls(controls, evidence, names, there if evidence.has(BASE) else [])
        for ax in (when, controls):
            arm_axis(ax, names)
        marks = [
            Line2D([], [], linestyle="", marker="o", color=INK, fillstyle=CONTROLS[arm], label=arm)
            for arm in there
        ]
        marks += [Line2D([], [], **_HALF, label="half-way")] if marks else []
        # Below the panels: in them every row has marks on both sides.
        figure.legend(handles=marks, loc="outside lower right", ncols=3)
        titles(figure, row.question, f"{evidence.about()}; one mark a seed")
    return figure


def _draw_half_ways(ax: Axes, names: list[str], shares: Mapping[str, np.ndarray]) -> None:
    """The epoch at which each signal is half-way over that of the unseen pairs."""
    ax.set_title("Half-way, as a share of the epoch\nat which the unseen pairs are")
    if not shares:
        return missing_panel(ax, f"no run of {BASE}")
    if not np.isfinite(shares["unseen pairs"]).any():
        return missing_panel(ax, f"no run of {BASE} has grokked")
    told = []
    for place, name in enumerate(names):
        values = shares[name]
        heights = place + spread(len(values), 0.26)
        ax.plot(values, heights, **{**SIGNAL_LOOKS[name], "linestyle": "", "markersize": 6})
        middle = np.nanmedian(values) if np.isfinite(values).any() else np.nan
        ax.plot([middle] * 2, [place - 0.38, place + 0.38], color=INK, linewidth=2, zorder=3)
        told.append(f"{name} {middle:.2g}" if np.isfinite(middle) else f"{name} never")
    tell(ax, f"Medians: {'; '.join(told)}")
    ax.axvline(1, color=LOOKS["test"].color, linewidth=1, zorder=1)
    ax.set_xscale("log")
    low = min(float(np.nanmin(one)) for one in shares.values() if np.isfinite(one).any())
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5) if tick >= 0.75 * low]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("share of that epoch (log scale); bar: median")


def _draw_controls(ax: Axes, evidence: Present, names: list[str], arms: list[str]) -> None:
    """How far each signal goes where nothing is understood, in changes of the baseline."""
    ax.set_title("How far it changes in networks\nthat never grok")
    if not arms:
        return missing_panel(ax, "no run of a control and its baseline")
    told, base = [], [spec.seed for spec in evidence.arms[BASE]]
    for i, arm in enumerate(arms):
        paired = [spec.seed for spec in evidence.arms[arm]] == base
        medians = []
        for place, name in enumerate(names):
            far = gone(evidence, name, arm) if paired else np.full(len(evidence.arms[arm]), np.nan)
            heights = place + 0.18 * (2 * i - 1) * (len(arms) > 1) + spread(len(far), 0.104)
            look = {"linestyle": "", "markersize": 5, "fillstyle": CONTROLS[arm]}
            ax.plot(np.clip(far, -1, 2), heights, **{**SIGNAL_LOOKS[name], **look})
            if np.isfinite(far).any():
                medians.append(f"{name} {number(float(np.nanmedian(far)))}")
        told.append(f"{arm}: {', '.join(medians)}")
    tell(ax, f"Medians in changes of the baseline. {'; '.join(told)}")
    ax.axvline(0.5, **_HALF)
    ax.axvline(0, color=INK, linewidth=0.5)
    ax.set_xlim(-1.08, 2.08)
    ax.set_xticks([-1, 0, 0.5, 1, 2], ["≤ -1", "0", "½", "1", "≥ 2"])
    ax.set_xlabel("in changes of the baseline, to the end of the run")


# --- theory -------------------------------------------------------------------------------

LENGTH, K = 5, 2
"""The default task: two informative positions of five."""
TIMES = np.geomspace(1e-2, 1e4, 200)


def theory_figure(row: Row) -> Picture:
    """Theorem 5.2: the ideal flow of attention to a sparse oracle, and the laws for it.

    With the rate 1; times the rate is all that counts.
    """
    oracle = theory.oracle_attention(np.arange(LENGTH) < K)
    start = float(theory.kl_divergence(oracle, np.full(LENGTH, 1 / LENGTH)))
    uniform = theory.kl_flow(np.zeros(LENGTH), oracle, 1.0, TIMES).divergence
    claimed = theory.divergence_claimed(TIMES, start, oracle, 1.0)
    guaranteed = theory.sparse_divergence(TIMES, start, theory.kappa_guaranteed(LENGTH, K), 1.0)
    late = theory.late_divergence(TIMES, LENGTH, K, 1.0)
    color, dashes = LOOKS["structure"].color, (0, (6, 1.5, 1, 1.5))
    with style():
        figure = picture(9, 5.4)
        ax = figure.subplots()
        for seed in SEEDS:
            scores = np.random.default_rng(seed).normal(size=LENGTH)
            flow = theory.kl_flow(scores, oracle, 1.0, TIMES).divergence
            label = "the same from random scores" if seed == SEEDS[0] else None
            ax.plot(TIMES, flow, color=color, linewidth=0.7, alpha=0.7, label=label)
        whole = "the flow, from uniform attention"
        ax.plot(TIMES, uniform, color=color, linewidth=2.4, label=whole)
        below = "guaranteed to lie above it"
        ax.plot(TIMES, guaranteed, color=INK, linestyle=dashes, label=below)
        ax.plot(TIMES, late, color=INK, linestyle=":", label="k(T - k)/(T t): what it becomes")
        ax.plot(TIMES, claimed, color=LOOKS["test"].color, linestyle="--", linewidth=2,
                label="claimed to lie above it: D₀ exp(-2μt), (52)")  # fmt: skip
        ax.set(xscale="log", yscale="log", ylim=(uniform.min() / 3, 3 * start))
        ax.set_xlabel("rate × time (log scale)")
        ax.set_ylabel("D = KL(oracle ‖ attention) (nats, log scale)")
        ax.legend(loc="lower left")
        words = (
            f"no training; T = {LENGTH}, k = {K}, one start uniform, {len(SEEDS)} random; "
            f"at the end t D = {uniform[-1] * TIMES[-1]:.4g}, "
            f"the 1/t law has {late[-1] * TIMES[-1]:.4g}"
        )
        titles(figure, "Does a prior draw attention to a sparse oracle exponentially?", words)
    return figure
