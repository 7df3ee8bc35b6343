"""Where a LayerNorm stands in a block, and what became of the runs that had it there.

The placements are those of :mod:`grokkit.model.norm`, the records those that are made where
``RunSpec.features`` is on (arXiv 2602.06702).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.errors import check_choice, refuse
from grokkit.model.norm import PLACEMENTS, NormPlacement, Placement
from grokkit.runtime.history import specs_of
from grokkit.viz.alt import tell
from grokkit.viz.curves import differing_settings, median_curve
from grokkit.viz.style import (
    GREY,
    INK,
    LOOKS,
    Picture,
    epoch_axis,
    epoch_label,
    fixed_picture,
    style,
    titles,
)

if TYPE_CHECKING:
    import xarray as xr

NAMES: Mapping[NormPlacement, str] = {
    "none": "none",
    "A^qk": "before q and k (A^qk)",
    "A^v": "before v (A^v)",
    "A*": "before q, k and v (A*)",
    "M": "before the MLP (M)",
    "M+A^v": "before v and the MLP (M+A^v)",
    "M+A*": "before q, k, v and the MLP (M+A*)",
    "post": "on the stream (post)",
    "peri": "before and after each part (peri)",
}
"""Every placement in words."""

ACCURACY = 0.95
"""The test accuracy at which a run counts as grokked here."""

NEEDED = ("train_accuracy", "test_accuracy", "map_entropy", "effective_rank")
BARE: Mapping[str, Any] = {"color": GREY, "linewidth": 1.4}
"""How the runs without a norm are drawn, behind the others."""


def find_placements(history: "xr.Dataset") -> "dict[NormPlacement, xr.Dataset]":
    """The runs of each placement, in the order of :data:`NAMES`.

    Args:
        history: runs that differ in nothing but ``norm`` and their seed.

    Raises:
        SettingError: they differ in more, or lack the records that a picture needs.
    """
    missing = [name for name in NEEDED if name not in history]
    if missing:
        refuse("history", f"runs without {missing[0]}", "runs of specs with features = True")
    if differing := differing_settings(history, ("norm", "seed")):
        allowed = "runs that differ in norm and seed alone"
        refuse("history", f"runs that differ in {', '.join(differing)}", allowed)
    norms = np.array([spec.settings()["norm"] for spec in specs_of(history)])
    return {name: history.isel(run=norms == name) for name in NAMES if name in norms}


def what_reads(place: Placement) -> str:
    """What each part of a block with this placement reads, in one line."""
    if place.scores == place.values:
        reads = [f"q, k and v read {_norm(place.scores)}"]
    else:
        reads = [f"q and k read {_norm(place.scores)}", f"v reads {_norm(place.values)}"]
    reads.append(f"the MLP reads {_norm(place.mlp)}")
    if place.added:
        reads.append("and what each adds is normed, too")
    if place.stream:
        reads.append("which is normed after each addition")
    return ", ".join(reads)


def _norm(there: bool) -> str:
    return "the norm of the stream" if there else "the stream"


def placement_picture(history: "xr.Dataset", placement: NormPlacement) -> Picture:
    """The block with its norms; and accuracy, attention and features of its runs.

    Args:
        history: runs of several placements, as for :func:`find_placements`.
        placement: which one of them; runs without a norm stand behind it.

    Returns:
        A picture of 9.7 x 5.5 inches at 100 dots each.

    Raises:
        SettingError: the History is not such, or has no run of that placement.
    """
    every = find_placements(history)
    check_choice("placement", placement, tuple(every))
    mine, bare = every[placement], every.get("none") if placement != "none" else None
    with style():
        figure = fixed_picture(9.7, 5.5)
        axes = figure.subplots(2, 2, height_ratios=[0.8, 1])
        figure.subplots_adjust(hspace=0.38, wspace=0.2, left=0.065, right=0.97)
        block, entropy, accuracy, rank = axes.flat
        draw_block(block, PLACEMENTS[placement])
        _accuracies(accuracy, mine, bare)
        _entropies(entropy, mine, bare, np.log(history.sizes["pos"]))
        _ranks(rank, mine, bare)
        records = history.epoch.values
        for ax in (entropy, accuracy, rank):
            epoch_axis(ax, float(records[records > 0].min()), float(records[-1]), "log")
        entropy.tick_params(labelbottom=False)
        for ax in (accuracy, rank):
            ax.set_xlabel(epoch_label("log"))
        titles(figure, _headline(placement, mine, bare), _below(placement, mine))
    return figure


def _headline(placement: NormPlacement, mine: "xr.Dataset", bare: "xr.Dataset | None") -> str:
    words = f"LayerNorm {NAMES[placement]}" if placement != "none" else "No LayerNorm"
    line = f"{words}: {_when(mine)}"
    return line if bare is None else f"{line}; without {_when(bare).removeprefix('groks ')}"


def _when(runs: "xr.Dataset") -> str:
    epochs = grok_epoch(runs, ACCURACY).values
    come = int(np.isfinite(epochs).sum())
    middle = float(np.median(np.nan_to_num(epochs, nan=np.inf)))
    when = f"groks at {middle:,.0f}" if np.isfinite(middle) else "does not grok"
    return f"{when} ({come}/{len(epochs)})"


def _below(placement: NormPlacement, mine: "xr.Dataset") -> str:
    found = entropies_when_memorised(mine)
    known = found[np.isfinite(found)]
    reads = what_reads(PLACEMENTS[placement])
    when = f"; entropy when memorised {np.median(known):.2f} nats" if len(known) else ""
    return f"{reads[0].upper()}{reads[1:]}{when}"


def entropies_when_memorised(runs: "xr.Dataset") -> Float[np.ndarray, " run"]:
    """The entropy of the averaged map when each run has memorised; ``nan`` if it has not."""
    at = memorise_epoch(runs)
    return runs.map_entropy.where(runs.epoch == at).max("epoch").values.astype(float)


def draw_block(ax: Axes, place: Placement) -> None:
    """A residual block from left to right; each norm that it has as a black mark.

    Args:
        ax: where; its axes are switched off.
        place: what the placement normalises.
    """
    ax.set(xlim=(-0.3, 12.3), ylim=(-0.9, 4.4))
    ax.axis("off")
    tell(ax, f"A block: {what_reads(place)}")
    line: dict[str, Any] = {"color": INK, "linewidth": 1.3, "solid_capstyle": "round"}
    ax.annotate("", (12.2, 0), (0, 0), arrowprops={"arrowstyle": "->", **_arrow(line)})
    for x, y in (
        ([0.7, 0.7, 2.9, 4.6, 5.4, 5.4], [0, 3.4, 3.4, 3.4, 2.6, 0.2]),  # queries and keys
        ([0.7, 2.9, 4.6, 5.4], [1.8, 1.8, 1.8, 2.6]),  # values
        ([7.1, 7.1, 9.3, 10.8, 10.8], [0, 2.6, 2.6, 2.6, 0.2]),  # MLP
    ):
        ax.plot(x, y, **line)
    for x, y, word in ((3.0, 3.4, "q, k"), (3.0, 1.8, "v"), (9.4, 2.6, "MLP")):
        _box(ax, x, y, word, "white", INK)
    ax.text(5.65, 3.1, "attention", ha="left", va="center", size=9)
    circle = {"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": INK}
    for x in (5.4, 10.8):
        ax.text(x, 0, "+", ha="center", va="center", size=11, bbox=circle)
    for x, word in ((0.0, "x"), (6.4, "y"), (11.9, "z")):
        ax.text(x, -0.55, word, ha="center", va="center", size=9.5, style="italic")
    for there, x, y in (
        (place.scores, 1.6, 3.4),
        (place.values, 1.6, 1.8),
        (place.mlp, 7.95, 2.6),
        (place.added, 5.4, 1.2),
        (place.added, 10.8, 1.2),
        (place.stream, 6.25, 0.0),
        (place.stream, 11.6, 0.0),
    ):
        if there:
            _box(ax, x, y, "LN", INK, "white")


def _arrow(line: Mapping[str, Any]) -> dict[str, Any]:
    return {"color": line["color"], "linewidth": line["linewidth"], "shrinkA": 0, "shrinkB": 0}


def _box(ax: Axes, x: float, y: float, word: str, fill: str, ink: str) -> None:
    frame = {"boxstyle": "round,pad=0.3", "facecolor": fill, "edgecolor": INK}
    ax.text(x, y, word, ha="center", va="center", size=9, color=ink, bbox=frame,
            weight="bold" if fill == INK else "normal")  # fmt: skip


def _accuracies(ax: Axes, mine: "xr.Dataset", bare: "xr.Dataset | None") -> None:
    ax.set_title("What it answers")
    if bare is not None:
        median_curve(ax, bare.test_accuracy, {**BARE, "label": "test, no norm"}, band=False)
    for name, label in (("train", "train"), ("test", "test (unseen)")):
        median_curve(ax, mine[f"{name}_accuracy"], {**LOOKS[name].line, "label": label}, band=False)
    # Above 1: the curves of some placement go through every corner below.
    ax.set(ylim=(-0.02, 1.22), yticks=np.linspace(0, 1, 6), ylabel="share of right answers")
    ax.legend(loc="upper center", ncols=3)


def _entropies(ax: Axes, mine: "xr.Dataset", bare: "xr.Dataset | None", most: float) -> None:
    ax.set_title("How evenly it looks")
    ax.axhline(most, color=INK, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    ax.text(0.01, most, "all alike", size=8.5, va="bottom", transform=ax.get_yaxis_transform())
    if bare is not None:
        median_curve(ax, bare.map_entropy, BARE, band=False)
    look = LOOKS["structure"]
    median_curve(ax, mine.map_entropy, {"color": look.color, "linewidth": 2.0}, band=False)
    when, there = memorise_epoch(mine).values, entropies_when_memorised(mine)
    ax.plot(when, there, "o", color=look.color, markeredgecolor=INK, label="memorised (each run)")
    ax.set(ylim=(0, 1.12 * most), ylabel="entropy (nats)")
    ax.legend(loc="lower right")


def _ranks(ax: Axes, mine: "xr.Dataset", bare: "xr.Dataset | None") -> None:
    ax.set_title("How many directions its features use")
    if bare is not None:
        pale = bare.effective_rank.sel(feature_set="test")
        median_curve(ax, pale, {**BARE, "label": "test, no norm"}, band=False)
    for name in ("train", "test"):
        ranks = mine.effective_rank.sel(feature_set=name)
        median_curve(ax, ranks, {**LOOKS[name].line, "label": name}, band=False)
    ax.set(ylim=(0, None), ylabel="effective rank")
    ax.set_ylim(0, 1.3 * ax.get_ylim()[1])  # room for the legend
    ax.legend(loc="upper center", ncols=3)
