"""The row three-accounts on runs whose signals move when they are told to."""

import numpy as np
import pytest

from grokkit import experiments
from grokkit.experiments.signals import BASE, RANKED, SIGNALS, arrivals, gone
from grokkit.experiments.three_accounts import NO_DECAY, TOLD, TRAPPED
from tests.experiments.staged import BASELINE, staged

pytestmark = pytest.mark.slow  # each stages the runs of a row

ROW = experiments.row("three-accounts")


def verdicts(history) -> dict[str, str]:
    return {one.claim.id.split("/")[1]: one.verdict for one in ROW.judge(history)}


def parts(history, claim: str) -> list[bool | None]:
    (found,) = [one for one in ROW.judge(history) if one.claim.id.endswith(f"/{claim}")]
    return [part.holds for part in found.parts]


FAR = {TRAPPED: {"norm": 1.0, "effective rank": 0.9, "alpha": 0.6}}
SOON = {TOLD: {name: BASELINE[name] // 200 * 100 for name in BASELINE}}


def test_every_claim_holds_where_all_is_as_claimed():
    assert set(verdicts(staged(SOON, FAR)).values()) == {"reproduced"}


def test_signals_are_dated_by_the_mark_of_the_baseline_in_every_arm():
    evidence = ROW.evidence(staged(SOON))
    for name, epoch in BASELINE.items():
        assert (arrivals(evidence, name).values == epoch).all(), name
        assert (arrivals(evidence, name, TOLD).values == SOON[TOLD][name]).all(), name
        assert np.isnan(arrivals(evidence, name, NO_DECAY).values).all(), name


@pytest.mark.parametrize(("share", "earlier"), [(0.25, True), (0.75, False)])
def test_another_share_of_the_way_is_reached_sooner_or_later(share: float, earlier: bool):
    evidence = ROW.evidence(staged())
    for name, epoch in BASELINE.items():
        found = arrivals(evidence, name, share=share).values
        assert ((found < epoch) if earlier else (found > epoch)).all(), name


def test_a_control_is_measured_from_where_memorising_left_it():
    history = staged(far={NO_DECAY: {"norm": 0.25, "KL": -0.5}})
    control = history.arm.values == NO_DECAY
    elsewhere = history.mlp_norm.copy()
    elsewhere[control] += 100
    evidence = ROW.evidence(history.assign(mlp_norm=elsewhere))
    np.testing.assert_allclose(gone(evidence, "norm", NO_DECAY), 0.25)
    np.testing.assert_allclose(gone(evidence, "KL", NO_DECAY), -0.5)
    np.testing.assert_allclose(gone(evidence, "alpha", NO_DECAY), 0, atol=1e-12)


def test_seeds_that_order_the_signals_in_their_own_ways_have_no_order():
    shuffled = {
        seed: {
            name: BASELINE[RANKED[(place + seed) % len(RANKED)]] - BASELINE[name]
            for place, name in enumerate(RANKED)
        }
        for seed in range(5)
    }
    assert parts(staged(late=shuffled), "one-order") == [False, False]
    assert parts(staged(), "one-order") == [True, True]


@pytest.mark.parametrize("name", ["KL", "effective rank", "alpha", "best step"])
def test_a_signal_that_moves_without_decay_or_after_the_grok_is_told(name: str):
    moving = staged(far={NO_DECAY: {name: 0.7}})
    # MED that falls so far is below its null, too, which is a part of its own.
    assert parts(moving, "no-decay").count(False) == (2 if name == "best step" else 1)
    after = staged({BASE: {name: 6000}})
    assert parts(after, "each-leads").count(False) == 1


def test_a_signal_that_rises_does_not_fall():
    history = staged()
    rising = history.assign(effective_rank=30 - history.effective_rank)
    assert parts(rising, "fall") == [True, False, True, True, True]


def test_where_the_baseline_never_groks_there_is_nothing_to_hold_signals_against():
    history = staged()
    never = history.assign(test_accuracy=0 * history.test_accuracy)
    found = verdicts(never)
    assert {found[one] for one in ("fall", "each-leads", "one-order", "told")} <= {
        "undecided",
        "partly",
    }
    evidence = ROW.evidence(never)
    assert all(np.isnan(arrivals(evidence, name).values).all() for name in SIGNALS)
    assert np.isnan(gone(evidence, "KL", NO_DECAY)).all()
