"""``grokkit claims``, and what ``grokkit runs`` says of the recordings of the rows."""

import re
from pathlib import Path
from types import MappingProxyType

import pytest
import xarray as xr

from grokkit import experiments, runs
from grokkit.cli import main
from grokkit.experiments import count, small, text
from grokkit.experiments.results import document
from grokkit.runtime import save_history
from grokkit.runtime.history import to_bytes
from tests.experiments.tiny import SEEDS, history_of, tiny

NAME = "starvation-bound"


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    found = history_of(NAME, experiments.SEEDS)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def recording(history: xr.Dataset) -> bytes:
    return to_bytes(small(tiny(NAME), history))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, recording: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder; a package with one tiny row recorded, and one that is not."""
    rows = {NAME: tiny(NAME), "priors": tiny("priors")}
    monkeypatch.setattr(experiments, "ROWS", MappingProxyType(rows))
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(runs, "folder", lambda: package)
    (package / f"{NAME}.nc").write_bytes(recording)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints that succeeds."""
    assert main(list(words)) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


# --- claims -------------------------------------------------------------------------------


def test_it_prints_every_claim_and_counts_the_verdicts(capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "claims")
    results = experiments.claims()
    assert out == f"{text(results)}\n\n{len(results)} claims: {count(results)}\n"
    assert "[not run at this size] priors/" in out


def test_it_prints_those_of_one_row(capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "claims", NAME)
    assert out.startswith(text(experiments.claims(NAME))) and "priors/" not in out


def test_at_the_size_of_the_paper_it_says_that_nothing_was_run(capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "claims", NAME, "--size", "paper")
    assert out.count("[not run at this size]") == len(tiny(NAME).claims)


def test_it_judges_runs_that_are_no_recording_by_the_seeds_that_they_have(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    two = history_of("priors")
    assert two is not None
    save_history(two, folder / "mine.nc")
    out = said(capsys, "claims", "priors", "--history", "mine.nc")
    assert text(tiny("priors").judge(two, seeds=SEEDS)) in out
    assert "of 2 seeds" in out and "not run at this size" not in out


@pytest.mark.slow
def test_the_document_is_written_checked_and_its_changes_are_shown(
    folder: Path, history: xr.Dataset, capsys: pytest.CaptureFixture[str]
):
    assert said(capsys, "claims", "--out", "RESULTS.md") == "wrote RESULTS.md\n"
    assert Path("RESULTS.md").read_text() == document()
    assert "is what the recorded runs say" in said(capsys, "claims", "--check", "RESULTS.md")

    forged = history.copy(deep=True)
    forged.score_gradient_max[:2, 2] = 2 * forged.starvation_bound[:2, 2]
    runs.keep(NAME, small(tiny(NAME), forged))
    assert main(["claims", "--check", "RESULTS.md"]) == 1
    captured = capsys.readouterr()
    assert re.search(r"^-\| The measured score .*\*\*reproduced", captured.out, re.MULTILINE)
    assert re.search(r"^\+\| The measured score .*\*\*partly", captured.out, re.MULTILINE)
    assert re.fullmatch(r"grokkit claims: RESULTS.md is not what [^\n]+\n", captured.err)


def test_a_document_edited_by_hand_is_found(capsys: pytest.CaptureFixture[str]):
    Path("RESULTS.md").write_text(document().replace("**reproduced**", "**proved**", 1))
    assert main(["claims", "--check", "RESULTS.md"]) == 1
    assert "**proved**" in capsys.readouterr().out


def test_figures_are_drawn_of_what_is_recorded(folder: Path, capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "claims", "--figures", "pictures")
    assert f"wrote pictures/{NAME}.png" in out and "priors: no recorded runs, no figure" in out
    assert [path.name for path in (folder / "pictures").iterdir()] == [f"{NAME}.png"]
    assert (folder / "pictures" / f"{NAME}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        ("five-phases", 2, f"name: got 'five-phases'; allowed: {NAME}, priors"),
        ("--size huge", 2, "size: got 'huge'; allowed: classroom, paper"),
        ("--history mine.nc", 2, "names: got ''; allowed: one name"),
        (f"{NAME} priors --history mine.nc", 2, "allowed: one name"),
        (f"{NAME} --out R.md", 2, "out: got 'R.md'; allowed: no names"),
        (f"{NAME} --check R.md", 2, "check: got 'R.md'; allowed: no names"),
        (f"{NAME} --history none.nc", 2, "history: got 'none.nc'; allowed: a file that is there"),
        ("--check none.md", 2, "check: got 'none.md'; allowed: a file that is there"),
        ("--out .", 2, "out: got '.'; allowed: a file to write"),
        ("--out R.md --size paper", 2, "size: got 'paper'; allowed: none with --out"),
        ("--check here.md --size paper", 2, "size: got 'paper'; allowed: none with --out"),
        ("--figures here.md", 2, "figures: got 'here.md'; allowed: a folder"),
        (f"{NAME} --history here.md", 1, "here.md"),
        ("--outt R.md", 2, "nearest: --out"),
    ],
)
def test_bad_input_is_one_line(
    words: str, code: int, complaint: str, capsys: pytest.CaptureFixture[str]
):
    # What cannot be read is 1, what makes no sense is 2.
    Path("here.md").write_text("here")
    assert main(["claims", *words.split()]) == code
    err = capsys.readouterr().err
    assert re.fullmatch(r"grokkit claims: [^\n]+\n", err) and complaint in err


