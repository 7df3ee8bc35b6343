"""The runs of a row by arm, and what happens where some are not there."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from grokkit.diagnostics import grok_epoch
from grokkit.engine import RunSpec
from grokkit.errors import SettingError
from grokkit.experiments import Claim, Evidence, MissingArm, Part, Row
from grokkit.experiments.evidence import common
from grokkit.experiments.judges import (
    Judge,
    ends_below,
    groks,
    in_digits,
    never_groks,
    spread,
)
from grokkit.runtime import specs_of
from grokkit.tasks import tasks
from tests.experiments.tiny import EPOCHS, SEEDS, history_of, tiny, understood

ROW = tiny("four-phases")


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    found = history_of("four-phases")
    assert found is not None
    return found


@pytest.fixture
def evidence(history: xr.Dataset) -> Evidence:
    return ROW.evidence(history, "classroom", SEEDS)


def shuffle(history: xr.Dataset) -> xr.Dataset:
    return history.isel(run=np.random.default_rng(0).permutation(history.sizes["run"]))


def test_an_arm_is_its_runs_in_the_order_of_their_seeds(history: xr.Dataset):
    evidence = ROW.evidence(shuffle(history), "classroom", SEEDS)
    assert specs_of(evidence.arm("decay 2")) == ROW.arms("classroom", SEEDS)["decay 2"]
    np.testing.assert_array_equal(evidence.arm("decay 2").seed, SEEDS)


@pytest.mark.slow
def test_the_order_of_the_runs_changes_no_verdict(history: xr.Dataset):
    changed = understood(history)
    given, other = (
        [(r.verdict, r.parts) for r in ROW.judge(one, "classroom", SEEDS)]
        for one in (changed, shuffle(changed))
    )
    assert given == other


def test_asking_for_an_arm_that_is_not_there_is_an_error_of_its_own(history: xr.Dataset):
    some = history.isel(run=history.arm.values != "decay 2")
    evidence = ROW.evidence(some, "classroom", SEEDS)
    assert evidence.has("decay 1", "decay 4") and not evidence.has("decay 1", "decay 2")
    with pytest.raises(MissingArm, match="decay 2"):
        evidence.arm("decay 2")
    with pytest.raises(MissingArm, match="decay 3"):
        evidence.grokked("decay 3")


def test_an_arm_with_one_seed_missing_is_missing(history: xr.Dataset):
    gap = (history.arm.values != "decay 2") | (history.seed.values != SEEDS[-1])
    evidence = ROW.evidence(history.isel(run=gap), "classroom", SEEDS)
    with pytest.raises(MissingArm):
        evidence.arm("decay 2")
    assert ROW.evidence(history.isel(run=gap), "classroom", SEEDS[:1]).has("decay 2")


def test_without_a_history_every_arm_is_missing():
    with pytest.raises(MissingArm):
        ROW.evidence(None, "classroom", SEEDS).arm("decay 1")


def test_a_claim_whose_runs_are_missing_was_not_run_and_the_others_are_judged(history: xr.Dataset):
    def seen(evidence: Evidence) -> list[Part]:
        return [Part("grokked", tuple(evidence.grokked("decay 1").reached), "")]

    def asks(evidence: Evidence) -> list[Part]:
        return [*seen(evidence), Part("", tuple(evidence.grokked("decay 2").reached), "")]

    claims = (Claim("a", "", "", seen), Claim("b", "", "", asks))
    row = Row("row", "", "", ROW.setup, claims)
    some = history.isel(run=history.arm.values == "decay 1")
    one, two = row.judge(some, "classroom", SEEDS)
    assert (one.verdict, one.seeds) == ("not reproduced", len(SEEDS))
    assert (two.verdict, two.parts) == ("not run at this size", ())


def test_a_runs_records_end_where_the_run_does(history: xr.Dataset):
    ended = history.where((history.epoch <= 8) | (history.seed == 1))
    first, second = ROW.evidence(ended, "classroom", SEEDS).runs("decay 1")
    assert (first.epoch.max(), second.epoch.max()) == (8, 12)
    assert np.isfinite(first.train_loss).all()


def test_final_values_are_those_of_each_runs_own_last_record(history: xr.Dataset):
    ended = history.where((history.epoch <= 8) | (history.seed == 1))
    final = ROW.evidence(ended, "classroom", SEEDS).final("decay 1", "train_loss")
    arm = history.isel(run=history.arm.values == "decay 1").train_loss
    assert final.tolist() == [float(arm[0].sel(epoch=8)), float(arm[1].sel(epoch=12))]


def test_a_value_at_an_epoch_that_never_came_is_undefined(history: xr.Dataset):
    changed = understood(history)
    changed["test_accuracy"] = changed.test_accuracy.where(changed.seed == 0, 0.0)
    evidence = ROW.evidence(changed, "classroom", SEEDS)
    norms = evidence.at("decay 1", "mlp_norm", evidence.grokked("decay 1"))
    arm = changed.isel(run=changed.arm.values == "decay 1")
    assert norms[0] == float(arm.mlp_norm[0].sel(epoch=int(grok_epoch(arm)[0])))
    assert np.isnan(norms[1])


# --- runs that were cut short -------------------------------------------------------------

NEVER = (
    never_groks("decay 0"),
    ends_below("decay 0", variable="test_accuracy", limit=0.9),
    groks("decay 0"),
)
"""Judges that count what a run has not reached."""


@pytest.mark.parametrize("judge", NEVER)
def test_what_a_run_that_was_cut_short_has_not_reached_proves_nothing(
    history: xr.Dataset, judge: Judge
):
    never = understood(history, at=2)
    (whole, *_) = judge(ROW.evidence(never, "classroom", SEEDS))
    assert None not in whole.outcomes
    short = never.assign_coords(ended=("run", np.full(never.sizes["run"], EPOCHS - 4)))
    (cut, *_) = judge(ROW.evidence(short, "classroom", SEEDS))
    assert set(cut.outcomes) == {None}


def test_a_run_that_was_stopped_because_it_had_grokked_is_whole(history: xr.Dataset):
    grokked = understood(history)
    short = grokked.assign_coords(ended=("run", np.full(grokked.sizes["run"], EPOCHS - 4)))
    evidence = ROW.evidence(short, "classroom", SEEDS)
    assert evidence.whole("decay 1").all()
    assert np.isfinite(evidence.final("decay 1", "test_accuracy")).all()


def test_grok_epochs_carry_the_last_epoch_of_their_run(evidence: Evidence):
    times = evidence.grokked("decay 1")
    assert times.reached == [False, False] and times.last.tolist() == [12, 12]


def test_the_settings_in_words_are_what_the_arms_have_in_common(evidence: Evidence):
    evidence.arm("decay 1")
    words = evidence.settings()
    assert "modular addition, p 7" in words and "decay 1" in words
    evidence.arm("decay 2")
    assert evidence.settings().endswith("decay 1 / 2")


@pytest.mark.parametrize("task", sorted(tasks))
def test_distractors_are_told_where_there_are_any_and_nowhere_else(task: str):
    spec = RunSpec(task=tasks[task]())
    shortest = getattr(spec.task, "n_operands", 2) + 1
    if not hasattr(spec.task, "distractors"):
        assert "distractors" not in common([spec])
        return
    assert "distractors" in common([spec.with_(length=shortest + 2)])
    if task != "longer_addition":  # it refuses to have none
        assert "distractors" not in common([spec.with_(length=shortest)])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0121, "0.012"),
        (99.0, "99"),
        (99.6, "100"),
        (1432.0, "1,400"),
        (-864.0, "-860"),
        (-0.0, "0"),
    ],
)
def test_what_was_seen_is_written_in_digits(value: float, written: str):
    assert spread([value]) == written


def test_a_number_too_large_for_a_table_keeps_its_exponent():
    assert in_digits(3.2e9) == "3.2e+09"


def test_runs_are_labelled_with_their_arm(history: xr.Dataset):
    labelled = ROW.label(shuffle(history).drop_vars("arm"))
    by_arm = ROW.arms("classroom", SEEDS)
    for spec, arm in zip(specs_of(labelled), labelled.arm.values, strict=True):
        assert spec in by_arm[arm]


def test_a_run_of_no_arm_is_refused(history: xr.Dataset):
    strange = RunSpec().with_(p=5).to_json()
    spec = np.array([strange, *history.spec.values[1:]], dtype=object)
    with pytest.raises(SettingError, match="run 0, of no arm"):
        ROW.label(history.drop_vars("arm").assign_coords(spec=("run", spec)))


@pytest.mark.parametrize("seeds", [(), (5, 5), [0, 1, 0]])
def test_no_seeds_and_one_seed_twice_are_refused(seeds):
    with pytest.raises(SettingError, match=r"seeds: got .* allowed: at least one, each once"):
        ROW.arms(seeds=seeds)
    with pytest.raises(SettingError, match="seeds"):
        dataclasses.replace(ROW, seeds=seeds).specs()


def test_a_row_takes_its_seeds_in_any_sequence_and_can_still_be_hashed():
    assert dataclasses.replace(ROW, seeds=[5, 6]).seeds == (5, 6)
    assert hash(dataclasses.replace(ROW, seeds=range(5, 7)).seeds) == hash((5, 6))
    assert len(ROW.arms(seeds=np.arange(2).tolist())["decay 1"]) == 2


def test_a_run_whose_loss_was_never_finite_leaves_its_claims_undecided(history: xr.Dataset):
    broken = history.assign(train_loss=history.train_loss.where(history.arm != "decay 1"))
    results = ROW.judge(broken, "classroom", SEEDS)
    assert {one.verdict for one in results} <= {
        "undecided",
        "reproduced",
        "not reproduced",
        "partly",
    }
    hit = [one for one in results if "decay 1 has no finite loss" in one.seen]
    assert hit and all(one.verdict == "undecided" for one in hit)
