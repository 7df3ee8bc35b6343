"""What a teacher hands on: a line and a page of feedback for each student of the class.

The list of the class, the *roster*, is a CSV file as Moodle's and Canvas's gradebooks export it.
Its columns are kept as they are, and the marks stand in columns behind them, so the file can be
imported where the roster came from.
"""

import os
import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

from grokkit.classroom.grading import report
from grokkit.classroom.grading.report import Row
from grokkit.engine.files import write_whole
from grokkit.errors import refuse

TOTAL, POSSIBLE, STATUS = "grokkit total", "grokkit points possible", "grokkit status"

_MOST_NAMES = 4  # of a person, when their order is not known
_IDENTIFIES = re.compile(
    r"student|name|\bids?\b|mail|user|login|number|nummer|matrik|kennung", re.IGNORECASE
)


class Roster:
    """The students of a class.

    Args:
        columns: of the file, in order.
        people: one line for each student.
    """

    def __init__(self, columns: Sequence[str], people: Sequence[Mapping[str, str]]) -> None:
        self.columns, self.people = list(columns), [dict(one) for one in people]
        self._known: dict[str, set[int]] = {}
        for number, person in enumerate(self.people):
            for key in _keys(person):
                self._known.setdefault(key, set()).add(number)

    @classmethod
    def read(cls, path: Path) -> "Roster":
        """The roster of a file.

        Raises:
            SettingError: it is no CSV file, or has no column that says who somebody is.
        """
        people = report.table_of(path, "roster")
        columns = list(people[0]) if people else []
        if not any(map(_IDENTIFIES.search, columns)):
            allowed = "a CSV file with a column such as Student, ID, Email address or First name"
            refuse("roster", str(path), allowed)
        # Canvas puts what an assignment is worth into a line of its own.
        return cls(columns, [one for one in people if "Points Possible" not in one[columns[0]]])

    def find(self, student: str) -> int | None:
        """The number of the person who handed in under a name; None if nobody or several fit.

        A name fits if it is one of the person's entries or their names in any order; else by one
        of its parts, as in ``lovelaceada_4711_01_sparse_tasks``.
        """
        for keys in ([_plain(student)], map(_plain, re.split(r"[\W_]+", student))):
            found = {number for key in keys for number in self._known.get(key, ())}
            if found:
                return found.pop() if len(found) == 1 else None
        return None


def write(folder: Path, rows: Sequence[Row], roster: Roster | None) -> tuple[list[str], list[str]]:
    """Write ``students.csv`` and ``feedback/STUDENT.md``.

    Args:
        folder: where to; made if it is not there.
        rows: all marks.
        roster: the class; None for whoever handed in.

    Returns:
        Who has not handed in, and who handed in but is not in the roster.
    """
    columns = roster.columns if roster else ["Student"]
    everybody = report.best(rows)
    whose: dict[int | str, list[str]] = {}
    for student in sorted(everybody):
        found = roster.find(student) if roster else None
        whose.setdefault(student if found is None else found, []).append(student)
    people = dict(enumerate(roster.people)) if roster else {}
    strangers = [one for one in whose if isinstance(one, str)]
    chapters = sorted({report.chapter(row) for row in rows if row.exercise})
    lines: list[dict[str, object]] = []
    missing = []
    os.makedirs(folder / "feedback", exist_ok=True)
    for who in [*people, *strangers]:
        names = whose.get(who, [])
        own = [row for row in rows if row.student in names]
        person = people[who] if isinstance(who, int) else {columns[0]: who}
        status = report.to_look_at([_renamed(row, "") for row in own], "")
        line: dict[str, object] = {**person, STATUS: status or "handed in"}
        if not names:
            missing.append(", ".join(filter(None, list(person.values())[:2])))
            lines.append({**line, STATUS: "not handed in"})
            continue
        best = report.best([_renamed(row, "") for row in own])[""]
        for number in chapters:
            there = [row.points for row in best if row.exercise and report.chapter(row) == number]
            line[_chapter_column(number)] = sum(there) if there else ""
        line |= {TOTAL: sum(row.points for row in best), POSSIBLE: sum(row.of for row in best)}
        if roster and isinstance(who, str):
            line[STATUS] = f"not in the roster; {line[STATUS]}"
        lines.append(line)
        page = folder / "feedback" / f"{_file_name(names[0])}.md"
        write_whole(page, _page(names[0], own, best).encode())
    marks = [TOTAL, POSSIBLE, *map(_chapter_column, chapters), STATUS]
    report.write_table(folder / "students.csv", [*columns, *marks], lines)
    return missing, strangers if roster else []


def _page(student: str, own: Sequence[Row], best: Sequence[Row]) -> str:
    """What a student is told, in Markdown."""
    total = f"{sum(row.points for row in best):g} of {sum(row.of for row in best):g}"
    text = [f"# {_as_text(student)}", f"{total} points", ""]
    for row in sorted(best, key=lambda row: _order(row.exercise)):
        if row.exercise:
            number = row.exercise.removeprefix("ex_").replace("_", ".")
            text.append(f"## Exercise {number}: {row.outcome}, {row.points:g} of {row.of:g}\n")
            text += [*_quoted(row.feedback), ""]
    for row in own:
        if not row.exercise:
            text += [f"## {_as_text(row.notebook)}: {row.outcome}\n", *_quoted(row.feedback), ""]
    return "\n".join(text)


def _quoted(feedback: str) -> list[str]:
    """Feedback as a block of code, as it may hold anything that a student's code printed."""
    return [f"    {line.strip()}" for line in feedback.split(" | ") if line.strip()]


def _as_text(name: str) -> str:
    """A name that Markdown and HTML leave as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|&~$])", r"\\\1", name)


def _order(exercise: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", exercise)]


def _renamed(row: Row, student: str) -> Row:
    return Row(**{**vars(row), "student": student})


def _chapter_column(number: int) -> str:
    return f"grokkit chapter {number:02}"


def _file_name(student: str) -> str:
    """A name for a file, whatever a student is called; different ones stay different."""
    plain = re.sub(r"[^\w .-]", "_", student).strip(" .") or "student"
    return plain if plain == student else f"{plain} {zlib.crc32(student.encode()):08x}"


def _keys(person: Mapping[str, str]) -> set[str]:
    """All by which somebody may be called: each entry, and their names in any order."""
    entries = [text for column, text in person.items() if _IDENTIFIES.search(column)]
    keys = {_plain(text) for text in entries} | {_plain(text.partition("@")[0]) for text in entries}
    names = [text for text in entries if not re.search(r"[@\d]", text)]
    for group in (*([name] for name in names), names[:2]):
        parts = [part for name in group for part in re.split(r"[\s,]+", name) if part]
        if 1 < len(parts) <= _MOST_NAMES:
            keys |= {_plain("".join(order)) for order in permutations(parts)}
    return keys - {""}


def _plain(text: str) -> str:
    """A name without case, accents, blanks and punctuation."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parts if c.isalnum())
