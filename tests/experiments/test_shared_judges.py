"""The judges that several rows share, on runs whose curves are drawn by hand."""

import numpy as np
import pytest

from grokkit.experiments import Claim, Times, inductive_bias, resnet_grokking
from grokkit.experiments.judges import (
    Judge,
    ends_below,
    falls_with,
    grok_ranks,
    groks,
    in_order,
    memorised_first,
    memorises,
    never_groks,
    no_sooner,
    one_norm,
    sooner,
)
from tests.experiments.drawn import EPOCHS, drawn, judged, outcomes

NEVER = 999
NAN = np.nan


def reaches(epoch: int, value: float = 1.0) -> list[float]:
    """An accuracy that is a tenth until an epoch."""
    return [value if now >= epoch else 0.1 for now in EPOCHS]


def grokking(**epochs: int) -> dict[str, dict[str, list[float]]]:
    """Arms, by the epoch at which each groks."""
    return {name: {"test_accuracy": reaches(epoch)} for name, epoch in epochs.items()}


# --- sooner, and no sooner ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "its", "factor", "yes", "help_is_none"),
    [
        (100, 400, 0.5, True, False),
        (200, 400, 0.5, True, False),  # by that epoch: exactly at the threshold is in time
        (300, 400, 0.5, False, True),
        (400, 100, 1.0, False, True),
        (300, NEVER, 0.8, True, False),  # 0.8 of what lies beyond 400
        (400, NEVER, 0.8, None, None),
        (NEVER, 400, 0.8, False, True),
        (NEVER, NEVER, 0.8, None, None),  # there was nothing to help
    ],
)
def test_sooner_is_by_a_share_of_the_other_s_epoch_and_no_sooner_is_its_contrary(
    mine: int, its: int, factor: float, yes: bool | None, help_is_none: bool | None
):
    runs = drawn(grokking(it=mine, other=its))
    assert outcomes(sooner("it", "other", factor)(runs)) == [yes] * 2
    assert outcomes(no_sooner("it", "other", factor)(runs)) == [help_is_none] * 2


def test_sooner_is_asked_at_both_accuracies():
    almost = {"test_accuracy": [0.0, 0.96, 0.96, 0.96, 1.0]}
    runs = drawn({"it": almost, **grokking(other=200)})
    assert outcomes(sooner("it", "other")(runs)) == [False, True]


@pytest.mark.parametrize(
    ("after", "holds"), [([1.0, 1.0], True), ([0.8, 0.8], True), ([0.7, 1.0], False)]
)
def test_a_network_that_falls_back_has_not_grokked(after: list[float], holds: bool):
    runs = drawn({"it": {"test_accuracy": [0.0, 0.1, 1.0, *after]}})
    assert outcomes(groks("it", accuracy=0.95)(runs)) == [holds]


def test_where_both_were_cut_short_no_help_is_not_known():
    runs = drawn(grokking(it=NEVER, other=NEVER), cut={"it": 200, "other": 200})
    assert outcomes(no_sooner("it", "other")(runs)) == [None] * 2


# --- reached or not -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test_accuracy", "cut", "reached"),
    [
        ([0.0, 0.1, 0.2, 0.6, 0.95], 400, True),  # exactly at the threshold
        ([0.0, 0.1, 0.2, 0.6, 0.94], 400, False),
        ([0.0, 0.1, 0.2, 0.6, 1.0], 300, None),
        ([0.0, 0.1, 1.0, 1.0, 1.0], 300, True),
    ],
)
def test_an_arm_groks_or_does_not_or_was_cut_short(
    test_accuracy: list[float], cut: int, reached: bool | None
):
    runs = drawn({"it": {"test_accuracy": test_accuracy}}, cut={"it": cut})
    never = None if reached is None else not reached
    assert outcomes(groks("it", accuracy=0.95)(runs)) == [reached]
    assert outcomes(never_groks("it", accuracy=0.95)(runs)) == [never]


@pytest.mark.parametrize(
    ("train_accuracy", "cut", "holds"),
    [
        ([0.0, 0.5, 0.9, 0.99, 0.9], 400, True),
        ([0.0, 0.5, 0.9, 0.98, 0.98], 400, False),
        ([0.0, 0.5, 0.9, 0.98, 1.0], 300, None),
    ],
)
def test_an_arm_memorises_at_a_train_accuracy_of_99_per_cent(
    train_accuracy: list[float], cut: int, holds: bool | None
):
    unseen = [0.0] * 5
    arms = {"it": {"train_accuracy": train_accuracy, "test_accuracy": unseen}}
    assert outcomes(memorises("it")(drawn(arms, cut={"it": cut}))) == [holds]


@pytest.mark.parametrize(
    ("values", "cut", "below"),
    [
        ([0.9, 0.9, 0.9, 0.9, 0.09], 400, True),  # only the end counts
        ([0.0, 0.0, 0.0, 0.0, 0.1], 400, False),  # below, not at
        ([0.0, 0.0, 0.0, 0.0, NAN], 400, None),
        ([0.0, 0.0, 0.0, 0.0, 0.0], 300, None),
    ],
)
def test_what_ends_below_a_limit_is_judged_by_the_end_of_a_whole_run(
    values: list[float], cut: int, below: bool | None
):
    runs = drawn({"it": {"mass": values, "test_accuracy": [0.0] * 5}}, cut={"it": cut})
    assert outcomes(ends_below("it", variable="mass", limit=0.1)(runs)) == [below]


def test_a_claim_of_several_parts_has_those_of_all_its_judges():
    runs = drawn(grokking(it=NEVER))
    claim = Claim("it/both", "It does.", "ours", memorises("it"), groks("it"))
    assert outcomes(claim.judge(runs)) == [True, False]


