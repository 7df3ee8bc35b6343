"""The line of each notebook that installs on Colab; it does nothing elsewhere."""

import sys
import types
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom import colab, notebooks

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "course").glob("**/[0-9]*.ipynb"))
EXERCISES = sorted((ROOT / "exercises").glob("*.ipynb"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "course").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    return tmp_path / "course" / "01_lesson.py"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", LESSONS, ids=name_of)
def test_every_lesson_ends_with_it_folded_away(path: Path):
    *before, last = nbformat.read(path, as_version=4).cells
    assert last.source.splitlines()[1:] == [colab.line(path)]
    assert last.metadata.jupyter.source_hidden and not last.outputs
    assert not any("google.colab" in cell.source for cell in before)


@pytest.mark.parametrize("path", EXERCISES, ids=name_of)
def test_every_exercise_begins_with_it(path: Path):
    cells = nbformat.read(path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    assert first.splitlines()[0] == colab.line(path)
    assert sum("google.colab" in cell.source for cell in cells) == 1


def test_elsewhere_it_does_nothing(source: Path, capsys: pytest.CaptureFixture[str]):
    exec(colab.line(source), {})
    assert capsys.readouterr().out == ""


def test_on_colab_it_installs_from_the_repository(source: Path, monkeypatch: pytest.MonkeyPatch):
    address = "https://example.org/a/grokkit"
    (source.parents[1] / "pyproject.toml").write_text(f'[project.urls]\nRepository = "{address}"\n')
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    asked: list[tuple[str, str]] = []
    shell = types.SimpleNamespace(run_line_magic=lambda *words: asked.append(words))
    exec(colab.line(source), {"get_ipython": lambda: shell})
    assert asked == [("pip", f"install -q 'grokkit[course] @ git+{address}'")]


def test_outside_of_a_checkout_there_is_none(source: Path):
    (source.parents[1] / "pyproject.toml").unlink()
    assert colab.line(source) == ""


def test_evidence_takes_it_from_the_same_checkout(source: Path):
    assert colab.line(source.parent / "evidence" / source.name) == colab.line(source) != ""


def test_without_a_repository_it_says_what_to_do(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    exec(colab.line(source), {})
    assert "%pip install the course" in capsys.readouterr().out


def test_another_repository_needs_no_new_run_of_the_lessons(source: Path):
    source.write_text("# %%\n1 + 1\n")
    folder, project = source.parent, source.parents[1] / "pyproject.toml"
    notebooks.build(folder)
    project.write_text('[project.urls]\nRepository = "https://example.org/a/grokkit"\n')
    (line,) = notebooks.check(folder)
    assert "cell 2 line 2 is" in line
    notebooks.build(folder, execute=False)
    assert notebooks.check(folder) == []
