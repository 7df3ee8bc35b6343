"""Every picture can be read: by eye, on any paper, and without being seen.

Nothing lies on anything, every mark is named, every colour stands out, and the words of a
picture say what it shows.
"""
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import io
import itertools
import re
from functools import cache

import nbformat
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
from nbclient import NotebookClient
from PIL import Image

from grokkit import experiments, viz
from grokkit.experiments import ROWS
from grokkit.viz.rows.marks import READ_OFF, arrow_handle, later, median_words
from grokkit.viz.rows.points import MARKS
from grokkit.viz.rows.present import Present
from grokkit.viz.style import SHADES
from tests.viz.colors import contrast
from tests.viz.figures import PICTURES
from tests.viz.small import small_history

ROW_FIGURES = [name for name in PICTURES if name.startswith("row ")]


@cache
def drawn(name: str) -> viz.Picture:
    """A picture, laid out."""
    figure = PICTURES[name]()
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


# --- by eye -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROW_FIGURES)
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
    ("name", "legend", "panels"),
    [("row ln-placement", 1, [1]), ("row compressibility", 0, [0, 1])],
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
    for ax in drawn("row compressibility").axes:
        own = [one for one in ax.get_lines() if one.get_marker() != "None"]
        own = [one for one in own if one.get_color() != READ_OFF["color"]]
        assert sum(len(one.get_xdata()) for one in own) == history.sizes["run"]
        late = [one for one in own if to_hex(one.get_markerfacecolor()) == "#ffffff"]
        never = ~(history.test_accuracy >= 0.95).any("epoch")
        assert sum(len(one.get_xdata()) for one in late) == int(never.sum()) > 0


def test_a_median_that_is_not_known_is_written_as_at_least():
    evidence = Present(ROWS["readout-scale"], experiments.recorded("readout-scale"))
    censored = [evidence.grokked(arm, 0.95) for arm in evidence.arms]
    says = [median_words(one) for one in censored if np.isinf(one.median)]
    written = [text.split(",  ")[0] for text, _ in texts(drawn("row readout-scale"))]
    assert says and all(any(text.startswith(one) for text in written) for one in says)


def test_the_phases_for_whose_names_there_is_no_room_are_named_above():
    (panel, *_) = drawn("row four-phases").axes
    alone = [item.get_text() for item in panel.texts if item.get_text().isdigit()]
    assert [name.split()[0] for name in panel.get_title("right").split(", ")] == alone != []


@pytest.mark.parametrize("marker", sorted({marker for marker, _ in MARKS.values()}))
def test_a_censored_mark_keeps_its_shape_and_its_arrow_points_to_later_epochs(marker: str):
    path = later(marker, "#000000")["marker"]
    shape = Line2D([], [], marker=marker)
    *_, tip, _ = path.vertices
    np.testing.assert_allclose(tip, path.vertices.max(axis=0) * [0, 1])
    assert len(path.vertices) == len(shape._marker.get_path().vertices) + 5


# --- colours ------------------------------------------------------------------------------


def pale(item: Line2D) -> bool:
    """Whether a line stands in the background: see-through, or thinner than a curve."""
    return (item.get_alpha() or 1) < 1 or item.get_linewidth() < 0.8


@pytest.mark.parametrize("name", PICTURES)
def test_every_line_and_every_word_stands_out_from_its_background(name: str):
    """WCAG 2.2: 3 for what is drawn, 4.5 for what is written."""
    figure = drawn(name)
    for line in (one for ax in figure.axes for one in ax.get_lines()):
        if not pale(line) and line.get_visible() and len(line.get_xdata()):
            color = line.get_color()
            if line.get_linestyle() == "None" or len(line.get_xdata()) == 1:
                color = line.get_markeredgecolor()
            assert contrast(color) >= 3 or to_hex(color) == "#ffffff", (color, line.get_label())
    for text in (one for one in figure.findobj(Text) if one.get_text().strip()):
        box = text.get_bbox_patch()
        behind = to_hex(box.get_facecolor()) if box is not None else "#ffffff"
        assert contrast(text.get_color(), behind) >= 4.5, text.get_text()


@pytest.mark.parametrize("look", viz.LOOKS)
def test_every_quantity_stands_out_from_the_shade_of_every_phase(look: str):
    assert all(contrast(viz.LOOKS[look].color, shade) >= 3 for shade in SHADES.values())


@pytest.mark.slow
def test_a_picture_keeps_the_colours_of_its_quantities_exactly():
    with Image.open(io.BytesIO(viz.png(viz.four_panels(small_history())))) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    colors = {"#{:02x}{:02x}{:02x}".format(*pixel) for pixel in np.unique(pixels, axis=0)}
    assert {look.color.lower() for look in viz.LOOKS.values()} <= colors


# --- without being seen -------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_says_what_it_shows_in_sentences_with_its_numbers(name: str):
    figure = drawn(name)
    said = figure.alt
    assert said.endswith(".") and len(said.split()) >= 12
    assert "  " not in said and "\n" not in said and "_child" not in said and "nan" not in said
    assert len(re.findall(r"\d", said)) >= 3
    headline = " ".join(figure.get_suptitle().split())
    assert said.startswith(headline)
    for ax in figure.axes:
        assert " ".join(ax.get_title("left").split()) in said


def test_the_words_give_where_a_curve_begins_where_it_ends_and_how_far_it_went():
    line = viz.Line([1, 2, 3, 4], [5.0, 0.25, 9.0, 6.0], "made up")
    said = viz.lines([line], title="A curve", x="epoch", y="nats", marks={"memorised": 2}).alt
    assert "memorised at 2" in said
    assert "nats against epoch" in said
    assert "made up goes from 5 to 6, least 0.25, greatest 9." in said


def test_the_words_of_a_strip_give_each_arm_its_median_and_its_count():
    evidence = Present(ROWS["priors"], experiments.recorded("priors"))
    said = drawn("row priors").alt
    for arm in evidence.arms:
        assert f"{arm}: {median_words(evidence.grokked(arm))}, " in said


def test_a_file_carries_its_words_along():
    figure = viz.seed_curves(small_history())
    with Image.open(io.BytesIO(viz.png(figure))) as image:
        assert image.text["Description"] == figure.alt


@pytest.mark.slow
def test_a_picture_shows_itself_with_its_words_with_and_without_the_inline_backend():
    build = "from tests.viz.small import small_history\nfrom grokkit import viz\n"
    cells = [
        build + "viz.seed_curves(small_history())",
        "import matplotlib.pyplot as plt\nviz.seed_curves(small_history())",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    said = viz.seed_curves(small_history()).alt
    for cell in notebook.cells:
        (output,) = cell.outputs
        assert output.data.keys() == {"image/png", "text/plain"}
        assert output.data["text/plain"] == f"Picture. {said}"
        assert output.metadata["image/png"]["alt"] == said
        nbformat.validate(notebook)
