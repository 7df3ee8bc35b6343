"""The judges of what attention looks at, on runs whose curves are drawn by hand."""

import numpy as np
import pytest
import xarray as xr

from grokkit.experiments import distractors, geometry, routing
from grokkit.experiments import norm_vs_structure as both
from grokkit.experiments.judges import Judge
from tests.experiments.drawn import EPOCHS, Curve, drawn, outcomes

NAN, FOREVER = np.nan, 999

WAITING: dict[str, list[float]] = {"test_accuracy": [0.0] * 5}
"""A run that memorises, and has not understood by its end."""


# --- norm and structure -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "radius", "matched"),
    [(36.0, 30.0, True), (24.0, 30.0, True), (37.0, 30.0, False), (23.0, 30.0, False)],
)
def test_the_radius_is_matched_to_a_fifth_where_the_baseline_groks(
    norm: float, radius: float, matched: bool
):
    arms = {
        "decay 1": {"mlp_norm": [99.0, 99.0, 99.0, 99.0, norm]},
        "norm held": {"mlp_norm": [radius] * 5},
    }
    assert outcomes(both.radius_is_matched(drawn(arms))) == [matched]
    arms["decay 1"] |= WAITING
    assert outcomes(both.radius_is_matched(drawn(arms))) == [None]


@pytest.mark.parametrize(
    ("share", "cut", "off"), [(0.49, 400, True), (0.51, 400, False), (0.0, 300, None)]
)
def test_attention_is_off_where_half_of_what_is_uniform_is_left_at_the_end(
    share: float, cut: int, off: bool | None
):
    uniform = 2 / 3  # two operands and a query
    mass = [0.0, 0.0, 0.0, 0.9, share * uniform]
    runs = drawn({"it": WAITING | {"informative_mass": mass}}, cut={"it": cut})
    assert outcomes(both.off_the_informative("it")(runs)) == [off]


@pytest.mark.parametrize(
    ("beaten", "holds", "which", "decides"),
    [
        (0.36, 0.3, ({}, WAITING), True),
        (0.34, 0.3, ({}, WAITING), False),
        (0.2, 0.3, ({}, WAITING), False),  # less, not more
        (0.36, 0.3, ({}, {}), None),  # both grok: there is nothing to explain
        (0.36, 0.3, (WAITING, WAITING), None),
        (0.36, 0.3, (WAITING, {}), None),
    ],
)
def test_more_mass_decides_where_the_adversary_that_leaves_it_is_the_one_that_is_beaten(
    beaten: float, holds: float, which: tuple[dict, dict], decides: bool | None
):
    arms = {
        name: {"informative_mass": [0.9] * 4 + [mass], **curves}
        for name, mass, curves in zip(
            ("norm held, adversarial 0.1", "norm held, adversarial"),
            (beaten, holds),
            which,
            strict=True,
        )
    }
    assert outcomes(both.more_mass_decides(drawn(arms))) == [decides]


# --- heads, distractors, longer sequences ------------------------------------------------


def looks(*heads: tuple[float, float, float]) -> xr.DataArray:
    """Where each head looks at the end: at two operands and the query. Before, elsewhere."""
    end = np.array(heads)
    before = np.zeros_like(end)
    return xr.DataArray(np.stack([before] * 4 + [end]), dims=("epoch", "head", "pos"))


@pytest.mark.parametrize(
    ("mass", "together", "apart"),
    [
        (looks((0.8, 0.1, 0.1), (0.1, 0.8, 0.1)), True, True),  # one head for each operand
        (looks((0.4, 0.4, 0.2), (0.4, 0.4, 0.2)), True, False),  # each for itself
        (looks((0.8, 0.1, 0.1), (0.8, 0.1, 0.1)), False, True),  # the second is left out
        (looks((0.1, 0.1, 0.8), (0.1, 0.1, 0.8)), False, True),  # the query does not count
    ],
)
def test_heads_meet_a_condition_together_and_not_each_for_itself(
    mass: xr.DataArray, together: bool, apart: bool
):
    arm = {"4 heads": {"attention_mass": mass}}
    assert outcomes(geometry.by_summed_mass(drawn(arm))) == [together, apart]


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        ((400, 300, 200), True),
        ((FOREVER, 300, 200), True),  # later than all that came
        ((200, 300, 400), False),
        ((300, 300, 300), False),
        ((FOREVER, FOREVER, FOREVER), None),
    ],
)
def test_wider_is_sooner_where_the_epochs_of_the_structure_fall_with_the_width(
    found: tuple[int, int, int], ordered: bool | None
):
    widths = ("d 16", "d 32", "d 64")
    arms = {
        name: {"kl": [0.1 if now >= when else 1.0 for now in EPOCHS]}
        for name, when in zip(widths, found, strict=True)
    }
    others = {"4 heads": {}}
    assert outcomes(geometry.structure_by_width(drawn(arms | others))) == [ordered]


