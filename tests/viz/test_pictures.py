"""What the pictures say, and that they say it for every History."""

import io

import numpy as np
import pytest
import xarray as xr
from grokkit.viz.seeds import fill_gaps
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from grokkit.engine import RunSpec
from grokkit.errors import SettingError
from grokkit.runtime import train
from grokkit.viz import attention_bars, four_panels, headline, mass_bars, png, seed_curves
from tests.viz.small import small_history


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    return small_history()


def words(figure: Figure) -> str:
    """All text in a figure."""
    figure.canvas.draw()
    return "\n".join(item.get_text() for item in figure.findobj(Text) if isinstance(item, Text))


def size(figure: Figure) -> tuple[int, int]:
    with Image.open(io.BytesIO(png(figure))) as image:
        return image.size


# --- four panels --------------------------------------------------------------------------


def test_the_four_panels_tell_when_and_name_the_phases(history: xr.Dataset):
    figure = four_panels(history)
    text = words(figure)
    assert "Memorised at epoch 100, understood at 500" in text
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


@pytest.mark.parametrize(
    ("scale", "named"),
    [("log", "phase 3: resurgence"), ("linear", "phase 1: memorisation; phase 3: resurgence")],
)
def test_a_phase_too_short_for_its_name_is_named_above(history: xr.Dataset, scale, named: str):
    assert four_panels(history, epoch_scale=scale).texts[-1].get_text().endswith(f"seed 0; {named}")


def test_a_picture_is_small_enough_for_a_notebook(history: xr.Dataset):
    assert len(png(four_panels(history))) < 100_000


def test_the_same_history_gives_the_same_bytes(history: xr.Dataset):
    assert png(four_panels(history)) == png(four_panels(history))


def test_epochs_can_be_spaced_evenly(history: xr.Dataset):
    figure = four_panels(history, 1, epoch_scale="linear")
    assert figure.axes[0].get_xscale() == "linear"
    assert "log scale" not in words(figure)


@pytest.mark.parametrize("change", [{"run": 3}, {"run": -1}])
def test_a_wrong_setting_is_named(history: xr.Dataset, change: dict):
    with pytest.raises(SettingError, match=next(iter(change))):
        four_panels(history, **change)


def without(history: xr.Dataset, **levels: float) -> xr.Dataset:
    return history.assign({name: xr.full_like(history[name], v) for name, v in levels.items()})


def test_the_headline_says_what_did_not_happen(history: xr.Dataset):
    assert headline(history, 2) == "Memorised at epoch 100, understood at 700"
    slow = without(history, test_accuracy=0.2)
    assert headline(slow) == "Memorised at epoch 100, not understood by epoch 1,000"
    nearly = history.assign(test_accuracy=0.97 * history.test_accuracy)
    expected = "Memorised at epoch 100, 95 % understood at 500, not 99 % by epoch 1,000"
    assert headline(nearly) == expected
    assert headline(without(slow, train_accuracy=0.5)) == "Not memorised by epoch 1,000"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("records", [1, 2, 5])
def test_a_run_that_has_hardly_begun_can_be_drawn(history: xr.Dataset, records: int):
    figure = four_panels(history.isel(epoch=slice(records)))
    assert size(figure) == (1000, 780)


@pytest.mark.filterwarnings("error")
def test_nan_after_the_end_and_zeros_on_a_log_axis_can_be_drawn(history: xr.Dataset):
    ended = history.where(history.epoch <= 300)
    assert headline(ended) == "Memorised at epoch 100, not understood by epoch 300"
    assert size(four_panels(ended)) == (1000, 780)
    starved = without(history, score_gradient=0.0, W_QK_gradient=0.0, train_loss=0.0)
    assert size(four_panels(starved)) == (1000, 780)


def test_pictures_of_a_trained_run():
    spec = RunSpec().with_(p=5, train_fraction=0.5, epochs=20, record_every=5, d_mlp=8)
    history = train(spec, progress=False)
    assert size(four_panels(history)) == (1000, 780)
    assert "epoch 20" in words(attention_bars(history))
    assert "1 seed;" in words(seed_curves(history, ["kl", "train_loss"]))


# --- seeds --------------------------------------------------------------------------------


def test_seed_curves_say_how_many_and_what_the_band_is(history: xr.Dataset):
    text = words(seed_curves(history))
    assert "3 seeds" in text and "band: least to greatest" in text and "median" in text


def test_seed_curves_have_one_panel_for_each_unit(history: xr.Dataset):
    figure = seed_curves(history, ("mirrored_accuracy", "kl", "unmirrored_accuracy"), title="Two")
    assert len(figure.axes) == 2
    assert "Two" in words(figure)


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


# --- attention ----------------------------------------------------------------------------


def test_attention_bars_show_the_beginning_the_borders_and_the_end(history: xr.Dataset):
    text = words(attention_bars(history))
    for label in ("epoch 0", "epoch 100", "epoch 400", "epoch 1,000", "oracle", "informative"):
        assert label in text


def test_attention_bars_move_to_the_nearest_record(history: xr.Dataset):
    figure = attention_bars(history, 1, epochs=[110, 99, 990])
    assert [ax.get_title("left") for ax in figure.axes] == ["epoch 100", "epoch 1,000"]
    bars = [bar for bar in figure.axes[1].patches if isinstance(bar, Rectangle)]
    heights = sorted(bar.get_height() for bar in bars)
    assert heights == pytest.approx([0, 0, 0, 0.5, 0.5])


def test_mass_bars_say_how_much_is_informative():
    figure = mass_bars([0.4, 0.1, 0.3, 0.1, 0.1], [True, False, True, False, False], title="Look")
    text = words(figure)
    assert "Look" in text and "70% of the attention" in text
    with pytest.raises(SettingError, match="informative"):
        mass_bars([0.5, 0.5], [True])


@pytest.mark.parametrize("epochs", [[], list(range(7))])
def test_too_many_or_no_epochs_are_refused(history: xr.Dataset, epochs: list[int]):
    with pytest.raises(SettingError, match="epochs"):
        attention_bars(history, epochs=epochs)


# --- in a notebook ------------------------------------------------------------------------


def test_a_picture_shows_itself_with_and_without_the_inline_backend():
    import nbformat
    from nbclient import NotebookClient

    build = "from tests.viz.small import small_history\nfrom grokkit import viz\n"
    cells = [
        build + "viz.seed_curves(small_history())",
        "import matplotlib.pyplot as plt\nviz.seed_curves(small_history())",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        shown = [output for output in cell.outputs if "image/png" in output.get("data", {})]
        assert len(shown) == 1 == len(cell.outputs)
