"""What is particular to one widget: its numbers, its menus, its rules."""

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from grokkit import runs, theory
from grokkit.diagnostics import fit_inverse, hindsight_conditions
from grokkit.errors import SettingError
from grokkit.model.norm import PLACEMENTS, NormPlacement
from grokkit.viz.one_run import one_run
from grokkit.viz.scene import Reader, around
from grokkit.widgets import (
    ConditionPlane,
    EmbeddingCircle,
    KLExplorer,
    PathwayPicker,
    PhaseFinder,
    RoutingPlayground,
    RunScrubber,
)
from grokkit.widgets.embedding_circle import strongest_wave
from grokkit.widgets.kl_explorer import Bundle, arrival_times, find_sweep, inverse_law
from grokkit.widgets.pathway_picker import NAMES, block, entropies_when_memorised, what_reads
from grokkit.widgets.routing_playground import EXAMPLES, INFORMATIVE, routing
from tests.viz.placements import placement_history
from tests.viz.small import small_history, small_path
from tests.viz.sweep import BETAS, sweep_history


def labelled(widget, label: str, row: int = 0, panel: int = 0) -> tuple[list, list]:
    """The data of the one mark of a panel whose label begins so."""
    read = widget.read
    marks = [read.pick(one) for one in read.pick(widget.scene["rows"][row][panel]["marks"])]
    (one,) = [m for m in marks if m and str(read.pick(m.get("label"))).startswith(label)]
    return read.pick(one["x"]), read.pick(one["y"])


# --- RoutingPlayground --------------------------------------------------------------------

weights = st.floats(0.01, 1.0)


@settings(max_examples=50)
@given(st.lists(weights, min_size=5, max_size=5), weights)
def test_the_distance_is_within_its_bound_for_every_attention(mine: list[float], other: float):
    out = routing(np.array(mine), other)
    assert out["distance"] <= out["upper"] + 1e-12
    h, h2, m = (np.array(out[name]) for name in ("h", "h2", "m"))
    assert out["distance"] == pytest.approx(np.linalg.norm(h - h2), abs=1e-12)
    # h lies alpha_i of the way from m to v_i.
    np.testing.assert_allclose(h, m + out["share0"] * (np.array(out["way_x"][1::2] + out["way_y"][1::2]) - m))  # fmt: skip # noqa: E501


def test_the_examples_are_what_they_are_called():
    seen = {name: routing(np.array(w), other) for name, (w, other) in EXAMPLES.items()}
    met, apart = seen["Bᵧ holds, yet h and h′ meet"], seen["Bᵧ is broken, yet they are apart"]
    uniform, oracle = seen["attention is uniform"], theory.oracle_attention(INFORMATIVE)
    assert met["in_x"] == met["in_other"] == "holds" and met["distance"] < 0.1 < met["upper"]
    assert "is broken" in (apart["in_x"], apart["in_other"])
    assert apart["distance"] > uniform["distance"]
    assert theory.kl_divergence(oracle, np.array(seen["nearly the oracle"]["alpha"])) < 0.1
    np.testing.assert_allclose(uniform["alpha"], 0.2)


def test_that_weights_are_renormalised_is_said_beside_each_and_above():
    widget = RoutingPlayground()
    widget.move(w1=1.0)
    read = Reader(widget.scene, widget.state, widget.outputs)
    assert read.pick(read.controls["w1"]["readout"]) == "1.00 → α 0.56"
    assert "divided by the sum of the weights" in widget.headline


# --- the scrubbers ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classroom() -> xr.Dataset:
    return runs.load("classroom")


@pytest.fixture(scope="module")
def plane(classroom: xr.Dataset) -> ConditionPlane:
    return ConditionPlane(classroom)


@pytest.fixture(scope="module")
def scrubber(classroom: xr.Dataset) -> RunScrubber:
    return RunScrubber(classroom)


