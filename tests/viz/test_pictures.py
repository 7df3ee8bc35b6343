"""What the pictures say, and that they say it for every History."""
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import io

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from grokkit.engine import RunSpec
from grokkit.errors import SettingError
from grokkit.experiments.signals import SIGNALS
from grokkit.experiments.three_accounts import TRAPPED
from grokkit.runtime import train
from grokkit.viz import (
    LOOKS,
    Line,
    four_panels,
    headline,
    lines,
    png,
    row_figure,
    seed_curves,
    signals_of_a_run,
    wait_parts,
)
from grokkit.viz.curves import fill_gaps
from grokkit.viz.rows.special import CONTROLS
from grokkit.viz.style import SIGNAL_LOOKS
from tests.experiments.staged import BASELINE, staged
from tests.viz.figures import words
from tests.viz.small import small_history


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    return small_history()


def size(figure: Figure) -> tuple[int, int]:
    with Image.open(io.BytesIO(png(figure))) as image:
        return image.size


# --- four panels --------------------------------------------------------------------------


def test_the_four_panels_tell_when_and_name_the_phases(history: xr.Dataset):
    figure = four_panels(history)
    text = words(figure)
    assert "Memorised at epoch 100, 95 % of the unseen right at 500 (99 % at 500)" in text
    assert "modular addition, p 7" in text and "seed 0" in text
    for label in ("1 memorisation", "4 grokking", "epoch (log scale)", "nats", "share of right"):
        assert label in text
    assert len(figure.axes) == 5  # the norm has an axis of its own
    assert all(ax.get_title("left") for ax in figure.axes[:4])
    assert size(figure) == (1000, 780)


def test_no_legend_lies_over_a_curve(history: xr.Dataset):
    figure = four_panels(history)
    figure.canvas.draw()
    for ax in figure.axes[:4]:
        legend = ax.get_legend()
        assert legend is not None
        assert legend.get_window_extent().y1 < ax.get_window_extent().y0


def test_a_phase_too_short_for_its_name_is_named_above(history: xr.Dataset):
    text = four_panels(history).texts[-1].get_text()
    assert text.endswith("seed 0; phase 3: resurgence")


@pytest.mark.parametrize("change", [{"run": 3}, {"run": -1}])
def test_a_wrong_setting_is_named(history: xr.Dataset, change: dict):
    with pytest.raises(SettingError, match=next(iter(change))):
        four_panels(history, **change)


def without(history: xr.Dataset, **levels: float) -> xr.Dataset:
    return history.assign({name: xr.full_like(history[name], v) for name, v in levels.items()})


def test_the_headline_says_what_did_not_happen(history: xr.Dataset):
    right = "Memorised at epoch 100, 95 % of the unseen right at"
    assert headline(history, 2) == f"{right} 700 (99 % at 700)"
    slow = without(history, test_accuracy=0.2)
    assert headline(slow) == "Memorised at epoch 100, 95 % of the unseen not right by epoch 1,000"
    nearly = history.assign(test_accuracy=0.97 * history.test_accuracy)
    expected = f"{right} 500"
    assert headline(nearly) == expected
    assert headline(without(slow, train_accuracy=0.5)) == "Not memorised by epoch 1,000"


@pytest.mark.parametrize("records", [1, 2, 5])
def test_a_run_that_has_hardly_begun_can_be_drawn(history: xr.Dataset, records: int):
    figure = four_panels(history.isel(epoch=slice(records)))
    assert size(figure) == (1000, 780)


@pytest.mark.slow
def test_nan_after_the_end_and_zeros_on_a_log_axis_can_be_drawn(history: xr.Dataset):
    ended = history.where(history.epoch <= 300)
    assert headline(ended) == "Memorised at epoch 100, 95 % of the unseen not right by epoch 300"
    assert size(four_panels(ended)) == (1000, 780)
    starved = without(history, score_gradient=0.0, W_QK_gradient=0.0, train_loss=0.0)
    assert size(four_panels(starved)) == (1000, 780)


