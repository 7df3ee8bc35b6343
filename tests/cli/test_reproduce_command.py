"""``grokkit reproduce NAME...``."""

import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from grokkit import experiments, runs
from grokkit.cli import main
from grokkit.cli.reproduce import duration
from grokkit.experiments import ROWS
from grokkit.runtime import RunsFailed, load_history, specs_of
from tests.experiments.tiny import SEEDS, history_of, tiny

pytestmark = pytest.mark.slow  # each trains a row

NAME = "starvation-bound"
FEW = ["--seeds", "0", "1", "--workers", "1"]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With tiny runs in that row, and a package that nothing has been recorded into."""
    rows = {name: tiny(name) if name == NAME else ROWS[name] for name in ROWS}
    monkeypatch.setattr(experiments, "ROWS", MappingProxyType(rows))
    monkeypatch.setattr(runs, "folder", lambda: tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_runs_verdicts_and_figure_and_says_what_was_found(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", NAME, *FEW]) == 0
    folder = in_an_empty_folder / "reproduced"
    expected = {f"{NAME}.nc", f"{NAME}.md", f"{NAME}.png", "store"}
    assert {path.name for path in folder.iterdir()} == expected
    assert specs_of(load_history(folder / f"{NAME}.nc")) == tiny(NAME).specs(seeds=SEEDS)
    assert (folder / f"{NAME}.png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    for claim in tiny(NAME).claims:
        assert f"] {claim.id}\n" in said and claim.says in (folder / f"{NAME}.md").read_text()
    assert re.search(rf"\n{NAME}, classroom: \d reproduced", said)
    assert f"wrote reproduced/{NAME}.nc, reproduced/{NAME}.md, reproduced/{NAME}.png" in said


def test_what_is_there_is_not_trained_again_and_quiet_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", NAME, *FEW, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    stopped = "grokkit.engine.trainer.Trainer.advance"
    monkeypatch.setattr(stopped, lambda *_, **__: pytest.fail("trained"))
    assert main(["reproduce", NAME, *FEW, "--quiet"]) == 0


def test_a_dry_run_tells_the_runs_and_the_time_and_writes_nothing(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", NAME, *FEW, "--dry-run"]) == 0
    first, *arms = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"{NAME}, classroom: 4 runs, 0 done; about \d+ s on one core", first)
    assert arms == [
        "  baseline  n = 2, 0 done, 12 epochs",
        "  KL 1      n = 2, 0 done, 12 epochs",
    ]
    assert list(in_an_empty_folder.iterdir()) == []
    assert main(["reproduce", NAME, "--seeds", "0", "--workers", "1", "--quiet"]) == 0
    assert main(["reproduce", NAME, *FEW, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "4 runs, 2 done; about" in said and "n = 2, 1 done" in said
    assert main(["reproduce", NAME, "--seeds", "0", "--dry-run"]) == 0
    assert f"{NAME}, classroom: 2 runs, 2 done\n" in capsys.readouterr().out


def test_a_dry_run_says_which_runs_are_those_of_other_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    rows = {NAME: tiny(NAME)}
    rows["again"] = replace(rows[NAME], name="again", shares_recording_of=(NAME,))
    monkeypatch.setattr(experiments, "ROWS", MappingProxyType(rows))
    assert main(["reproduce", "again", *FEW, "--dry-run"]) == 0
    line = f"  4 of them are runs of {NAME} too: whichever comes first trains them\n"
    assert line in capsys.readouterr().out


def test_an_interrupt_says_that_the_same_command_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "reproduce", stopped)
    assert main(["reproduce", NAME, *FEW]) == 130
    line = "grokkit reproduce: interrupted; the same command goes on from here\n"
    assert capsys.readouterr().err == line


def test_runs_that_failed_are_one_line_and_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def failed(*_: object, **__: object) -> None:
        raise RunsFailed({"run 3": "its worker died"}, None)

    monkeypatch.setattr(experiments, "reproduce", failed)
    assert main(["reproduce", NAME, *FEW]) == 1
    assert capsys.readouterr().err == "grokkit reproduce: run 3: its worker died\n"


def test_record_puts_the_runs_among_those_of_the_package(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    (in_an_empty_folder / "package").mkdir()
    assert main(["reproduce", NAME, "--workers", "1", "--record"]) == 0
    assert f"package/{NAME}.nc" in capsys.readouterr().out
    kept = experiments.recorded(NAME)
    assert kept is not None and specs_of(kept) == tiny(NAME).specs()
    assert "mantissa_bits" in kept.attrs
    assert experiments.claims(NAME)[0].seeds == 5


def test_a_recording_that_is_too_large_is_one_line(
    in_an_empty_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    found = history_of(NAME, experiments.SEEDS)
    monkeypatch.setattr(experiments, "reproduce", lambda *_, **__: (found, []))
    monkeypatch.setattr(runs, "LIMIT", 100)
    (in_an_empty_folder / "reproduced").mkdir()
    assert main(["reproduce", NAME, "--workers", "1", "--quiet", "--record"]) == 1
    assert re.fullmatch(r"grokkit reproduce: recording .* at most 100\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("", "names: got ''; allowed: one or more of headlines, "),
        ("five-phases", "name: got 'five-phases'; allowed: headlines, "),
        (f"{NAME} five-phases", "name: got 'five-phases'"),
        (f"{NAME} --size huge", "size: got 'huge'; allowed: classroom, paper"),
        (f"{NAME} --seeds", "seeds: got ()"),
        (f"{NAME} --seeds 1 1", "seeds: got (1, 1)"),
        (f"{NAME} --seeds -1", "seeds: got -1"),
        (f"{NAME} --seeds a", "seeds: got 'a'"),
        ("theory --seeds 0", "seeds: got (0,); allowed: (0, 1, 2, 3, 4) for theory"),
        (f"{NAME} --folder {__file__}", "allowed: a folder"),
        (f"{NAME} --record --seeds 0 1", "seeds: got (0, 1); allowed: (0, 1, 2, 3, 4) with"),
        (f"{NAME} --workers 0", "workers: got 0"),
        (f"{NAME} --workers 2 --scheduler tcp://127.0.0.1:9", "workers: got 2"),
        (f"{NAME} --device quantum", "device: got 'quantum'"),
        (f"{NAME} --sise paper", "nearest: --size"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(
    words: str, complaint: str, in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["reproduce", *words.split()]) == 2
    err = capsys.readouterr().err
    assert re.fullmatch(r"grokkit reproduce: [^\n]+\n", err) and complaint in err
    assert list(in_an_empty_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.1, "1 s"), (40, "40 s"), (99, "99 s"), (100, "2 min"), (5900, "98 min"), (9000, "2.5 h")],
)
def test_times_in_words(seconds: float, words: str):
    assert duration(seconds) == words
