"""The figures of the recorded rows can be read: nothing lies on anything, every mark is named."""
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import itertools
from functools import cache

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from grokkit import experiments, runs, viz
from grokkit.experiments import ROWS
from grokkit.viz.rows import FIGURES
from grokkit.viz.rows.censored import arrow_handle, later
from grokkit.viz.rows.ln_placement import MARKS, READ_OFF
from grokkit.viz.rows.present import Present

RECORDED = [
    name
    for name in (*FIGURES, "autoregressive")  # and one of those that are but strips
    if {name, *ROWS[name].shares_recording_of} & set(runs.names())
]


@cache
def drawn(name: str) -> Figure:
    """The figure of the recorded runs of a row, laid out."""
    figure = viz.row_figure(name, experiments.recorded(name))
    figure.draw_without_rendering()
    return figure


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """What is written in a figure, and where; without the labels of ticks beyond the axes."""
    beyond = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks() + axis.get_minor_ticks():
            if not low <= tick.get_loc() <= high:
                beyond |= {tick.label1, tick.label2}
    found = [item for item in figure.findobj(Text) if item.get_visible() and item not in beyond]
    return [(item.get_text(), inked(item)) for item in found if item.get_text().strip()]


def inked(item: Text) -> Bbox:
    """Where a text is, without the empty lines below it, which leave room for another."""
    box, lines = item.get_window_extent(), item.get_text().split("\n")
    empty = len(lines) - len(item.get_text().rstrip().split("\n"))
    return Bbox([[box.x0, box.y0 + box.height * empty / len(lines)], [box.x1, box.y1]])


def legends(figure: Figure) -> list[Legend]:
    found = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    return [legend for legend in found if legend is not None]


def hides(legend: Legend, ax: Axes) -> bool:
    """Whether a mark or a line of the axes runs through the legend's box."""
    box = Bbox.intersection(legend.get_window_extent(), ax.bbox)
    if box is None:
        return False
    for line in ax.get_lines():
        path = line.get_transform().transform_path(line.get_path()).cleaned()
        ends = np.asarray(path.vertices)[:-1]  # the last one only closes it
        if line.get_linestyle() != "None" and path.intersects_bbox(box, filled=False):
            return True
        if line.get_marker() != "None" and box.count_contains(ends):
            return True
    return False


@pytest.mark.parametrize("name", RECORDED)
def test_no_text_lies_on_another_and_no_legend_on_what_is_drawn(name: str):
    figure = drawn(name)
    for (one, box), (other, its) in itertools.combinations(texts(figure), 2):
        both = Bbox.intersection(box, its)
        assert both is None or min(both.width, both.height) < 1, (one, other)
    for legend, ax in itertools.product(legends(figure), figure.axes):
        assert not hides(legend, ax), ax.get_title("left")


def look(line: Line2D) -> tuple:
    """Shape, fill and edge of the marks of a line."""
    marker = line.get_marker()
    shape = marker.vertices.tobytes() if isinstance(marker, Path) else marker
    return shape, *map(to_hex, (line.get_markerfacecolor(), line.get_markeredgecolor()))


@pytest.mark.parametrize(
    ("name", "legend", "panels"), [("ln-placement", 1, [1]), ("compressibility", 0, [0, 1])]
)
def test_the_legend_shows_each_placement_as_it_is_drawn(name: str, legend: int, panels: list[int]):
    figure = drawn(name)
    lines = [one for panel in panels for one in figure.axes[panel].get_lines()]
    marks = [one for one in lines if len(one.get_xdata()) and one.get_marker() != "None"]
    there = {look(one) for one in marks}
    handles = [one for one in legends(figure)[legend].legend_handles if isinstance(one, Line2D)]
    named = {str(one.get_label()): look(one) for one in handles}
    for arm, (marker, color) in MARKS.items():
        if arm in named:
            assert named[arm] in there
            own = [
                Line2D([], [], marker=marker, color=color),
                Line2D([], [], **later(marker, color)),
            ]
            assert {one for one in there if one[2] == to_hex(color)} <= {look(one) for one in own}
    assert arrow_handle().get_label() in {label.replace("\n", " ") for label in named}


def test_compressibility_has_a_mark_for_every_run_grokked_or_not():
    history = experiments.recorded("compressibility")
    assert history is not None
    for ax in drawn("compressibility").axes:
        own = [one for one in ax.get_lines() if one.get_marker() != "None"]
        own = [one for one in own if one.get_color() != READ_OFF["color"]]
        assert sum(len(one.get_xdata()) for one in own) == history.sizes["run"]
        late = [one for one in own if to_hex(one.get_markerfacecolor()) == "#ffffff"]
        never = ~(history.test_accuracy >= 0.95).any("epoch")
        assert sum(len(one.get_xdata()) for one in late) == int(never.sum()) > 0


def test_readout_scale_says_where_the_median_is_not_known():
    evidence = Present(ROWS["readout-scale"], experiments.recorded("readout-scale"))
    censored = [evidence.grokked(arm, 0.95) for arm in evidence.arms]
    says = [f"median\n> {one.at_least:,.0f}" for one in censored if np.isinf(one.median)]
    written = [text for text, _ in texts(drawn("readout-scale")) if text.startswith("median\n")]
    assert written == says != []


def test_the_phases_for_whose_names_there_is_no_room_are_named_above():
    (panel, *_) = drawn("four-phases").axes
    alone = [item.get_text() for item in panel.texts if item.get_text().isdigit()]
    assert [name.split()[0] for name in panel.get_title("right").split(", ")] == alone != []


@pytest.mark.parametrize("marker", sorted({marker for marker, _ in MARKS.values()}))
def test_a_censored_mark_keeps_its_shape_and_its_arrow_points_to_later_epochs(marker: str):
    path = later(marker, "#000000")["marker"]
    shape = Line2D([], [], marker=marker)
    *_, tip, _ = path.vertices
    np.testing.assert_allclose(tip, path.vertices.max(axis=0) * [0, 1])
    assert len(path.vertices) == len(shape._marker.get_path().vertices) + 5
