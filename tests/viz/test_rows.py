"""The figure of every row: there for whatever has been run, and true to it."""
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportIndexIssue=false, reportCallIssue=false
# matplotlib types what an artist returns more loosely than these tests use it.

from types import MappingProxyType

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from grokkit import experiments, viz
from grokkit.errors import SettingError
from grokkit.experiments import ROWS, Times
from grokkit.viz.rows import FIGURES
from grokkit.viz.rows.marks import READ_OFF, median_words
from grokkit.viz.rows.special import table_of_parts
from grokkit.viz.rows.strips import CENSORED, GROKKED, MEDIAN, summary
from grokkit.viz.style import LOOKS
from tests.experiments.tiny import history_of, tiny, understood
from tests.viz.figures import labelled, words

TRAINED = [name for name in ROWS if ROWS[name].arms()]
DRAWN = [*{figure: name for name, figure in FIGURES.items()}.values(), "priors"]
"""A row for each kind of figure: one of each in FIGURES, and one of the strips."""
NAN = np.nan


@pytest.fixture(autouse=True)
def tiny_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {name: tiny(name) if name in TRAINED else ROWS[name] for name in ROWS}
    monkeypatch.setattr(experiments, "ROWS", MappingProxyType(rows))


def runs_of(name: str) -> xr.Dataset:
    history = history_of(name)
    assert history is not None
    return history


def lies_inside(figure: Figure) -> bool:
    """Whether no text is cut off at the figure's edge; powers of ten are not looked at.

    Matplotlib makes their labels for ticks outside the axes, too, and does not draw them.
    """
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for item in figure.findobj(Text):
        text = item.get_text().strip() if isinstance(item, Text) and item.get_visible() else ""
        if text and not text.startswith("$"):
            box = item.get_window_extent(renderer)
            if box.x0 < -1 or box.y0 < -1:
                return False
            if box.x1 > figure.bbox.x1 + 1 or box.y1 > figure.bbox.y1 + 1:
                return False
    return True


# --- every row ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.slow
def test_every_kind_of_row_has_a_figure_that_says_what_it_asks_and_how_many_seeds(name: str):
    figure = viz.row_figure(name, understood(runs_of(name)))
    width, height = figure.get_size_inches() * figure.dpi  # of the file, too: see test_pictures
    assert 800 <= width <= 1000 and height <= 1000
    text = words(figure)
    assert ROWS[name].question in text
    assert "2 seeds an arm" in text and "not run" not in text
    for ax in figure.axes:
        assert len(figure.axes) == 1 or ax.get_title("left") or ax.get_title("right")
    assert lies_inside(figure)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.slow
def test_a_figure_can_be_drawn_where_nothing_has_been_memorised_or_understood(name: str):
    history = runs_of(name)
    never = history.assign(test_accuracy=0 * history.test_accuracy)
    never = never.assign(train_accuracy=0 * history.train_accuracy)
    assert lies_inside(viz.row_figure(name, never))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "place"), [(name, place) for name in DRAWN for place in (0, -1)])
def test_with_one_run_it_draws_what_is_there_and_says_what_is_not(name: str, place: int):
    history = understood(runs_of(name))
    arms = list(experiments.ROWS[name].arms())
    arm = arms[place]
    one = history.isel(run=(history.arm.values == arm) & (history.seed.values == 1))
    figure = viz.row_figure(name, one)
    assert "1 seed an arm" in words(figure)
    assert ("not run: " in words(figure)) == (len(arms) > 1)
    assert lies_inside(figure)


@pytest.mark.parametrize("name", ["priors", "distractors"])
def test_a_figure_needs_no_label_of_arms_and_no_order_of_runs(name: str):
    history = understood(runs_of(name))
    mixed = history.drop_vars("arm").isel(run=slice(None, None, -1))
    assert viz.png(viz.row_figure(name, mixed)) == viz.png(viz.row_figure(name, history))


@pytest.mark.parametrize("name", ["tasks", "priors", "holes"])
def test_without_runs_of_that_row_it_is_refused_in_one_line(name: str):
    with pytest.raises(SettingError, match=r"history: got 'no History'; allowed: runs of"):
        viz.row_figure(name, None)
    other, arm = ("tasks", "parity") if name != "tasks" else ("four-phases", "decay 2")
    others = runs_of(other).isel(run=runs_of(other).arm.values == arm)
    with pytest.raises(SettingError, match=f"history: got '2 other runs'.* runs of {name} at"):
        viz.row_figure(name, others)


