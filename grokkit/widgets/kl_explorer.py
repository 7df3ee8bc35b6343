"""Widget 5: choose beta, and see its runs and its place on the 1/beta line."""

from typing import TYPE_CHECKING

from grokkit.errors import refuse
from grokkit.experiments import recorded
from grokkit.viz.beta_sweep import beta_picture, find_sweep
from grokkit.viz.style import Picture
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import row, steps

if TYPE_CHECKING:
    import xarray as xr


class KLExplorer(PictureWidget):
    """The recorded runs of one strength, and the law over all strengths.

    The picture is :func:`grokkit.viz.beta_picture`.

    Args:
        history: a sweep of the KL prior's strength; runs whose other settings are not
            those of most are left out, and the picture says how many. None for the
            recorded experiment ``kl-acceleration``.

    Attributes:
        sweep: the runs that are shown.
        beta: the slider, over the strengths that there are.

    Raises:
        SettingError: the History holds no sweep, or there is no recording.
    """

    def __init__(self, history: "xr.Dataset | None" = None) -> None:
        history = recorded("kl-acceleration") if history is None else history
        if history is None:
            refuse("history", None, "a History: kl-acceleration is not recorded here")
        self.sweep = find_sweep(history)
        betas = self.sweep.betas
        middle = betas[len(betas) // 2]
        self.beta = steps("β, strength of the KL prior", betas, middle, layout={"width": "480px"})
        super().__init__([row(self.beta)], [self.beta])

    def picture(self) -> Picture:
        """The runs of the slider's strength, and the line."""
        return beta_picture(self.sweep, self.beta.value)
