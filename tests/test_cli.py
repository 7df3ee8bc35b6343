"""The command line: what it writes, what it says, and how it refuses."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
import torch

import grokkit
from grokkit.cli import COMMANDS, main
from grokkit.cli import train as cli_train
from grokkit.cli.options import described, in_words, plain, value_of
from grokkit.engine import RunSpec, presets
from grokkit.engine.group import Records
from grokkit.engine.spec import FAMILIES, PARTS
from grokkit.errors import SettingDropped
from grokkit.runtime import load_history, specs_of
from tests.kinds import grokkits

SMALL = [
    "--p",
    "5",
    "--train-fraction",
    "0.5",
    "--epochs",
    "20",
    "--record-every",
    "5",
    "--d-mlp",
    "8",
    "--d-model",
    "8",
]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec_of(*words: str) -> RunSpec:
    return cli_train.read(words)[0]


# --- grokkit itself -----------------------------------------------------------------------


def test_version_and_help(capsys: pytest.CaptureFixture[str]):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"grokkit {grokkit.__version__}\n"
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(command in text for command in COMMANDS)
    assert main([]) == 2


def test_version_and_help_wait_for_no_torch():
    code = (
        "import sys; from grokkit.cli import main\n"
        "assert main(['--version']) == main(['--help']) == 0\n"
        "assert not {'torch', 'numpy', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=outside())


def outside() -> dict[str, str]:
    """An environment in which a process outside the repository finds grokkit."""
    return {**os.environ, "PYTHONPATH": str(Path(grokkit.__file__).parents[1])}


# --- train --------------------------------------------------------------------------------


def test_train_writes_a_history_and_a_picture_and_says_how_it_went(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["train", *SMALL, "--seed", "3", "--out", "runs/first"]) == 0
    out = in_an_empty_folder / "runs" / "first"
    assert sorted(path.name for path in out.iterdir()) == ["run.nc", "run.png"]
    history = load_history(out / "run.nc")
    expected = RunSpec().with_(
        p=5, train_fraction=0.5, epochs=20, record_every=5, d_mlp=8, d_model=8, seed=3
    )
    assert specs_of(history) == [expected]
    assert (out / "run.png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    for words in ("memorised", "did not grok by epoch 20 (censored)", "20 epochs", "run.png"):
        assert words in said


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]):
    assert main(["train", *SMALL, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_run_is_not_written_over_unless_forced(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    picture = in_an_empty_folder / "run.png"
    picture.write_text("precious")
    assert main(["train", *SMALL]) == 2
    assert "--force" in capsys.readouterr().err
    assert picture.read_text() == "precious"
    assert main(["train", *SMALL, "--force", "--quiet"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_setting_of_every_kind_is_a_flag_with_help(capsys: pytest.CaptureFixture[str]):
    seen = set()
    for family, registry in FAMILIES.items():
        for kind in grokkits(family):
            with pytest.raises(SystemExit) as stop:
                main(["train", f"--{family}", kind, "--help"])
            assert stop.value.code == 0
            text = " ".join(capsys.readouterr().out.split())
            for name in RunSpec().with_(**{family: kind}).settings():
                assert f"--{name.replace('_', '-')}" in text, name
            words = {**described(RunSpec), **described(registry[kind])}
            for f in dataclasses.fields(registry[kind]):
                assert words.get(f.name), f"{kind}.{f.name} has no help"
            seen.add(kind)
    assert {"modular_addition", "adamw", "kl"} <= seen


@pytest.mark.parametrize("name", presets)
def test_a_preset_is_the_default_and_flags_change_it(name: str):
    assert spec_of("--preset", name) == presets[name]
    changed = spec_of("--weight-decay", "2", f"--preset={name}", "--kl-strength", "0.1")
    assert changed == presets[name].with_(weight_decay=2.0, kl_strength=0.1)


def test_without_a_preset_it_is_the_papers_setting():
    assert spec_of() == RunSpec() == presets["paper"]


def test_a_preset_reaches_other_kinds_too():
    spec = spec_of("--preset", "live", "--task", "modular_multiplication")
    live = presets["live"].settings()
    assert spec.settings() == live | {"task": "modular_multiplication"}
    with pytest.warns(SettingDropped, match="p = 43"):
        spec = spec_of("--preset", "live", "--task", "sparse_parity", "--k", "2")
    assert spec.settings()["k"] == 2 and spec.settings()["train_fraction"] == 0.5


def test_what_a_kind_lacks_is_said_in_one_line(capsys: pytest.CaptureFixture[str]):
    words = "--preset live --task sparse_parity --bits 6 --epochs 5 --d-mlp 8 --quiet"
    assert main(["train", *words.split()]) == 0
    assert capsys.readouterr().err == (
        "grokkit train: task sparse_parity lacks these settings, which are dropped: p = 43\n"
    )


def test_kinds_of_your_own_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "grokkit_test_kinds.py").write_text(
        "from dataclasses import dataclass\n"
        "from grokkit.tasks import ModularAddition, register_task\n"
        "@register_task('test_imported')\n@dataclass(frozen=True)\n"
        "class Mine(ModularAddition):\n"
        "    shift: int = 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    words = ["--import", "grokkit_test_kinds", "--task", "test_imported", "--shift", "3"]
    assert main(["train", *SMALL, *words, "--quiet"]) == 0
    (spec,) = specs_of(load_history(tmp_path / "run.nc"))
    assert spec.settings()["task"] == "test_imported" and spec.settings()["shift"] == 3
    sweep = tmp_path / "sweep.toml"
    sweep.write_text("[base]\ntask = 'test_imported'\np = 5\nepochs = 5\n[grid]\nshift = [1, 2]\n")
    assert main(["sweep", str(sweep), "--import", "grokkit_test_kinds", "--quiet"]) == 0
    assert len(list((tmp_path / "sweep").glob("*.nc"))) == 2


@pytest.mark.parametrize(
    "words, setting, value",
    [
        ("--positions 1 3", "positions", (1, 3)),
        ("--positions None", "positions", None),
        ("--output-projection", "output_projection", True),
        ("--no-output-projection", "output_projection", False),
        ("--stop-after 100", "stop_after", 100),
        ("--clip inf", "clip", float("inf")),
        ("--weight_decay=0.5", "weight_decay", 0.5),
        ("--attention relu", "attention", "relu"),
        ("--distractors random --alphabet None", "distractors", "random"),
    ],
)
def test_flags_become_settings(words: str, setting: str, value: object):
    assert spec_of(*words.split()).settings()[setting] == value


BAD = [
    ("--p abc", "p", "'abc'", "a whole number"),
    ("--p 1", "p", "1", "2..1000"),
    ("--p=1.5", "p", "'1.5'", "a whole number"),
    ("--p", "p", "''", "a whole number"),
    ("--p 5 6", "argument", "'6'", "flags only"),
    ("--weight-decay x --p 5", "weight_decay", "'x'", "a number"),
    ("--weight-decay -1", "weight_decay", "-1.0", "0 or more"),
    ("--weight-decay nan", "weight_decay", "nan", "a finite number"),
    ("--epochs 0", "epochs", "0", "1 or more"),
    ("--seed -1", "seed", "-1", "0 or more"),
    ("--alphabet few", "alphabet", "'few'", "a whole number, or None"),
    ("--positions a b", "positions", "'a b'", "whole numbers"),
    ("--positions 0 9", "positions", "(0, 9)", "0..3"),
    ("--split half", "split", "'half'", "pair, unordered"),
    ("--quiet yes", "argument", "'yes'", "flags only"),
    ("--quiet=yes", "quiet", "'yes'", "no value"),
    ("--heads 5", "heads", "5", "a divisor of d_model"),
    ("--train-fraction 0.001 --p 5", "train_fraction", "0.001", "some to train on"),
    ("--learning-rte 1", "flag", "'--learning-rte'", "nearest: --learning-rate"),
    ("--bits 5", "bits", "'5'", "a setting of task autoregressive_parity, task sparse_parity only"),
    ("--optimizer sgd --beta1=.5", "beta1", "'.5'", "a setting of optimizer adam, "),
    ("--clip -inf", "clip", "-inf", "a number, above 0"),
    ("--import no_such_module", "import", "'no_such_module'", "a module"),
    ("-p 5", "flag", "'-p'", "--p"),
    ("5 --p 5", "argument", "'5'", "flags only"),
    ("--task chess", "task", "'chess'", "modular_addition"),
    ("--optimizer sgdd", "optimizer", "'sgdd'", "adamw"),
    ("--prior", "prior", "''", "kl"),
    ("--preset big", "preset", "'big'", "live, classroom, paper"),
    ("--device quantum", "device", "'quantum'", "cpu"),
    ("--out file/inside", "out", "'file/inside'", "a folder to write to"),
    ("--out file", "out", "'file'", "a folder to write to"),
]


@pytest.mark.parametrize(
    ("words", "gib"), [("--p 997", r"14\.\d GiB"), ("--d-model 10000000", r"\d+\.\d GiB")]
)
def test_what_cannot_fit_the_memory_is_refused_by_its_size(
    words: str, gib: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("grokkit.engine.memory.total_memory", lambda device: 8 * 2**30)
    assert main(["train", *words.split(), "--out", "new"]) == 2
    pattern = rf"grokkit train: memory: got 'about {gib} for [^\n]+ at most 8.0 GiB[^\n]+\n"
    assert re.fullmatch(pattern, capsys.readouterr().err)
    assert not Path("new").exists()


@pytest.mark.parametrize("words, field, given, allowed", BAD, ids=[bad[0] for bad in BAD])
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(
    words: str,
    field: str,
    given: str,
    allowed: str,
    in_an_empty_folder: Path,
    capsys: pytest.CaptureFixture[str],
):
    (in_an_empty_folder / "file").touch()
    argv = words.split() if "--out" in words else [*words.split(), "--out", "new/folder"]
    assert main(["train", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(r"[^\n]+\n", captured.err)
    assert captured.err.startswith(f"grokkit train: {field}: got {given}; allowed: ")
    assert allowed in captured.err.partition("; allowed: ")[2]
    assert [path.name for path in in_an_empty_folder.iterdir()] == ["file"]


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["trian"]) == 2
    assert capsys.readouterr().err.startswith("grokkit: command: got 'trian'; allowed: train, ")


def test_output_that_cannot_be_written_is_refused_before_training(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(
        "grokkit.engine.trainer.Trainer.advance", lambda *_, **__: pytest.fail("trained")
    )
    Path("file").touch()
    assert main(["train", "--out", "file"]) == 2
    assert "out: got 'file'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_was_trained_is_kept_when_it_is_told_to_end_and_the_same_command_goes_on(
    ending: str,
    in_an_empty_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """A real signal, sent to this process once three records have been made."""
    add = Records.add

    def add_and_interrupt(self: Records, epoch: int, record: dict[str, torch.Tensor]) -> None:
        add(self, epoch, record)
        if len(self.epochs) == 3:
            signal.raise_signal(getattr(signal, ending))

    monkeypatch.setattr(Records, "add", add_and_interrupt)
    assert main(["train", *SMALL, "--epochs", "50", "--out", "kept"]) == 130
    captured = capsys.readouterr()
    line = "grokkit train: interrupted; what was trained until epoch 10 is in kept/run.nc"
    assert captured.err == f"{line}; the same command goes on from there\n"
    assert "did not grok" in captured.out
    history = load_history(in_an_empty_folder / "kept" / "run.nc")
    assert history.attrs["interrupted"] == 1 and history.epoch.values.tolist() == [0, 5, 10]
    assert (in_an_empty_folder / "kept" / "run.png").exists()
    monkeypatch.setattr(Records, "add", add)
    assert main(["train", *SMALL, "--epochs", "50", "--out", "kept", "--quiet"]) == 0
    whole = load_history(in_an_empty_folder / "kept" / "run.nc")
    assert main(["train", *SMALL, "--epochs", "50", "--out", "at-once", "--quiet"]) == 0
    assert whole.train_loss.equals(load_history(Path("at-once/run.nc")).train_loss)
    assert sorted(path.name for path in Path("kept").iterdir()) == ["run.nc", "run.png"]


def test_a_run_that_diverges_exits_1_by_train_and_by_sweep(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    bad = ["--init-scale", "1e20"]
    assert main(["train", *SMALL, *bad, "--quiet", "--out", "one"]) == 1
    assert Path("one/run.nc").exists()  # matplotlib may refuse to draw such numbers
    Path("bad.toml").write_text("[base]\np = 5\nepochs = 5\n[grid]\ninit_scale = [1.0, 1e20]\n")
    assert main(["sweep", "bad.toml", "--quiet"]) == 1
    assert "the loss of 1 of 2 runs was not finite" in capsys.readouterr().err


def test_a_picture_that_cannot_be_made_leaves_the_run_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cli_train, "write_whole", full)
    assert main(["train", *SMALL, "--quiet"]) == 1
    assert "the run is whole in run.nc, without: [Errno 28] No space" in capsys.readouterr().err
    assert load_history("run.nc").sizes["run"] == 1 and not Path("run.png").exists()


def test_an_interrupt_before_the_first_record_leaves_nothing(
    in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grokkit.runtime.train_into", stopped)
    assert main(["train", *SMALL, "--out", "new/folder"]) == 130
    assert capsys.readouterr().err == (
        "grokkit train: interrupted; nothing was recorded yet, and nothing is written\n"
    )
    assert not list(in_an_empty_folder.iterdir())


# --- notebooks ----------------------------------------------------------------------------

LESSON = "# %% [markdown]\n# # A lesson\n\n# %%\n1 + 1\n"


def test_notebooks_are_built_and_checked(
    in_an_empty_folder: Path, capsys: pytest.CaptureFixture[str]
):
    folder = in_an_empty_folder / "course"
    folder.mkdir()
    (folder / "01_lesson.py").write_text(LESSON)
    assert main(["notebooks", "check"]) == 1
    assert "01_lesson.ipynb" in capsys.readouterr().err
    assert main(["notebooks", "build", "01", "--no-execute"]) == 0
    assert "01_lesson.ipynb" in capsys.readouterr().out
    assert (folder / "01_lesson.ipynb").exists()


@pytest.mark.parametrize(
    "words, complaint",
    [
        ("", "action: got ''; allowed: build, check"),
        ("burn", "action: got 'burn'; allowed: build, check"),
        ("build --folder nowhere", "folder: got 'nowhere'; allowed: "),
        ("check --execute", "flag: got '--execute'; allowed: "),
    ],
)
def test_bad_input_to_notebooks_is_refused_in_one_line(
    words: str, complaint: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["notebooks", *words.split()]) == 2
    assert re.fullmatch(r"grokkit notebooks[^\n]+\n", line := capsys.readouterr().err)
    assert complaint in line


# --- the words of a command line ----------------------------------------------------------


def test_types_in_words():
    assert in_words(int | None) == "a whole number, or None"
    assert in_words(tuple[int, ...]) == "whole numbers with spaces between"
    assert in_words(Path) == "path"


@pytest.mark.parametrize(
    ("kind", "words", "value"),
    [
        (int, ["3"], 3),
        (float, ["-1e-3"], -1e-3),
        (float | None, ["None"], None),
        (str | None, ["None"], None),
        (tuple[int, ...] | None, ["1", "-3"], (1, -3)),
        (tuple[int, ...], [], ()),
        (Literal["a", "b"], ["b"], "b"),
        (Path | None, ["x/y"], Path("x/y")),
    ],
)
def test_words_become_values(kind: object, words: list[str], value: object):
    assert value_of(kind, words) == value


def test_markup_is_taken_out_of_help():
    assert plain("``x`` as in :mod:`a.b`, see :func:`~c`") == "x as in a.b, see c"


def test_parts_have_no_setting_in_common():
    """Or one flag would set two things."""
    for family, registry in FAMILIES.items():
        for kind in registry:
            spec = RunSpec().with_(**{family: kind})
            names = [f.name for part in PARTS for f in dataclasses.fields(getattr(spec, part))]
            names += [option.name for option in cli_train.OUTPUT]
            assert len(names) == len(set(names))
