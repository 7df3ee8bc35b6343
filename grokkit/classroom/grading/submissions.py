"""Which notebooks a folder of students holds: whose they are, and of which chapter.

A student is a folder (``FOLDER/ada/01_sparse_tasks.ipynb``, with whatever folders in
between, as nbgrader has them) or a file (``FOLDER/ada_01_sparse_tasks.ipynb``).
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grokkit
from grokkit.classroom.checks.cells import checked, is_check
from grokkit.classroom.grading.judge import text_of
from grokkit.errors import refuse


@dataclass(frozen=True)
class Sheet:
    """The exercises of a chapter: the clean notebook, and what each is worth.

    Attributes:
        path: the notebook.
        points: by the exercise's name, in order.
    """

    path: Path
    points: dict[str, int]


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Attributes:
        student: whose it is.
        path: where it lies.
        sheet: the exercises that it answers; None if that cannot be told.
    """

    student: str
    path: Path
    sheet: Sheet | None

    def fingerprint(self, settings: str) -> str:
        """What the marks depend on: the notebook, the exercises, the checks, some settings."""
        digest = hashlib.blake2b(f"{grokkit.__version__} {settings}".encode(), digest_size=8)
        digest.update(self.path.read_bytes())
        if self.sheet is not None:
            digest.update(self.sheet.path.read_bytes())
            checks = Path(grokkit.__file__).parent / "classroom" / "checks"
            for path in sorted(checks.glob("*.py")):
                # The checks of other chapters have no say here.
                if (
                    not path.stem.startswith("chapter_")
                    or path.stem[-2:] == self.sheet.path.stem[:2]
                ):
                    digest.update(path.read_bytes())
        return digest.hexdigest()


def sheets(folder: Path) -> dict[str, Sheet]:
    """The exercise notebooks of a folder by their stems.

    Raises:
        SettingError: there are none.
    """
    found = {}
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        points = {}
        for cell in cells:
            cell["source"] = text_of(cell)
            if is_check(cell):
                points[checked(cell)] = cell["metadata"]["nbgrader"]["points"]
        found[path.stem] = Sheet(path.resolve(), points)
    if not found:
        allowed = (
            "the folder of the clean exercise notebooks, in the checkout or in what was handed out"
        )
        refuse("exercises", str(folder), allowed)
    return found


def submissions(folder: Path, exercises: dict[str, Sheet]) -> list[Submission]:
    """The notebooks in a folder, by student and name; links and other non-files are left out.

    Raises:
        SettingError: there is no such folder, or no notebook in it.
    """
    if not folder.is_dir():
        refuse("folder", str(folder), "a folder of students' notebooks")
    found = [_submission(folder, path, exercises) for path in _notebooks(folder)]
    if not found:
        refuse("folder", str(folder), "a folder with notebooks (.ipynb) in it")
    return sorted(found, key=lambda one: (one.student, str(one.path)))


def _notebooks(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            if name.endswith(".ipynb") and path.is_file() and not path.is_symlink():
                yield path


def _submission(folder: Path, path: Path, exercises: dict[str, Sheet]) -> Submission:
    stem = _chapter(path, list(exercises))
    first, *rest = path.relative_to(folder).parts
    student = first
    if not rest:
        # What is left of the file's name without the chapter's: "ada" of "ada_01" too.
        student = re.sub(f"{stem}|(?<!\\d){stem[:2]}(?!\\d)" if stem else "^$", "", path.stem)
        student = student.strip(" _-.") or path.stem
    return Submission(student, path, exercises.get(stem))


def _chapter(path: Path, stems: Sequence[str]) -> str:
    """The stem of a notebook's chapter: by its name, its number, or the ids of its cells."""
    for stem in stems:
        if stem in path.stem:
            return stem
    numbers = re.findall(r"(?<!\d)\d\d(?!\d)", path.stem)
    if not numbers and path.stat().st_size < 2**20:
        text = path.read_text(encoding="utf-8", errors="replace")
        numbers = [f"{int(number):02}" for number in re.findall(r'"ex_(\d{1,2})_\d-', text)[:1]]
    fitting = [stem for stem in stems if stem[:2] in numbers]
    return fitting[0] if len(fitting) == 1 else ""
