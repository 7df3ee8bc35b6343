"""Every row of the table: its arms and claims fit together, and every claim can be judged."""

from typing import get_args

import numpy as np
import pytest

from grokkit import runs
from grokkit.errors import SettingError
from grokkit.experiments import (
    ROWS,
    VERDICTS,
    Result,
    Size,
    name_at,
    recorded,
    row,
    theory,
)
from grokkit.runtime import any_specs_of
from tests.experiments.tiny import SEEDS, history_of, tiny, understood

CLAIMS = [claim for one in ROWS.values() for claim in one.claims_at("paper")]
TRAINED = [name for name in ROWS if ROWS[name].arms()]


def test_a_claim_has_a_name_of_its_own_under_that_of_its_row():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids)
    for name, one in ROWS.items():
        assert one.name == name
        assert all(claim.id.startswith(f"{name}/") for claim in one.claims_at("paper"))


def test_every_row_claims_something_and_says_who_does():
    assert all(one.claims for one in ROWS.values())
    for claim in CLAIMS:
        assert claim.says.endswith(".") and claim.source


def test_a_row_is_known_by_its_name():
    assert row("four-phases") is ROWS["four-phases"]
    with pytest.raises(SettingError, match=r"name: got 'five-phases'; allowed: headlines"):
        row("five-phases")
    with pytest.raises(SettingError, match="name: got 'five-phases'"):
        recorded("five-phases")


@pytest.mark.parametrize("name", TRAINED)
def test_arms_have_a_run_for_each_seed_and_no_two_are_the_same(name: str):
    arms = ROWS[name].arms(seeds=SEEDS)
    for specs in arms.values():
        assert [spec.seed for spec in specs] == list(SEEDS)
    assert len({specs[0] for specs in arms.values()}) == len(arms)
    assert len(ROWS[name].specs(seeds=SEEDS)) == len(SEEDS) * len(arms)


@pytest.mark.parametrize("name", TRAINED)
def test_both_sizes_have_the_arms_that_the_claims_ask_for(name: str):
    classroom, paper = (ROWS[name].arms(size, SEEDS) for size in get_args(Size))
    assert set(classroom) <= set(paper)
    assert all(spec.epochs >= 300 for specs in paper.values() for spec in specs)


def test_every_statement_of_the_theory_can_be_judged(monkeypatch: pytest.MonkeyPatch):
    """On two random inputs a seed instead of hundreds; `grokkit claims theory` takes them all."""
    draws = theory.draws
    monkeypatch.setattr(theory, "draws", lambda seed, count: draws(seed, 2))
    for result in ROWS["theory"].judge(None):
        assert result.verdict in set(VERDICTS) - {"not run at this size"}, result.claim.id
        check(result)


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.slow
def test_every_claim_can_be_judged_where_nothing_has_been_understood(name: str):
    """Tiny networks, hardly trained: most epochs are censored, and nothing raises."""
    for result in tiny(name).judge(history_of(name), "classroom", SEEDS):
        assert result.verdict in set(VERDICTS) - {"not run at this size"}, result.claim.id
        check(result)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 2.0])
@pytest.mark.parametrize("name", TRAINED)
def test_every_claim_can_be_judged_where_all_or_no_runs_grok(name: str, share: float):
    history = history_of(name)
    assert history is not None
    for result in tiny(name).judge(understood(history, share), "classroom", SEEDS):
        assert result.verdict in set(VERDICTS) - {"not run at this size"}, result.claim.id
        check(result)


def check(result: Result) -> None:
    """A result says what was asked and seen of every seed."""
    assert result.parts, result.claim.id
    for part in result.parts:
        assert part.says and part.seen, result.claim.id
        assert "nan" not in part.seen, (result.claim.id, part.seen)
        if result.seeds:
            assert len(part.outcomes) == result.seeds, (result.claim.id, part)


@pytest.mark.parametrize("name", TRAINED)
def test_without_runs_no_claim_is_judged(name: str):
    """Each one looks at runs: none can be true or false whatever was measured."""
    for result in ROWS[name].judge(None):
        assert (result.verdict, result.parts) == ("not run at this size", ()), result.claim.id


RECORDED = [name for name in TRAINED if name_at(name, "paper") in runs.names()]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_at_the_size_of_the_paper_has_runs_of_its_row_only(name: str):
    """Each once and with a first record; those of the classroom are held to more in tests/runs."""
    history = recorded(name, "paper")
    assert history is not None
    specs = any_specs_of(history)
    assert set(specs) <= set(ROWS[name].specs("paper"))
    assert len(set(specs)) == len(specs)
    assert np.isfinite(history.isel(epoch=0).train_loss).all()
