"""Contests as runs: the same bits, resumed, scored, stored; and what is refused."""

import json

import numpy as np
import pytest
import torch

from grokkit import experiments
from grokkit.errors import SettingError
from grokkit.experiments.operators import scores
from grokkit.operators import PACE, RIVALS, Contest, ContestSpec, Data, System, contest_presets
from grokkit.operators.contest import MEANING, SCORES
from grokkit.runtime.history import to_history

TINY = ContestSpec().with_(
    name="phi4",
    grid=16,
    steps=8,
    inputs=12,
    tests=2,
    samples=6,
    width=4,
    waves=4,
    batch_size=4,
    round_steps=1,
    epochs=4,
    record_every=2,
)


@pytest.fixture(scope="module")
def held() -> Contest:
    contest = Contest([TINY])
    contest.advance()
    return contest


def test_every_rival_is_scored_at_the_end_and_every_record_has_a_meaning(held: Contest):
    history = to_history(held)
    assert list(history.rival.values) == list(RIVALS) and set(history.data_vars) == set(MEANING)
    last = history.isel(run=0, epoch=-1)
    for score in SCORES:
        known = np.isfinite(last[score].values)
        lacking = {rival for rival, there in zip(RIVALS, known, strict=True) if not there}
        if score == "log_score":
            assert lacking == {"truth", "fno", "ensemble", "diffusion"}
        elif score.startswith("finer"):
            assert lacking == {"true_gaussian", "fno_covariance"}
        else:
            assert not lacking
    assert np.isfinite(history.train_loss).all()
    assert history.ended.item() == 4 and history.message.item() == ""
    for rival in PACE:
        assert history[f"train_seconds_{rival}"].item() > 0
        assert history[f"sample_seconds_{rival}"].item() > 0
    # A deterministic answer has no spread: its CRPS is its absolute error.
    fno = last.sel(rival="fno")
    assert fno.coverage == 0 and fno.covariance_error == pytest.approx(1)


def test_the_same_spec_gives_the_same_bits_and_so_does_a_contest_that_was_resumed(held: Contest):
    halves = Contest([TINY])
    halves.advance(3)
    facts, tensors = halves.state()
    facts = json.loads(json.dumps(facts))
    tensors = {name: value.clone() for name, value in tensors.items()}
    resumed = Contest([TINY])
    resumed.load_state(facts, tensors)
    assert (resumed.epoch, resumed.done) == (3, False)
    resumed.advance()
    for name, values in held.records.values.items():
        torch.testing.assert_close(
            torch.stack(resumed.records.values[name]),
            torch.stack(values),
            rtol=0,
            atol=0,
            equal_nan=True,
        )
    for name, rival in held.rivals.items():
        for key, value in rival.state_dict().items():
            assert (resumed.rivals[name].state_dict()[key] == value).all()


def test_a_rival_does_not_depend_on_the_others(held: Contest, monkeypatch: pytest.MonkeyPatch):
    from grokkit.operators import contest

    monkeypatch.setattr(contest, "TRAINED", {"fno": contest.TRAINED["fno"]})
    monkeypatch.setattr(contest, "RIVALS", ("truth", "true_gaussian", "fno", "fno_covariance"))
    alone = Contest([TINY])
    alone.advance()
    for one, other in zip(
        alone.rivals["fno"].parameters(), held.rivals["fno"].parameters(), strict=True
    ):
        assert (one == other).all()


def test_specs_are_written_as_json_and_back():
    for spec in (TINY, *contest_presets.values()):
        assert ContestSpec.from_json(spec.to_json()) == spec
        spec.check()
    assert ContestSpec().with_(name="rough", noise=2.0).task == System("rough", noise=2.0)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"width": 3}, "width: got 3; allowed: an even number"),
        ({"waves": 0}, "waves: got 0"),
        ({"noise": -0.1}, "noise: got -0.1; allowed: a finite number, 0 or more"),
        ({"learning_rate": 0.0}, "learning_rate: got 0.0; allowed: a finite number, above 0"),
        ({"batch_size": 0}, "batch_size: got 0"),
        ({"round_steps": 0}, "round_steps: got 0"),
        ({"stop_after": 3}, "stop_after: got 3; allowed: None"),
        ({"rank": 3}, "rank: got 3; allowed: these settings"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(changes: dict, line: str):
    with pytest.raises(SettingError, match=f"^{line}") as caught:
        TINY.with_(**changes)
    assert "\n" not in str(caught.value)


def test_contests_that_cannot_be_held_are_refused():
    with pytest.raises(SettingError, match="waves: got 12; allowed: at most 8, half the grid"):
        Contest([TINY.with_(waves=12)])
    with pytest.raises(SettingError, match="specs: got '2 specs'"):
        Contest([TINY, TINY])
    with pytest.raises(SettingError, match="device: got 'cuda'; allowed: cpu"):
        Contest([TINY], "cuda")


def test_data_that_are_not_finite_or_do_not_vary_are_refused():
    fields = TINY.task.build(0)
    fields.targets[0, 3] = torch.nan
    with pytest.raises(SettingError, match="targets: got 'nan or infinity'; allowed: finite"):
        Data(fields)
    fields.targets[:] = 1.0
    with pytest.raises(SettingError, match="fields: got 'all values the same'"):
        Data(fields)


def test_a_nugget_is_one_number_and_takes_larger_steps_than_weights():
    """Adam's first step is the learning rate, times what the parameter's group says."""
    contest = Contest([TINY])
    before = {
        name: {key: value.detach().clone() for key, value in rival.named_parameters()}
        for name, rival in contest.rivals.items()
    }
    contest.advance(1)  # one optimizer step of each rival
    for name, rival in contest.rivals.items():
        for key, value in rival.named_parameters():
            step = float((value.detach() - before[name][key]).abs().max())
            factor = TINY.nugget_rate if key == "nugget" else 1
            assert step == pytest.approx(factor * TINY.learning_rate, rel=1e-3), (name, key)


def test_the_loss_of_the_mean_changes_the_gaussian_rivals_alone():
    one, other = Contest([TINY]), Contest([TINY.with_(mean_loss="likelihood")])
    for contest in (one, other):
        contest.advance(2)
    for name, rival in one.rivals.items():
        theirs = dict(other.rivals[name].named_parameters())
        same = all(torch.equal(value, theirs[key]) for key, value in rival.named_parameters())
        assert same != (name == "variance" or name.startswith("mno")), name


def test_with_weak_noise_every_trained_law_is_farther_from_the_true_covariance_than_none():
    """What the docstring of the presets says of the recorded runs; no spread at all errs by 1."""
    recorded = experiments.recorded("operators")
    assert recorded is not None
    evidence = experiments.row("operators").evidence(recorded)
    for rival in PACE.keys() - {"fno"}:
        errors = scores(evidence, "burgers, weak noise", "covariance_error", rival)
        assert len(errors) >= 5 and (errors > 1).all()
