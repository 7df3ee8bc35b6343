"""``grokkit notebooks build|check|exercises|handout``.

What is needed to build notebooks is installed with the course only, so it is imported late.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grokkit.cli.options import choose

COURSE, SOLUTIONS, EXERCISES = Path("course"), Path("solutions"), Path("exercises")


def main(argv: Sequence[str]) -> int:
    """Build notebooks, or check them; 1 if one cannot be built, or is not what it should be."""
    actions = {"build": build, "check": check, "exercises": exercises, "handout": handout}
    return choose(actions, argv, "grokkit notebooks")


def build(names: tuple[str, ...] = (), *, folder: Path = COURSE, execute: bool = True) -> int:
    """Write the lessons' notebooks anew from their sources.

    Args:
        names: which lessons, such as 01 or 01_sparse_tasks; all if none is named.
        folder: where the sources lie, and where the notebooks go.
        execute: run every cell; without, outputs of unchanged cells are kept.
    """
    from grokkit.classroom import notebooks

    return _tell(notebooks.build(folder, names, execute))


def exercises(
    names: tuple[str, ...] = (), *, solutions: Path = SOLUTIONS, exercises: Path = EXERCISES
) -> int:
    """Write the exercises anew from their solutions, with the solutions taken out.

    Args:
        names: which chapters, such as 01 or 01_sparse_tasks; all if none is named.
        solutions: where the sources lie.
        exercises: where the exercises go.
    """
    from grokkit.classroom.exercises import build

    return _tell(build(solutions, exercises, names))


def check(
    names: tuple[str, ...] = (),
    *,
    folder: Path = COURSE,
    solutions: Path = SOLUTIONS,
    exercises: Path = EXERCISES,
) -> int:
    """Say, without running anything, where notebooks and their sources have come apart.

    Exercises are checked as well, where there are solutions to hold them against.

    Args:
        names: which chapters, such as 01 or 01_sparse_tasks; all if none is named.
        folder: where the sources and the notebooks of the lessons lie.
        solutions: where the sources of the exercises lie.
        exercises: where the exercises lie.
    """
    from grokkit.classroom import notebooks
    from grokkit.classroom.exercises import check

    lines = notebooks.check(folder, names)
    if solutions.is_dir():
        # A chapter may have a lesson and no exercises.
        chapters = notebooks.known(solutions, names)
        if chapters or not names:
            lines += check(solutions, exercises, chapters)
    for line in lines:
        print(line, file=sys.stderr)
    return int(bool(lines))


def handout(
    target: Path,
    *,
    solutions: Path = SOLUTIONS,
    exercises: Path = EXERCISES,
    course: Path = COURSE,
    constraints: Path = Path("constraints.txt"),
) -> int:
    """Write a folder for students: lessons and exercises, and no solutions.

    Args:
        target: the folder to write; it must be empty or not there yet.
        solutions: where the sources of the exercises lie.
        exercises: where the exercises lie.
        course: where the lessons lie.
        constraints: the tested versions, for pip.
    """
    from grokkit.classroom.exercises import handout

    return _tell(handout(target, solutions, exercises, course, constraints))


def _tell(written: Iterable[Path]) -> int:
    for path in written:
        print(f"wrote {path}")
    return 0
