"""Widget 7: watch the numbers arrange themselves, or fail to.

An embedding lives in many dimensions; a picture has two. A frequency k of the walk through the
numbers has a plane of its own, spanned by

    sum_i cos(2 pi k i / n) phi(i)   and   sum_i sin(2 pi k i / n) phi(i),

and a network that has put the numbers on a circle that is gone round k times shows it there. Which
plane is looked at is a choice that can deceive: a plane picked by the embedding that is
then drawn in it shows something of a circle even where there is chance alone. The plane of the
end, held still, does not.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.diagnostics.uniformity import logarithm_order, token_uniformity
from grokkit.errors import refuse
from grokkit.runs.embedding_paths import RECIPES, EmbeddingPath, load
from grokkit.viz.scene import (
    Scene,
    at,
    axis,
    by,
    curve,
    epochs_axis,
    get,
    mark,
    menu,
    numbers,
    panel,
    slider,
)
from grokkit.viz.style import INK, LOOKS
from grokkit.widgets.base import SceneWidget

ORDERS = ("0, 1, 2, …", "1, g, g², …")
"""The walks through the numbers; the second is that of products."""

PLANES = ("of the last epoch", "of the epoch shown")
"""Whose strongest frequency spans the plane."""

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
    """The frequency with the most power along a walk that comes home in the end."""
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


class EmbeddingCircle(SceneWidget):
    """The embeddings of the numbers in a plane of their own, over the epochs of a run.

    It begins at the end, where the numbers are in their places.

    Args:
        paths: embeddings by the name that the menu shall give them; None for those that come
            with the package, of x + y and of xy.

    Attributes:
        paths: the embeddings.

    Raises:
        SettingError: there are no embeddings, or a p is no prime above 2 and has no logarithms.
    """

    def __init__(self, paths: Mapping[str, EmbeddingPath] | None = None) -> None:
        self.paths = {name: load(name) for name in RECIPES} if paths is None else dict(paths)
        if not self.paths:
            refuse("paths", paths, "the embeddings of one run or more")
        every = list(self.paths.values())
        walks = [[_Walk(path, order) for order in (0, 1)] for path in every]

        def each(name: str, control: str | None = None) -> dict[str, Any]:
            """Something of the walk that is chosen; with a control, one for each of its indices."""

            def one(walk: _Walk) -> Any:
                return by(control, getattr(walk, name)) if control else getattr(walk, name)

            return by("run", (by("order", map(one, two)) for two in walks))

        def planes(name: str) -> dict[str, Any]:
            return by("run", (by("order", (by("plane", (by("epoch", getattr(w, name)[p])
                      for p in (0, 1))) for w in two)) for two in walks))  # fmt: skip

        epochs = by("run", (path.epochs.tolist() for path in every))
        ends = by("run", ([0, int(path.epochs[-1])] for path in every))
        when = epochs_axis(ends, by("run", (int(path.epochs[1]) for path in every)))
        super().__init__(
            controls=[
                menu("run", "run", list(self.paths), hidden=len(every) == 1),
                menu("order", "order", list(ORDERS)),
                menu("plane", "plane", list(PLANES)),
                slider("epoch", "epoch", epochs, len(every[0].epochs) - 1, play=True),
            ],
            data={"epochs": epochs, "x": planes("x"), "y": planes("y")},
            headline="Epoch {epoch}: {right} of the unseen right; {share} of the embedding lies in "
            "this plane",
            below="MED {med}, relative {relative}, best {best} at step {step} (shuffled {null} or "
            "more); {which}",
            words={
                "right": by("run", (by("epoch", (f"{v:.0%}" for v in path.test_accuracy))
                                    for path in every)),
                "share": planes("shares"),
                "frequency": planes("frequencies"),
                "which": each("words"),
                **{name: each(f"{name}_words", "epoch")
                   for name in ("med", "relative", "best", "step", "null")},
            },
            rows=[[_circle(planes, each), _evenness(when, each), _progress(when, each, every)]],
        )  # fmt: skip


class _Walk:
    """What is shown of one path along one walk."""

    def __init__(self, path: EmbeddingPath, order: int) -> None:
        p = path.table.shape[1]
        walk = logarithm_order(p) if order else torch.arange(p)
        # All their names would cover each other.
        self.tokens = [str(token) if at % 3 == 0 else "" for at, token in enumerate(walk.tolist())]
        seen = token_uniformity(path.table, walk, SHUFFLES)
        waves = [strongest_wave(one[walk]) for one in path.table]
        chosen = [[waves[-1]] * len(waves), waves]
        table = path.table[:, walk].double()
        centred = table - table.mean(dim=1, keepdim=True)
        self.frequencies = [[wave.frequency for wave in some] for some in chosen]
        self.shares, self.x, self.y, self.reach = [], [], [], []
        for some in chosen:
            planes = torch.stack([wave.plane for wave in some])
            inside = (centred @ planes.mT).square().sum(dim=(1, 2)) / centred.square().sum((1, 2))
            shown = table @ planes.mT
            self.shares.append([f"{share:.0%}" for share in inside.tolist()])
            self.x.append(numbers(shown[..., 0].numpy(), 3))
            self.y.append(numbers(shown[..., 1].numpy(), 3))
            reach = numbers(1.12 * float(shown.abs().max()))
            self.reach.append([-reach, reach])
        self.relative, self.best = numbers(seen.relative.numpy()), numbers(seen.best.numpy())
        least = seen.best_null.amin(dim=1)
        self.null, self.growth = numbers(least.numpy()), numbers((seen.med / seen.med[0]).numpy())
        self.med_words = [f"{v:.3g}" for v in seen.med.tolist()]
        self.step_words = [str(v) for v in seen.step.tolist()]
        for name, values in (("relative", seen.relative), ("best", seen.best), ("null", least)):
            setattr(self, f"{name}_words", [f"{v:.2f}" for v in values.tolist()])
        low = min(float(seen.best.min()), float(least.min()))
        self.low, self.high = [min(0.5, numbers(low - 0.1)), 1.15], [-0.02, numbers(
            max(1.2, 1.08 * float((seen.med / seen.med[0]).max())))]  # fmt: skip
        settings = path.spec.settings()
        name = "order of the logarithm" if order else "natural order"
        function = settings.get("function", settings["task"])
        self.words = f"{function} modulo {p}, seed {path.spec.seed}, {name}"


def _circle(planes: Any, each: Any) -> Scene:
    """The numbers, joined as they would follow each other round a circle."""
    places = {"x": get("x"), "y": get("y")}
    marks = [
        mark("line", **places, round=planes("frequencies"), color=LOOKS["structure"].color,
             width=0.9, opacity=0.75),
        mark("dots", **places, size=2, color=LOOKS["structure"].color),
        mark("words", **places, text=each("tokens"), shift=[0, -9]),
    ]  # fmt: skip
    title = by("plane", (f"The plane of frequency {{frequency}}, of {whose} epoch"
                         for whose in ("the last", "this")))  # fmt: skip
    reach = axis("", each("reach", "plane"))
    said = "the numbers, joined in steps of frequency {frequency}; {share} of the embedding is here"
    return panel(title, reach, reach, marks, says=said, equal=True, bare=True, height=300)


def _evenness(when: Scene, each: Any) -> Scene:
    names = {"relative_med": "relative", "best_med": "best", "best_med_null": "null"}
    marks = [
        *(curve(name, get("epochs"), each(values)) for name, values in names.items()),
        mark("rule", y=1, width=0.8, color=INK),
        mark("cursor", x=at("epoch")),
    ]
    up = axis("MED / mean distance of all pairs", each("low"))
    return panel("How even, whatever the size", when, up, marks, height=240)


def _progress(when: Scene, each: Any, every: list[EmbeddingPath]) -> Scene:
    right = by("run", (numbers(path.test_accuracy.numpy()) for path in every))
    marks = [
        curve("test_accuracy", get("epochs"), right),
        curve("med", get("epochs"), each("growth"), label="MED, divided by its start"),
        mark("cursor", x=at("epoch")),
    ]
    up = axis("share; multiple of the start", each("high"))
    return panel("What is right, and MED", when, up, marks, height=240)
