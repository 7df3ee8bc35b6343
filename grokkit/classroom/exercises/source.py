"""A source of exercises, ``solutions/NN_name.py``, read into its parts.

It is a Jupytext percent script that runs from top to bottom. An exercise begins with a
Markdown cell that carries its name, and lasts until the next::

    # %% [markdown] exercise="ex_1_1" difficulty=1 minutes=5
    # ## The oracle
    # What is asked ...

    # %%
    def oracle(informative):
        ### BEGIN SOLUTION
        return informative / informative.sum(dim=1, keepdim=True)
        ### END SOLUTION

    # %%
    check.ex_1_1(oracle)

    # %% [markdown] tags=["solution"]
    # What there is to say about the solution ...

``solutions/README.md`` tells a writer all that may stand there.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from grokkit.classroom.checks.cells import answers, checked, is_check
from grokkit.classroom.notebooks import NotebookError, parsed

BEGIN, STUB, END = "### BEGIN SOLUTION", "### STUB", "### END SOLUTION"
_REGION = re.compile(
    rf"^(?P<indent> *){BEGIN}\n(?P<solution>.*?)(?:^ *{STUB}\n(?P<stub>.*?))?^ *{END}$",
    re.DOTALL | re.MULTILINE,
)
_SETTINGS = {"exercise", "difficulty", "minutes", "points"}


@dataclass(frozen=True)
class Exercise:
    """One exercise of a chapter.

    Attributes:
        name: ``"ex_1_2"``.
        title: its heading.
        difficulty: 1 to 3.
        minutes: how long it takes.
        points: what a correct answer is worth; its difficulty unless the source says more.
        cells: its cells, solved, the heading first.
    """

    name: str
    title: str
    difficulty: int
    minutes: int
    points: int
    cells: Sequence[NotebookNode]

    @property
    def number(self) -> str:
        """The number that a reader sees: ``"1.2"``."""
        return self.name.removeprefix("ex_").replace("_", ".")

    @property
    def answers(self) -> list[str]:
        """The names that its check cell hands to the check."""
        (cell,) = [cell for cell in self.cells if is_check(cell)]
        return answers(cell.source)


@dataclass(frozen=True)
class Chapter:
    """A source: what stands before the first exercise, and the exercises."""

    path: Path
    opening: Sequence[NotebookNode]
    exercises: Sequence[Exercise]

    @property
    def cells(self) -> list[NotebookNode]:
        """All cells in order."""
        return [*self.opening, *(cell for part in self.exercises for cell in part.cells)]


def read(path: Path) -> Chapter:
    """The parts of a source.

    Raises:
        NotebookError: it is malformed; the message names the file and the exercise or cell.
    """
    opening: list[NotebookNode] = []
    groups: list[list[NotebookNode]] = []
    for cell in parsed(path).cells:
        if "exercise" in cell.metadata:
            groups.append([cell])
        else:
            (groups[-1] if groups else opening).append(cell)
    try:
        return Chapter(path, opening, [_exercise(cells) for cells in groups])
    except ValueError as error:
        raise NotebookError(f"{path.name}: {error}") from error


def _exercise(cells: list[NotebookNode]) -> Exercise:
    heading, *rest = cells
    settings = heading.metadata
    name = settings["exercise"]
    if set(settings) - _SETTINGS:
        raise ValueError(f"{name}: {set(settings) - _SETTINGS}: allowed: {sorted(_SETTINGS)}")
    if heading.cell_type != "markdown" or not heading.source.startswith("## "):
        raise ValueError(f"{name}: it begins with a Markdown cell whose first line is `## Title`")
    for key, most in (("difficulty", 3), ("minutes", 240)):
        if not isinstance(settings.get(key), int) or not 1 <= settings[key] <= most:
            raise ValueError(f"{name}: {key} = {settings.get(key)}; allowed: 1..{most}")
    checks = [cell for cell in rest if is_check(cell)]
    if len(checks) != 1:
        raise ValueError(
            f"{name}: has {len(checks)} check cells `check.{name}(answer)`; allowed: 1"
        )
    if checked(checks[0]) != name:
        raise ValueError(f"{name}: its check cell calls check.{checked(checks[0])}")
    answers(checks[0].source)
    if not any(BEGIN in cell.source for cell in rest):
        raise ValueError(f"{name}: has no cell with `{BEGIN}` ... `{END}`")
    for cell in rest:
        if cell.source.count(BEGIN) != len(_REGION.findall(cell.source)):
            raise ValueError(f"{name}: `{BEGIN}` and `{END}` do not pair in {cell.source!r}")
        stubbed(cell.source)
    title = heading.source.split("\n", 1)[0].removeprefix("## ").strip()
    points = settings.get("points", settings["difficulty"])
    return Exercise(name, title, settings["difficulty"], settings["minutes"], points, cells)


# --- cells --------------------------------------------------------------------------------


def has_tag(cell: NotebookNode, tag: str) -> bool:
    """Whether a cell carries a tag."""
    return tag in cell.metadata.get("tags", [])


def stubbed(source: str) -> str:
    """The source of a cell with its solutions taken out.

    In a function a solution becomes ``raise NotImplementedError("your code here")``; at the
    top level each name that it assigns becomes ``name = None``. Whatever stands as comments
    after ``### STUB`` takes the place of either.
    """
    return _REGION.sub(_stub, source)


def solution_lines(source: str) -> Iterator[str]:
    """The lines within the solutions of a cell, without their indentation."""
    for region in _REGION.finditer(source):
        yield from (line.strip() for line in region["solution"].splitlines() if line.strip())


def solved(source: str) -> str:
    """The source of a cell with its solutions, but without the marks around them."""
    return _REGION.sub(lambda region: region["solution"].rstrip("\n"), source)


def _stub(region: re.Match[str]) -> str:
    indent = region["indent"]
    if region["stub"] is not None:
        lines = [re.sub(r"^ *# ?", "", line) for line in region["stub"].splitlines()]
        return textwrap.indent("\n".join(lines), indent)
    if indent:
        return f'{indent}raise NotImplementedError("your code here")'
    tree = ast.parse(region["solution"])
    targets = [
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in ast.walk(statement)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    ]
    names = dict.fromkeys(targets)
    if not names:
        raise ValueError(f"a solution at the top level assigns no name: {region['solution']!r}")
    return "\n".join(f"{name} = None  # your code here" for name in names)
