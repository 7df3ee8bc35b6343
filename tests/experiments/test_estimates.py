"""Effects with an interval over seeds, on drawn data whose effect is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from grokkit.experiments.claims import Bounds, Part
from grokkit.experiments.estimates import Estimate, Measured, coverage, order
from grokkit.experiments.times import Times

RATIO = 0.6
"""The median ratio of the drawn epochs."""


def drawn(n: int, seed: int, last: float = math.inf) -> Measured:
    """Ratios of paired epochs; what lies beyond the last epoch of a run is censored."""
    random = np.random.default_rng(seed)
    its = np.exp(random.normal(8, 0.3, n))
    mine = RATIO * its * np.exp(random.laplace(0, 0.4, n))  # far from normal
    ended = np.full(n, min(last, 1e12))
    pair = [Times(np.where(one > last, np.nan, one), ended) for one in (mine, its)]
    return pair[0].measured / pair[1].measured


@pytest.mark.parametrize("last", [math.inf, 4000.0, 2500.0])
@pytest.mark.parametrize("n", [5, 10, 20])
def test_the_interval_covers_the_known_effect_as_often_as_it_says(n, last):
    draws = 2000
    found = [drawn(n, seed, last).estimate() for seed in range(draws)]
    held = sum(one.low <= RATIO <= one.high for one in found if one is not None)
    promised = found[0].coverage if found[0] is not None else 0.0
    assert promised >= (0.95 if n > 5 else 0.93)
    slack = 4 * math.sqrt(promised * (1 - promised) / draws)
    assert held / draws >= promised - slack
    if last == math.inf:  # nothing is censored: no wider than it must be
        assert held / draws <= promised + slack


@given(st.integers(1, 60))
def test_its_coverage_is_that_of_the_sign_test(n):
    k = order(n)
    assert coverage(n, k) == pytest.approx(max(0.0, 1 - 2 * binom.cdf(k - 1, n, 0.5)))
    if n > 5:
        assert coverage(n, k) >= 0.95 > coverage(n, k + 1)


@given(
    st.lists(st.floats(0.1, 100), min_size=1, max_size=9),
    st.data(),
)
def test_a_censored_seed_widens_an_interval_and_never_moves_it(values, data):
    known = Measured.of(values)
    blank = data.draw(st.integers(0, len(values) - 1))
    low, high = known.low.copy(), known.high.copy()
    high[blank] = math.inf
    inside, outside = known.estimate(), Measured(low, high).estimate()
    assert inside is not None and outside is not None
    assert outside.low <= inside.low and inside.high <= outside.high


def test_a_ratio_of_censored_epochs_is_bounded_by_what_is_known():
    nan, ended = math.nan, np.array([100.0, 100.0, 100.0, 100.0])
    mine, its = (
        Times(np.array(values), ended).measured
        for values in ([50.0, 50.0, nan, nan], [80.0, nan, 80.0, nan])
    )
    ratio = mine / its
    assert ratio.low == pytest.approx([50 / 80, 0, 100 / 80, 0])
    assert ratio.high == pytest.approx([50 / 80, 50 / 100, math.inf, math.inf])
    assert ratio.within(at_most=0.6) == [False, True, False, None]


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10))
def test_yes_and_no_follow_from_the_bounds(value, low, high):
    (found,) = Measured.of([value]).within(low, high)
    assert found is (low <= value <= high)
    assert Measured.of([math.nan]).within(low, high) == [None]


def effect(low: float, high: float) -> Estimate:
    return Estimate(low, high, (low, high), 0.95, 20)


@pytest.mark.parametrize(
    ("low", "high", "holds", "shortfall"),
    [
        (0.3, 0.6, True, None),
        (0.5, 0.9, None, None),
        (0.7, 0.9, False, "missed"),
        (0.7, 1.2, False, "not shown"),
        (1.0, 1.2, False, "refuted"),
    ],
)
def test_refuted_missed_and_not_shown_are_told_apart(low, high, holds, shortfall):
    bounds = Bounds(at_most=2 / 3, null=1.0, rule="interval")
    assert bounds.judge(effect(low, high)) is holds
    if shortfall:
        assert bounds.shortfall(effect(low, high)) == shortfall


def test_the_interval_decides_where_counting_seeds_would_not():
    values = Measured.of([0.5] * 15 + [0.9] * 5)
    by_seeds, by_interval = (
        Part.of("", values, Bounds(at_most=0.6, null=1.0, rule=rule), "")
        for rule in ("seeds", "interval")
    )
    assert by_seeds.holds is False and by_interval.holds is True
