"""Epochs that may not have come: nothing is dropped, and nothing is said that is not known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.experiments import Times

NAN = np.nan


def of(*values: float, last: float | list[float] = 1000.0) -> Times:
    """Times of some seeds; ``nan`` is censored."""
    return Times(np.array(values, dtype=float), np.broadcast_to(last, len(values)).astype(float))


# --- which came sooner --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "its", "factor", "known"),
    [
        (100, 200, 1.0, True),
        (200, 100, 1.0, False),
        (100, 100, 1.0, True),  # by that epoch, not before it
        (100, 200, 0.5, True),
        (101, 200, 0.5, False),
        (240, 200, 1.25, True),
        (900, NAN, 1.0, True),  # the other's lies beyond 1000
        (900, NAN, 0.9, True),
        (900, NAN, 0.8, None),  # 0.8 of something beyond 1000: beyond 800 is all that is known
        (1100, NAN, 1.2, True),
        (NAN, 900, 1.0, False),  # mine lies beyond 1000
        (NAN, 900, 1.1, False),
        (NAN, 900, 1.2, None),  # 1080 might still be met
        (NAN, NAN, 1.0, None),
        (NAN, NAN, 0.1, None),
        (NAN, NAN, 10.0, None),
    ],
)
def test_which_came_sooner_is_said_only_if_it_is_known(
    mine: float, its: float, factor: float, known: bool | None
):
    assert of(mine, last=1000).sooner(of(its, last=1000), factor) == [known]


@pytest.mark.parametrize(
    ("mine", "its", "known"), [(100, 200, True), (190, 200, False), (100, NAN, None)]
)
def test_nothing_is_foretold_where_nothing_came(mine: float, its: float, known: bool | None):
    assert of(mine).foretells(of(its), 0.9) == [known]


def test_runs_of_different_length_are_compared_by_their_own_last_epoch():
    assert of(NAN, last=500).sooner(of(400, last=16_000)) == [False]
    assert of(NAN, last=500).sooner(of(600, last=16_000)) == [None]
    assert of(700, last=16_000).sooner(of(NAN, last=500)) == [None]


# What is true of two runs if they were trained for ever, and what their records show of it.
epochs = st.integers(1, 2000).map(lambda n: 25.0 * n)
factors = st.sampled_from([0.5, 2 / 3, 0.8, 0.9, 1.0, 1.25, 2.0])


def recorded(truth: float, last: float) -> Times:
    return of(truth if truth <= last else NAN, last=last)


@given(epochs, epochs, epochs, epochs, factors)
def test_a_longer_run_never_takes_back_what_was_said_of_a_shorter(
    mine: float, my_last: float, its: float, its_last: float, factor: float
):
    (said,) = recorded(mine, my_last).sooner(recorded(its, its_last), factor)
    assert said in (None, mine <= factor * its)
    longest = max(mine, its)
    assert recorded(mine, longest).sooner(recorded(its, longest), factor) == [mine <= factor * its]


@given(epochs, epochs, epochs, epochs, st.sampled_from([(0.75, 1.33), (1.6, 2.5), (5.0, 20.0)]))
def test_a_ratio_is_said_to_lie_between_bounds_only_if_it_does(
    mine: float, my_last: float, its: float, its_last: float, bounds: tuple[float, float]
):
    low, high = bounds
    (said,) = recorded(mine, my_last).ratio_within(recorded(its, its_last), low, high)
    assert said in (None, low <= mine / its <= high)
    if mine <= my_last and its <= its_last:
        assert said is not None


@pytest.mark.parametrize(
    ("mine", "its", "known"),
    [
        (400, 200, True),
        (300, 200, False),
        (600, 200, False),
        (NAN, 200, False),  # beyond 1000 is more than 2.5 x 200
        (NAN, 500, None),  # beyond 2 x: may be 2.4 x or 3 x
        (100, NAN, False),  # of something beyond 1000 this is less than 1.6 x
        (1900, NAN, None),
        (NAN, NAN, None),
    ],
)
def test_a_ratio_with_a_censored_epoch_may_be_known_to_be_too_large_or_too_small(
    mine: float, its: float, known: bool | None
):
    assert of(mine).ratio_within(of(its), 1.6, 2.5) == [known]


def test_a_ratio_in_the_bounds_of_which_an_end_is_censored_stays_open():
    assert of(NAN, last=3000).ratio_within(of(1000), 1.6, 2.5) == [False]
    assert of(NAN, last=2000).ratio_within(of(1000), 1.6, 2.5) == [None]


@pytest.mark.parametrize(("mine", "its"), [(100, 0), (NAN, 0)])
def test_over_an_epoch_of_zero_there_is_no_ratio(mine: float, its: float):
    assert of(mine).ratio_within(of(its), 1.6, 2.5) == [None]


# --- runs that were cut short -------------------------------------------------------------


def test_an_epoch_has_come_has_not_or_may_yet_have_come():
    times = Times(np.array([100, NAN, NAN]), np.array([500.0] * 3), np.array([False, True, False]))
    assert times.reached == [True, False, None]
    assert times.after(of(50, 50, 50)).reached == [True, False, None]


# --- waits --------------------------------------------------------------------------------


def test_a_wait_is_counted_from_its_beginning_and_censored_at_its_own_last_epoch():
    wait = of(900, NAN, NAN).after(of(100, 300, NAN))
    np.testing.assert_array_equal(wait.values, [800, NAN, NAN])
    np.testing.assert_array_equal(wait.last, [900, 700, NAN])
    assert wait.sooner(of(800, 600, 600)) == [True, False, None]


# --- in words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (of(100, 300, 200), "200 [100 to 300] (3/3)"),
        (of(100, 300, NAN), "300 [100 to never] (2/3)"),
        (of(100, NAN, NAN), "later than 1,000 [100 to never] (1/3)"),
        (of(100, 200, NAN, NAN, last=1000), "later than 600 [100 to never] (2/4)"),
        (of(100, NAN, NAN, last=[9, 500, 800]), "later than 500 [100 to never] (1/3)"),
        (of(NAN, NAN), "never in 1,000 (0/2)"),
        (of(NAN, NAN, last=[500, 1000]), "never in 500 to 1,000 (0/2)"),
        (of(2500), "2,500 (1/1)"),
        (of(NAN, last=NAN), "never in any run (0/1)"),
    ],
)
def test_a_median_with_censored_runs_says_so(times: Times, words: str):
    assert str(times) == words


@given(st.lists(st.tuples(epochs, epochs), min_size=1, max_size=7))
def test_the_median_is_right_or_a_lower_bound(pairs: list[tuple[float, float]]):
    truth = float(np.median([when for when, _ in pairs]))
    last = max(last for _, last in pairs)
    seen = Times(
        np.array([when if when <= last else NAN for when, _ in pairs]),
        np.full(len(pairs), last),
    )
    assert seen.at_least <= truth
    assert seen.median == truth or not np.isfinite(seen.median)
    come = sum(when <= last for when, _ in pairs)
    assert seen.reached.count(True) == come
    assert f"({come}/{len(pairs)})" in str(seen)