@pytest.mark.parametrize(
    ("mass", "soon"),
    [
        ([0.1, 0.5, 0.8, 0.8, 0.8], True),  # by 200, exactly
        ([0.1, 0.5, 0.7, 0.9, 0.9], False),
        ([NAN] * 5, None),
    ],
)
def test_structure_is_found_at_once_within_a_few_epochs(mass: list[float], soon: bool | None):
    runs = drawn({"it": {"informative_mass": mass}})
    assert outcomes(distractors.structure_at_once("it", 200)(runs)) == [soon]


@pytest.mark.parametrize(("end", "trapped"), [(0.49, True), (0.5, False), (NAN, None)])
def test_a_trapped_network_looks_at_the_distractors_at_its_end(end: float, trapped: bool | None):
    runs = drawn({"random": {"informative_mass": [0.9] * 4 + [end]}})
    assert outcomes(distractors.on_the_distractors(runs)) == [trapped]


def longer(end: float) -> xr.DataArray:
    """An accuracy at the longest sequences, at the end; at all others it is 1."""
    table = np.ones((5, 2))
    table[-1, 1] = end
    return xr.DataArray(table, dims=("epoch", "extra"), coords={"extra": ["length 9", "length 12"]})


@pytest.mark.parametrize(
    ("end", "test_accuracy", "keeps"),
    [
        (0.76, 0.95, True),  # eight tenths of it
        (0.7, 0.95, False),
        (0.1, 0.1, None),  # it has nothing to keep, and nothing to lose
        (0.01, 0.1, None),
    ],
)
def test_what_is_left_at_the_longest_is_a_share_of_what_there_is(
    end: float, test_accuracy: float, keeps: bool | None
):
    arm = {"extra_accuracy": longer(end), "test_accuracy": [0.0, 0.0, 0.0, 0.0, test_accuracy]}
    loses = None if keeps is None else not keeps
    assert outcomes(routing.keeps("it", share=0.8)(drawn({"it": arm}))) == [keeps]
    assert outcomes(routing.keeps("it", share=0.8, holds=False)(drawn({"it": arm}))) == [loses]


@pytest.mark.parametrize(
    ("mine", "its", "more"), [(0.56, 0.5, True), (0.54, 0.5, False), (0.5, 0.6, False)]
)
def test_more_is_kept_where_the_longest_are_answered_by_a_twentieth_more(
    mine: float, its: float, more: bool
):
    arms = {"it": {"extra_accuracy": longer(mine)}, "other": {"extra_accuracy": longer(its)}}
    assert outcomes(routing.keeps_more("it", "other")(drawn(arms))) == [more]


# --- runs that were cut short -------------------------------------------------------------

FOUND_NOTHING: dict[str, Curve] = {
    **WAITING,
    "informative_mass": [0.1] * 5,
    "attention_mass": looks((0.1, 0.1, 0.8)),
}


@pytest.mark.parametrize(
    ("judge", "arm"),
    [
        (geometry.by_summed_mass, "4 heads"),
        (distractors.structure_at_once("it", 300), "it"),
        (distractors.on_the_distractors, "random"),
    ],
    ids=["heads", "at once", "trapped"],
)
def test_where_a_run_that_was_cut_short_would_have_looked_is_not_known(judge: Judge, arm: str):
    assert None not in outcomes(judge(drawn({arm: FOUND_NOTHING})))
    cut = drawn({arm: FOUND_NOTHING}, cut={arm: 200})
    assert set(outcomes(judge(cut))) == {None}


def test_what_a_run_had_found_before_it_was_cut_short_it_had_found():
    runs = drawn({"it": WAITING | {"informative_mass": [0.1, 0.9, 0.9, 0.9, 0.9]}}, cut={"it": 200})
    assert outcomes(distractors.structure_at_once("it", 300)(runs)) == [True]
