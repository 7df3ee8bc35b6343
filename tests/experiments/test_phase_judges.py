"""The judges of the four phases of a run, on runs whose curves are drawn by hand."""

import numpy as np
import pytest
import xarray as xr

from grokkit.engine import RunSpec
from grokkit.experiments import assumptions, four_phases
from grokkit.experiments.judges import Judge
from tests.experiments.drawn import EPOCHS, Curve, drawn, judged, outcomes

NAN = np.nan
NEVER: dict[str, list[float]] = {
    "train_accuracy": [0.0, 0.5, 0.5, 0.5, 0.5],
    "test_accuracy": [0.0] * 5,
}
"""A run that never memorises."""

WAITING: dict[str, list[float]] = {"test_accuracy": [0.0] * 5}
"""A run that memorises, and has not understood by its end."""

FOUND: dict[str, list[float]] = {"kl": [1.0, 1.0, 1.0, 0.01, 0.01]}
"""Attention finds the structure at 300: with the usual curves the plateau is 100 to 300."""

AT_ONCE: dict[str, list[float]] = {
    "kl": [1.0, 0.01, 0.01, 0.01, 0.01],
    "test_accuracy": [0.0, 1.0, 1.0, 1.0, 1.0],
}
"""Structure and rule are there when it is memorised: there is no plateau."""


# --- four phases --------------------------------------------------------------------------

SPIKE = [0.1, 1.0, 0.05, 0.05, 0.05]


@pytest.mark.parametrize(
    ("gradient", "curves", "holds"),
    [
        (SPIKE, {}, True),
        ([0.1, 1.0, 0.1, 0.1, 0.1], {}, True),  # a tenth, exactly
        ([0.1, 1.0, 0.2, 0.2, 0.2], {}, False),
        ([1.0, 0.5, 0.05, 0.05, 0.05], {}, False),  # it only falls: no spike
        ([0.1, 0.1, 0.01, 1.0, 1.0], {}, False),  # a peak when it groks is none
        ([0.1, 1.0, 1.0, 1.0, 0.05], {}, False),  # nor a fall after the plateau
        (SPIKE, {"train_loss": [1.0, 0.5, 0.5, 0.5, 0.5]}, False),  # it collapses at a loss
        (SPIKE, NEVER, None),
    ],
)
def test_a_gradient_spikes_early_and_collapses_while_the_loss_is_near_nought(
    gradient: list[float], curves: dict, holds: bool | None
):
    # Half of the unseen are right at 300, where the plateau ends.
    arm = {f"W_{one}_gradient": gradient for one in ("Q", "K", "QK")}
    said = four_phases.spike_and_collapse(*arm)(drawn({"decay 1": FOUND | arm | curves}))
    assert outcomes(said) == [holds] * 3


@pytest.mark.parametrize(
    ("kl", "curves", "first"),
    [
        ([2.0, 2.0, 1.0, 0.2, 0.2], {}, True),  # a tenth, exactly, at 300
        ([2.0, 2.0, 1.0, 0.3, 0.0], {}, False),  # after half of the unseen
        ([2.0, 3.0, 4.0, 5.0, 6.0], {}, False),  # only rises
        ([2.0, 0.0, 0.0, 0.0, 0.0], WAITING, None),
        # Mirror images may be right before: these are no unseen pairs.
        ([2.0, 2.0, 1.0, 0.3, 0.2], {"unmirrored_accuracy": [0.0, 0.0, 0.0, 0.4, 1.0]}, True),
    ],
)
def test_structure_is_first_where_nine_tenths_are_found_when_half_of_the_unseen_are_right(
    kl: list[float], curves: dict, first: bool | None
):
    arm = {"kl": kl, "unmirrored_accuracy": [NAN] * 5, **curves}
    assert outcomes(four_phases.structure_first("it")(drawn({"it": arm}))) == [first]


def understood(wait: int, start: int = 100) -> dict[str, list[float]]:
    """A run that memorises at ``start`` and groks after a wait."""
    return {
        "train_accuracy": [float(now >= start) for now in EPOCHS],
        "test_accuracy": [float(now >= start + wait) for now in EPOCHS],
    }


FOREVER = 999


@pytest.mark.parametrize(
    ("waits", "halved"),
    [
        ((200, 100), True),
        ((300, 200), False),  # 1.5
        ((300, 100), False),
        ((100, 200), False),
        ((FOREVER, 100), False),  # beyond 300
        ((FOREVER, 200), None),  # beyond 300: 1.6 to 2.5 x 200 or not
        ((100, 0), None),  # over no wait there is no ratio
        ((-200, -100), None),  # understood before it is memorised: neither waits
    ],
)
def test_half_of_the_decay_waits_about_twice_as_long(waits: tuple[int, int], halved: bool | None):
    start = 200 if min(waits) < 0 else 100
    less, more = (understood(wait, start) for wait in waits)
    never = {"decay 2": NEVER, "decay 4": NEVER}  # of these, nothing is known
    runs = drawn({"decay 0.5": less, "decay 1": more, **never})
    assert judged(four_phases.ROW, "inverse-decay", runs) == [halved, None, None]


@pytest.mark.parametrize(
    ("mine", "its", "same"),
    [(200, 200, True), (300, 200, False), (200, 300, False), (FOREVER, 200, False)],
)
def test_the_product_counts_where_the_waits_are_the_same_to_a_third(
    mine: int, its: int, same: bool
):
    first = {"rate x2": understood(mine), "decay 2": understood(its)}
    second = {"rate x2, decay 0.5": understood(mine), "decay 1": understood(its)}
    assert judged(four_phases.ROW, "product", drawn(first | second)) == [same] * 2


