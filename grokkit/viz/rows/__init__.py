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
from grokkit.viz.rows.marks import READ_OFF
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import Beside, strip_figure
from grokkit.viz.style import Picture

if TYPE_CHECKING:
    import xarray as xr

Figure = Callable[[Row, Present], Picture]


def _panels(table: Callable[[Present], panels.Grid]) -> Figure:
    return partial(panels.panel_figure, table=table)


def _routing(row: Row, evidence: Present) -> Picture:
    title = "When each arm groks at the length that it was trained on"
    words = "; above: median, bars: least to greatest"
    lengths = Beside(special.draw_by_length, "above", title, words=words)
    return strip_figure(
        row, evidence, beside=lengths if special.longer_arms(evidence) else None
    )  # fmt: skip


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        # Panels of curves over epochs.
        "norm-vs-structure": _panels(panels.norm_vs_structure),
        "distractors": _panels(panels.distractors),
        "resnet-grokking": _panels(panels.resnet_grokking),
        "med-tracking": _panels(panels.med_tracking),
        "polynomial-ceiling": _panels(panels.accuracies),
        "polynomial-ceiling-again": _panels(panels.accuracies),
        "depth": _panels(panels.accuracies),
        # Strips, and a second panel.
        "kl-acceleration": partial(
            strip_figure,
            accuracy=points.ACCURACY,
            beside=Beside(
                points.draw_inverse_law, "left", "Controls and rivals", points.controls_of_kl
            ),
        ),
        "ln-placement": partial(
            strip_figure,
            accuracy=points.ACCURACY,
            beside=Beside(
                points.draw_entropies,
                "right",
                "When it memorises and when it groks",
                marked=points.PLACEMENT_EPOCHS,
                mark={**READ_OFF, "label": "published, modulus 113"},
            ),
        ),
        "routing": _routing,
        # A mark for each run.
        "readout-scale": points.readout_scale_figure,
        "compressibility": points.compressibility_figure,
        # Like no other.
        "four-phases": special.four_phases_figure,
        "starvation-bound": special.starvation_bound_figure,
        "holes": special.holes_figure,
        "three-accounts": special.three_accounts_figure,
        "three-accounts-again": special.three_accounts_figure,
    }
)
"""The rows whose figures are not strips of grok epochs alone."""


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