def test_the_same_history_gives_the_same_small_file(history: xr.Dataset):
    first = png(four_panels(history))
    assert first == png(four_panels(history)) and len(first) < 100_000


def test_pictures_of_a_trained_run():
    spec = RunSpec().with_(p=5, train_fraction=0.5, epochs=20, record_every=5, d_mlp=8)
    history = train(spec, progress=False)
    assert size(four_panels(history)) == (1000, 780)
    assert "1 seed;" in words(seed_curves(history, ["kl", "train_loss"]))


# --- seeds --------------------------------------------------------------------------------


def test_seed_curves_say_how_many_and_what_the_band_is(history: xr.Dataset):
    text = words(seed_curves(history))
    assert "3 seeds" in text and "band: least to greatest" in text and "median" in text


def test_seed_curves_draw_the_median_of_all_runs_those_that_stopped_included(history: xr.Dataset):
    stopped = history.where((history.epoch <= 600) | (history.run > 0))
    median = seed_curves(stopped, "test_accuracy").axes[0].get_lines()[-1]
    np.testing.assert_allclose(np.asarray(median.get_ydata()), history.test_accuracy.isel(run=1))


def test_between_its_records_a_run_is_a_straight_line_and_after_its_end_its_last_value():
    nan = np.nan
    epochs = np.array([0, 10, 30, 40])
    values = np.array([[1.0, 2.0, nan, nan], [3.0, nan, 6.0, 5.0], [nan] * 4])
    filled = fill_gaps(epochs, values)
    assert filled[:2].tolist() == [[1, 2, 2, 2], [3, 4, 6, 5]]
    assert np.isnan(filled[2]).all() and np.isnan(values).sum() == 7


def test_seed_curves_refuse_runs_of_different_settings(history: xr.Dataset):
    other = RunSpec().with_(p=7, train_fraction=0.5, epochs=1000, weight_decay=2.0, seed=1)
    mixed = history.assign_coords(
        spec=("run", [history.spec.values[0], other.to_json(), history.spec.values[2]])
    )
    with pytest.raises(SettingError, match="runs that differ in weight_decay"):
        seed_curves(mixed)


@pytest.mark.parametrize("variables", ["test_acuracy", [], ["kl", "lipschitz"]])
def test_seed_curves_refuse_variables_that_are_not_there(history: xr.Dataset, variables: object):
    with pytest.raises(SettingError, match="variables"):
        seed_curves(history, variables)  # pyright: ignore[reportArgumentType]


# --- lines of one's own -------------------------------------------------------------------


def two_lines(**changes):
    """A chart of two lines, and its axes."""
    two = [Line([1, 10, 100], [3, 2, 1], "falls", "norm"), Line([1, 100], [1, 2], "rises", "train")]
    figure = lines(two, **{"title": "Two lines", "x": "epoch", "y": "nats", **changes})
    return figure, figure.axes[0]


def test_a_line_stands_where_it_was_put_in_the_look_of_its_quantity():
    _, ax = two_lines()
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
    _, ax = two_lines(log=log)
    assert (ax.get_xscale() == "log", ax.get_yscale() == "log") == ("x" in log, "y" in log)


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


# --- all signals of a run -----------------------------------------------------------------


@pytest.fixture(scope="module")
def staged_runs() -> xr.Dataset:
    return staged(far={TRAPPED: {"norm": 1.0}}, seeds=3)


def test_on_one_scale_every_signal_goes_from_0_to_1_and_is_marked_half_way(staged_runs):
    above, below = signals_of_a_run(staged_runs.isel(run=0)).axes
    assert {line.get_label() for line in below.lines} >= set(SIGNALS)
    for line in below.lines:
        if line.get_label() in SIGNALS:
            assert line.get_ydata()[0] == 0 and line.get_ydata()[-1] == pytest.approx(1)
    dots = {float(line.get_xdata()) for line in below.lines if np.ndim(line.get_xdata()) == 0} or {
        float(line.get_xdata()[0]) for line in below.lines if len(line.get_xdata()) == 1
    }
    assert dots == set(BASELINE.values())
    assert above.get_ylabel() == "share right"


