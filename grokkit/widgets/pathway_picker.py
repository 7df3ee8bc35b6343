"""Choose where a LayerNorm stands, and see what its recorded runs did."""

from typing import TYPE_CHECKING

import ipywidgets

from grokkit.errors import refuse
from grokkit.experiments import recorded
from grokkit.model.norm import NormPlacement
from grokkit.viz.pathways import NAMES, find_placements, placement_picture
from grokkit.viz.style import Picture
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.controls import label, row

if TYPE_CHECKING:
    import xarray as xr


class PathwayPicker(PictureWidget):
    """The runs of one placement of the LayerNorm, before those of a network without.

    The picture is :func:`grokkit.viz.placement_picture`.

    Args:
        history: runs that differ in ``norm`` and their seed alone. None for the recorded
            experiment ``ln-placement``.
        placement: the one that is shown first; None: the last but one that there is.

    Attributes:
        history: the runs.
        placement: the slider, over the placements that there are.

    Raises:
        SettingError: the History holds no such runs, or there is no recording.
    """

    def __init__(
        self, history: "xr.Dataset | None" = None, placement: NormPlacement | None = None
    ) -> None:
        history = recorded("ln-placement") if history is None else history
        if history is None:
            refuse("history", None, "a History: ln-placement is not recorded here")
        self.history = history
        there = list(find_placements(history))
        first = there[max(0, len(there) - 2)] if placement is None else placement
        if first not in there:
            refuse("placement", first, ", ".join(there))
        self.placement = ipywidgets.SelectionSlider(
            options=[(NAMES[name], name) for name in there],
            value=first,
            description="LayerNorm",
            style=label(),
            readout=False,  # the headline of the picture says it, and has the room
            layout={"width": "460px", "max_width": "100%"},
        )
        super().__init__([row(self.placement)], [self.placement])

    def picture(self) -> Picture:
        """The runs of the placement that the slider is at."""
        return placement_picture(self.history, self.placement.value)