def test_it_begins_where_the_run_has_memorised_and_knows_every_record(scrubber, classroom):
    read = Reader(scrubber.scene)
    assert read.value("epoch") == 275
    assert read.pick(read.controls["run"]["labels"]) == [f"seed {i}" for i in range(5)]
    for run in range(5):
        epochs = Reader(scrubber.scene, {"run": run}).pick(read.controls["epoch"]["values"])
        assert epochs == one_run(classroom, run).epoch.values.tolist()


def test_a_run_at_an_epoch_shows_attention_accuracy_and_gradient(scrubber, classroom):
    scrubber.move(run="seed 2")
    now = one_run(classroom, 2).sel(epoch=2000, method="nearest")
    scrubber.move(epoch=int(now.epoch))
    said = f"Epoch {int(now.epoch):,}, phase 2 (plateau): 100% of the train answers"
    assert said in scrubber.headline
    assert f"score gradient {float(now.score_gradient_max):.2g}" in scrubber.headline
    bound, measured = (labelled(scrubber, n, panel=2)[1] for n in ("at most (", "measured"))
    both = [(b, m) for b, m in zip(bound, measured, strict=True) if b is not None and m is not None]
    assert all(m < b for b, m in both) and len(both) > 50


def test_the_plane_says_which_conditions_hold_and_where_they_come_from(plane, classroom):
    seen = hindsight_conditions(classroom).isel(run=0)
    for epoch, words in (
        (0, "Epoch 0: B holds, N holds; 2% of the unseen answers right"),
        (500, "B does not hold, N does not hold"),
        (3500, "B holds, N does not hold"),
        (int(one_run(classroom, 0).epoch[-1]), "B holds, N holds; 99%"),
    ):
        plane.move(epoch=int(one_run(classroom, 0).epoch.sel(epoch=epoch, method="nearest")))
        assert words in plane.headline
    assert f"as measured when phase 4 began, at {int(seen.epoch):,}" in plane.headline


def test_without_thresholds_the_plane_says_so(classroom: xr.Dataset):
    early = classroom.sel(epoch=slice(0, 1000)).isel(run=[1])
    text = ConditionPlane(early).headline
    assert "B is not known, N is not known" in text and "on a run that groks only" in text
    assert "r_max as measured" in ConditionPlane(classroom.drop_vars("lipschitz")).headline


def test_runs_of_an_experiment_are_called_by_arm_and_seed():
    history = small_history(2).assign_coords(arm=("run", ["slow", "fast"]))
    names = PhaseFinder(history).read.controls["run"]["labels"]
    assert names == ["slow, seed 0", "fast, seed 1"]


def test_one_run_alone_needs_no_menu():
    assert PhaseFinder(small_history(1).isel(run=0)).read.controls["run"]["hidden"]


def test_the_rule_is_told_when_it_is_revealed_and_not_before():
    finder = PhaseFinder(small_history())
    finder.move(border2=50, border3=300, border4=600)
    assert "Where do plateau" in finder.headline and "100" not in finder.headline
    finder.move(reveal="shown")
    said = "1|2: 100, you said 50; 2|3: 300, you said 300; 3|4: 400, you said 600"
    assert said in finder.headline
    early = PhaseFinder(small_history().sel(epoch=slice(0, 200)))
    early.move(reveal="shown")
    assert "3|4: not reached" in early.headline


# --- KLExplorer ---------------------------------------------------------------------------


def test_a_sweep_is_the_runs_that_differ_in_seed_and_strength_alone():
    others = sweep_history((1.0,), learning_rate=0.01)
    widget = KLExplorer(xr.concat([sweep_history(), others], dim="run"))
    assert widget.sweep.betas == BETAS
    assert widget.sweep.left_out == 2 and widget.sweep.history.sizes["run"] == 8
    assert "2 runs of other settings not shown" in widget.headline


