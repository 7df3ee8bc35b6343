"""Target figures: what a learner's own figure is to look like, beside the stub.

A cell of the source that is tagged ``target`` ends with a figure. It is drawn once, when the
exercises are generated, and the exercise shows the picture. The PNG carries a mark of the code
that drew it, so that a check finds out without drawing whether it is the right one.
"""

import ast
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from PIL import Image

from grokkit.classroom.checks.cells import is_check
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.source import Chapter, Exercise

FOLDER = "images"
"""Where the pictures lie, beside the exercises."""

_KEY = "Source"


def image(exercise: Exercise) -> str:
    """The Markdown that shows an exercise's picture."""
    return f"![What exercise {exercise.number} is to show]({FOLDER}/{exercise.name}.png)"


def pictures(chapter: Chapter, folder: Path) -> dict[Path, list[str]]:
    """The pictures that a chapter needs, and the code that draws each."""
    return {
        folder / f"{exercise.name}.png": _code_until(chapter, cell)
        for exercise in chapter.exercises
        for cell in exercise.cells
        if sources.has_tag(cell, "target")
    }


def mark(code: Sequence[str]) -> str:
    """The mark that a picture drawn by some code must carry."""
    return hashlib.blake2b("\n".join(code).encode(), digest_size=8).hexdigest()


def mark_of(picture: Path) -> str:
    """The mark that a picture carries; empty if there is none, or no picture."""
    try:
        with Image.open(picture) as opened:
            return str(opened.info.get(_KEY, ""))
    except OSError:
        return ""


def draw(chapter: Chapter, folder: Path) -> list[Path]:
    """Draw the pictures whose code has changed.

    Returns:
        The pictures drawn.
    """
    drawn = []
    for target, code in pictures(chapter, folder).items():
        if mark_of(target) != mark(code):
            folder.mkdir(parents=True, exist_ok=True)
            run(code).savefig(target, metadata={_KEY: mark(code), "Software": None})
            drawn.append(target)
    return drawn


def run(code: Sequence[str], name: str = "<cell>") -> Any:
    """The value of the last line of some cells, run one after another."""
    names: dict[str, Any] = {"__name__": "__main__"}
    value = None
    for cell in code:
        tree = ast.parse(cell)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    return value


def _code_until(chapter: Chapter, last: NotebookNode) -> list[str]:
    """The code of a chapter down to a cell; checks and other pictures are left out."""
    code = []
    for cell in chapter.cells:
        if cell is last:
            return [*code, sources.solved(cell.source)]
        skipped = is_check(cell) or sources.has_tag(cell, "target")
        if cell.cell_type == "code" and not skipped:
            code.append(sources.solved(cell.source))
    return code
