"""``grokkit notebooks exercises``, ``check`` and ``handout``; ``grade`` has its own tests."""

from pathlib import Path

import pytest

from grokkit.cli import main

LESSON = "# %%\n1 + 1\n"
SOURCE = """\
# %%
from grokkit.classroom import check

# %% [markdown] exercise="ex_1_1" difficulty=1 minutes=5
# ## A number

# %%
### BEGIN SOLUTION
answer = 40_000_001
### END SOLUTION

# %%
check.ex_1_1(answer)
"""


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one lesson, built, and one source of exercises, not built."""
    monkeypatch.chdir(tmp_path)
    for name in ("course", "solutions", "exercises"):
        (tmp_path / name).mkdir()
    (tmp_path / "course" / "01_small.py").write_text(LESSON)
    (tmp_path / "course" / "02_lesson.py").write_text(LESSON)
    (tmp_path / "solutions" / "01_small.py").write_text(SOURCE)
    (tmp_path / "exercises" / "conftest.py").write_text("")
    (tmp_path / "constraints.txt").write_text("")
    assert main(["notebooks", "build"]) == 0
    return tmp_path


def test_exercises_are_written_and_then_the_check_is_green(capsys: pytest.CaptureFixture[str]):
    assert main(["notebooks", "check"]) == 1
    assert "01_small.ipynb: missing; `grokkit notebooks exercises`" in capsys.readouterr().err
    assert main(["notebooks", "exercises", "01"]) == 0
    assert "wrote exercises/01_small.ipynb" in capsys.readouterr().out
    assert main(["notebooks", "check"]) == 0
    assert main(["notebooks", "check", "02"]) == 0  # a lesson without exercises


def test_a_planted_difference_fails_the_check(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["notebooks", "exercises"]) == 0
    path = checkout / "exercises" / "01_small.ipynb"
    path.write_text(path.read_text().replace("answer = None", "answer = 7"))
    for words, code in (([], 1), (["01"], 1), (["02"], 0)):
        assert main(["notebooks", "check", *words]) == code
    assert "answer = 7" in capsys.readouterr().err


def test_a_handout_is_written_once(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["notebooks", "handout", "class"]) == 1
    assert "run `grokkit notebooks exercises` first" in capsys.readouterr().err
    assert main(["notebooks", "exercises"]) == 0
    assert main(["notebooks", "handout", "class"]) == 0
    assert (checkout / "class" / "exercises" / "01_small.ipynb").exists()
    assert "40_000_001" not in "".join(
        path.read_text() for path in (checkout / "class").rglob("*") if path.is_file()
    )
    assert main(["notebooks", "handout", "class"]) == 2
    assert "target: got 'class'; allowed: an empty folder" in capsys.readouterr().err


def test_a_malformed_source_is_told_in_one_line(checkout: Path, capsys: pytest.CaptureFixture[str]):
    (checkout / "solutions" / "01_small.py").write_text(SOURCE.replace("difficulty=1", ""))
    assert main(["notebooks", "exercises"]) == 1
    assert capsys.readouterr().err == (
        "grokkit notebooks: 01_small.py: ex_1_1: difficulty = None; allowed: 1..3\n"
    )
