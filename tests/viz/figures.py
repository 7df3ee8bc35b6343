"""Every picture that the package makes, and how to read what is written in one."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from grokkit import experiments, runs, viz
from grokkit.experiments import ROWS
from grokkit.experiments.three_accounts import TRAPPED
from tests.experiments.staged import staged
from tests.viz.small import small_history
from tests.widgets.makers import MAKERS

RECORDED = [
    name
    for name, row in ROWS.items()
    if row.arms() and {name, *row.shares_recording_of} & set(runs.names())
]
"""The rows of which there are recorded runs."""


def figure_of(name: str) -> Callable[[], viz.Picture]:
    return lambda: viz.row_figure(name, experiments.recorded(name))


PICTURES: dict[str, Callable[[], viz.Picture]] = {
    **{f"row {name}": figure_of(name) for name in RECORDED},
    "row theory": lambda: viz.row_figure("theory", None),
    "four_panels": lambda: viz.four_panels(small_history()),
    "seed_curves": lambda: viz.seed_curves(small_history(), ("test_accuracy", "kl")),
    "lines": lambda: viz.lines(
        [viz.Line([1, 2], [30, 45], "", "norm")], title="One line", x="epoch", y="nats"
    ),
    **{f"still of {name}": lambda make=make: make().picture() for name, make in MAKERS.items()},
    "wait_parts": lambda: viz.wait_parts(
        {"both": (100, 300), "no search": (0, 200), "trapped": (np.inf, np.inf)}, title="Parts"
    ),
    "signals_of_a_run": lambda: viz.signals_of_a_run(
        staged(far={TRAPPED: {"norm": 1.0}}, seeds=1).isel(run=0)
    ),
}
"""A call of every function of :mod:`grokkit.viz` that makes a picture, and every still, by name."""


def words(figure: Figure) -> str:
    """All text in a figure."""
    return "\n".join(item.get_text() for item in figure.findobj(Text) if isinstance(item, Text))


def titled(figure: Figure, title: str) -> Axes:
    """The one panel of that title."""
    (ax,) = [ax for ax in figure.axes if title in ax.get_title("left")]
    return ax


def labelled(ax: Axes, label: str) -> tuple[np.ndarray, np.ndarray]:
    """The data of the one line whose label begins so."""
    (line,) = [one for one in ax.get_lines() if str(one.get_label()).startswith(label)]
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
