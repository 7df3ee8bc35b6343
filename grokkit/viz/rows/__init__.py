"""The figure of every row of the table of experiments.

Most rows ask which arm groks when, and :mod:`grokkit.viz.rows.strips` answers. What the
others ask stands in :data:`FIGURES`. All figures are drawn from the runs that there are:
with other seeds, or with arms missing, they show less and say so.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from grokkit import experiments
from grokkit.experiments import Row, Size
from grokkit.viz.rows import panels, points, special
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import strip_figure
from grokkit.viz.style import Picture

if TYPE_CHECKING:
    import xarray as xr

AT_95 = partial(strip_figure, accuracy=points.ACCURACY)
"""Strips to a test accuracy of 0.95, which these rows' claims ask for, or their lesson."""

FIGURES: Mapping[str, Callable[[Row, Present], Picture]] = MappingProxyType(
    {
        **dict.fromkeys(("clock-or-pizza", "lazy-to-rich", "initial-norm", "data-size"), AT_95),
        **dict.fromkeys(("tickets", "tickets-again"), AT_95),
        "readout-scale": partial(AT_95, published=points.SCALE_EPOCHS, first="rate"),
        "kl-acceleration": points.kl_acceleration_figure,
        "ln-placement": points.ln_placement_figure,
        "compressibility": points.compressibility_figure,
        "norm-vs-structure": panels.norm_vs_structure_figure,
        "distractors": panels.distractors_figure,
        "resnet-grokking": panels.resnet_grokking_figure,
        "med-tracking": panels.med_tracking_figure,
        "polynomial-ceiling": panels.accuracies_figure,
        "polynomial-ceiling-again": panels.accuracies_figure,
        "polynomial-ceiling-factors": panels.accuracies_figure,
        "ungrokking": panels.accuracies_figure,
        "depth": panels.accuracies_figure,
        "four-phases": special.four_phases_figure,
        "starvation-bound": special.starvation_bound_figure,
        "routing": special.routing_figure,
        "holes": special.holes_figure,
        "three-accounts": special.three_accounts_figure,
        "three-accounts-again": special.three_accounts_figure,
        "operators": points.operators_figure,
    }
)
"""The rows whose figures are not strips of grok epochs, to 0.99, alone."""


def row_figure(name: str, history: "xr.Dataset | None", size: Size = "classroom") -> Picture:
    """The figure of an experiment.

    Args:
        name: one of :data:`grokkit.experiments.ROWS`.
        history: its runs, all arms and seeds or some; not looked at for a row that trains
            nothing.
        size: of which size they are.

    Returns:
        A picture of about 9 x 6 inches at 100 dots each.

    Raises:
        SettingError: there is no such row or size, or the History has no runs of it.
    """
    row = experiments.row(name)
    if not row.arms(size):
        return special.theory_figure(row)
    return FIGURES.get(name, strip_figure)(row, Present(row, history, size))
