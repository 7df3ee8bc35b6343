"""The line through grok epochs over 1 / beta."""

import math

import numpy as np
import pytest

from grokkit.diagnostics import fit_inverse
from grokkit.errors import SettingError

BETA = np.array([0.01, 0.03, 0.1, 0.3, 1.0])


def test_points_on_a_line_give_the_line_back():
    fit = fit_inverse(BETA, 1500 + 20 / BETA)
    assert fit.slope == pytest.approx(20)
    assert fit.floor == pytest.approx(1500)
    assert fit.r_squared == pytest.approx(1)
    assert (fit.used, fit.censored) == (5, 0)
    assert fit.at(0.5) == pytest.approx(1540)


def test_it_is_the_least_squares_line_of_numpy():
    epochs = np.random.default_rng(0).normal(3000, 500, 15)
    beta = np.tile(BETA, 3)
    fit = fit_inverse(beta, epochs)
    slope, floor = np.polyfit(1 / beta, epochs, 1)
    assert fit.slope == pytest.approx(slope)
    assert fit.floor == pytest.approx(floor)
    assert fit.r_squared == pytest.approx(np.corrcoef(1 / beta, epochs)[0, 1] ** 2)


def test_a_censored_run_is_left_out_and_counted():
    epochs = 1500 + 20 / BETA
    epochs[0] = np.nan
    fit = fit_inverse(BETA, epochs)
    assert (fit.used, fit.censored) == (4, 1)
    assert fit.floor == pytest.approx(1500)


@pytest.mark.parametrize(
    ("beta", "epochs"),
    [([], []), ([0.1], [900.0]), ([0.1, 0.1], [900.0, 950.0]), ([0.1, 1.0], [900.0, math.nan])],
)
def test_one_strength_makes_no_line(beta, epochs):
    fit = fit_inverse(beta, epochs)
    assert math.isnan(fit.slope) and math.isnan(fit.floor) and math.isnan(fit.r_squared)
    assert fit.used + fit.censored == len(beta)


def test_epochs_that_are_all_the_same_leave_nothing_to_explain():
    fit = fit_inverse(BETA, [700.0] * 5)
    assert (fit.slope, fit.floor) == (0, 700)
    assert math.isnan(fit.r_squared)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_strength_that_is_not_above_0_is_refused(bad):
    with pytest.raises(SettingError, match=r"beta: got .* above 0"):
        fit_inverse([0.1, bad], [1.0, 2.0])


def test_two_lengths_are_refused():
    with pytest.raises(SettingError, match="epochs: got"):
        fit_inverse([0.1, 1.0], [1.0])
