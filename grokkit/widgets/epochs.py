"""What the widgets that scrub through a recorded run share."""

from typing import TYPE_CHECKING, Any

from grokkit import runs
from grokkit.diagnostics.phases import phase_borders
from grokkit.viz.one_run import one_run
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import epoch_slider, other_epochs, player, row, run_menu

if TYPE_CHECKING:
    import xarray as xr


class EpochWidget(PictureWidget):
    """A menu of runs, a slider over the records of the one chosen, and buttons to play it.

    It begins where the run has memorised, as there is most to see from there on.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.

    Attributes:
        history: the runs.
        run: the menu.
        epoch: the slider.
        play: the buttons.

    Raises:
        SettingError: there is no such run.
    """

    def __init__(self, history: "xr.Dataset | None" = None, run: int = 0) -> None:
        self.history = runs.load("classroom") if history is None else history
        memorised = phase_borders(one_run(self.history, run)).values[0]
        self.run = run_menu(self.history, run)
        self.epoch = epoch_slider(
            self.history, run, at=0.0 if memorised != memorised else float(memorised)
        )
        self.play = player(self.epoch)
        self.run.observe(self._another_run, "value")
        super().__init__([row(self.run, self.epoch, self.play)], [self.epoch])

    def _another_run(self, change: Any) -> None:
        with self.at_once():
            other_epochs(self.epoch, self.history, change["new"])
            self.play.max = len(self.epoch.options) - 1