def test_there_is_no_figure_of_a_row_that_is_not_there():
    with pytest.raises(SettingError, match="name: got 'five-phases'"):
        viz.row_figure("five-phases", None)
    assert set(FIGURES) <= set(ROWS)


def test_seeds_that_only_some_arms_have_are_said_to_be_so():
    history = understood(runs_of("tickets"))
    gap = (history.arm.values != "dense") | (history.seed.values == 0)
    assert "1 to 2 seeds an arm" in words(viz.row_figure("tickets", history.isel(run=gap)))


# --- strips -------------------------------------------------------------------------------


def points(figure: Figure, marks: dict) -> list[tuple[float, float]]:
    """Where a strip has a mark of this kind: (epoch, height)."""
    found = []
    for line in figure.axes[0].get_lines():
        fill = marks.get("markerfacecolor", marks.get("color"))
        if line.get_marker() == marks["marker"] and to_rgb(line.get_markerfacecolor()) == to_rgb(
            fill
        ):
            found += zip(line.get_xdata(), line.get_ydata(), strict=True)
    return found


def test_a_strip_has_one_dot_for_each_run_at_its_grok_epoch():
    history = understood(runs_of("priors"))
    dots = points(viz.row_figure("priors", history), dict(GROKKED))
    assert len(dots) == history.sizes["run"]
    assert {epoch for epoch, _ in dots} == {8.0}
    assert len(set(dots)) == len(dots)  # none hides another


def test_a_censored_run_is_an_open_arrow_at_its_last_epoch_and_is_counted():
    history = understood(runs_of("priors"))
    late = (history.arm != "KL 1") | (history.seed == 0)
    history["test_accuracy"] = history.test_accuracy.where(late, 0.1)
    figure = viz.row_figure("priors", history)
    ((epoch, height),) = points(figure, dict(CENSORED))
    place = list(experiments.ROWS["priors"].arms()).index("KL 1")
    assert epoch == 12 and round(height) == place
    text = words(figure)
    assert "1/2" in text and "censored" in text and text.count("2/2") == 7


def test_a_median_is_drawn_only_where_it_is_known():
    history = understood(runs_of("priors"))
    late = (history.arm != "KL 1") | (history.seed == 0)

    def medians(one: xr.Dataset) -> int:
        lines = viz.row_figure("priors", one).axes[0].get_lines()
        return sum(line.get_linewidth() == MEDIAN["linewidth"] for line in lines)

    assert medians(history) == 8
    assert medians(history.assign(test_accuracy=history.test_accuracy.where(late, 0.1))) == 7


def of(*values: float) -> Times:
    return Times(np.array(values, dtype=float), np.full(len(values), 4000.0))


@pytest.mark.parametrize(
    ("times", "says"),
    [
        (of(3000, 3100, 3200), "3,100"),
        (of(3000, NAN, NAN), "> 4,000"),
        (of(3000, NAN), "> 3,500"),
        (of(NAN, NAN), "never"),
    ],
)
def test_a_median_in_words_never_says_more_than_is_known(times: Times, says: str):
    assert median_words(times) == says


def test_the_words_beside_an_arm_count_what_grokked_and_what_did_not_even_memorise():
    assert summary(of(3000, NAN, 3100), of(100, 100, 100)) == "3,100, 2/3"
    assert summary(of(NAN, NAN), of(100, NAN)) == "never, 0/2  (memorised 1/2)"


# --- figures of their own -----------------------------------------------------------------


def test_four_phases_draws_the_waits_of_all_runs_and_the_slope_that_is_claimed():
    history = understood(runs_of("four-phases"))
    figure = viz.row_figure("four-phases", history)
    waits = figure.axes[-1]
    assert waits.get_xscale() == waits.get_yscale() == "log"
    x, y = np.log(labelled(waits, "slope -1"))
    np.testing.assert_allclose(np.diff(y) / np.diff(x), -1)
    text = words(figure)
    assert "decay 0: never" not in text and text.count("2/2") >= 6
    assert "(censored)" in text