def test_the_law_and_the_point_of_the_chosen_strength_are_in_words():
    widget = KLExplorer(sweep_history())
    widget.move(beta=0.01)
    assert "β = 0.01: groks at 3,050" in widget.headline
    fit = inverse_law(widget.sweep)
    assert f"the line says {fit.at(0.01):,.0f}" in widget.headline
    assert f"grok epoch = {fit.floor:,.0f} + {fit.slope:,.3g}/β, R² {fit.r_squared:.2f}" in (
        widget.headline
    )
    x, y = labelled(widget, "floor + slope", panel=2)
    np.testing.assert_allclose(y, fit.floor + fit.slope * np.array(x), rtol=1e-3)
    with pytest.raises(SettingError, match=r"beta: got 0\.5"):
        widget.move(beta=0.5)


def test_the_fit_leaves_runs_without_a_prior_out_and_counts_the_censored():
    history = sweep_history()
    never = xr.DataArray(history.kl_strength.values == 0.01, dims="run")
    history = history.assign(test_accuracy=history.test_accuracy.where(~never, 0.5))
    fit = inverse_law(find_sweep(history))
    assert (fit.used, fit.censored) == (4, 2)
    expected = fit_inverse([0.1, 0.1, 1.0, 1.0], [1200.0, 1300.0, 1050.0, 1150.0])
    assert fit.slope == pytest.approx(expected.slope)
    widget = KLExplorer(history)
    widget.move(beta=0.01)
    assert "groks not within the runs (median; 0 of 2 runs do)" in widget.headline


def test_the_claimed_time_goes_as_one_over_beta_with_one_factor_for_all():
    times = arrival_times(find_sweep(sweep_history(seeds=3)))
    beta = times.kl_strength.values
    product = (times.claimed * beta).values[beta > 0]
    np.testing.assert_allclose(product, product[0])
    weakest = times.isel(run=beta == 0.01)
    np.testing.assert_allclose(weakest.claimed, weakest.measured)
    assert np.isnan(times.claimed.values[beta == 0]).all()


def test_a_history_without_a_sweep_is_refused_in_one_line(classroom: xr.Dataset):
    with pytest.raises(SettingError, match=r"history: got .*kl_strength 0.* two or more") as caught:
        KLExplorer(classroom)
    assert "\n" not in str(caught.value)


def test_a_bundle_keeps_the_first_and_the_last_epoch_and_medians_of_records():
    history = sweep_history()
    bundle = Bundle(history, [np.arange(2)], most=20)
    assert bundle.epochs[0] == 0 and bundle.epochs[-1] == 4000 and len(bundle.epochs) <= 20
    middle = bundle.lines(history.test_accuracy, "beta", {"color": "#000000"})[-1]["y"]["of"][0]
    expected = history.test_accuracy.isel(run=[0, 1]).median("run").sel(epoch=bundle.epochs)
    np.testing.assert_allclose(middle, expected, atol=1e-4)


# --- PathwayPicker ------------------------------------------------------------------------


def test_the_slider_has_the_placements_that_there_are_in_words():
    widget = PathwayPicker(placement_history(("none", "A^v", "M")))
    widget.move(placement="before the MLP (M)")
    names = ["none", "before v (A^v)", "before the MLP (M)"]
    assert widget.read.controls["placement"]["labels"] == names
    assert "before the MLP (M): groks at 1,050 (2/2); without at 3,050 (2/2)" in widget.headline
    widget.move(placement="none")
    assert "No LayerNorm: groks at 3,050" in widget.headline and "without" not in widget.headline


@pytest.mark.parametrize("name", NAMES)
def test_a_block_has_every_norm_of_its_placement(name: NormPlacement):
    place = PLACEMENTS[name]
    expected = place.scores + place.values + place.mlp + 2 * place.added + 2 * place.stream
    assert sum(one.get("text") == "LN" for one in block(place)) == expected


def test_what_reads_a_norm_is_said_in_words():
    assert what_reads(PLACEMENTS["A^v"]) == (
        "q and k read the stream, v reads the LayerNorm of the stream, the MLP reads the stream"
    )
    assert "LayerNorm after each addition" in what_reads(PLACEMENTS["post"])
    assert len({what_reads(place) for place in PLACEMENTS.values()}) == len(PLACEMENTS)


