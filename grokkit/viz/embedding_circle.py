"""The numbers as a network sees them: in the plane of one frequency, at one epoch.

An embedding lives in many dimensions; a picture has two. A frequency k of the walk through the
numbers has a plane of its own, spanned by

    sum_i cos(2 pi k i / n) phi(i)   and   sum_i sin(2 pi k i / n) phi(i),

and a network that has put the numbers on a circle that is gone round k times shows it there. Which
plane is looked at is a choice that can deceive: a plane picked by the embedding that is
then drawn in it shows something of a circle even where there is chance alone. The plane of the
end, held still, does not.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from grokkit.diagnostics.uniformity import Uniformity, logarithm_order, token_uniformity
from grokkit.errors import check_choice
from grokkit.runs.embedding_paths import EmbeddingPath
from grokkit.viz.alt import number, tell
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    cursor,
    curve,
    fixed_picture,
    style,
    titles,
)

Plane = Literal["end", "now"]
"""Whose strongest frequency spans the plane: the last epoch's, or that of the epoch shown."""

Order = Literal["natural", "logarithm"]
"""The walk through the numbers: 0, 1, 2, ...; or 1, g, g^2, ..., that of products."""

SHUFFLES = 50
"""How many shuffled orders the nulls are the least of."""


@dataclass(frozen=True, eq=False)
class Wave:
    """The strongest frequency of an embedding along a walk, and its plane.

    Attributes:
        frequency: k: going the walk once is going round k times.
        share: of the power of all frequencies but 0, from 0 to 1.
        plane: an orthonormal basis, the first axis that of the cosine.
    """

    frequency: int
    share: float
    plane: Float[Tensor, "2 embed"]


