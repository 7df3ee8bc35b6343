"""The pictures of the widgets: what each says of its state, in words and in lines."""

import io

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from grokkit import runs, theory, viz
from grokkit.diagnostics import fit_inverse, hindsight_conditions
from grokkit.engine import RunSpec
from grokkit.errors import SettingError
from grokkit.model.norm import PLACEMENTS, NormPlacement
from grokkit.runtime import train
from grokkit.viz.beta_sweep import arrival_times, inverse_law
from grokkit.viz.embedding_circle import strongest_wave
from grokkit.viz.pathways import NAMES, entropies_when_memorised, what_reads
from grokkit.viz.style import fixed_picture, style
from tests.viz.figures import labelled, titled, words
from tests.viz.placements import placement_history
from tests.viz.small import small_history, small_path
from tests.viz.sweep import BETAS, sweep_history


@pytest.fixture(scope="module")
def classroom() -> xr.Dataset:
    return runs.load("classroom")


def look_at(figure: Figure) -> str:
    """The text of a figure that fits into a notebook: size in dots, size in bytes."""
    data = viz.png(figure)
    with Image.open(io.BytesIO(data)) as image:
        assert 850 <= image.width <= 1000 and image.height <= 560
    assert len(data) < 40_000
    return words(figure)


def test_the_axes_of_a_fixed_picture_stand_where_they_stood():
    def corners(label: str) -> tuple[float, ...]:
        with style():
            figure = fixed_picture(6, 3)
            ax = figure.subplots()
            ax.set_ylabel(label)
            viz.png(figure)
        return tuple(ax.get_position().extents)

    assert corners("short") == corners("much, much\nlonger")


# --- routing ------------------------------------------------------------------------------

weights = st.floats(0.01, 1.0)


@settings(max_examples=50)
@given(st.lists(weights, min_size=5, max_size=5), weights)
def test_the_distance_lies_between_its_bounds_for_every_attention(mine: list[float], other: float):
    routing = viz.Routing(weights=np.array(mine), other_weight=other)
    lower, upper = routing.bounds
    assert lower - 1e-12 <= routing.distance <= upper + 1e-12
    h, h_other = routing.pooled
    assert routing.distance == pytest.approx(np.linalg.norm(h - h_other), abs=1e-12)
    # h lies alpha_i of the way from m to v_i.
    way = routing.centroid + routing.masses[0] * (routing.pair[0] - routing.centroid)
    np.testing.assert_allclose(h, way)


def test_the_routing_plane_says_what_holds():
    text = look_at(viz.routing_plane(viz.Routing()))
    assert "Too close together: ‖h − h′‖ is 0.26, and the MLP needs 0.57" in text
    assert "holds in x and holds in x′" in text
    kl = theory.kl_divergence(np.array([0.5, 0, 0.5, 0, 0]), np.full(5, 0.2))
    assert f"KL {kl:.2f} nats in x" in text
    sharp = viz.Routing(weights=np.array([1.0, 0.01, 1.0, 0.01, 0.01]), other_weight=0.05)
    text = look_at(viz.routing_plane(sharp))
    assert "Far enough apart" in text and "holds in x and is broken in x′" in text
    assert "0: says nothing" in text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"weights": np.zeros(5)}, "weights"),
        ({"other_weight": 0.0}, "weights"),
        ({"position": 1}, "position"),
        ({"position": 9}, "position"),
    ],
)
def test_a_routing_that_makes_no_sense_is_refused(change: dict, field: str):
    with pytest.raises(SettingError, match=f"{field}: got"):
        viz.Routing(**change)


# --- the condition plane ------------------------------------------------------------------


def test_the_plane_says_which_conditions_hold_and_where_they_come_from(classroom: xr.Dataset):
    seen = hindsight_conditions(classroom).isel(run=0)
    start = look_at(viz.condition_plane(classroom, 0, 0))
    # Both hold before anything is learned: they do not say that it is.
    assert "Epoch 0: B holds, N holds; 2% of the unseen answers right" in start
    assert f"as measured when phase 4 began, at {int(seen.epoch):,}" in start
    assert f"γ = {float(seen.gamma):.2g}" in start and f"r_max = {float(seen.r_max):.3g}" in start
    assert "B does not hold, N does not hold" in words(viz.condition_plane(classroom, 0, 500))
    assert "B holds, N does not hold" in words(viz.condition_plane(classroom, 0, 3500))
    assert "B holds, N holds; 99%" in words(viz.condition_plane(classroom))


