"""What is particular to one widget: its examples, its menus, its rules."""

import numpy as np
import pytest

from grokkit import runs, theory
from grokkit.errors import SettingError
from grokkit.viz import Routing
from grokkit.viz.one_run import one_run
from grokkit.widgets import (
    ConditionPlane,
    EmbeddingCircle,
    KLExplorer,
    PathwayPicker,
    PhaseFinder,
    RoutingPlayground,
    RunScrubber,
)
from grokkit.widgets.routing_playground import EXAMPLES
from tests.viz.placements import placement_history
from tests.viz.small import small_history, small_path
from tests.viz.sweep import BETAS, sweep_history


def pictures_drawn(widget, act) -> int:
    """How often a widget shows a new picture while something happens."""
    drawn = []
    widget.image.observe(drawn.append, "value")
    act()
    return len(drawn)


# --- RoutingPlayground --------------------------------------------------------------------


@pytest.fixture
def playground() -> RoutingPlayground:
    return RoutingPlayground()


def test_an_example_moves_all_sliders_and_redraws_once(playground: RoutingPlayground):
    name = "nearly the oracle"

    def choose() -> None:
        playground.examples.value = name

    assert pictures_drawn(playground, choose) == 1
    assert tuple(slider.value for slider in playground.weights) == EXAMPLES[name][0]
    assert playground.state.other_weight == EXAMPLES[name][1]


def test_the_examples_are_what_they_are_called(playground: RoutingPlayground):
    seen = {}
    for name in EXAMPLES:
        playground.examples.value = name
        seen[name] = playground.state
    met, apart = seen["Bᵧ holds, yet h and h′ meet"], seen["Bᵧ is broken, yet they are apart"]
    assert met.structural.all() and met.distance < 0.1 < met.needed
    assert not apart.structural.all() and apart.distance > apart.needed
    assert (seen["nearly the oracle"].divergence < 0.1).all()
    np.testing.assert_allclose(seen["attention is uniform"].attention, 0.2)


def test_the_sliders_reach_every_weight_that_it_is_given():
    routing = Routing(weights=np.array([0.01, 3.0, 0.2, 0.2, 0.2]), gamma=0.1)
    state = RoutingPlayground(routing).state
    np.testing.assert_array_equal(state.weights, routing.weights)
    assert state.gamma == 0.1


# --- the scrubbers ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ConditionPlane, RunScrubber])
def test_it_begins_where_the_run_has_memorised_and_knows_every_record(kind):
    widget = kind()
    history = runs.load("classroom")
    assert widget.epoch.value == 275
    assert [label for label, _ in widget.run.options] == [f"seed {i}" for i in range(5)]
    epochs = one_run(history, 0).epoch.values.tolist()
    assert [epoch for _, epoch in widget.epoch.options] == epochs
    assert widget.play.value == widget.epoch.index
    assert widget.play.max == len(epochs) - 1


def test_another_run_brings_its_own_records_and_redraws_once():
    widget = RunScrubber()
    widget.epoch.value = 7900

    def choose() -> None:
        widget.run.value = 3

    assert pictures_drawn(widget, choose) == 1
    assert widget.epoch.value == 7050  # its last
    assert widget.play.max == len(widget.epoch.options) - 1


def test_runs_of_an_experiment_are_called_by_arm_and_seed():
    history = small_history(2).assign_coords(arm=("run", ["slow", "fast"]))
    menu = PhaseFinder(history).run
    assert [label for label, _ in menu.options] == ["slow, seed 0", "fast, seed 1"]


def test_one_run_alone_needs_no_menu():
    assert RunScrubber(runs.load("classroom").isel(run=[2])).run.layout.display == "none"
    assert PhaseFinder(small_history(1).isel(run=0)).run.layout.display == "none"


def test_the_thresholds_can_be_given():
    widget = ConditionPlane(gamma=0.2, r_max=35)
    assert "γ and r_max as given" in widget.words.value
    with pytest.raises(SettingError, match="gamma: got -1"):
        ConditionPlane(gamma=-1.0)


def test_a_run_that_is_not_there_is_refused():
    with pytest.raises(SettingError, match=r"run: got 5; allowed: .*0\.\.4"):
        RunScrubber(run=5)


