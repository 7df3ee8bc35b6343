"""Widget 1: put mass on positions, and see two sequences be pooled together or apart."""

from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np

from grokkit.viz.routing import Routing, routing_plane
from grokkit.viz.style import Picture
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import label, row

LEAST, MOST, STEP = 0.05, 1.0, 0.05

# The weights of x, and that of the other token in x'.
EXAMPLES: dict[str, tuple[tuple[float, ...], float]] = {
    "attention is uniform": ((0.2, 0.2, 0.2, 0.2, 0.2), 0.2),
    "nearly the oracle": ((1.0, 0.05, 1.0, 0.05, 0.05), 1.0),
    "Bᵧ holds, yet h and h′ meet": ((0.3, 0.2, 0.6, 0.2, 0.2), 0.8),
    "Bᵧ is broken, yet they are apart": ((0.05, 0.05, 0.3, 0.05, 0.05), 0.7),
}


class RoutingPlayground(PictureWidget):
    """Two sequences that differ in one token, and the attention that pools them.

    The sliders are exp(score) of every position, shared by the two sequences but for
    the one token in which they differ; attention is these weights, normalised. The picture
    is :func:`grokkit.viz.routing_plane`.

    Args:
        routing: where to begin: the values, the informative positions and gamma are its
            own, the weights become sliders; None for a made example of five tokens.

    Attributes:
        weights: one slider for each position of x.
        other: the slider of the other token, in x'.
        examples: a menu of attentions worth seeing; only for the made example.
    """

    def __init__(self, routing: Routing | None = None) -> None:
        self._start = routing or Routing()
        i, last = self._start.position, len(self._start.weights) - 1
        labels = [f"position {j}" for j in range(last)] + ["position ="]
        labels[i] += ", token of x"
        self.weights = [
            _weight(label, value) for label, value in zip(labels, self._start.weights, strict=True)
        ]
        self.other = _weight(f"position {i}, token of x′", self._start.other_weight)
        self.examples = ipywidgets.Dropdown(
            options=["choose …", *EXAMPLES],
            description="examples",
            style=label("150px"),
            layout={"width": "420px"},
        )
        self.examples.layout.display = None if routing is None else "none"
        self.examples.observe(self._chosen, "value")
        sliders = [*self.weights[: i + 1], self.other, *self.weights[i + 1 :]]
        super().__init__([self.examples, row(*sliders)], [*self.weights, self.other])

    @property
    def state(self) -> Routing:
        """The two sequences as the sliders have them."""
        weights = np.array([slider.value for slider in self.weights])
        return replace(self._start, weights=weights, other_weight=self.other.value)

    def picture(self) -> Picture:
        """The plane, the attention and the distance."""
        return routing_plane(self.state)

    def _chosen(self, change: Any) -> None:
        if change["new"] not in EXAMPLES:
            return
        with self.at_once():
            weights, self.other.value = EXAMPLES[change["new"]]
            for slider, weight in zip(self.weights, weights, strict=True):
                slider.value = weight


def _weight(words: str, value: float) -> ipywidgets.FloatSlider:
    return ipywidgets.FloatSlider(
        value=value,
        min=min(LEAST, value),
        max=max(MOST, value),
        step=STEP,
        description=words,
        readout_format=".2f",
        style=label("150px"),
        layout={"width": "420px"},
    )
