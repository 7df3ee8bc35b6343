"""Widget 7: watch the numbers arrange themselves, or fail to."""

from collections.abc import Mapping
from typing import Any

import ipywidgets

from grokkit.errors import refuse
from grokkit.runs.embedding_paths import RECIPES, EmbeddingPath, load
from grokkit.viz.embedding_circle import embedding_circle
from grokkit.viz.style import Picture
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import label, player, row

PLANES = {"of the last epoch": "end", "of the epoch shown": "now"}
ORDERS = {"0, 1, 2, …": "natural", "1, g, g², …": "logarithm"}


class EmbeddingCircle(PictureWidget):
    """The embeddings of the numbers in a plane of their own, over the epochs of a run.

    The picture is :func:`grokkit.viz.embedding_circle`. It begins at the end, where the
    numbers are in their places.

    Args:
        paths: embeddings by the name that the menu shall give them; None for those that come
            with the package, of x + y and of xy.

    Attributes:
        paths: the embeddings.
        run: the menu of them.
        epoch: the slider.
        play: the buttons.
        plane: the menu of planes.
        order: the menu of walks.

    Raises:
        SettingError: there are no embeddings.
    """

    def __init__(self, paths: Mapping[str, EmbeddingPath] | None = None) -> None:
        self.paths = {name: load(name) for name in RECIPES} if paths is None else dict(paths)
        if not self.paths:
            refuse("paths", paths, "the embeddings of one run or more")
        self.run = _menu("run", {name: name for name in self.paths})
        self.run.layout.display = "none" if len(self.paths) == 1 else None
        self.plane = _menu("plane", PLANES)
        self.order = _menu("order", ORDERS)
        options = self._epochs()
        self.epoch = ipywidgets.SelectionSlider(
            options=options,
            index=len(options) - 1,
            description="epoch",
            style=label("55px"),
            layout={"width": "440px"},
        )
        self.play = player(self.epoch)
        self.run.observe(self._another_run, "value")
        above = row(self.run, self.order, self.plane)
        super().__init__([above, row(self.epoch, self.play)], [self.epoch, self.plane, self.order])

    def picture(self) -> Picture:
        """The embeddings at the epoch of the slider."""
        path: Any = self.paths[str(self.run.value)]
        plane, order = PLANES[str(self.plane.value)], ORDERS[str(self.order.value)]
        return embedding_circle(path, self.epoch.value, plane, order)  # type: ignore[arg-type]

    def _epochs(self) -> list[tuple[str, int]]:
        kept = self.paths[str(self.run.value)].epochs.tolist()
        return [(f"{epoch:,}", epoch) for epoch in kept]

    def _another_run(self, change: Any) -> None:
        with self.at_once():
            was = self.epoch.value
            self.epoch.options = self._epochs()
            self.epoch.value = min((abs(e - was), e) for _, e in self.epoch.options)[1]
            self.play.max = len(self.epoch.options) - 1


def _menu(description: str, options: Mapping[str, str]) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(
        options=list(options),
        description=description,
        style=label(),
        layout={"width": "auto", "min_width": "170px"},
    )
