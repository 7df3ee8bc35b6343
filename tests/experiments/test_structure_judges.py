"""The judges of phases and of what attention looks at, on runs whose curves are drawn by hand."""

import numpy as np
import pytest
import xarray as xr

from grokkit.experiments import assumptions, distractors, four_phases, geometry, routing
from grokkit.experiments import norm_vs_structure as both
from tests.experiments.drawn import EPOCHS, drawn, outcomes

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
    said = four_phases.spike_and_collapse(drawn({"decay 1": FOUND | arm | curves}))
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
        ((-100, -50), None),  # understood before it is memorised: neither waits
    ],
)
def test_half_of_the_decay_waits_about_twice_as_long(waits: tuple[int, int], halved: bool | None):
    start = 200 if min(waits) < 0 else 100
    less, more = (understood(wait, start) for wait in waits)
    never = {"decay 2": NEVER, "decay 4": NEVER}  # of these, nothing is known
    runs = drawn({"decay 0.5": less, "decay 1": more, **never})
    assert outcomes(four_phases.halves_with_decay(runs)) == [halved, None, None]


@pytest.mark.parametrize(
    ("mine", "its", "same"),
    [(200, 200, True), (300, 200, False), (200, 300, False), (FOREVER, 200, False)],
)
def test_the_product_counts_where_the_waits_are_the_same_to_a_third(
    mine: int, its: int, same: bool
):
    first = {"rate x2": understood(mine), "decay 2": understood(its)}
    second = {"rate x2, decay 0.5": understood(mine), "decay 1": understood(its)}
    assert outcomes(four_phases.product_counts(drawn(first | second))) == [same] * 2


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
    decay = spec.optimizer.learning_rate * spec.optimizer.weight_decay
    measured = 300 - 100  # border 3|4, where half of the unseen are right, from memorising on
    norm = float(np.exp(share * measured * decay / 2))  # 2/decay log(norm / 1) = share * measured
    arm = FOUND | {"mlp_norm": [99.0, norm, norm, 1.0, 1.0]}
    assert outcomes(four_phases.plateau_predicted(drawn({"decay 1": arm}))) == [known]
    assert outcomes(four_phases.plateau_predicted(drawn({"decay 1": arm | WAITING}))) == [None]


# --- norm and structure -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "radius", "matched"),
    [(36.0, 30.0, True), (24.0, 30.0, True), (37.0, 30.0, False), (23.0, 30.0, False)],
)
def test_the_radius_is_matched_to_a_fifth_where_the_baseline_groks(
    norm: float, radius: float, matched: bool
):
    arms = {
        "decay 1": {"mlp_norm": [99.0, 99.0, 99.0, 99.0, norm]},
        "norm held": {"mlp_norm": [radius] * 5},
    }
    assert outcomes(both.radius_is_matched(drawn(arms))) == [matched]
    arms["decay 1"] |= WAITING
    assert outcomes(both.radius_is_matched(drawn(arms))) == [None]


@pytest.mark.parametrize(
    ("share", "cut", "off"), [(0.49, 400, True), (0.51, 400, False), (0.0, 300, None)]
)
def test_attention_is_off_where_half_of_what_is_uniform_is_left_at_the_end(
    share: float, cut: int, off: bool | None
):
    uniform = 2 / 3  # two operands and a query
    mass = [0.0, 0.0, 0.0, 0.9, share * uniform]
    runs = drawn({"it": WAITING | {"informative_mass": mass}}, cut={"it": cut})
    assert outcomes(both.off_the_informative("it")(runs)) == [off]


@pytest.mark.parametrize(
    ("beaten", "holds", "which", "decides"),
    [
        (0.36, 0.3, ({}, WAITING), True),
        (0.34, 0.3, ({}, WAITING), False),
        (0.2, 0.3, ({}, WAITING), False),  # less, not more
        (0.36, 0.3, ({}, {}), None),  # both grok: there is nothing to explain
        (0.36, 0.3, (WAITING, WAITING), None),
        (0.36, 0.3, (WAITING, {}), None),
    ],
)
def test_more_mass_decides_where_the_adversary_that_leaves_it_is_the_one_that_is_beaten(
    beaten: float, holds: float, which: tuple[dict, dict], decides: bool | None
):
    arms = {
        name: {"informative_mass": [0.9] * 4 + [mass], **curves}
        for name, mass, curves in zip(
            ("norm held, adversarial 0.1", "norm held, adversarial"),
            (beaten, holds),
            which,
            strict=True,
        )
    }
    assert outcomes(both.more_mass_decides(drawn(arms))) == [decides]


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


# --- heads, distractors, longer sequences ------------------------------------------------


def looks(*heads: tuple[float, float, float]) -> xr.DataArray:
    """Where each head looks at the end: at two operands and the query. Before, elsewhere."""
    end = np.array(heads)
    before = np.zeros_like(end)
    return xr.DataArray(np.stack([before] * 4 + [end]), dims=("epoch", "head", "pos"))


