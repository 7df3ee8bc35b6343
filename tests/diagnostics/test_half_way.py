"""The way of a signal, and when half of it is done."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import Transition, half_rise_epoch, measure_transition
from grokkit.errors import SettingError

EPOCH = np.array([0, 10, 20, 30, 40])


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([9.0, 0, 4, 6, 10], 0.5, 30),  # before memorising it does not count
        ([9.0, 0, 5, 6, 10], 0.5, 20),  # the mark itself is enough
        ([9.0, 0, 2, 6, 10], 0.25, 30),
        ([9.0, 0, 4, 6, 10], 1.0, 40),
        ([9.0, 10, 6, 4, 0], 0.5, 30),  # a signal that falls
        ([9.0, -1, -2, -4, -5], 0.5, 30),  # below 0
    ],
)
def test_it_arrives_with_the_first_record_at_its_mark(values, share, expected):
    along = measure_transition(EPOCH, np.array(values), 10)
    assert half_rise_epoch(EPOCH, np.array(values), along, share) == expected


def test_only_for_good_counts_unless_the_first_time_is_asked_for():
    values = np.array([0.0, 0, 8, 3, 10])
    along = measure_transition(EPOCH, values, 10)
    assert half_rise_epoch(EPOCH, values, along) == 40
    assert half_rise_epoch(EPOCH, values, along, lasting=False) == 20


def test_another_run_may_never_come_to_the_mark():
    along = Transition(10.0, 0.0)
    assert math.isnan(half_rise_epoch(EPOCH, np.full(5, 6.0), along))
    assert math.isnan(half_rise_epoch(EPOCH, np.array([9.0, 4, 9, 9, 9]), along))
    assert half_rise_epoch(EPOCH, np.array([9.0, 4, 9, 9, 9]), along, lasting=False) == 10


def test_where_there_is_no_way_nothing_arrives():
    flat = np.ones(5)
    assert measure_transition(EPOCH, flat, 0).length == 0
    assert math.isnan(half_rise_epoch(EPOCH, flat, measure_transition(EPOCH, flat, 0)))


@given(
    st.lists(st.integers(-99, 99), min_size=5, max_size=5),
    st.sampled_from([-3.0, -0.5, 2.0, 8.0]),
    st.integers(-9, 9),
    st.sampled_from([0.25, 0.5, 0.75]),
)
def test_the_unit_of_a_signal_and_its_zero_change_nothing(values, factor, shift, share):
    """Nor does its sign: what falls and what rises are dated alike."""
    first = np.array(values, dtype=float)
    other = factor * first + shift
    one, two = (
        half_rise_epoch(EPOCH, values, measure_transition(EPOCH, values, 10), share)
        for values in (first, other)
    )
    np.testing.assert_equal(one, two)


@given(st.lists(st.integers(-99, 99), min_size=5, max_size=5))
def test_a_later_mark_is_reached_no_earlier(values):
    one = np.array(values, dtype=float)
    along = measure_transition(EPOCH, one, 10)
    dates = [half_rise_epoch(EPOCH, one, along, share) for share in (0.25, 0.5, 0.75, 1.0)]
    assert dates == sorted(dates) or math.isnan(dates[0])


def test_the_share_of_a_way_is_0_at_its_start_and_1_at_its_end():
    np.testing.assert_array_equal(
        Transition(8.0, 4.0).share(np.array([8, 6, 4, 10])), [0, 0.5, 1, -0.5]
    )
    assert Transition(8.0, 4.0).mark(0.25) == 7
    assert np.isnan(Transition(1.0, 1.0).share(np.array([1.0, 2.0]))).all()


def test_a_way_begins_at_a_record_and_a_mark_lies_on_it():
    with pytest.raises(SettingError, match="since: got 15; allowed: the epoch of a record"):
        measure_transition(EPOCH, np.ones(5), 15)
    for share in (0.0, 1.5):
        with pytest.raises(SettingError, match=f"share: got {share}"):
            half_rise_epoch(EPOCH, np.ones(5), Transition(0.0, 1.0), share)
