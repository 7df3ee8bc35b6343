"""The core is a textbook: short, and readable without any other file."""

import ast
import sys
from dataclasses import replace
from pathlib import Path

from grokkit import core
from grokkit.core import __main__ as command

FOLDER = Path(core.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))
MOST_LINES = 1500


def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None
            names.add(node.module)
    return names


def test_it_imports_torch_numpy_the_standard_library_and_itself():
    allowed = {"torch", "numpy", *sys.stdlib_module_names}
    for path in FILES:
        others = {
            name
            for name in imported(path)
            if name.split(".")[0] not in allowed
            and name != "grokkit.core"
            and not name.startswith("grokkit.core.")
        }
        assert not others, path.name


def test_it_can_be_read_in_an_evening():
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert sum(lines.values()) <= MOST_LINES
    assert max(lines.values()) <= 330


def test_each_chapter_needs_only_those_before_it():
    """In the order of the table of contents; so there is no circle."""
    order = ["common", "distractors", "task", "model", "loss", "priors", "measures"]
    order += ["optimizers", "tickets", "train", "__init__", "__main__"]
    assert sorted(order) == [path.stem for path in FILES]
    for path in FILES:
        for name in imported(path):
            if name.startswith("grokkit.core."):
                assert order.index(name.split(".")[2]) < order.index(path.stem), path.name


def test_the_command_prints_four_lines(monkeypatch, capsys):
    """On a run of three seconds; that LIVE groks is held by tests/runs/test_live_preset."""
    quick = core.Run(core.Parity(12, 2, examples=300), epochs=600)
    quick = replace(quick, optimizer=core.AdamW(learning_rate=5e-3))
    monkeypatch.setattr(command, "LIVE", quick)
    command.main()
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    result = core.train(replace(quick, stop_after=100))
    assert result.grokked is not None
    assert first == f"memorised at epoch {result.memorised}"
    start = result.curve("informative_mass")[0]
    assert second.startswith(f"attention on a and b: {start:.2f} at first, ")
    assert third == f"grokked at epoch {result.grokked}"
    assert fourth.endswith(" epochs a second")
