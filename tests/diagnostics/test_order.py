"""The way of a signal, and when half of it is done."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata

from grokkit.diagnostics import Transition, half_rise_epoch, kendall_w, measure_transition, midranks
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
    assert np.isnan(Transition(1.0, 1.0).share(np.array([1.0, 2.0]))).all()


def test_a_way_begins_at_a_record_and_a_mark_lies_on_it():
    with pytest.raises(SettingError, match="since: got 15; allowed: the epoch of a record"):
        measure_transition(EPOCH, np.ones(5), 15)
    for share in (0.0, 1.5):
        with pytest.raises(SettingError, match=f"share: got {share}"):
            half_rise_epoch(EPOCH, np.ones(5), Transition(0.0, 1.0), share)


SMALL = st.integers(2, 4).flatmap(
    lambda things: st.lists(
        st.lists(st.integers(0, 3), min_size=things, max_size=things), min_size=2, max_size=3
    )
)
"""A few judges of a few things, with many ties."""


def test_judges_who_agree_have_1_and_the_chance_of_all_following_the_first():
    for judges, things in ((2, 3), (3, 4), (5, 5), (4, 6)):
        found = kendall_w(np.tile(np.arange(things) ** 2, (judges, 1)))
        assert found.w == 1
        assert found.p_value == pytest.approx(math.factorial(things) ** (1 - judges), rel=1e-9)
        np.testing.assert_array_equal(found.mean_ranks, np.arange(things) + 1)


def test_two_judges_of_opposite_minds_have_0():
    found = kendall_w(np.array([[1, 2, 3, 4], [4, 3, 2, 1]]))
    assert (found.w, found.p_value) == (0, 1)


@pytest.mark.parametrize(
    ("chi_squared", "chance"), [(6.4, 0.039), (7.6, 0.024), (8.4, 0.0085), (10.0, 0.00077)]
)
def test_the_exact_null_is_that_of_friedmans_table_for_three_things_and_five_judges(
    chi_squared, chance
):
    """Some five orders of three things with this chi-squared, m (n - 1) W."""
    orders = list(itertools.permutations([1, 2, 3]))
    for chosen in itertools.combinations_with_replacement(orders, 5):
        found = kendall_w(np.array(chosen))
        if found.w * 10 == pytest.approx(chi_squared):
            break
    assert found.p_value == pytest.approx(chance, rel=0.03)


def by_all_deals(values) -> tuple[float, float]:
    """W by its definition, and its chance over every way to deal each judge's ranks out."""
    ranks = rankdata(values, axis=1)
    judges, things = ranks.shape

    def s(rows) -> float:
        return ((np.sum(rows, axis=0) - judges * (things + 1) / 2) ** 2).sum()

    deals = [s(rows) for rows in itertools.product(*(itertools.permutations(r) for r in ranks))]
    ties = sum(
        size**3 - size for row in ranks for size in np.unique(row, return_counts=True)[1].tolist()
    )
    largest = (judges**2 * (things**3 - things) - judges * ties) / 12
    if largest == 0:
        return math.nan, 1.0
    return s(ranks) / largest, float(np.mean(np.array(deals) >= s(ranks) - 1e-9))


@settings(max_examples=40, deadline=None)
@given(SMALL)
def test_w_and_its_chance_are_those_of_every_deal_ties_or_not(values):
    found = kendall_w(np.array(values))
    w, chance = by_all_deals(np.array(values))
    np.testing.assert_allclose([found.w, found.p_value], [w, chance], rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(SMALL.filter(lambda rows: len(rows[0]) > 2))
def test_it_is_friedmans_statistic_over_its_largest_value(values):
    found = kendall_w(np.array(values))
    if not math.isnan(found.w):
        judges, things = np.shape(values)
        chi_squared = friedmanchisquare(*np.array(values).T).statistic
        assert found.w == pytest.approx(chi_squared / (judges * (things - 1)), abs=1e-9)


def test_what_never_came_is_the_last():
    never = np.array([[3.0, np.nan, 1.0, np.nan], [2.0, 9.0, np.nan, 1.0]])
    np.testing.assert_array_equal(midranks(never), [[2, 3.5, 1, 3.5], [2, 3, 4, 1]])


def test_judges_who_tell_nothing_apart_say_nothing():
    found = kendall_w(np.ones((3, 4)))
    assert math.isnan(found.w) and found.p_value == 1


@pytest.mark.parametrize(
    ("shape", "words"),
    [((1, 3), "judges: got 1"), ((7, 3), "judges: got 7"), ((3, 1), "things: got 1"),
     ((3, 7), "things: got 7")],
)  # fmt: skip
def test_too_few_or_too_many_are_refused(shape, words):
    with pytest.raises(SettingError, match=words):
        kendall_w(np.zeros(shape))
