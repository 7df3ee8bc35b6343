"""The judges of the starvation bound, on runs whose curves are drawn by hand."""

import numpy as np
import pytest

from grokkit.experiments import MissingArm, starvation_bound
from tests.experiments.drawn import drawn, outcomes

NAN = np.nan
ROUNDED = 1 + 2**-11
"""What a share of exactly 1 may have become in a recording."""


def bounds(**curves: list[float]) -> dict[str, dict[str, list[float]]]:
    """A baseline of which every gradient is a hundredth of every bound, but for some curves."""
    ones = [1.0] * 5
    usual = {
        "score_gradient": [0.01] * 5,
        "score_gradient_max": [0.01] * 5,
        "lipschitz": ones,
        "value_radius": ones,
        "logit_margin": ones,
        "min_informative_mass": ones,
        "starvation_worst": [0.01] * 5,
        "starvation_worst_linear": [0.01] * 5,
        "starvation_bound": ones,
        "starvation_bound_linear": ones,
        "starvation_bound_position": ones,
    }
    return {"baseline": {**usual, **curves}}


HELD = starvation_bound.holds_everywhere("baseline")


@pytest.mark.parametrize(
    ("broken", "parts"),
    [
        ({}, [True, True, True]),
        ({"starvation_worst": [0.1, ROUNDED, 0.1, 0.1, 0.1]}, [True, True, True]),
        ({"starvation_worst": [0.1, 1.01, 0.1, 0.1, 0.1]}, [False, True, True]),  # one record
        ({"starvation_worst_linear": [1.01, 0.1, 0.1, 0.1, 0.1]}, [True, True, False]),
        ({"starvation_bound_position": [1.0, 1.0, 0.009, 1.0, 1.0]}, [True, False, True]),
        ({"starvation_bound": [1.0, 1.0, 0.0, 1.0, 1.0]}, [False, True, True]),  # of a bound of 0
        ({"starvation_worst": [NAN] * 5}, [None, True, True]),  # says nothing
        ({"score_gradient_max": [2.0] * 5}, [False, False, False]),  # the mean breaks it
    ],
)
def test_a_bound_holds_where_no_record_breaks_it_in_the_worst_case_or_in_the_mean(broken, parts):
    assert outcomes(HELD(drawn(bounds(**broken)))) == parts


def test_without_records_of_the_bounds_it_was_not_run():
    with pytest.raises(MissingArm, match="records of the bounds"):
        HELD(drawn({"baseline": {}}))


LOSS = [9.0, 1.0, 0.1, 0.01, 0.001]


def falling(power: float) -> dict[str, dict[str, list[float]]]:
    """A gradient that falls with a power of the loss once it is memorised, at 100."""
    gradient = [0.5, *(loss**power for loss in LOSS[1:])]
    return bounds(
        train_loss=LOSS,
        score_gradient=gradient,
        score_gradient_max=gradient,
        starvation_bound=[loss**0.5 for loss in LOSS],
        starvation_bound_linear=LOSS,
    )


@pytest.mark.parametrize(
    ("power", "root", "linear"),
    [
        (0.5, True, False),
        (0.41, True, False),
        (0.7, False, False),
        (1.0, False, True),
        (1.19, False, True),
        (1.3, False, False),
        (0.0, False, False),
        (-0.5, False, False),  # it rises
    ],
)
def test_the_power_is_that_of_the_loss_from_memorising_on(power: float, root: bool, linear: bool):
    runs = drawn(falling(power))
    assert outcomes(starvation_bound.square_root(runs)) == [root]
    first, nearer = outcomes(starvation_bound.linear(runs))
    assert (first, nearer) == (linear, power > 0.75)  # nearer to 1 than to a half


def test_of_a_run_that_never_memorises_no_power_is_known():
    runs = drawn({"baseline": {**falling(1.0)["baseline"], "train_accuracy": [0.5] * 5}})
    assert outcomes(starvation_bound.square_root(runs)) == [None]
    assert outcomes(starvation_bound.linear(runs)) == [None, None]
    assert outcomes(starvation_bound.vacuous(runs)) == [None]


@pytest.mark.parametrize(
    ("gradient", "cut", "near"),
    [
        ([0.1, 0.0, 0.0, 0.0, 0.0], 400, True),  # a tenth, exactly, and at some record
        ([0.09] * 5, 400, False),
        ([0.0, 0.0, 0.0, 0.0, 0.5], 300, None),  # cut short before it came near
        ([0.0, 0.5, 0.0, 0.0, 0.0], 300, True),
    ],
)
def test_a_bound_is_near_within_a_factor_of_ten(gradient, cut: int, near: bool | None):
    unseen = [0.0] * 5
    arms = bounds(score_gradient_max=gradient, test_accuracy=unseen)
    runs = drawn(arms, cut={"baseline": cut})
    assert outcomes(starvation_bound.tight(runs)) == [near]


GAMMA = 4 * np.sqrt(2) * 0.1 / (5 * 2 * 0.5)
"""Four times sqrt(2) margin / (L 2R), for the numbers below."""


@pytest.mark.parametrize(("share", "fails"), [(0.99, True), (1.01, False)])
def test_gamma_is_missed_by_what_has_just_memorised_where_its_least_mass_is_smaller(
    share: float, fails: bool
):
    # Memorised at 100; but the first record that has a margin at all is 200.
    mass = share * GAMMA
    arms = bounds(
        logit_margin=[0.1, -0.1, 0.1, 0.1, 0.1],
        lipschitz=[1.0, 1.0, 5.0, 1.0, 1.0],
        value_radius=[1.0, 1.0, 0.5, 1.0, 1.0],
        min_informative_mass=[1 - mass, 1 - mass, mass, 1 - mass, 1 - mass],
    )
    assert outcomes(starvation_bound.vacuous(drawn(arms))) == [fails]
