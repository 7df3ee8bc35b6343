"""Choose where a LayerNorm stands, and see what its recorded runs did (arXiv 2602.06702)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.errors import refuse
from grokkit.model.norm import PLACEMENTS, NormPlacement, Placement
from grokkit.runtime.history import specs_of
from grokkit.viz.curves import differing_settings
from grokkit.viz.scene import Scene, axis, by, looks, mark, numbers, slider
from grokkit.viz.style import GREY, INK, LOOKS
from grokkit.widgets.base import SceneWidget
from grokkit.widgets.kl_explorer import Bundle

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


def find_placements(history: "xr.Dataset") -> "dict[NormPlacement, np.ndarray]":
    """The positions of the runs of each placement, in the order of :data:`NAMES`.

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
    return {name: np.flatnonzero(norms == name) for name in NAMES if name in norms}


def what_reads(place: Placement) -> str:
    """What each part of a block with this placement reads, in one line."""

    def reads(there: bool) -> str:
        return "the LayerNorm of the stream" if there else "the stream"

    if place.scores == place.values:
        parts = [f"q, k and v read {reads(place.scores)}"]
    else:
        parts = [f"q and k read {reads(place.scores)}", f"v reads {reads(place.values)}"]
    parts.append(f"the MLP reads {reads(place.mlp)}")
    if place.added:
        parts.append("and what each adds goes through a LayerNorm, too")
    if place.stream:
        parts.append("which goes through a LayerNorm after each addition")
    return ", ".join(parts)


def entropies_when_memorised(runs: "xr.Dataset") -> Float[np.ndarray, " run"]:
    """The entropy of the averaged map when each run has memorised; ``nan`` if it has not."""
    at = memorise_epoch(runs)
    return runs.map_entropy.where(runs.epoch == at).max("epoch").values.astype(float)


class PathwayPicker(SceneWidget):
    """The runs of one placement of the LayerNorm, before those of a network without.

    Args:
        history: runs that differ in ``norm`` and their seed alone.

    Attributes:
        history: the runs.

    Raises:
        SettingError: the History holds no such runs.
    """

    def __init__(self, history: "xr.Dataset") -> None:
        self.history = history
        every = find_placements(history)
        super().__init__(**_scene(history, every))


def _scene(history: "xr.Dataset", every: "dict[NormPlacement, np.ndarray]") -> Scene:
    names, groups = list(every), list(every.values())
    bundle = Bundle(history, groups, most=60)
    runs = {name: history.isel(run=group) for name, group in every.items()}
    whens = {name: _when(some) for name, some in runs.items()}
    bare = "none" if "none" in every else None

    def headline(name: NormPlacement) -> str:
        words = f"LayerNorm {NAMES[name]}" if name != "none" else "No LayerNorm"
        line = f"{words}: {whens[name]}"
        other = bare and name != bare
        return f"{line}; without {whens[bare].removeprefix('groks ')}" if other and bare else line

    def lines(values: "xr.DataArray", look: dict[str, Any], label: str) -> list[Any]:
        return bundle.lines(values, "placement", {**look, "label": label})

    def behind(values: "xr.DataArray") -> list[Any]:
        """The runs without a norm, behind those of another placement."""
        if bare is None:
            return []
        alone = Bundle(history, [every[bare]], most=60).lines(
            values, "placement", {"color": GREY, "width": 1.4, "label": "test, without LayerNorm"}
        )
        return [by("placement", (None if name == bare else one for name in names)) for one in alone]

    train, test = looks("train"), looks("test")
    ranks = {name: history.effective_rank.sel(feature_set=name) for name in ("train", "test")}
    most = float(np.log(history.sizes["pos"]))
    at = {name: (memorise_epoch(r).values, entropies_when_memorised(r)) for name, r in runs.items()}
    structure = LOOKS["structure"].color
    entropy = [
        mark("rule", y=numbers(most), width=1, dash=[6, 4], color=INK, label="all alike"),
        *behind(history.map_entropy),
        *lines(history.map_entropy, {"color": structure, "width": 2}, "median"),
        mark("dots", x=by("placement", (numbers(at[n][0]) for n in names)), edge=INK, size=5,
             y=by("placement", (numbers(at[n][1]) for n in names)), color=structure,
             label="memorised (each run)"),
    ]  # fmt: skip
    accuracy = [
        *behind(history.test_accuracy),
        *lines(history.train_accuracy, train, "train"),
        *lines(history.test_accuracy, test, "test (unseen)"),
    ]
    rank = [
        *behind(ranks["test"]),
        *lines(ranks["train"], train, "train"),
        *lines(ranks["test"], test, "test (unseen)"),
    ]
    top = numbers(1.08 * float(history.effective_rank.max()))
    return {
        "controls": [
            slider("placement", "LayerNorm", list(range(len(names))), max(0, len(names) - 2),
                   labels=[NAMES[name] for name in names])
        ],
        "data": {"epochs": bundle.epochs},
        "headline": by("placement", map(headline, names)),
        "below": by("placement", (_below(name, runs[name]) for name in names)),
        "rows": [
            [
                {"title": "The block", "x": axis("", -0.3, 12.3), "y": axis("", -0.9, 4.4),
                 "bare": True, "height": 190,
                 "says": by("placement", (what_reads(PLACEMENTS[name]) for name in names)),
                 "marks": by("placement", (block(PLACEMENTS[name]) for name in names))},
                {"title": "How evenly it looks", "x": bundle.axis, "height": 190,
                 "y": axis("entropy (nats)", 0, numbers(1.12 * most)), "marks": entropy},
            ],
            [
                {"title": "What it answers", "x": bundle.axis, "marks": accuracy,
                 "y": axis("share of right answers", -0.02, 1.04)},
                {"title": "How many directions its features use", "x": bundle.axis,
                 "y": axis("effective rank", 0, top), "marks": rank},
            ],
        ],
    }  # fmt: skip


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


def block(place: Placement) -> list[dict[str, Any]]:
    """A residual block from left to right; each norm that it has as a black mark."""
    paths = (
        ([0.0, 12.2], [0, 0]),  # the stream
        ([0.7, 0.7, 2.9, 4.6, 5.4, 5.4], [0, 3.4, 3.4, 3.4, 2.6, 0.2]),  # queries and keys
        ([0.7, 2.9, 4.6, 5.4], [1.8, 1.8, 1.8, 2.6]),  # values
        ([7.1, 7.1, 9.3, 10.8, 10.8], [0, 2.6, 2.6, 2.6, 0.2]),  # MLP
    )
    words = [(3.0, 3.4, "q, k"), (3.0, 1.8, "v"), (9.4, 2.6, "MLP"), (5.4, 0, "+"), (10.8, 0, "+")]
    norms = [
        (place.scores, 1.6, 3.4),
        (place.values, 1.6, 1.8),
        (place.mlp, 7.95, 2.6),
        (place.added, 5.4, 1.2),
        (place.added, 10.8, 1.2),
        (place.stream, 6.25, 0.0),
        (place.stream, 11.6, 0.0),
    ]
    return [
        *(mark("line", x=x, y=y, color=INK, width=1.3) for x, y in paths),
        mark("words", x=5.7, y=3.2, text="attention", anchor="start"),
        *(mark("words", x=x, y=-0.6, text=word) for x, word in ((0, "x"), (6.4, "y"), (11.9, "z"))),
        *(mark("words", x=x, y=y, text=word, box="white") for x, y, word in words),
        *(mark("words", x=x, y=y, text="LN", box=INK) for there, x, y in norms if there),
    ]
