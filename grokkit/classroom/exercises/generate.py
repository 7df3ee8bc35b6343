"""Exercises from their solutions: what is taken out, what is added, and whether they agree.

Generated is a function of the source alone: cell ids are the exercises' names, or come from
the cells' content; there are no outputs. Cells carry the metadata by which nbgrader knows
what a student may change and what is graded.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grokkit.classroom import colab, notebooks
from grokkit.classroom.checks.cells import is_check
from grokkit.classroom.differences import differences, first_line
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises import targets
from grokkit.classroom.exercises.source import Chapter, Exercise

SOLUTIONS, EXERCISES = Path("solutions"), Path("exercises")
LEVELS = {1: "●○○ easy", 2: "●●○ medium", 3: "●●● hard"}

_TRIVIAL = 12
"""Solution lines shorter than this say nothing, such as ``return total``'s ``)``."""


def build(
    solutions: Path = SOLUTIONS, exercises: Path = EXERCISES, names: Sequence[str] = ()
) -> list[Path]:
    """Write the exercises of a folder of solutions anew.

    Args:
        solutions: where the sources lie.
        exercises: where the exercises go.
        names: which chapters, such as ``01``; all if empty.

    Returns:
        The files written.

    Raises:
        SettingError: there is no such folder, or no such chapter in it.
        NotebookError: a source is malformed, or lets a line of a solution through.
    """
    exercises.mkdir(parents=True, exist_ok=True)
    written = []
    for path in notebooks.sources(solutions, names):
        chapter = sources.read(path)
        written += targets.draw(chapter, exercises / targets.FOLDER)
        target, text = _notebook(chapter, exercises)
        target.write_text(text, encoding="utf-8", newline="\n")
        written.append(target)
    return written


def check(
    solutions: Path = SOLUTIONS, exercises: Path = EXERCISES, names: Sequence[str] = ()
) -> list[str]:
    """Where the exercises differ from what :func:`build` would write, a line each.

    Nothing is run: a target figure carries the mark of the code that drew it.

    Raises:
        SettingError: there is no such folder, or no such chapter in it.
    """
    lines, wanted = [], set()
    for path in notebooks.sources(solutions, names):
        try:
            chapter = sources.read(path)
            target, text = _notebook(chapter, exercises)
        except notebooks.NotebookError as error:
            lines.append(first_line(str(error), 200))
            continue
        pictures = targets.pictures(chapter, exercises / targets.FOLDER)
        wanted |= {target, *pictures}
        lines += [f"{target.name}: {line}" for line in _compare(target, text, path.name)]
        for picture, code in pictures.items():
            if targets.mark_of(picture) != targets.mark(code):
                lines.append(
                    f"{picture.name}: missing, or drawn by other code than {path.name} has"
                )
    if not names and exercises.is_dir():
        there = [*exercises.glob("*.py"), *exercises.glob("*.ipynb")]
        there += [*(exercises / targets.FOLDER).glob("*")]
        for found in sorted({*there} - wanted - {exercises / "conftest.py"}):
            lines.append(f"{found.name}: has no source in {solutions}")
    return lines


def leaks(chapter: Chapter, text: str) -> list[str]:
    """The lines of a chapter's solutions that a text contains, wherever in a line.

    Args:
        chapter: the solutions.
        text: what a student may see.
    """
    lines = []
    for cell in chapter.cells:
        if sources.has_tag(cell, "solution"):
            lines += [line.strip() for line in cell.source.splitlines()]
        else:
            lines += sources.solution_lines(cell.source)
    return [line for line in lines if len(line) >= _TRIVIAL and line in text]


def exercise_notebook(chapter: Chapter, solve: bool = False) -> NotebookNode:
    """The notebook that a learner opens.

    Args:
        chapter: the source.
        solve: leave the solutions in, for a test of the notebook that a learner may reach.
    """
    cells = [_copied(cell) for cell in chapter.opening]
    for exercise in chapter.exercises:
        cells += _exercise_cells(exercise, solve)
    return notebooks.assembled(cells)


def _exercise_cells(exercise: Exercise, solve: bool) -> Iterator[NotebookNode]:
    """The cells of one exercise, with the solutions taken out."""
    stubs = 0
    for cell in map(_copied, exercise.cells):
        name = exercise.name
        if "exercise" in cell.metadata:
            cell.id, cell.source = name, _heading(exercise, cell.source)
            cell.metadata = _nbgrader(f"{name}-prompt")
        elif sources.has_tag(cell, "solution"):
            continue
        elif sources.has_tag(cell, "target"):
            cell = nbformat.v4.new_markdown_cell(targets.image(exercise))
            cell.id, cell.metadata = f"{name}-target", _nbgrader(f"{name}-target")
        elif is_check(cell):
            cell.id = f"{name}-check"
            cell.metadata = _nbgrader(cell.id, points=exercise.points)
        elif sources.BEGIN in cell.source:
            stubs += 1
            cell.id = f"{name}-answer" + (f"-{stubs}" if stubs > 1 else "")
            cell.source = (sources.solved if solve else sources.stubbed)(cell.source)
        yield cell


def _heading(exercise: Exercise, prompt: str) -> str:
    _, _, rest = prompt.partition("\n")
    level = f"*{LEVELS[exercise.difficulty]} · about {exercise.minutes} minutes*"
    return f"## {exercise.number} · {exercise.title}\n\n{level}\n\n{rest.strip()}"


def _nbgrader(name: str, points: int | None = None) -> NotebookNode:
    """The metadata by which nbgrader knows a cell that is not the student's to change.

    Cells with an answer carry none: nbgrader would put a stub of its own in their place.
    """
    entry = {
        "grade": points is not None,
        "grade_id": name,
        "locked": True,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    if points is not None:
        entry["points"] = points
    return NotebookNode(nbgrader=NotebookNode(entry))


def _copied(cell: NotebookNode) -> NotebookNode:
    new = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
    return new(cell.source, metadata=NotebookNode(cell.metadata), id=notebooks.content_id(cell))


# --- files --------------------------------------------------------------------------------


def _notebook(chapter: Chapter, exercises: Path) -> tuple[Path, str]:
    """Where a chapter's exercise notebook lies, and its text as it is to be written."""
    notebook = exercise_notebook(chapter)
    leaked = leaks(chapter, "\n".join(cell.source for cell in notebook.cells))
    if leaked:
        raise notebooks.NotebookError(
            f"{chapter.path.name}: a line of a solution stands outside of it too: {leaked[0]!r}"
        )
    colab.prepare(notebook, chapter.path)
    target = exercises / chapter.path.with_suffix(".ipynb").name
    return target, notebooks.text_of(notebook)


def _compare(target: Path, text: str, source: str) -> list[str]:
    if not target.exists():
        return [f"missing; `grokkit notebooks exercises` writes it from {source}"]
    found = target.read_text(encoding="utf-8")
    if found == text:
        return []
    try:
        there = nbformat.reads(found, as_version=4)
        lines = list(differences(nbformat.reads(text, as_version=4), there, source))
    except Exception as error:  # not JSON, or not a notebook
        return [f"not a valid notebook: {first_line(str(error))}"]
    return lines or ["has outputs, or is not as `grokkit notebooks exercises` writes it"]