def test_without_thresholds_the_plane_says_so(classroom: xr.Dataset):
    early = classroom.sel(epoch=slice(0, 1000))
    text = look_at(viz.condition_plane(early, 1))
    assert "B is not known, N is not known" in text and "on a run that groks only" in text
    assert "r_max =" not in text
    given = words(viz.condition_plane(early, 1, gamma=0.1, r_max=30.0))
    assert "γ and r_max as given" in given and "r_max = 30 or less" in given


@pytest.mark.slow
def test_a_recording_without_what_gamma_is_made_of_has_a_radius_still(classroom: xr.Dataset):
    bare = classroom.drop_vars(["value_radius", "starvation_bound", "score_gradient_max"])
    text = look_at(viz.condition_plane(bare))
    assert "B is not known, N holds" in text
    assert "r_max as measured when phase 4 began, at 4,850, γ not on record" in text
    text = words(viz.condition_plane(bare, gamma=0.01))
    assert "B holds, N holds" in text and "r_max as measured" in text
    assert "r_max as given, γ not on record" in words(viz.condition_plane(bare, r_max=30.0))
    assert "its bounds not recorded" in look_at(viz.run_at_epoch(bare, 0, 500))


@pytest.mark.parametrize("change", [{"gamma": 0.0}, {"r_max": -1.0}, {"run": 5}])
def test_the_plane_refuses_what_makes_no_sense(classroom: xr.Dataset, change: dict):
    with pytest.raises(SettingError, match=f"{next(iter(change))}: got"):
        viz.condition_plane(classroom, **change)


# --- one run at one epoch -----------------------------------------------------------------


def test_a_run_at_an_epoch_shows_attention_accuracy_and_gradient(classroom: xr.Dataset):
    figure = viz.run_at_epoch(classroom, 2, 2000)
    text = look_at(figure)
    now = classroom.isel(run=2).sel(epoch=2000, method="nearest")
    assert f"Epoch {int(now.epoch):,}, phase 2 (plateau): 100% of the train answers" in text
    assert f"KL {float(now.kl):.2f} nats" in text and "seed 2" in text
    gradient = titled(figure, "What pulls")
    assert (labelled(gradient, "measured")[1] < labelled(gradient, "bound (4)")[1]).all()


@pytest.mark.slow
def test_every_record_of_a_trained_run_can_be_drawn():
    spec = RunSpec().with_(p=5, train_fraction=0.5, epochs=20, record_every=10, d_mlp=8)
    history = train(spec, progress=False)
    for epoch in (0, 10, 20):
        assert f"Epoch {epoch}" in look_at(viz.run_at_epoch(history, 0, epoch))
        assert f"Epoch {epoch}" in look_at(viz.condition_plane(history, 0, epoch))


def test_a_run_that_was_joined_to_longer_ones_shows_its_own_positions():
    spec = RunSpec().with_(p=5, train_fraction=0.5, epochs=10, record_every=10, d_mlp=8)
    both = train([spec, spec.with_(length=12)], progress=False)
    for run, positions in ((0, 5), (1, 12)):
        figure = viz.run_at_epoch(both, run, 10)
        bars = [bar for bar in titled(figure, "Where it looks").patches]
        assert len(bars) == positions
        look_at(figure)
        assert "epoch 10" in words(viz.attention_bars(both, run))


# --- phases by hand -----------------------------------------------------------------------


def test_the_rule_is_in_the_picture_only_when_it_is_revealed():
    history = small_history()
    asked = look_at(viz.phases_by_hand(history, 0, [50, 300, 600]))
    assert "2 plateau" in asked and "?" in asked and "rule (dotted)" not in asked
    shown = look_at(viz.phases_by_hand(history, 0, [50, 300, 600], reveal=True))
    assert "1|2: 100, you said 50;  2|3: 300, you said 300;  3|4: 400, you said 600" in shown


def test_a_border_that_the_records_do_not_reach_is_not_reached():
    early = small_history().sel(epoch=slice(0, 200))
    shown = words(viz.phases_by_hand(early, 0, [100, 100, 200], reveal=True))
    assert "3|4: not reached, you said 200" in shown


@pytest.mark.parametrize("borders", [[1, 2], [3, 2, 1], [0, 5, 4]])
def test_borders_that_run_backward_are_refused(borders: list[int]):
    with pytest.raises(SettingError, match="borders: got"):
        viz.phases_by_hand(small_history(), 0, borders)


# --- a sweep of beta ----------------------------------------------------------------------


