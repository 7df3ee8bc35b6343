"""What the README tells a newcomer to type does what it says."""

import re
from pathlib import Path

import pytest

import grokkit
from grokkit import runs
from grokkit.cli import main
from grokkit.engine import grid, presets
from grokkit.runtime import specs_of
from grokkit.runtime.sweep import load_sweep

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_the_five_lines_run_and_the_network_groks(capsys, monkeypatch, tmp_path):
    """With the recording of that very run; tests/runs trains it anew."""
    real = grokkit.train

    def train(spec, **named):
        assert [spec] == specs_of(recording)
        begun = real(spec.with_(epochs=100), **named)
        assert begun.epoch.values.tolist() == recording.epoch.values[:5].tolist()
        return recording

    recording = runs.load("live")
    monkeypatch.setattr(grokkit, "train", train)
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(code, {})
    assert (tmp_path / "run.png").exists()
    first, early, last = map(float, re.findall(r"\d\.?\d*(?:e-\d+)?", capsys.readouterr().out))
    assert first < 0.1 and early < 0.3 and last > 0.95


def test_the_sweep_file_is_the_grid_beside_it(tmp_path):
    (text,) = blocks("toml")
    path = tmp_path / "decay.toml"
    path.write_text(text)
    assert load_sweep(path) == grid(presets["live"], weight_decay=[0.5, 1.0, 2.0], seed=range(5))


PAGES = [
    *ROOT.glob("*.md"),
    *(path for folder in ("course", "solutions") for path in (ROOT / folder).rglob("*.md")),
    *(path for folder in ("course", "solutions") for path in (ROOT / folder).rglob("[0-9]*.py")),
]


def links(page):
    return re.findall(r"\]\((?!http|mailto|#)([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_linked_is_there(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.suffix == ".py"], ids=lambda page: page.stem
)
def test_no_notebook_links_to_a_folder_which_jupyterlab_cannot_open(page):
    assert [link for link in links(page) if (page.parent / link).is_dir()] == []


def test_the_readme_links_to_the_course():
    assert len(re.findall(r"\]\(course/", README)) > 10


@pytest.mark.parametrize("line", re.findall(r"^grokkit (train .*)$", README, flags=re.MULTILINE))
def test_the_flags_that_are_shown_exist(line, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*line.split(), "--help"])
    assert stop.value.code == 0