def test_the_entropy_is_that_of_the_record_at_which_a_run_memorised():
    history = placement_history(("none", "M"))
    at = history.map_entropy.sel(epoch=100)
    np.testing.assert_allclose(entropies_when_memorised(history), at)
    never = history.assign(train_accuracy=0 * history.train_accuracy)
    assert np.isnan(entropies_when_memorised(never)).all()
    assert "when memorised" not in PathwayPicker(never).headline


def test_runs_that_differ_in_more_than_the_norm_are_refused(classroom: xr.Dataset):
    history = placement_history(("none", "M"))
    other = placement_history(("M",), weight_decay=0.5)
    with pytest.raises(SettingError, match="history: got 'runs that differ in weight_decay'"):
        PathwayPicker(xr.concat([history, other], dim="run"))
    with pytest.raises(SettingError, match=r"runs without map_entropy.*features = True"):
        PathwayPicker(classroom)


# --- EmbeddingCircle ----------------------------------------------------------------------


def test_the_strongest_wave_of_a_circle_is_its_frequency_and_its_plane():
    wave = strongest_wave(small_path(p=11, k=3).table[-1])
    assert wave.frequency == 3 and wave.share == pytest.approx(1)
    axes = torch.eye(16, dtype=torch.float64)[[4, 7]]
    torch.testing.assert_close(wave.plane, axes, atol=1e-6, rtol=0)  # cosine first


@settings(max_examples=25)
@given(st.integers(3, 23), st.integers(0, 1000))
def test_a_plane_is_orthonormal_and_its_share_is_one_of_all_power(n: int, seed: int):
    walk = torch.randn(n, 8, generator=torch.Generator().manual_seed(seed))
    wave = strongest_wave(walk)
    torch.testing.assert_close(wave.plane @ wave.plane.T, torch.eye(2).double())
    assert 1 <= wave.frequency < n / 2 and 0 < wave.share <= 1 + 1e-9


def test_at_the_end_the_numbers_lie_on_the_circle_and_are_joined_as_they_follow_each_other():
    widget = EmbeddingCircle({"mine": small_path(p=11, k=3)})
    said = "Epoch 400: 100% of the unseen right; 100% of the embedding lies in this plane"
    assert said in widget.headline and "at step 4 " in widget.headline  # 3 x 4 = 1 modulo 11
    assert widget.read.controls["run"]["hidden"]
    points = np.array([widget.read.pick(widget.scene["data"][name]) for name in "xy"]).T
    points = points[around(11, 3)]
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 2, atol=0.01)
    sides = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(sides, 4 * np.sin(np.pi / 11), atol=0.02)


def test_the_plane_of_the_end_stands_still_and_the_other_goes_with_the_epoch():
    path = small_path(p=23, k=5)
    widget = EmbeddingCircle({"mine": path})
    widget.move(epoch=0)
    title = widget.scene["rows"][0][0]["title"]
    assert "frequency 5, of the last epoch" in widget.read.pick(title)
    still = int(widget.read.pick("{share}").rstrip("%"))
    widget.move(plane="of the epoch shown")
    own = strongest_wave(path.table[0]).frequency
    assert f"frequency {own}, of this epoch" in widget.read.pick(title)
    # Of random numbers a plane of their own holds more than one that was fixed beforehand.
    assert int(widget.read.pick("{share}").rstrip("%")) > still


def test_by_logarithm_0_is_left_out():
    widget = EmbeddingCircle({"mine": small_path(p=11)})
    widget.move(order="1, g, g², …")
    assert "order of the logarithm" in widget.headline
    words = widget.scene["rows"][0][0]["marks"][-1]
    names = widget.read.pick(words["text"])
    # 2 is the least primitive root of 11. Every third number is named.
    assert names == ["1", "", "", "8", "", "", "9", "", "", "6"]


def test_no_embeddings_are_refused():
    with pytest.raises(SettingError, match=r"paths: got \{\}; allowed: the embeddings of one run"):
        EmbeddingCircle({})
