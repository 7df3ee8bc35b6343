"""Widget 6: find the borders of the phases by eye, then see the rule's."""

from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np

from grokkit import runs
from grokkit.viz.interactive import phases_by_hand
from grokkit.viz.one_run import one_run
from grokkit.viz.style import Picture
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import chosen, epoch_slider, label, other_epochs, row, run_menu

if TYPE_CHECKING:
    import xarray as xr

LABELS = ("2 plateau begins", "3 resurgence begins", "4 grokking begins")


class PhaseFinder(PictureWidget):
    """Three borders to be moved over an unlabelled run, and a button that shows the rule's.

    A border that is moved past another takes it along. The picture is
    :func:`grokkit.viz.phases_by_hand`.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.

    Attributes:
        history: the runs.
        run: the menu; choosing another run hides the rule's borders again.
        borders: the three sliders.
        reveal: the button.

    Raises:
        SettingError: there is no such run.
    """

    def __init__(self, history: "xr.Dataset | None" = None, run: int = 0) -> None:
        self.history = runs.load("classroom") if history is None else history
        epochs = one_run(self.history, run).epoch.values
        # A quarter, a half and three quarters of the way along the picture's log axis.
        places = np.quantile(np.log1p(epochs), [0.25, 0.5, 0.75])
        looks = {"style": label("140px"), "layout": {"width": "640px"}}
        self.run = run_menu(self.history, run)
        self.borders = [
            epoch_slider(self.history, run, words, float(np.expm1(place)), **looks)
            for words, place in zip(LABELS, places, strict=True)
        ]
        self.reveal = ipywidgets.ToggleButton(
            description="Show the rule's", tooltip="Compare with grokkit.diagnostics.phase_borders"
        )
        for slider in self.borders:
            slider.observe(self._push, "value")
        self.run.observe(self._another_run, "value")
        super().__init__([row(self.run, self.reveal), *self.borders], [self.reveal])

    def picture(self) -> Picture:
        """The run with the borders of the sliders."""
        borders = [slider.value for slider in self.borders]
        return phases_by_hand(self.history, chosen(self.run), borders, reveal=self.reveal.value)

    def _push(self, change: Any) -> None:
        """Take along the borders that would now stand on the wrong side of this one."""
        if self._held:
            return
        moved = self.borders.index(change["owner"])
        with self.at_once():
            for number, slider in enumerate(self.borders):
                if (slider.value - change["new"]) * (number - moved) < 0:
                    slider.value = change["new"]

    def _another_run(self, change: Any) -> None:
        with self.at_once():
            self.reveal.value = False
            for slider in self.borders:
                other_epochs(slider, self.history, change["new"])
