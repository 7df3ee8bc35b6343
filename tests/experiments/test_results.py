"""RESULTS.md says what the recorded runs say, and changes when they do."""

import dataclasses
import re
from pathlib import Path
from types import MappingProxyType

import pytest
import xarray as xr

from grokkit import experiments, runs
from grokkit.experiments import ROWS, Size, markdown, small, theory
from grokkit.experiments.results import document
from grokkit.experiments.weak_points import WEAK_POINTS
from tests.experiments.tiny import history_of, tiny

NAME = "starvation-bound"
UNTRAINED = dataclasses.replace(ROWS["theory"], claims=ROWS["theory"].claims[:1])


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    found = history_of(NAME, experiments.SEEDS)
    assert found is not None
    return found


def stage(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """That folder in place of the package's recordings; a tiny row, and an untrained one."""
    rows = {NAME: tiny(NAME), "theory": UNTRAINED}
    draws = theory.draws
    patch.setattr(theory, "draws", lambda seed, count: draws(seed, 2))
    patch.setattr(runs, "folder", lambda: folder)
    patch.setattr(experiments, "ROWS", MappingProxyType(rows))


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def text(history: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The document where the row is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        stage(patch, tmp_path_factory.mktemp("recorded"))
        record(history)
        return document()


def record(history: xr.Dataset, size: Size = "classroom") -> None:
    name = experiments.name_at(NAME, size)
    runs.keep(name, small(tiny(NAME), history, size))


def test_where_nothing_is_recorded_it_says_so_and_names_the_command():
    text = document()
    assert f"Not recorded. `grokkit reproduce {NAME} --dry-run`" in text
    assert f"Not run at this size ({len(tiny(NAME).claims)}): “" in text
    assert f"rows/{NAME}.png" not in text


def test_it_is_the_same_for_the_same_recordings(history: xr.Dataset, text: str):
    record(history)
    assert document() == text


def test_every_claim_of_every_row_is_in_it_once(text: str):
    for one in experiments.ROWS.values():
        assert text.count(f"\n## {one.name}\n") == 1
        assert one.question in text and f"course/images/rows/{one.name}.png" in text
        for claim in one.claims:
            says = claim.says.replace("|", chr(92) + "|")
            assert text.count(f"\n| {says}") + text.count(f"“{says}”") == 1
    total = sum(len(one.claims) for one in experiments.ROWS.values())
    assert f"**{total} claims.**" in text


def test_it_holds_the_table_of_the_recorded_runs_and_what_made_them(history: xr.Dataset, text: str):
    record(history)
    kept = experiments.recorded(NAME)
    assert kept is not None
    assert markdown(tiny(NAME).judge(kept)) in text
    made = f"10 runs of 2 arms, trained in .* grokkit {kept.attrs['grokkit']}, torch"
    assert re.search(made, text)


def test_the_count_is_that_of_the_verdicts_below_it(text: str):
    head, rest = text.split("How to read", 1)
    for verdict in experiments.VERDICTS:
        n = len(re.findall(rf"\| \*\*{verdict}\b.*\*\* \|", rest))
        if verdict == "not run at this size":
            n = sum(map(int, re.findall(r"^Not run at this size \((\d+)\): “", rest, re.MULTILINE)))
        assert sum(map(int, re.findall(rf"[:,] (\d+) {verdict}", head))) == n


@pytest.mark.slow
def test_changing_one_recorded_number_changes_the_table(history: xr.Dataset, text: str):
    record(history)
    assert experiments.claims(NAME)[0].verdict == "reproduced"
    forged = history.copy(deep=True)
    forged.score_gradient_max[:2, 3] = 2 * forged.starvation_bound[:2, 3]
    record(forged)
    after = document()
    assert after != text
    assert experiments.claims(NAME)[0].verdict == "partly"
    assert "3 of 5 seeds" in after


@pytest.mark.slow
def test_a_row_recorded_at_the_size_of_the_paper_has_a_table_of_its_own(history: xr.Dataset):
    record(history)
    at_paper = history_of(NAME, experiments.SEEDS, "paper")
    assert at_paper is not None
    record(at_paper, "paper")
    text = document()
    assert text.count(f"### {NAME} at the size of the paper") == 1
    assert f"course/images/rows/{NAME}-paper.png" in text
    assert f"{2 * len(tiny(NAME).claims) + len(UNTRAINED.claims)} claims.**" in text


def test_every_weak_point_that_a_claim_names_is_told(text: str):
    named = {
        int(number)
        for row in ROWS.values()
        for claim in row.claims
        for number in re.findall(r"weak point (\d+)", claim.source)
    }
    assert named == set(WEAK_POINTS)
    assert all(f"\n{number}. {what}\n" in text for number, what in WEAK_POINTS.items())


def test_the_rule_in_the_document_is_the_rule_of_the_code(text: str):
    """The words are made from the constants that the verdicts are made with."""
    assert "holds if it holds for 4 of 5" in text
    for verdict in experiments.VERDICTS:
        assert f"*{verdict.capitalize()}*:" in text
