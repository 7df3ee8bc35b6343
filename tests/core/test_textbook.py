"""The core is a textbook: short, and readable without any other file."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from grokkit import core

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
    order = ["common", "task", "model", "loss", "priors", "measures", "optimizers", "tickets"]
    order += ["train", "__init__", "__main__"]
    assert sorted(order) == [path.stem for path in FILES]
    for path in FILES:
        for name in imported(path):
            if name.startswith("grokkit.core."):
                assert order.index(name.split(".")[2]) < order.index(path.stem), path.name


@pytest.mark.slow
def test_the_command_prints_four_lines():
    run = subprocess.run(
        [sys.executable, "-m", "grokkit.core"], capture_output=True, text=True, check=True
    )
    first, second, third, fourth = run.stdout.splitlines()
    assert first == "memorised at epoch 100"
    assert second.startswith("attention on a and b: 0.40 at first, ")
    assert third.startswith("grokked at epoch 1")
    assert fourth.endswith(" epochs a second")