@pytest.mark.parametrize(
    ("loss", "curves", "rises"),
    [
        ([9.0, 1.0, 1.5, 0.1, 0.1], {}, True),  # one and a half times, exactly
        ([9.0, 1.0, 1.4, 0.1, 0.1], {}, False),
        ([0.1, 1.0, 1.0, 1.0, 1.0], {}, False),  # a rise before it is memorised is none
        ([9.0, 1.0, 0.5, 0.1, 9.0], {}, False),  # nor one after attention has found it
        ([9.0, 1.0, 0.5, 0.8, 0.1], {}, True),  # the least so far counts
        ([9.0, 1.0, 1.5, 1.0, 1.0], NEVER, None),
    ],
)
def test_the_loss_rises_between_memorising_and_finding_the_structure(
    loss: list[float], curves: dict, rises: bool | None
):
    runs = drawn({"decay 1": FOUND | {"train_loss": loss} | curves})
    assert outcomes(four_phases.loss_rises(runs)) == [rises]


def scores(values: list[float]) -> xr.DataArray:
    """A variance for each of two heads, of which the mean is given."""
    two = np.array(values)[:, None] * [0.5, 1.5]
    return xr.DataArray(two, dims=("epoch", "head"))


@pytest.mark.parametrize(
    ("entropy", "variance", "curves", "said"),
    [
        ([0.0, 1.0, 1.0, 1.06, 0.0], [9.0, 2.0, 2.0, 1.0, 9.0], {}, [True, True]),
        ([0.0, 1.0, 1.0, 1.04, 2.0], [9.0, 2.0, 2.0, 2.0, 1.0], {}, [False, False]),
        ([0.0, 1.0, 2.0, 1.0, 2.0], [9.0, 2.0, 1.0, 2.0, 1.0], {}, [False, False]),  # and back
        ([0.0, 1.0, 2.0, 2.0, 2.0], [9.0, 2.0, 1.0, 1.0, 1.0], NEVER, [None, None]),
        ([0.0, 1.0, 2.0, 2.0, 2.0], [9.0, 2.0, 1.0, 1.0, 1.0], AT_ONCE, [None, None]),
    ],
)
def test_attention_is_smoothed_from_memorising_to_the_end_of_the_plateau(
    entropy: list[float], variance: list[float], curves: dict, said: list[bool | None]
):
    arm = FOUND | {"attention_entropy": entropy, "score_variance": scores(variance)} | curves
    assert outcomes(four_phases.smoothing(drawn({"decay 1": arm}))) == said


@pytest.mark.parametrize(
    ("share", "known"), [(1.0, True), (1.99, True), (2.01, False), (0.51, True), (0.49, False)]
)
def test_the_plateau_is_predicted_to_a_factor_of_two(share: float, known: bool):
    (spec,) = drawn({"decay 1": {}}).arms["decay 1"]
    assert isinstance(spec, RunSpec)
    decay = spec.optimizer.learning_rate * spec.optimizer.weight_decay
    measured = 300 - 100  # border 3|4, where half of the unseen are right, from memorising on
    norm = float(np.exp(share * measured * decay / 2))  # 2/decay log(norm / 1) = share * measured
    arm = FOUND | {"mlp_norm": [99.0, norm, norm, 1.0, 1.0]}
    assert outcomes(four_phases.plateau_predicted(drawn({"decay 1": arm}))) == [known]
    assert outcomes(four_phases.plateau_predicted(drawn({"decay 1": arm | WAITING}))) == [None]


# --- other optimizers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "curves", "falls"),
    [
        ([99.0, 10.0, 10.0, 9.0, 20.0], {}, True),  # nine tenths, exactly, at 300
        ([99.0, 10.0, 5.0, 9.5, 1.0], {}, False),  # down, and up again
        ([99.0, 10.0, 10.0, 10.0, 1.0], {}, False),  # after the grok
        ([1.0, 2.0, 3.0, 4.0, 5.0], {}, False),  # only rises
        ([99.0, 10.0, 10.0, 10.0, 8.0], WAITING, True),  # never groks: to the end
        ([99.0, 10.0, 8.0, 8.0, 8.0], NEVER, None),
        ([99.0, 10.0, 8.0, 8.0, 8.0], AT_ONCE, None),
    ],
)
def test_the_norm_falls_between_memorising_and_grokking(
    norm: list[float], curves: dict, falls: bool | None
):
    runs = drawn({"it": FOUND | {"mlp_norm": norm} | curves})
    assert outcomes(assumptions.norm_falls("it")(runs)) == [falls]


# --- runs that were cut short -------------------------------------------------------------

FLAT: dict[str, Curve] = {
    **WAITING,
    "kl": [1.0] * 5,
    "mlp_norm": [10.0] * 5,
    "attention_entropy": [1.0] * 5,
    "score_variance": scores([1.0] * 5),
    **{f"W_{one}_gradient": [0.1, 0.2, 0.2, 0.2, 0.2] for one in ("Q", "K", "QK")},
}
"""Nothing rises, falls or is smoothed."""


@pytest.mark.parametrize(
    "judge",
    [
        four_phases.spike_and_collapse("W_Q_gradient"),
        four_phases.loss_rises,
        four_phases.smoothing,
        assumptions.norm_falls("decay 1"),
    ],
    ids=["spike and collapse", "loss rises", "smoothing", "norm falls"],
)
def test_what_a_run_that_was_cut_short_has_not_come_to_proves_nothing(judge: Judge):
    assert set(outcomes(judge(drawn({"decay 1": FLAT})))) == {False}
    cut = drawn({"decay 1": FLAT}, cut={"decay 1": 200})
    assert set(outcomes(judge(cut))) == {None}