def strongest_wave(walk: Float[Tensor, "place embed"]) -> Wave:
    """The frequency with the most power along a walk that comes home in the end.

    Args:
        walk: the embeddings in the order of the walk, three or more.
    """
    phi = walk.detach().double()
    n = len(phi)
    spectrum = torch.fft.rfft(phi, dim=0, norm="ortho")
    power = spectrum.abs().square().sum(dim=1)
    power[1 : (n + 1) // 2] *= 2  # k and n - k; half of an even n stands alone
    whole = float(power[1:].sum())
    k = 1 + int(power[1 : (n + 1) // 2].argmax())  # that one has a line and no plane
    basis, upper = torch.linalg.qr(torch.stack([spectrum[k].real, -spectrum[k].imag], dim=1))
    sign = torch.where(upper.diagonal() < 0, -1.0, 1.0)
    return Wave(k, float(power[k]) / whole if whole else math.nan, (basis * sign).T)


def embedding_circle(
    path: EmbeddingPath,
    epoch: float | int | None = None,
    plane: Plane = "end",
    order: Order = "natural",
) -> Picture:
    """The numbers in the plane of a frequency, and how evenly they have lain all the while.

    Args:
        path: the embeddings of a run, from :mod:`grokkit.runs.embedding_paths`.
        epoch: which, moved to the nearest that was kept; None for the last.
        plane: ``"end"``: that of the strongest frequency of the last epoch, the same at all
            epochs. ``"now"``: that of the epoch that is shown.
        order: in which order the numbers are walked, with 0 or, by logarithm, without.

    Returns:
        A picture of 9.7 x 4 inches at 100 dots each.

    Raises:
        SettingError: there is no such plane or order, or p is no prime above 2 and has no
            logarithms.
    """
    check_choice("plane", plane, ("end", "now"))
    check_choice("order", order, ("natural", "logarithm"))
    epochs = path.epochs.numpy()
    at = len(epochs) - 1 if epoch is None else int(np.abs(epochs - epoch).argmin())
    tokens, seen, waves = _along(path, order)
    wave = waves[-1 if plane == "end" else at]
    shown = path.table[at, tokens].double() @ wave.plane.T
    reach = max(
        float(
            (path.table[i, tokens].double() @ waves[-1 if plane == "end" else i].plane.T)
            .abs()
            .max()
        )
        for i in range(len(epochs))
    )
    with style():
        figure = fixed_picture(9.7, 4)
        circle, even, right = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
        figure.subplots_adjust(left=0.01, wspace=0.26)
        _circle(circle, shown.numpy(), tokens, wave, 1.12 * reach)
        own = "the last" if plane == "end" else "this"
        circle.set_title(f"The plane of frequency {wave.frequency}, of {own} epoch", size=9.5)
        _evenness(even, epochs, seen)
        _progress(right, epochs, path.test_accuracy.numpy(), seen)
        for ax in (even, right):
            ax.set_xlabel("epoch (log scale)")
            cursor(ax, int(epochs[at]), int(epochs[-1]), int(epochs[1]))
        here = f"Epoch {epochs[at]:,}: {float(path.test_accuracy[at]):.0%} of the unseen right"
        titles(
            figure,
            f"{here}; {_share(path, at, tokens, wave):.0%} of the embedding lies in this plane",
            f"MED {float(seen.med[at]):.3g}, relative {float(seen.relative[at]):.2f}, best "
            f"{float(seen.best[at]):.2f} at step {int(seen.step[at])} (shuffled "
            f"{float(seen.best_null[at].min()):.2f} or more); {_words(path, order)}",
        )
    return figure


@lru_cache(maxsize=8)
def _along(path: EmbeddingPath, order: Order) -> tuple[list[int], Uniformity, list[Wave]]:
    """The tokens of a walk, how evenly they lie at each epoch, and the strongest waves."""
    p = path.table.shape[1]
    walk = torch.arange(p) if order == "natural" else logarithm_order(p)
    seen = token_uniformity(path.table, walk, SHUFFLES)
    return walk.tolist(), seen, [strongest_wave(one[walk]) for one in path.table]


def _share(path: EmbeddingPath, at: int, tokens: list[int], wave: Wave) -> float:
    """The share of the spread of the embeddings, around their mean, that a plane holds."""
    phi = path.table[at, tokens].double()
    phi = phi - phi.mean(dim=0)
    return float((phi @ wave.plane.T).square().sum() / phi.square().sum())


def _words(path: EmbeddingPath, order: Order) -> str:
    function = path.spec.settings().get("function", path.spec.settings()["task"])
    walk = "natural order" if order == "natural" else "order of the logarithm"
    return f"{function} modulo {path.table.shape[1]}, seed {path.spec.seed}, {walk}"


def _circle(
    ax: Axes, shown: Float[np.ndarray, "place 2"], tokens: list[int], wave: Wave, reach: float
) -> None:
    """The numbers, joined as they would follow each other round a circle."""
    n = len(tokens)
    round_it = sorted(range(n), key=lambda place: (wave.frequency * place % n, place))
    x, y = shown[[*round_it, round_it[0]]].T
    ax.plot(x, y, color=LOOKS["structure"].color, linewidth=0.9, alpha=0.75)
    for token, (x, y) in zip(tokens, shown.tolist(), strict=True):
        ax.text(
            x, y, str(token), size=7, ha="center", va="center",
            bbox={"boxstyle": "circle,pad=0.1", "facecolor": "white", "linewidth": 0, "alpha": 0.8},
        )  # fmt: skip
    radii = np.linalg.norm(shown, axis=1)
    tell(ax, f"{n} numbers, joined in steps of frequency {wave.frequency}, at distances from "
         f"{number(radii.min())} to {number(radii.max())} of the origin")  # fmt: skip
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _evenness(ax: Axes, epochs: np.ndarray, seen: Uniformity) -> None:
    for name, values in (
        ("relative_med", seen.relative),
        ("best_med", seen.best),
        ("best_med_null", seen.best_null.amin(dim=1)),
    ):
        curve(ax, name, epochs, values.numpy())
    low = min(float(seen.best.min()), float(seen.best_null.min()))
    ax.set(title="How even, whatever the size", ylim=(min(0.5, low - 0.1), 1.15))
    ax.axhline(1, color=INK, linewidth=0.6)
    ax.legend(loc="lower left").set_zorder(6)


def _progress(ax: Axes, epochs: np.ndarray, accuracy: np.ndarray, seen: Uniformity) -> None:
    curve(ax, "test_accuracy", epochs, accuracy)
    looks = VARIABLES["med"].line
    med = (seen.med / seen.med[0]).numpy()
    ax.plot(epochs, med, label="MED, over its start", **looks)
    ax.set(title="What is right, and MED", ylim=(-0.02, max(1.2, 1.08 * med.max())))
    ax.set_ylabel("share; multiple of the start")
    ax.legend(loc=(0.02, 0.27)).set_zorder(6)
