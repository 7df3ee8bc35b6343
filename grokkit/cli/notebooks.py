"""``grokkit notebooks build|check``."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from grokkit.cli.options import parse
from grokkit.errors import refuse

ACTIONS = ("build", "check")


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
class Check:
    """Say, without running anything, where notebooks and their sources have come apart.

    Attributes:
        names: which lessons, such as 01 or 01_sparse_tasks; all if none is named.
        folder: where the sources and the notebooks lie.
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    folder: Path = Path("course")


def main(argv: Sequence[str]) -> int:
    """Build notebooks, or check them; 1 if one cannot be built, or is not what it should be."""
    action, *rest = [*argv] or [""]
    if action in ("-h", "--help"):
        print("usage: grokkit notebooks build|check [NAMES] [OPTIONS]\n")
        print("grokkit notebooks build --help and check --help tell more.")
        return 0
    if action not in ACTIONS:
        refuse("action", action, ", ".join(ACTIONS))
    prog = f"grokkit notebooks {action}"
    options = parse(Build if action == "build" else Check, rest, prog)
    # What is needed to build notebooks is installed with the course only.
    try:
        from grokkit.classroom import notebooks
    except ModuleNotFoundError as missing:
        print(f"{prog}: needs {missing.name}; pip install 'grokkit[course]'", file=sys.stderr)
        return 1
    if isinstance(options, Check):
        differences = notebooks.check(options.folder, options.names)
        for line in differences:
            print(line, file=sys.stderr)
        return int(bool(differences))
    try:
        for path in notebooks.build(options.folder, options.names, options.execute):
            print(f"wrote {path}")
    except notebooks.NotebookError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    return 0
