"""Widget 3: scrub through the epochs of a recorded run."""

from grokkit.viz.interactive import run_at_epoch
from grokkit.viz.style import Picture
from grokkit.widgets.controls import chosen
from grokkit.widgets.epochs import EpochWidget


class RunScrubber(EpochWidget):
    """A run at any of its epochs: attention, accuracy, score gradient and its bounds.

    The picture is :func:`grokkit.viz.run_at_epoch`.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.

    Raises:
        SettingError: there is no such run.
    """

    def picture(self) -> Picture:
        """The run at the epoch of the slider."""
        return run_at_epoch(self.history, chosen(self.run), self.epoch.value)