def test_a_sweep_is_the_runs_that_differ_in_seed_and_strength_alone():
    sweep = sweep_history()
    others = sweep_history((1.0,), learning_rate=0.01)
    mixed = xr.concat([sweep, others], dim="run")
    found = viz.find_sweep(mixed)
    assert found.betas == BETAS
    assert found.left_out == 2 and found.history.sizes["run"] == 8
    assert "2 runs of other settings not shown" in look_at(viz.beta_picture(found, 0.1))


def test_the_law_and_the_point_of_the_chosen_strength_are_in_words():
    found = viz.find_sweep(sweep_history())
    fit = inverse_law(found)
    figure = viz.beta_picture(found, 0.1)
    text = look_at(figure)
    assert f"the line says {fit.at(0.1):,.0f}" in text
    assert f"grok epoch = {fit.floor:,.0f} + {fit.slope:,.3g}/β, R² {fit.r_squared:.2f}" in text
    x, y = labelled(titled(figure, "1/β"), "floor + slope/β")
    np.testing.assert_allclose(y, fit.floor + fit.slope * x)


def test_the_mark_at_which_attention_has_arrived_is_named_and_its_early_epochs_are_seen():
    figure = viz.beta_picture(viz.find_sweep(sweep_history()), 0.1)
    assert f"80% of the oracle: {np.log(1 / 0.8):.2g} nats" in look_at(figure)
    ax = titled(figure, "KL(oracle")
    first, middle = ax.transAxes.inverted().transform(ax.transData.transform([(0, 0), (100, 0)]))
    assert middle[0] - first[0] > 0.25  # of an axis of more than 1,000 epochs


def test_the_fit_leaves_runs_without_a_prior_out_and_counts_the_censored():
    history = sweep_history()
    never = history.kl_strength.values == 0.01
    accuracy = history.test_accuracy.where(~xr.DataArray(never, dims="run"), 0.5)
    found = viz.find_sweep(history.assign(test_accuracy=accuracy))
    fit = inverse_law(found)
    assert (fit.used, fit.censored) == (4, 2)
    expected = fit_inverse([0.1, 0.1, 1.0, 1.0], [1200.0, 1300.0, 1050.0, 1150.0])
    assert fit.slope == pytest.approx(expected.slope)
    text = look_at(viz.beta_picture(found, 0.01))
    assert "groks not within the runs (median; 0 of 2 runs do)" in text
    assert "2 not grokked left out" in text


def test_the_claimed_time_goes_as_one_over_beta_with_one_factor_for_all():
    times = arrival_times(viz.find_sweep(sweep_history(seeds=3)))
    beta = times.kl_strength.values
    product = (times.claimed * beta).values[beta > 0]
    np.testing.assert_allclose(product, product[0])
    weakest = times.isel(run=beta == 0.01)
    np.testing.assert_allclose(weakest.claimed, weakest.measured)
    assert np.isnan(times.claimed.values[beta == 0]).all()


def test_every_strength_can_be_drawn_and_no_other():
    found = viz.find_sweep(sweep_history())
    for beta in found.betas:
        assert f"β = {beta:g}" in look_at(viz.beta_picture(found, beta))
    with pytest.raises(SettingError, match=r"beta: got 0\.5; allowed: 0, 0\.01, 0\.1, 1"):
        viz.beta_picture(found, 0.5)


# --- where a LayerNorm stands -------------------------------------------------------------


def norms_drawn(figure: Figure) -> int:
    """How many norms the block has in the picture."""
    return sum(text.get_text() == "LN" for text in figure.axes[0].texts)


@pytest.mark.parametrize("name", NAMES)
def test_a_block_has_every_norm_of_its_placement(name: NormPlacement):
    figure = viz.placement_picture(placement_history(("none", name)), name)
    place = PLACEMENTS[name]
    expected = place.scores + place.values + place.mlp + 2 * place.added + 2 * place.stream
    assert norms_drawn(figure) == expected
    assert what_reads(place)[1:] in look_at(figure)


def test_what_reads_a_norm_is_said_in_words():
    assert what_reads(PLACEMENTS["A^v"]) == (
        "q and k read the stream, v reads the norm of the stream, the MLP reads the stream"
    )
    assert "q, k and v read the norm of the stream" in what_reads(PLACEMENTS["M+A*"])
    assert "normed after each addition" in what_reads(PLACEMENTS["post"])
    assert len({what_reads(place) for place in PLACEMENTS.values()}) == len(PLACEMENTS)