# --- one norm -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norms", "one"),
    [
        ((20.0, 30.0, 25.0), True),  # one and a half times, exactly
        ((20.0, 31.0, 25.0), False),
        ((20.0, 25.0, None), None),  # None: never groks
        ((20.0, 31.0, None), False),  # whatever the third would be
        ((None, None, None), None),
    ],
)
def test_one_norm_is_that_of_the_grok_and_asked_of_every_arm(
    norms: tuple[float | None, ...], one: bool | None
):
    arms = {
        f"{place}": {
            # Only the record at the grok counts, at 300.
            "mlp_norm": [99.0, 99.0, 99.0, 1.0 if norm is None else norm, 1.0],
            "test_accuracy": reaches(NEVER if norm is None else 300),
        }
        for place, norm in enumerate(norms)
    }
    near, _ = one_norm(*arms)(drawn(arms))
    assert near.outcomes == (one,)


@pytest.mark.parametrize(("start", "nearer"), [(25.0, False), (35.0, True)])
def test_norms_at_the_grok_are_held_against_those_at_memorising(start: float, nearer: bool):
    norms = {"one": [9.0, 20.0, 20.0, 20.0, 20.0], "other": [9.0, start, 28.0, 28.0, 28.0]}
    arms = {name: {"mlp_norm": one, "test_accuracy": reaches(300)} for name, one in norms.items()}
    assert outcomes(one_norm(*arms)(drawn(arms))) == [True, nearer]


# --- orders -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "its", "last", "known"),
    [
        (NAN, 300, 400, [NAN, 300]),  # beyond 400, so later than 300
        (NAN, 300, 200, [NAN, NAN]),  # beyond 200: later than 300 or not
        (NAN, 300, 300, [NAN, 300]),
        (100, 300, 200, [100, 300]),
    ],
)
def test_a_censored_epoch_is_put_last_only_where_it_is_known_to_be(
    mine: float, its: float, last: float, known: list[float]
):
    pairs = ((mine, last), (its, 400))
    times = [Times(np.array([float(when)]), np.array([float(end)])) for when, end in pairs]
    np.testing.assert_array_equal(in_order(times)[:, 0], known)


def test_of_a_run_that_was_cut_short_no_rank_is_known():
    arms = grokking(a=400, b=200, c=NEVER)
    settings = {"a": 2.0, "b": 3.0, "c": 1.0, "not at this size": 9.0}
    assert grok_ranks(drawn(arms), settings) == [pytest.approx(-1.0)]
    assert np.isnan(grok_ranks(drawn(arms, cut={"c": 300}), settings)).all()


RATE = ", rate / a^2"
DECAYS, SCALES = ("decay 0.5", "decay 1", "decay 1.5"), ("a 0.5", "a 1", "a 1.5")


@pytest.mark.parametrize(
    ("judge", "names", "rising", "falling"),
    [
        (falls_with("decay", dict(zip(DECAYS, (0.5, 1.0, 1.5), strict=True))), DECAYS, False, True),
        (inductive_bias.orders("", -1), SCALES, False, True),
        (inductive_bias.orders(RATE, +1), (f"a 0.5{RATE}", "a 1", f"a 1.5{RATE}"), True, False),
    ],
    ids=["decay", "a alone", "a with its rate"],
)
def test_a_setting_orders_the_groks_in_the_direction_that_is_claimed(
    judge: Judge, names: tuple[str, ...], rising: bool, falling: bool
):
    def said(*epochs: int) -> list[bool | None]:
        return outcomes(judge(drawn(grokking(**dict(zip(names, epochs, strict=True))))))

    assert said(100, 200, NEVER) == [rising]  # censored is latest
    assert said(NEVER, 200, 100) == [falling]
    assert said(200, 100, 300) == [False]
    assert said(200, 200, 200) == [False]  # no order is none
    assert said(NEVER, NEVER, NEVER) == [None]


@pytest.mark.parametrize(
    ("fast", "base", "within"),
    [
        (200, 100, True),  # a factor of two, exactly
        (100, 200, True),
        (300, 100, False),
        (100, 300, False),
        (NEVER, 100, False),
        (NEVER, 300, None),
        (NEVER, NEVER, None),
    ],
)
def test_a_tenfold_rate_is_within_a_factor_of_two_either_way(
    fast: int, base: int, within: bool | None
):
    runs = drawn(grokking(**{"rate x10, decay / 10": fast, "decay 1": base}))
    assert judged(inductive_bias.PACE, "product", runs) == [within]


# --- memorised before ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memorised", "grokked", "by_half", "by_a_quarter"),
    [
        (100, 400, True, True),
        (200, 400, True, False),  # half, exactly
        (300, 400, False, False),
        (300, 100, False, False),  # understood first
        (NEVER, 400, False, False),
        (100, NEVER, True, True),
        (300, NEVER, None, None),
        (NEVER, NEVER, None, None),
    ],
)
def test_there_is_a_gap_where_it_is_memorised_in_a_share_of_the_epochs_to_the_grok(
    memorised: int, grokked: int, by_half: bool | None, by_a_quarter: bool | None
):
    curves = {"train_accuracy": reaches(memorised), "test_accuracy": reaches(grokked)}
    runs = drawn({"with twins": curves})
    assert outcomes(memorised_first("with twins")(runs)) == [by_half]
    assert outcomes(memorised_first("with twins", 0.25)(runs)) == [by_a_quarter]


@pytest.mark.parametrize(("end", "right"), [(0.9, True), (0.89, False), (NAN, None)])
def test_twins_are_answered_where_nine_tenths_are_right_at_the_end(end: float, right: bool | None):
    runs = drawn({"with twins": {"mirrored_accuracy": [1.0, 1.0, 1.0, 1.0, end]}})
    assert outcomes(resnet_grokking.answers_twins(runs)) == [right]
