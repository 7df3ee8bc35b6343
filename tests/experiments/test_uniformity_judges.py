"""The judges of token uniformity, on runs whose curves are drawn by hand."""

import numpy as np
import pytest

from grokkit.experiments import compressibility
from grokkit.experiments.uniformity import below_null, by_mirror_images, drops, falls_before
from tests.experiments.drawn import drawn, outcomes


@pytest.mark.parametrize(
    ("med", "falls"),
    [
        ([2.0, 1.8, 1.0, 0.5, 0.5], True),  # half of the way at 200
        ([2.0, 2.0, 1.9, 1.8, 0.5], False),  # at 400, after half of the pairs are right
        ([1.0, 1.2, 1.5, 1.6, 1.4], False),  # it only rises: at its least when it starts
        ([1.0, 1.0, 1.0, 1.0, 1.0], False),
        ([1.0, 3.0, 0.4, 3.0, 3.0], True),  # first up, then down
    ],
)
def test_what_falls_is_half_way_down_before_half_of_the_pairs_are_right(
    med: list[float], falls: bool
):
    assert outcomes(falls_before("it", variable="med")(drawn({"it": {"med": med}}))) == [falls]


@pytest.mark.parametrize(("last", "below"), [(0.7, True), (0.9, False), (0.95, False)])
def test_even_is_what_ends_below_the_least_of_the_shuffled_orders(last: float, below: bool):
    best = [1.0, 0.2, 0.2, 0.2, last]  # only the end counts
    runs = drawn({"it": {"best_med": best, "best_med_null": [0.9] * 5}})
    assert outcomes(below_null("it", order="natural")(runs)) == [below]


@pytest.mark.parametrize(
    ("test_accuracy", "oscillates"),
    [
        ([0.0, 0.4, 0.2, 0.6, 1.0], False),  # a drop before 0.5 is none
        ([0.0, 0.6, 0.45, 0.9, 1.0], True),
        ([0.0, 0.6, 0.55, 0.9, 1.0], False),
        ([0.0, 0.9, 1.0, 1.0, 0.85], True),
        ([0.0, 0.1, 0.2, 0.3, 0.1], None),  # it never came to 0.5
    ],
)
def test_what_oscillates_falls_back_by_a_tenth_once_it_was_half_right(
    test_accuracy: list[float], oscillates: bool | None
):
    runs = drawn({"it": {"test_accuracy": test_accuracy}})
    assert outcomes(drops("it")(runs)) == [oscillates]


@pytest.mark.parametrize(
    ("mirrored", "others", "holds"),
    [(1.0, 0.05, True), (0.9, 0.1, True), (0.89, 0.05, False), (1.0, 0.11, False)],
)
def test_by_mirror_images_is_nearly_all_of_these_and_hardly_any_other(
    mirrored: float, others: float, holds: bool
):
    ends = {"mirrored_accuracy": mirrored, "unmirrored_accuracy": others}
    runs = drawn({"it": {name: [0.0, 0.0, 0.0, 0.0, end] for name, end in ends.items()}})
    assert outcomes(by_mirror_images("it")(runs)) == [holds]


def test_the_least_or_the_last_of_a_run_that_was_cut_short_is_not_known():
    """It ends at 300 of 400 epochs: what it would have come to is left open."""
    curves = {
        "med": [2.0, 0.5, 0.4, 0.4, 0.4],
        "best_med": [1.0, 0.5, 0.4, 0.4, 0.4],
        "best_med_null": [0.9] * 5,
        "test_accuracy": [0.0, 0.1, 0.6, 0.7, 0.8],
        "effective_rank": [9.0, 8.0, 5.0, 5.0, 5.0],
    }
    whole, cut = drawn({"it": curves}), drawn({"it": curves}, cut={"it": 300})
    judges = (falls_before("it", variable="med"), below_null("it", order="natural"), drops("it"))
    assert [outcomes(judge(whole)) for judge in judges] == [[True], [True], [False]]
    assert [outcomes(judge(cut)) for judge in judges] == [[None]] * 3
    assert compressibility.arrives(whole, "it", "effective_rank").values == [200]
    assert np.isnan(compressibility.arrives(cut, "it", "effective_rank").values).all()


def test_a_curve_of_nothing_is_neither_down_nor_up():
    nothing = drawn({"it": {"med": [np.nan] * 5}})
    assert outcomes(falls_before("it", variable="med")(nothing)) == [None]
