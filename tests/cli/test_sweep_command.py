"""``grokkit sweep FILE.toml``."""

from pathlib import Path

import pytest

from grokkit.cli import main

SMALL = """
[base]
p = 5
train_fraction = 0.5
d_model = 8
d_mlp = 12
epochs = 20
record_every = 5
[grid]
seed = "0..2"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "seeds.toml"
    path.write_text(SMALL)
    return path


def test_a_sweep_goes_into_a_folder_beside_its_file(file: Path, capsys):
    assert main(["sweep", str(file)]) == 0
    folder = file.with_suffix("")
    assert capsys.readouterr().out == (
        f"  3 of 3 runs in {folder}, 0 grokked (test accuracy 0.99)\n"
        f'  to open them: grokkit.load_history("{folder}")\n'
    )
    assert len(list(file.with_suffix("").glob("*.nc"))) == 3


def test_quiet_and_another_folder(file: Path, capsys):
    folder = file.parent / "else" / "where"
    assert main(["sweep", str(file), "--folder", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert len(list(folder.glob("*.nc"))) == 3


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--workers", "0"], "workers: got 0"),
        (["--device", "tpu"], "device: got 'tpu'"),
        (["--worker", "2"], "nearest: --workers"),
        (["--scheduler", "tcp://127.0.0.1:9", "--workers", "2"], "workers: got 2"),
    ],
)
def test_flags_that_make_no_sense_write_nothing(file: Path, flags: list[str], line: str, capsys):
    assert main(["sweep", str(file), *flags]) == 2
    err = capsys.readouterr().err
    assert line in err and err.count("\n") == 1
    assert not file.with_suffix("").exists()


@pytest.mark.parametrize(
    ("text", "line"), [("[base", "not TOML"), ("[base]\nlernrate = 1", "lernrate: got 1")]
)
def test_files_that_make_no_sense_are_one_line(file: Path, text: str, line: str, capsys):
    file.write_text(text)
    assert main(["sweep", str(file)]) == 2
    err = capsys.readouterr().err
    assert line in err and err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path, capsys):
    assert main(["sweep", str(tmp_path / "none.toml")]) == 2
    assert "no such file" in capsys.readouterr().err
