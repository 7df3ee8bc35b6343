"""The judges of the KL prior's acceleration, on runs whose curves are drawn by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from grokkit.experiments import kl_acceleration as acceleration
from tests.experiments.drawn import EPOCHS, drawn, judged, outcomes

NEVER = 9999
STRENGTHS = tuple(f"KL {beta:g}" for beta in acceleration.BETAS)


def grokking(names: Sequence[str], epochs: Sequence[int]) -> dict[str, dict[str, list[float]]]:
    """Arms, by the epoch at which each groks."""
    return {
        name: {"test_accuracy": [float(now >= epoch) for now in EPOCHS]}
        for name, epoch in zip(names, epochs, strict=True)
    }


@pytest.mark.parametrize(
    ("epochs", "falls"),
    [
        ((NEVER, 400, 400, 300, 300, 200, 200), True),  # never is latest
        ((200, 200, 300, 300, 400, 400, NEVER), False),
        ((400, 300, 200, 100, 400, 400, 300), False),  # down, and up again
        ((400,) * 7, False),
        ((NEVER,) * 7, None),
    ],
)
def test_the_epoch_falls_with_beta_from_the_baseline_on(epochs: tuple, falls: bool | None):
    runs = drawn(grokking(("baseline", *STRENGTHS), epochs))
    assert judged(acceleration.ROW, "falls-with-beta", runs) == [falls]


@pytest.mark.parametrize(
    ("epochs", "law"),
    [
        ((400, 200, 100, 100, 100, 100), True),  # a floor of about 100, and 3 / beta
        ((100, 300, 400, 400, 400, 400), False),  # as straight, and the wrong way
        ((300, 100, 400, 100, 300, 100), False),
        ((200,) * 6, False),
        ((NEVER, NEVER, 300, 200, 100, 100), True),  # four are left
        ((NEVER, NEVER, NEVER, 200, 100, 100), None),  # three say little
        ((NEVER,) * 6, None),
    ],
)
def test_the_law_is_a_line_over_one_over_beta_that_rises(epochs: tuple, law: bool | None):
    assert outcomes(acceleration.inverse_law(drawn(grokking(STRENGTHS, epochs)))) == [law]


@pytest.mark.parametrize(
    ("memorised", "grokked", "gone"),
    [
        (100, 100, True),
        (100, 200, True),  # twice, exactly
        (100, 300, False),
        (100, NEVER, False),
        (300, NEVER, None),  # beyond 400: within 600 or not
        (NEVER, 300, True),  # understood before it is memorised
        (NEVER, NEVER, None),
    ],
)
def test_there_is_no_plateau_within_twice_the_epochs_of_memorising(
    memorised: int, grokked: int, gone: bool | None
):
    (arm,) = grokking(["KL 3"], [grokked]).values()
    known = [float(now >= memorised) for now in EPOCHS]
    runs = drawn({"KL 3": {"train_accuracy": known, **arm}})
    assert judged(acceleration.ROW, "no-plateau", runs) == [gone]


T = EPOCHS[1:] / 100
EXPONENTIAL, POWER = 0.4 * 3.0 ** (1 - T), 0.4 * T**-2.0


@pytest.mark.parametrize(
    ("fall", "exponential"),
    [
        (EXPONENTIAL, True),
        (POWER, False),
        (EXPONENTIAL**0.55 * POWER**0.45, None),  # as straight in one as in the other
        (np.full(4, 0.6), None),  # never down to a half
        (np.full(4, 0.001), None),  # at once: there is no fall to look at
    ],
)
def test_an_exponential_is_straighter_in_time_and_a_power_in_its_logarithm(
    fall: np.ndarray, exponential: bool | None
):
    runs = drawn({"KL 1, first epochs": {"kl": [1.0, *fall]}})
    assert outcomes(acceleration.exponential(runs)) == [exponential]


@pytest.mark.parametrize(
    ("kl", "falls"),
    [
        ([1.0, 0.5, 0.4, 0.02, 0.01], [0, 0, 1, 1, 0]),
        ([1.0, 0.4, 0.6, 0.4, 0.2], [0, 1, 0, 1, 1]),
        ([1.0, 0.4, 0.01, 0.02, 0.4], [0, 1, 0, 0, 0]),  # what comes back up does not fall
        ([1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 0, 0, 0]),
    ],
)
def test_a_divergence_falls_from_a_half_to_a_hundredth_once(kl: list[float], falls: list[int]):
    assert acceleration.falling(np.array(kl)).tolist() == [bool(one) for one in falls]


@pytest.mark.parametrize(
    ("strong", "weak", "tenfold"),
    [
        (100, 500, True),  # five times, exactly
        (100, 2000, True),
        (500, 2000, False),
        (500, 100, False),
        (0, 500, None),  # over an epoch of 0 there is no ratio
        (100, NEVER, False),  # beyond 2500
        (500, NEVER, None),  # beyond 2500: 5 to 20 x 500 or not
        (NEVER, 100, False),
        (NEVER, NEVER, None),
    ],
)
def test_attention_takes_five_to_twenty_times_as_long_at_a_tenth_of_beta(
    strong: int, weak: int, tenfold: bool | None
):
    epochs = np.array([0, 100, 500, 2000, 2500])

    def small(epoch: int) -> dict[str, list[float]]:
        return {"kl": [0.09 if now >= epoch else 0.1 for now in epochs]}  # below, not at

    arms = {"KL 0.01": small(weak), "KL 0.1": small(strong), "KL 1": small(NEVER)}
    assert judged(acceleration.ROW, "attention-time", drawn(arms, epochs=epochs))[0] is tenfold
