"""What the later rows measure, on runs whose curves are drawn by hand."""

import numpy as np
import pytest

from grokkit.experiments import quantities as q
from tests.experiments.drawn import drawn

RAMP = [0.2, 0.3, 0.1, 0.3, 0.5]
"""A least mass that is right at first, then not, and right for good at 300 (k is 2)."""


def value(quantity, evidence) -> float:
    (low,), (high,) = quantity(evidence).low, quantity(evidence).high
    assert low == high
    return float(low)


@pytest.mark.parametrize(
    ("least", "test_accuracy", "epoch"),
    [
        (RAMP, [0.0, 0.1, 0.2, 0.6, 1.0], 300),
        (RAMP, [0.0, 1.0, 1.0, 1.0, 1.0], 100),  # what comes after the grok does not count
        ([0.5] * 5, [0.0, 0.1, 0.2, 0.6, 1.0], 0),
        ([0.5, 0.5, 0.5, 0.5, 0.1], [0.0, 0.1, 0.2, 0.6, 1.0], np.nan),
    ],
)
def test_attention_is_right_from_when_it_stays_so(least, test_accuracy, epoch):
    runs = drawn({"it": {"min_informative_mass": least, "test_accuracy": test_accuracy}})
    np.testing.assert_equal(q.found("it")(runs).values, [epoch])


def test_the_two_parts_make_up_the_epochs_to_the_grok():
    runs = drawn({"it": {"min_informative_mass": RAMP}})
    parts = q.found("it")(runs).values + q.added("it")(runs).values
    np.testing.assert_equal(parts, q.grok("it")(runs).values)


@pytest.mark.parametrize(("power", "slow"), [(-1, 400), (-0.5, 200), (0, 100)])
def test_an_exponent_is_that_of_the_power_law_between_two_settings(power, slow):
    late = [0.0 if epoch < slow else 1.0 for epoch in (0, 100, 200, 300, 400)]
    soon = [0.0, 1.0, 1.0, 1.0, 1.0]
    runs = drawn({"slow": {"test_accuracy": late}, "fast": {"test_accuracy": soon}})
    found = value(q.exponent(q.grok("slow"), q.grok("fast"), 4.0), runs)
    assert found == pytest.approx(power, abs=1e-12)


def test_a_fall_is_from_the_peak_before_memorising_to_the_least_before_the_grok():
    runs = drawn({"it": {"pull": [1.0, 8.0, 4.0, 2.0, 0.1]}}, epochs=np.arange(0, 500, 100))
    assert value(q.fall("it", "pull"), runs) == pytest.approx(80)
    early = [0.0, 0.1, 0.2, 1.0, 1.0]
    runs = drawn({"it": {"pull": [1.0, 8.0, 4.0, 2.0, 0.1], "test_accuracy": early}})
    assert value(q.fall("it", "pull"), runs) == pytest.approx(4)  # after the grok is another story


def test_a_change_is_from_memorising_to_the_grok_or_the_end():
    norms = [9.0, 8.0, 6.0, 4.0, 2.0]
    runs = drawn({"it": {"mlp_norm": norms, "test_accuracy": [0.0, 0.1, 1.0, 1.0, 1.0]}})
    assert value(q.change("it", "mlp_norm"), runs) == pytest.approx(0.75)
    runs = drawn({"it": {"mlp_norm": norms, "test_accuracy": [0.0] * 5}})
    assert value(q.change("it", "mlp_norm"), runs) == pytest.approx(0.25)