@pytest.mark.parametrize(
    ("mass", "together", "apart"),
    [
        (looks((0.8, 0.1, 0.1), (0.1, 0.8, 0.1)), True, True),  # one head for each operand
        (looks((0.4, 0.4, 0.2), (0.4, 0.4, 0.2)), True, False),  # each for itself
        (looks((0.8, 0.1, 0.1), (0.8, 0.1, 0.1)), False, True),  # the second is left out
        (looks((0.1, 0.1, 0.8), (0.1, 0.1, 0.8)), False, True),  # the query does not count
    ],
)
def test_heads_meet_a_condition_together_and_not_each_for_itself(
    mass: xr.DataArray, together: bool, apart: bool
):
    arm = {"4 heads": {"attention_mass": mass}}
    assert outcomes(geometry.by_summed_mass(drawn(arm))) == [together, apart]


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        ((400, 300, 200), True),
        ((FOREVER, 300, 200), True),  # later than all that came
        ((200, 300, 400), False),
        ((300, 300, 300), False),
        ((FOREVER, FOREVER, FOREVER), None),
    ],
)
def test_wider_is_sooner_where_the_epochs_of_the_structure_fall_with_the_width(
    found: tuple[int, int, int], ordered: bool | None
):
    widths = ("d 16", "d 32", "d 64")
    arms = {
        name: {"kl": [0.1 if now >= when else 1.0 for now in EPOCHS]}
        for name, when in zip(widths, found, strict=True)
    }
    others = {"4 heads": {}}
    assert outcomes(geometry.structure_by_width(drawn(arms | others))) == [ordered]


@pytest.mark.parametrize(
    ("mass", "soon"),
    [
        ([0.1, 0.5, 0.8, 0.8, 0.8], True),  # by 200, exactly
        ([0.1, 0.5, 0.7, 0.9, 0.9], False),
        ([NAN] * 5, None),
    ],
)
def test_structure_is_found_at_once_within_a_few_epochs(mass: list[float], soon: bool | None):
    runs = drawn({"it": {"informative_mass": mass}})
    assert outcomes(distractors.structure_at_once("it", 200)(runs)) == [soon]


@pytest.mark.parametrize(("end", "trapped"), [(0.49, True), (0.5, False), (NAN, None)])
def test_a_trapped_network_looks_at_the_distractors_at_its_end(end: float, trapped: bool | None):
    runs = drawn({"random": {"informative_mass": [0.9] * 4 + [end]}})
    assert outcomes(distractors.on_the_distractors(runs)) == [trapped]


def longer(end: float) -> xr.DataArray:
    """An accuracy at the longest sequences, at the end; at all others it is 1."""
    table = np.ones((5, 2))
    table[-1, 1] = end
    return xr.DataArray(table, dims=("epoch", "extra"), coords={"extra": ["length 9", "length 12"]})


@pytest.mark.parametrize(
    ("end", "test_accuracy", "keeps"),
    [
        (0.76, 0.95, True),  # eight tenths of it
        (0.7, 0.95, False),
        (0.1, 0.1, None),  # it has nothing to keep, and nothing to lose
        (0.01, 0.1, None),
    ],
)
def test_what_is_left_at_the_longest_is_a_share_of_what_there_is(
    end: float, test_accuracy: float, keeps: bool | None
):
    arm = {"extra_accuracy": longer(end), "test_accuracy": [0.0, 0.0, 0.0, 0.0, test_accuracy]}
    loses = None if keeps is None else not keeps
    assert outcomes(routing.keeps("it", 0.8)(drawn({"it": arm}))) == [keeps]
    assert outcomes(routing.loses("it", 0.8)(drawn({"it": arm}))) == [loses]


@pytest.mark.parametrize(
    ("mine", "its", "more"), [(0.56, 0.5, True), (0.54, 0.5, False), (0.5, 0.6, False)]
)
def test_more_is_kept_where_the_longest_are_answered_by_a_twentieth_more(
    mine: float, its: float, more: bool
):
    arms = {"it": {"extra_accuracy": longer(mine)}, "other": {"extra_accuracy": longer(its)}}
    assert outcomes(routing.keeps_more("it", "other")(drawn(arms))) == [more]


# --- runs that were cut short -------------------------------------------------------------

SEEN_NOTHING: dict[str, list[float] | xr.DataArray] = {
    **WAITING,
    "kl": [1.0] * 5,
    "mlp_norm": [10.0] * 5,
    "informative_mass": [0.1] * 5,
    "attention_entropy": [1.0] * 5,
    "score_variance": scores([1.0] * 5),
    "attention_mass": looks((0.1, 0.1, 0.8)),
    "extra_accuracy": longer(0.1),
    **{f"W_{one}_gradient": [0.1, 0.2, 0.2, 0.2, 0.2] for one in ("Q", "K", "QK")},
}


@pytest.mark.parametrize(
    ("judge", "arm"),
    [
        (four_phases.spike_and_collapse, "decay 1"),
        (four_phases.loss_rises, "decay 1"),
        (four_phases.smoothing, "decay 1"),
        (assumptions.norm_falls("it"), "it"),
        (geometry.by_summed_mass, "4 heads"),
        (distractors.structure_at_once("it", 200), "it"),
        (distractors.on_the_distractors, "random"),
        (routing.keeps("it", 0.8), "it"),
    ],
    ids=lambda one: getattr(one, "__qualname__", str(one)).split(".")[0],
)
def test_what_a_run_that_was_cut_short_has_not_come_to_proves_nothing(judge, arm: str):
    whole = outcomes(judge(drawn({arm: SEEN_NOTHING})))
    cut = outcomes(judge(drawn({arm: SEEN_NOTHING}, cut={arm: 200})))
    assert set(cut) == {None} and len(cut) == len(whole)
