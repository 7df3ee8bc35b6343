"""The figure of every row of the table of experiments.

Most rows ask which arm groks when, and :mod:`grokkit.viz.rows.strips` answers. A row that
asks something else has a module of its own here. All figures are drawn from the runs that
there are: with other seeds, or with arms missing, they show less and say so.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from grokkit import experiments
from grokkit.experiments import Row, Size
from grokkit.viz.rows.accuracies import accuracies_figure
from grokkit.viz.rows.compressibility import compressibility_figure
from grokkit.viz.rows.distractors import distractors_figure
from grokkit.viz.rows.four_phases import four_phases_figure
from grokkit.viz.rows.holes import holes_figure
from grokkit.viz.rows.kl_acceleration import kl_acceleration_figure
from grokkit.viz.rows.ln_placement import ln_placement_figure
from grokkit.viz.rows.med_tracking import med_tracking_figure
from grokkit.viz.rows.norm_vs_structure import norm_vs_structure_figure
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.readout_scale import readout_scale_figure
from grokkit.viz.rows.resnet_grokking import resnet_grokking_figure
from grokkit.viz.rows.routing import routing_figure
from grokkit.viz.rows.starvation_bound import starvation_bound_figure
from grokkit.viz.rows.strips import strip_figure
from grokkit.viz.rows.theory import theory_figure
from grokkit.viz.rows.three_accounts import three_accounts_figure
from grokkit.viz.style import Picture

if TYPE_CHECKING:
    import xarray as xr

FIGURES: Mapping[str, Callable[[Row, Present], Picture]] = MappingProxyType(
    {
        "four-phases": four_phases_figure,
        "norm-vs-structure": norm_vs_structure_figure,
        "kl-acceleration": kl_acceleration_figure,
        "starvation-bound": starvation_bound_figure,
        "routing": routing_figure,
        "distractors": distractors_figure,
        "resnet-grokking": resnet_grokking_figure,
        "three-accounts": three_accounts_figure,
        "three-accounts-again": three_accounts_figure,
        "ln-placement": ln_placement_figure,
        "readout-scale": readout_scale_figure,
        "compressibility": compressibility_figure,
        "med-tracking": med_tracking_figure,
        "holes": holes_figure,
        "polynomial-ceiling": accuracies_figure,
        "polynomial-ceiling-again": accuracies_figure,
        "depth": accuracies_figure,
    }
)
"""The rows whose figures are not strips of grok epochs."""


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
        return theory_figure(row)
    return FIGURES.get(name, strip_figure)(row, Present(row, history, size))
