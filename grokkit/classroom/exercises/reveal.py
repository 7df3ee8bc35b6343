"""Showing a solution, from the checkout and only where its owner allows it."""

import tomllib
from pathlib import Path

import grokkit
from grokkit.classroom.checks.shown import Solution
from grokkit.errors import check_choice

WHEN = ("always", "after an attempt", "never")
"""What ``show`` may be in ``solutions/settings.toml``; without the file it is ``never``."""


def folder() -> Path | None:
    """``solutions/`` of the checkout that grokkit was imported from; None for a wheel."""
    checkout = Path(grokkit.__file__).parents[1]
    found = checkout / "solutions"
    return found if found.is_dir() and (checkout / "pyproject.toml").exists() else None


def reveal(name: str, attempted: bool, solutions: Path | None = None) -> Solution:
    """The solution of an exercise, or why it is not shown.

    Args:
        name: ``"ex_1_2"``.
        attempted: whether the learner has handed an answer to the check before.
        solutions: where the solutions lie; None for :func:`folder`.

    Raises:
        SettingError: ``show`` in the settings is none of :data:`WHEN`.
    """
    solutions = solutions or folder()
    if solutions is None:
        return Solution(name, refusal="There are no solutions here; ask whoever gave you this.")
    settings = solutions / "settings.toml"
    found = tomllib.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
    when = check_choice("show", found.get("show", "never"), WHEN)
    if when == "never":
        return Solution(name, refusal="Solutions are not shown here; the hints are: .hint()")
    if when == "after an attempt" and not attempted:
        return Solution(name, refusal=f"Try it first: the solution opens after check.{name}(...).")
    # Reading a source needs Jupytext, which only the course extra brings.
    from grokkit.classroom.exercises import source as sources

    (path,) = solutions.glob(f"{int(name.split('_')[1]):02}_*.py")
    (exercise,) = [part for part in sources.read(path).exercises if part.name == name]
    parts = []
    for cell in exercise.cells:
        if sources.has_tag(cell, "solution") and cell.cell_type == "markdown":
            parts.append(cell.source)
        elif sources.BEGIN in cell.source or sources.has_tag(cell, "solution"):
            parts.append(f"```python\n{sources.solved(cell.source)}\n```")
    return Solution(name, "\n\n".join(parts))