@pytest.mark.parametrize("words", ["priors", f"{NAME} --size paper"])
def test_a_history_of_another_row_or_size_is_refused(
    words: str, folder: Path, history: xr.Dataset, capsys: pytest.CaptureFixture[str]
):
    save_history(history, folder / "other.nc")
    assert main(["claims", *words.split(), "--history", "other.nc"]) == 2
    err = capsys.readouterr().err
    name, size = words.split()[0], "paper" if "paper" in words else "classroom"
    assert f"history: got 'run 0, of no arm'; allowed: runs of {name} at size {size}" in err


def test_runs_without_the_records_that_a_claim_needs_are_no_evidence_for_it(
    folder: Path, history: xr.Dataset, capsys: pytest.CaptureFixture[str]
):
    save_history(history.drop_vars("starvation_worst"), folder / "mine.nc")
    out = said(capsys, "claims", NAME, "--history", "mine.nc")
    assert "[not run at this size] starvation-bound/holds" in out
    assert "] starvation-bound/square-root" in out.replace("[not run at this size]", "")


# --- runs ---------------------------------------------------------------------------------


def test_list_names_every_recording(capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "runs", "list")
    assert re.search(rf"^{NAME} +10 runs, +\d+ kB$", out, re.MULTILINE)
    assert re.search(r"^classroom +5 runs, not recorded$", out, re.MULTILINE)


def test_show_names_the_arms_and_draws_the_figure_of_the_row(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    out = said(capsys, "runs", "show", NAME, "--out", "shown.png")
    assert len(re.findall(r"^baseline +\d ", out, re.MULTILINE)) == 5
    assert len(re.findall(r"^KL 1 +\d ", out, re.MULTILINE)) == 5
    assert "wrote shown.png" in out and (folder / "shown.png").exists()


def test_verify_finds_nothing_in_a_recording_as_it_was(capsys: pytest.CaptureFixture[str]):
    out = said(capsys, "runs", "verify", NAME, "--epochs", "8", "--quiet")
    assert out == f"{NAME}: its first 8 epochs agree to 2^-10\n"


def test_verify_prints_every_difference_and_exits_1(
    history: xr.Dataset, capsys: pytest.CaptureFixture[str]
):
    forged = history.copy(deep=True)
    forged.train_loss[0, 1] *= 1.1
    forged.kl[5, 2] *= 1.1
    runs.keep(NAME, small(tiny(NAME), forged))
    assert main(["runs", "verify", NAME, "--epochs", "8", "--quiet"]) == 1
    first, second, hint = capsys.readouterr().out.splitlines()
    assert "round sums in another way" in hint
    assert first.startswith("run 0 (seed 0), train_loss at epoch 4: recorded ")
    assert second.startswith("run 5 (seed 0), kl at epoch 8: recorded ")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("burn", "action: got 'burn'; allowed: list, show, record, verify"),
        ("verify none", "name: got 'none'; allowed: classroom, "),
        (f"verify {NAME} --epochs 0", "epochs: got 0"),
        ("list all", "argument: got 'all'"),
        (f"record {NAME}", f"name: got '{NAME}'; allowed: classroom, live; grokkit reproduce NAME"),
    ],
)
def test_bad_input_to_runs_is_one_line(
    words: str, complaint: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["runs", *words.split()]) == 2
    err = capsys.readouterr().err
    assert re.fullmatch(r"grokkit runs[^\n]+\n", err) and complaint in err
