"""Lines in one panel: they are where they were put, named, and in their quantity's look."""

import numpy as np
import pytest

from grokkit.errors import SettingError
from grokkit.viz import LOOKS, Line, lines


def drawn(**changes):
    """A chart of two lines, and its axes."""
    two = [Line([1, 10, 100], [3, 2, 1], "falls", "norm"), Line([1, 100], [1, 2], "rises", "train")]
    figure = lines(two, **{"title": "Two lines", "x": "epoch", "y": "nats", **changes})
    return figure, figure.axes[0]


def test_a_line_stands_where_it_was_put_in_the_look_of_its_quantity():
    _, ax = drawn()
    falls, rises = ax.get_lines()
    assert np.array_equal(np.asarray(falls.get_data()), [[1, 10, 100], [3, 2, 1]])
    assert (falls.get_color(), rises.get_color()) == (LOOKS["norm"].color, LOOKS["train"].color)
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["falls", "rises"]


def test_what_differs_from_the_look_is_what_was_said():
    figure = lines([Line([0, 1], [0, 1], "", "test", {"color": "#123456"})], title="", x="", y="")
    (line,) = figure.axes[0].get_lines()
    assert line.get_color() == "#123456"
    assert line.get_linewidth() == LOOKS["test"].linewidth
    assert figure.axes[0].get_legend() is None


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_the_axes_that_were_named_are_logarithmic(log):
    _, ax = drawn(log=log)
    assert (ax.get_xscale() == "log", ax.get_yscale() == "log") == ("x" in log, "y" in log)


def test_a_mark_is_an_upright_line_with_its_words():
    _, ax = drawn(marks={"memorised": 42})
    assert np.array_equal(np.asarray(ax.get_lines()[-1].get_data())[0], [42, 42])
    assert [text.get_text() for text in ax.texts] == ["memorised"]


def test_title_and_axes_say_what_was_said():
    figure, ax = drawn()
    assert "Two lines" in figure.get_suptitle()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "nats")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: lines([], title="", x="", y=""), "drawn"),
        (lambda: Line([1, 2], [1], "short"), "y"),
        (lambda: Line([1], [1], "odd", "purple"), "look"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(wrong, named):
    with pytest.raises(SettingError, match=f"^{named}"):
        wrong()
