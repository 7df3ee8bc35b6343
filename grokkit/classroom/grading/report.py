"""What came out for a class: a file for the teacher's spreadsheet, a table for the screen.

The file is also the memory: each line carries a fingerprint of what it depends on, and a
line whose fingerprint still holds is not marked again.
"""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from grokkit.errors import refuse


@dataclass(frozen=True)
class Row:
    """One exercise of one notebook of one student.

    Attributes:
        student: their name, as the folder has it.
        notebook: the file, from the folder of the class.
        exercise: its name; empty for a notebook that is of no chapter.
        outcome: see :class:`grokkit.classroom.grading.supervise.Mark`.
        points: what the student gets.
        of: what the exercise is worth.
        feedback: what the student is to be told.
        fingerprint: of what the mark depends on.
    """

    student: str
    notebook: str
    exercise: str
    outcome: str
    points: int
    of: int
    feedback: str
    fingerprint: str


COLUMNS = [field.name for field in fields(Row)]


def read(path: Path) -> list[Row]:
    """The lines of a file that :func:`write` wrote; none if there is no such file.

    Raises:
        SettingError: the file is another one.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
        if lines and list(lines[0]) != COLUMNS:
            refuse("out", str(path), f"a new file, or one with the columns {', '.join(COLUMNS)}")
    try:
        return [
            Row(**{**line, "points": int(line["points"]), "of": int(line["of"])}) for line in lines
        ]
    except (TypeError, ValueError):
        refuse("out", str(path), "a new file, or one that grokkit grade wrote")


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write the lines, all or none."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: harmless(value) for name, value in asdict(row).items()})
    part = path.with_name(f"{path.name}.part")
    part.write_text(text.getvalue(), encoding="utf-8", newline="")
    os.replace(part, path)


def harmless(value: object) -> object:
    """A text without control characters that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = "".join(c if c.isprintable() else " " for c in value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def table(rows: Sequence[Row]) -> str:
    """A line for each student: the points of each chapter, and all of them.

    Where a student handed in an exercise twice the better one counts.
    """
    best: dict[str, dict[str, Row]] = {}
    for row in rows:
        mine = best.setdefault(row.student, {})
        if row.exercise not in mine or mine[row.exercise].points < row.points:
            mine[row.exercise] = row
    chapters = sorted({_chapter(row) for row in rows if row.exercise})
    lines = [["student", *(f"ch. {chapter:02}" for chapter in chapters), "points", "to look at"]]
    for student, mine in sorted(best.items()):
        cells = [harmless(student)]
        for chapter in chapters:
            there = [row for row in mine.values() if row.exercise and _chapter(row) == chapter]
            cells.append(_sum(there) if there else "-")
        odd = sorted({r.outcome for r in mine.values() if r.outcome in ("stopped", "unreadable")})
        lines.append([*map(str, cells), _sum(list(mine.values())), ", ".join(odd)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _chapter(row: Row) -> int:
    return int(row.exercise.split("_")[1])


def _sum(rows: Sequence[Row]) -> str:
    return f"{sum(row.points for row in rows)}/{sum(row.of for row in rows)}"
