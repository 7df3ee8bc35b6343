"""``grokkit notebooks build|check|exercises|handout``."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from grokkit.cli.options import parse
from grokkit.errors import refuse

ACTIONS = ("build", "check", "exercises", "handout")


@dataclasses.dataclass(frozen=True)
class Build:
    """Write the lessons' notebooks anew from their sources.

    Attributes:
        names: which lessons, such as 01 or 01_sparse_tasks; all if none is named.
        folder: where the sources lie, and where the notebooks go.
        execute: run every cell; without, outputs of unchanged cells are kept.
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    folder: Path = Path("course")
    execute: bool = True


@dataclasses.dataclass(frozen=True)
class Exercises:
    """Write the exercises anew from their solutions, with the solutions taken out.

    Attributes:
        names: which chapters, such as 01 or 01_sparse_tasks; all if none is named.
        solutions: where the sources lie.
        exercises: where the exercises go.
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    solutions: Path = Path("solutions")
    exercises: Path = Path("exercises")


@dataclasses.dataclass(frozen=True)
class Check:
    """Say, without running anything, where notebooks and their sources have come apart.

    Exercises are checked as well, where there are solutions to hold them against.

    Attributes:
        names: which chapters, such as 01 or 01_sparse_tasks; all if none is named.
        folder: where the sources and the notebooks of the lessons lie.
        solutions: where the sources of the exercises lie.
        exercises: where the exercises lie.
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    folder: Path = Path("course")
    solutions: Path = Path("solutions")
    exercises: Path = Path("exercises")


@dataclasses.dataclass(frozen=True)
class Handout:
    """Write a folder for students: lessons and exercises, and no solutions.

    Attributes:
        target: the folder to write; it must be empty or not there yet.
        solutions: where the sources of the exercises lie.
        exercises: where the exercises lie.
        course: where the lessons lie.
        constraints: the tested versions, for pip.
    """

    target: Annotated[Path, tyro.conf.Positional]
    solutions: Path = Path("solutions")
    exercises: Path = Path("exercises")
    course: Path = Path("course")
    constraints: Path = Path("constraints.txt")


OPTIONS = dict(zip(ACTIONS, (Build, Check, Exercises, Handout), strict=True))


def main(argv: Sequence[str]) -> int:
    """Build notebooks, or check them; 1 if one cannot be built, or is not what it should be."""
    action, *rest = [*argv] or [""]
    if action in ("-h", "--help"):
        print(f"usage: grokkit notebooks {'|'.join(ACTIONS)} [OPTIONS]\n")
        print("grokkit notebooks build --help tells more, and so for each.")
        return 0
    if action not in ACTIONS:
        refuse("action", action, ", ".join(ACTIONS))
    prog = f"grokkit notebooks {action}"
    options = parse(OPTIONS[action], rest, prog)
    # What is needed to build notebooks is installed with the course only.
    try:
        from grokkit.classroom import exercises, notebooks
    except ModuleNotFoundError as missing:
        print(f"{prog}: needs {missing.name}; pip install 'grokkit[course]'", file=sys.stderr)
        return 1
    try:
        if isinstance(options, Check):
            return _check(options)
        if isinstance(options, Exercises):
            written = exercises.build(options.solutions, options.exercises, options.names)
        elif isinstance(options, Handout):
            written = exercises.handout(**vars(options))
        else:
            written = notebooks.build(options.folder, options.names, options.execute)
        for path in written:
            print(f"wrote {path}")
    except notebooks.NotebookError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    return 0


def _check(options: Check) -> int:
    """Lessons against their sources, and exercises against theirs where there are any."""
    from grokkit.classroom import exercises, notebooks

    lines = notebooks.check(options.folder, options.names)
    if options.solutions.is_dir():
        # A chapter may have a lesson and no exercises.
        names = notebooks.known(options.solutions, options.names)
        if names or not options.names:
            lines += exercises.check(options.solutions, options.exercises, names)
    for line in lines:
        print(line, file=sys.stderr)
    return int(bool(lines))