def test_the_legend_shows_the_mark_of_each_signal_and_names_its_account(staged_runs):
    legend = signals_of_a_run(staged_runs.isel(run=0)).axes[1].get_legend()
    assert legend is not None
    shown = {text.get_text().partition(" (")[0]: text.get_text() for text in legend.get_texts()}
    assert list(shown) == list(SIGNALS)
    assert shown["alpha"] == "alpha (features)" and shown["norm"] == "norm"
    marks = [str(handle.get_marker()) for handle in legend.legend_handles if handle]
    assert marks == [look["marker"] for look in SIGNAL_LOOKS.values()]


def test_it_takes_one_run_that_has_grokked(staged_runs):
    with pytest.raises(SettingError, match="one: got '12 runs'"):
        signals_of_a_run(staged_runs)
    trapped = staged_runs.isel(run=int(np.flatnonzero(staged_runs.arm.values == TRAPPED)[0]))
    with pytest.raises(SettingError, match="one: got 'a run that has not grokked'"):
        signals_of_a_run(trapped)


def marks(ax, name):
    """The places of the marks of a signal in a panel, across."""
    look = SIGNAL_LOOKS[name]
    return [
        np.asarray(line.get_xdata(), dtype=float)
        for line in ax.lines
        if (line.get_marker(), line.get_color()) == (look["marker"], look["color"])
        and line.get_linestyle() == "None"
    ]


def test_every_signal_has_a_look_of_its_own():
    looks = [(look["color"], look["marker"]) for look in SIGNAL_LOOKS.values()]
    assert list(SIGNAL_LOOKS) == list(SIGNALS) and len(set(looks)) == len(looks)


def test_the_row_shows_when_each_signal_is_half_way_the_first_on_top(staged_runs: xr.Dataset):
    when, controls = row_figure("three-accounts", staged_runs).axes
    names = [label.get_text() for label in when.get_yticklabels()]
    assert names == sorted(BASELINE, key=lambda name: BASELINE[name])
    for name, epoch in BASELINE.items():
        if name not in ("KL", "unseen pairs"):  # these two share a marker with the legend
            np.testing.assert_allclose(marks(when, name)[0], epoch / BASELINE["unseen pairs"])
    (decay, trapped) = marks(controls, "norm")
    np.testing.assert_allclose(decay, 0, atol=1e-12)
    np.testing.assert_allclose(trapped, 1)


def test_what_the_marks_of_controls_are_is_said_below_the_panels(staged_runs: xr.Dataset):
    figure = row_figure("three-accounts", staged_runs)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [item.get_text() for item in legend.get_texts()] == [*CONTROLS, "half-way"]
    for ax in figure.axes:
        assert ax.get_legend() is None
        assert legend.get_window_extent().y1 < ax.get_window_extent().y0


# --- the two parts of the wait ------------------------------------------------------------


def test_bars_are_as_long_as_the_parts_and_what_never_came_says_so():
    never = float("inf")
    parts = {
        "both": (100, 300),
        "no search": (0, 200),
        "no grok": (50, never),
        "trap": (never,) * 2,
    }
    figure = wait_parts(parts, title="Parts")
    (ax,) = figure.axes
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars[:3]] == [100, 0, 50]
    assert [bar.get_width() for bar in bars[4:]] == [200, 200, 0, 0]
    assert [bar.get_x() for bar in bars[4:7]] == [100, 0, 50]
    assert words(figure).count("not in these runs") == 2
    assert "trap: attention right never in these runs, 95 % never in these runs" in figure.alt
    with pytest.raises(SettingError, match="at least one arm"):
        wait_parts({}, title="Parts")