def test_kl_acceleration_fits_each_seed_and_says_the_floor():
    history = understood(runs_of("kl-acceleration"))
    strengths = history.kl_strength.values
    when = 5 + 1 / np.where(strengths > 0, strengths, 1)
    # Epochs of records are a grid; here each run groks at its place on 5 + 1 / beta.
    epoch = history.epoch.values / 12 * 120
    stretched = history.assign_coords(epoch=np.round(epoch).astype(int))
    grokked = stretched.epoch >= xr.DataArray(when, dims="run")
    stretched["test_accuracy"] = xr.where(grokked, 1.0, 0.1).transpose("run", "epoch")
    stretched = stretched.assign_coords(ended=("run", np.full(stretched.sizes["run"], 120)))
    figure = viz.row_figure("kl-acceleration", stretched)
    text = words(figure)
    assert "floor" in text and "slope" in text and "R²" in text and "no prior: " in text
    fits = [line for line in figure.axes[0].get_lines() if len(line.get_xydata()) == 200]
    assert len(fits) == 2  # one for each seed


def test_norm_vs_structure_has_nine_panels_that_say_where_they_end():
    figure = viz.row_figure("norm-vs-structure", understood(runs_of("norm-vs-structure")))
    assert len(figure.axes) == 9
    text = words(figure)
    assert text.count("test ends at 1.00; 2/2 reach 0.99") == 9
    assert "band: least to greatest" in text and "median over seeds" in text


def test_norm_vs_structure_names_the_panels_that_were_not_run():
    history = runs_of("norm-vs-structure")
    some = history.isel(run=~np.char.startswith(history.arm.values.astype(str), "norm held"))
    assert "not run: norm held, oracle" in words(viz.row_figure("norm-vs-structure", some))


def test_starvation_bound_shows_every_record_of_every_seed_and_three_bounds():
    history = runs_of("starvation-bound")
    figure = viz.row_figure("starvation-bound", history)
    marker = LOOKS["gradient"].marker
    for ax in figure.axes:
        assert ax.get_xscale() == ax.get_yscale() == "log"
        shown = sum(
            len(line.get_xydata()) for line in ax.get_lines() if line.get_marker() == marker
        )
        assert shown == 2 * history.sizes["epoch"]
    for bound in ("bound (4)", "by position", "linear in the loss"):
        assert bound in words(figure)


def test_distractors_has_a_column_for_each_kind_and_counts_with_and_without_the_prior():
    figure = viz.row_figure("distractors", understood(runs_of("distractors")))
    assert len(figure.axes) == 8
    text = words(figure)
    assert text.count("no prior 2/2, KL prior 2/2") == 4
    assert "band: least to greatest" in text


def test_ln_placement_marks_each_run_at_its_entropy_when_memorised():
    history = understood(runs_of("ln-placement"))
    figure = viz.row_figure("ln-placement", history)
    marks = sorted(
        tuple(xy) for line in figure.axes[1].get_lines() for xy in np.asarray(line.get_xydata())
    )
    entropies = history.map_entropy.sel(epoch=4).values  # the record at which all memorise
    np.testing.assert_allclose(marks, sorted((entropy, 8.0) for entropy in entropies), rtol=1e-6)
    assert "published, modulus 113" in words(figure)


def pale(figure: Figure, panel: int) -> int:
    """How many published figures a panel has."""
    lines = figure.axes[panel].get_lines()
    return sum(len(x.get_xydata()) for x in lines if x.get_color() == READ_OFF["color"])


def test_readout_scale_has_the_arms_of_the_rule_on_top_and_the_published_epochs():
    figure = viz.row_figure("readout-scale", understood(runs_of("readout-scale")))
    (ax,) = figure.axes
    arms = [label.get_text() for label in ax.get_yticklabels()]
    assert arms[:2] == ["a 0.5, rate / a^2", "a 1.5, rate / a^2"]
    published = [line for line in ax.get_lines() if line.get_marker() == READ_OFF["marker"]]
    assert [float(line.get_xdata()[0]) for line in published] == [1800, 7700]


def test_compressibility_marks_arrival_against_grok_and_where_they_are_the_same():
    history = understood(runs_of("compressibility"))
    figure = viz.row_figure("compressibility", history)
    for panel, ax in enumerate(figure.axes):
        assert pale(figure, panel) == 4
        seen = [line for line in ax.get_lines() if line.get_color() != READ_OFF["color"]]
        (same,) = [line for line in seen if line.get_marker() == "None"]
        assert (np.asarray(same.get_xdata()) == np.asarray(same.get_ydata())).all()
        marks = [xy for line in seen if line is not same for xy in np.asarray(line.get_xydata())]
        assert len(marks) == history.sizes["run"]
        assert all(x >= 4 and y == 8 for x, y in marks)


