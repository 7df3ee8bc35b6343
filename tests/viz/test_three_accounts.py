"""The two pictures of lesson 13 show what they are given."""
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import numpy as np
import pytest
from grokkit.viz.rows.three_accounts import CONTROLS, LINES
from matplotlib.text import Text

from grokkit import viz
from grokkit.errors import SettingError
from grokkit.experiments.signals import SIGNALS
from grokkit.experiments.three_accounts import TRAPPED
from tests.experiments.staged import BASELINE, staged

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def history():
    return staged(far={TRAPPED: {"norm": 1.0}}, seeds=3)


def marks(ax, name):
    """The places of the marks of a signal in a panel, across."""
    look = LINES[name]
    return [
        np.asarray(line.get_xdata(), dtype=float)
        for line in ax.lines
        if (line.get_marker(), line.get_color()) == (look["marker"], look["color"])
        and line.get_linestyle() == "None"
    ]


def test_every_signal_has_a_look_of_its_own():
    looks = [(look["color"], look["marker"]) for look in LINES.values()]
    assert list(LINES) == list(SIGNALS) and len(set(looks)) == len(looks)


def test_the_row_shows_when_each_signal_is_half_way_the_first_on_top(history):
    when, controls = viz.row_figure("three-accounts", history).axes
    names = [label.get_text() for label in when.get_yticklabels()]
    assert names == sorted(BASELINE, key=lambda name: BASELINE[name])
    for name, epoch in BASELINE.items():
        if name not in ("KL", "unseen pairs"):  # these two share a marker with the legend
            np.testing.assert_allclose(marks(when, name)[0], epoch / BASELINE["unseen pairs"])
    (decay, trapped) = marks(controls, "norm")
    np.testing.assert_allclose(decay, 0, atol=1e-12)
    np.testing.assert_allclose(trapped, 1)


def test_what_the_controls_marks_are_is_said_below_the_panels_on_no_row_of_them(history):
    figure = viz.row_figure("three-accounts", history)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [item.get_text() for item in legend.get_texts()] == [*CONTROLS, "half-way"]
    for ax in figure.axes:
        assert ax.get_legend() is None
        assert legend.get_window_extent().y1 < ax.get_window_extent().y0


def test_on_one_scale_every_signal_goes_from_0_to_1_and_is_marked_half_way(history):
    above, below = viz.signals_of_a_run(history.isel(run=0)).axes
    assert {line.get_label() for line in below.lines} >= set(SIGNALS)
    for line in below.lines:
        if line.get_label() in SIGNALS:
            assert line.get_ydata()[0] == 0 and line.get_ydata()[-1] == pytest.approx(1)
    dots = {float(line.get_xdata()) for line in below.lines if np.ndim(line.get_xdata()) == 0} or {
        float(line.get_xdata()[0]) for line in below.lines if len(line.get_xdata()) == 1
    }
    assert dots == set(BASELINE.values())
    assert above.get_ylabel() == "share right"


def test_the_ruler_is_named(history):
    figure = viz.signals_of_a_run(history.isel(run=0), share=0.25, lasting=False)
    words = " ".join(item.get_text() for item in figure.findobj(Text))
    assert "25% is done" in words and "for good" not in words


def test_it_takes_one_run_that_has_grokked(history):
    with pytest.raises(SettingError, match="one: got '12 runs'"):
        viz.signals_of_a_run(history)
    trapped = history.isel(run=int(np.flatnonzero(history.arm.values == TRAPPED)[0]))
    with pytest.raises(SettingError, match="one: got 'a run that has not grokked'"):
        viz.signals_of_a_run(trapped)
