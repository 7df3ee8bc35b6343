"""Widget 2: a recorded run walks through the plane of B_gamma and N."""

from typing import TYPE_CHECKING

from grokkit.viz.interactive import condition_plane
from grokkit.viz.style import Picture
from grokkit.widgets.controls import chosen
from grokkit.widgets.epochs import EpochWidget

if TYPE_CHECKING:
    import xarray as xr


class ConditionPlane(EpochWidget):
    """The plane of norm and least mass, with a run's way through it up to some epoch.

    The picture is :func:`grokkit.viz.condition_plane`.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.
        gamma: the threshold of B_gamma; None: what each run turned out to have when it
            grokked, by :func:`grokkit.diagnostics.hindsight_conditions`.
        r_max: the largest norm that N allows; None: likewise.

    Raises:
        SettingError: there is no such run; gamma or r_max is not above 0.
    """

    def __init__(
        self,
        history: "xr.Dataset | None" = None,
        run: int = 0,
        *,
        gamma: float | None = None,
        r_max: float | int | None = None,
    ) -> None:
        self.gamma, self.r_max = gamma, r_max
        super().__init__(history, run)

    def picture(self) -> Picture:
        """The plane at the epoch of the slider."""
        return condition_plane(
            self.history, chosen(self.run), self.epoch.value, gamma=self.gamma, r_max=self.r_max
        )