def test_a_placement_is_told_with_its_median_and_that_without_a_norm():
    history = placement_history(("none", "A*", "M"))
    text = look_at(viz.placement_picture(history, "M"))
    assert "before the MLP (M): groks at 1,050 (2/2); without at 3,050 (2/2)" in text
    assert "without" not in look_at(viz.placement_picture(history, "none"))
    alone = history.isel(run=history.seed.values == 0)
    late = alone.assign(test_accuracy=alone.test_accuracy.where(alone.norm == "M", 0.5))
    assert "without does not grok (0/1)" in look_at(viz.placement_picture(late, "M"))


def test_the_entropy_is_that_of_the_record_at_which_a_run_memorised():
    history = placement_history(("none", "M"))
    bare, normed = viz.find_placements(history).values()
    at = history.map_entropy.sel(epoch=100)
    np.testing.assert_allclose(entropies_when_memorised(bare), at[history.norm == "none"])
    np.testing.assert_allclose(entropies_when_memorised(normed), at[history.norm == "M"])
    never = history.assign(train_accuracy=0 * history.train_accuracy)
    assert np.isnan(entropies_when_memorised(never)).all()
    assert "when memorised" not in look_at(viz.placement_picture(never, "M")).splitlines()[1]


def test_runs_that_differ_in_more_than_the_norm_are_refused(classroom: xr.Dataset):
    history = placement_history(("none", "M"))
    other = placement_history(("M",), weight_decay=0.5)
    with pytest.raises(SettingError, match="history: got 'runs that differ in weight_decay'"):
        viz.find_placements(xr.concat([history, other], dim="run"))
    with pytest.raises(SettingError, match=r"runs without map_entropy.*features = True"):
        viz.find_placements(classroom)
    with pytest.raises(SettingError, match=r"placement: got 'post'; allowed: none, M"):
        viz.placement_picture(history, "post")


# --- while it is trained ------------------------------------------------------------------


def test_a_run_that_has_not_begun_says_how_to_begin():
    assert "Nothing trained yet: press Start" in look_at(viz.live_curves(None, 3000))


def test_the_axis_of_epochs_is_as_long_as_the_whole_run():
    history = small_history(1)
    short = viz.live_curves(history.isel(epoch=slice(3)), 1000, "below", before=history)
    text = look_at(short)
    assert "Not memorised by epoch 50" in text and "below" in text
    for title in ("What it gets right", "Where it looks"):
        assert titled(short, title).get_xlim() == (0, 1000)


# --- the numbers on their circle ----------------------------------------------------------


def test_the_strongest_wave_of_a_circle_is_its_frequency_and_its_plane():
    circle = small_path(p=11, k=3).table[-1]
    wave = strongest_wave(circle)
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


def joined(figure: Figure) -> np.ndarray:
    """The corners of the line that joins the numbers."""
    line = titled(figure, "The plane of").get_lines()[0]
    return np.asarray(line.get_xydata())


def test_at_the_end_the_numbers_lie_on_the_circle_and_are_joined_as_they_follow_each_other():
    figure = viz.embedding_circle(small_path(p=11, k=3))
    text = look_at(figure)
    assert "Epoch 400: 100% of the unseen right; 100% of the embedding lies in this plane" in text
    assert "at step 4 " in text  # 3 x 4 = 1 modulo 11
    assert "The plane of frequency 3" in text
    points = joined(figure)
    assert len(points) == 12
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 2, atol=1e-6)
    sides = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(sides, 4 * np.sin(np.pi / 11), atol=1e-6)


def test_the_plane_of_the_end_stands_still_and_the_other_goes_with_the_epoch():
    path = small_path(p=23, k=5)
    still, own = (viz.embedding_circle(path, 0, plane) for plane in ("end", "now"))
    assert "frequency 5, of the last epoch" in words(still)
    assert f"frequency {strongest_wave(path.table[0]).frequency}, of this epoch" in words(own)
    # Of random numbers a plane of their own holds more than one that was fixed beforehand.
    share = [int(words(one).split("% of the embedding")[0].split()[-1]) for one in (still, own)]
    assert share[1] > share[0]


def test_by_logarithm_0_is_left_out_and_an_even_walk_can_be_joined():
    figure = viz.embedding_circle(small_path(p=11), 0, order="logarithm")
    numbers = {text.get_text() for text in titled(figure, "The plane of").texts}
    assert numbers == {str(n) for n in range(1, 11)}
    assert len(joined(figure)) == 11


def test_an_epoch_is_moved_to_the_nearest_that_was_kept():
    assert "Epoch 200:" in words(viz.embedding_circle(small_path(), 160))