# --- KLExplorer ---------------------------------------------------------------------------


def test_the_slider_has_the_strengths_that_there_are():
    widget = KLExplorer(sweep_history())
    assert [value for _, value in widget.beta.options] == list(BETAS)
    widget.beta.value = 0.01
    assert "β = 0.01: groks at 3,050" in widget.words.value


def test_a_history_without_a_sweep_is_refused_in_one_line():
    with pytest.raises(SettingError, match=r"history: got .*kl_strength 0.* two or more") as caught:
        KLExplorer(runs.load("classroom"))
    assert "\n" not in str(caught.value)


# --- PathwayPicker ------------------------------------------------------------------------


def test_the_slider_has_the_placements_that_there_are_in_words():
    widget = PathwayPicker(placement_history(("none", "A^v", "M")), "M")
    assert widget.placement.options == (
        ("none", "none"),
        ("before v (A^v)", "A^v"),
        ("before the MLP (M)", "M"),
    )
    assert "before the MLP (M): groks at 1,050 (2/2)" in widget.words.value
    widget.placement.value = "none"
    assert "No LayerNorm: groks at 3,050" in widget.words.value


def test_a_placement_that_is_not_there_is_refused():
    with pytest.raises(SettingError, match=r"placement: got 'post'; allowed: none, M"):
        PathwayPicker(placement_history(("none", "M")), "post")


# --- PhaseFinder --------------------------------------------------------------------------


@pytest.fixture
def finder() -> PhaseFinder:
    return PhaseFinder(small_history())


def test_a_border_takes_along_those_it_is_moved_past(finder: PhaseFinder):
    first, second, third = finder.borders
    third.value = 500
    second.value = 300

    def drag() -> None:
        first.value = 400

    assert pictures_drawn(finder, drag) == 1
    assert [slider.value for slider in finder.borders] == [400, 400, 500]
    third.value = 100
    assert [slider.value for slider in finder.borders] == [100, 100, 100]


def test_the_rule_is_hidden_until_it_is_asked_for(finder: PhaseFinder):
    assert "Where do plateau" in finder.words.value
    finder.borders[0].value = 125
    assert "125" not in finder.words.value
    finder.reveal.value = True
    assert "1|2: 100, you said 125" in finder.words.value
    finder.run.value = 1
    assert finder.reveal.value is False
    assert "Where do plateau" in finder.words.value


def test_the_bounds_of_the_playground_are_those_of_the_theory(playground: RoutingPlayground):
    state = playground.state
    lower, upper = state.bounds
    h, other = state.pooled
    assert lower <= np.linalg.norm(h - other) <= upper
    assert state.distance == pytest.approx(np.linalg.norm(h - other))
    masses = state.masses
    assert masses[1] == pytest.approx(theory.softmax(np.log(np.full(5, 0.2)))[0])


# --- EmbeddingCircle ----------------------------------------------------------------------


def test_it_begins_at_the_end_of_the_sum_and_knows_every_epoch_that_was_kept():
    widget = EmbeddingCircle()
    epochs = widget.paths["sum"].epochs.tolist()
    assert [epoch for _, epoch in widget.epoch.options] == epochs
    assert widget.epoch.value == epochs[-1]
    assert widget.play.max == len(epochs) - 1
    assert widget.run.options == ("sum", "product")
    assert "x+y modulo 47" in widget.words.value


def test_another_embedding_keeps_the_epoch_as_near_as_it_can_and_redraws_once():
    widget = EmbeddingCircle()
    widget.epoch.index = 3
    was = widget.epoch.value

    def choose() -> None:
        widget.run.value = "product"

    assert pictures_drawn(widget, choose) == 1
    kept = widget.paths["product"].epochs
    assert widget.epoch.value == int(kept[(kept - was).abs().argmin()])
    assert "xy modulo 47" in widget.words.value


def test_ones_own_embeddings_need_no_menu():
    own = EmbeddingCircle({"mine": small_path()})
    assert own.run.layout.display == "none"
    own.order.value = "1, g, g², …"
    assert "order of the logarithm" in own.words.value
    with pytest.raises(SettingError, match=r"paths: got \{\}; allowed: the embeddings of one run"):
        EmbeddingCircle({})