def test_routing_shows_the_accuracy_at_every_length():
    history = runs_of("routing")
    figure = viz.row_figure("routing", history)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["6", "8", "12", "16", "24"]
    fixed = history.isel(run=np.char.startswith(history.arm.values.astype(str), "moving"))
    assert len(viz.row_figure("routing", fixed).axes) == 1  # none of them was tested on others


def test_the_theory_needs_no_runs_and_shows_the_claim_below_the_flow():
    figure = viz.row_figure("theory", None)
    text = words(figure)
    assert "no training" in text and "(52)" in text and lies_inside(figure)
    x, y = labelled(figure.axes[0], "the flow")
    assert (labelled(figure.axes[0], "claimed")[1] < y).all()  # claimed to be an upper bound
    assert (labelled(figure.axes[0], "guaranteed")[1] >= y - 1e-9).all()
    late = np.diff(np.log(y[-20:])) / np.diff(np.log(x[-20:]))
    np.testing.assert_allclose(late, -1, atol=0.01)


def test_med_tracking_walks_products_by_logarithm_and_counts_who_understood():
    figure = viz.row_figure("med-tracking", understood(runs_of("med-tracking")))
    assert len(figure.axes) == 3 * 4
    text = words(figure)
    assert text.count("2/2") == 4
    assert text.count("natural order") == 3 and text.count("logarithm order") == 1
    history = runs_of("med-tracking")
    product = history.isel(run=history.arm.values == "xy").sel(order="logarithm")
    drawn = next(ax for ax in figure.axes if ax.get_title("right") == "logarithm order")
    line = next(one for one in drawn.get_lines() if one.get_label() == "best step")
    np.testing.assert_allclose(line.get_ydata(), product.best_med.median("run"), rtol=1e-6)


def test_holes_shows_the_table_and_the_accuracy_inside_by_mirror_images():
    history = runs_of("holes")
    figure = viz.row_figure("holes", history)
    tables, dots = figure.axes[:4], figure.axes[4:]
    assert [ax.get_title("left") for ax in tables] == list(experiments.ROWS["holes"].arms())
    # In a square no mirror image is trained on, in a strip some are.
    assert [sum(t.get_text() == "none" for t in ax.texts) for ax in dots] == [1, 1, 0, 0]
    strip = history.isel(run=history.arm.values == "small strip")
    inside = strip.extra_accuracy.sel(extra="hole").isel(epoch=-1).values
    drawn = [line.get_ydata() for line in dots[2].get_lines() if line.get_marker() == "o"]
    assert any(np.array_equal(one, inside) for one in drawn)


def test_a_table_of_a_hole_counts_every_pair_once_and_trains_on_none_inside():
    (spec, *_) = experiments.ROWS["holes"].arms()["small strip"]
    table = table_of_parts(spec)
    data = spec.task.build(spec.seed)
    counts = np.bincount(table.ravel(), minlength=4)
    mirrored = int(data.extra_mirrored["hole"].sum())
    hole = len(data.extra["hole"])
    assert counts.tolist() == [
        len(data.extra["outside the hole"]), len(data.train), mirrored, hole - mirrored,
    ]  # fmt: skip
    edge = spec.settings()["hole_edge"]
    assert (
        set(np.unique(table[: edge + 1])) <= {2, 3} and not np.isin(table[edge + 1 :], [2, 3]).any()
    )


@pytest.mark.parametrize("name", ["polynomial-ceiling", "depth", "ungrokking"])
def test_accuracies_has_a_panel_for_each_arm_and_says_where_it_ends(name: str):
    history = runs_of(name)
    figure = viz.row_figure(name, history)
    arms = list(experiments.ROWS[name].arms())
    assert len(figure.axes) == len(arms)
    end = history.test_accuracy.isel(epoch=-1)
    for ax, arm in zip(figure.axes, arms, strict=True):
        own = end.values[history.arm.values == arm]
        assert ax.get_title("left").strip() == arm
        assert f"end: {own.min():.2f} to {own.max():.2f}" in ax.get_title("right")


def test_accuracies_can_be_drawn_of_runs_that_were_cut_short():
    history = runs_of("ungrokking")
    figure = viz.row_figure("ungrokking", history.assign_coords(ended=history.ended * 0 + 4))
    assert all("end: 0." in ax.get_title("right") for ax in figure.axes)
