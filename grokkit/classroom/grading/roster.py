"""What a teacher hands on: a line and a page of feedback for each student of the class.

The list of the class, the *roster*, is a CSV file as Moodle's and Canvas's gradebooks export it.
Its columns are kept as they are, and the marks stand in columns behind them, so the file can be
imported where the roster came from.
"""

import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, permutations
from pathlib import Path

from grokkit.classroom.grading.report import Row, harmless, table_of, write_table
from grokkit.classroom.grading.submissions import copy_number
from grokkit.engine.files import write_whole
from grokkit.errors import refuse

TOTAL, POSSIBLE, STATUS = "grokkit total", "grokkit points possible", "grokkit status"

_ODD = ("stopped", "unreadable", "not read")
_MOST_NAMES = 4  # of a person, when their order is not known
_FIRST = re.compile(r"first|given|vorname|prénom", re.IGNORECASE)
_LAST = re.compile(r"last|family|surname|nachname", re.IGNORECASE)
_LOGIN = re.compile(r"(user|login|mail|\bid).*=|=.*[@\d]", re.IGNORECASE)
_SAYS_LITTLE = ("not read", "unreadable", "not attempted")  # the least first
_IDENTIFIES = re.compile(
    r"student|name|\bids?\b|mail|user|login|number|nummer|matrik|kennung", re.IGNORECASE
)


@dataclass(frozen=True)
class Student:
    """One line of the report.

    Attributes:
        entries: who it is, in the roster's columns.
        rows: all that was handed in.
        worth: what each exercise of the class is worth, whoever handed it in.
        known: whether the roster has them; true if there is no roster.
        times: when files were last changed, by their names; those that are not known are older.
    """

    entries: Mapping[str, str]
    rows: Sequence[Row]
    worth: Mapping[str, int | float]
    known: bool = True
    times: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Their name and what comes next in the roster, such as a number."""
        texts = {column: text for column, text in self.entries.items() if text}
        first, last = (next(filter(part.search, texts), "") for part in (_FIRST, _LAST))
        if first and last:
            name = f"{texts.pop(first)} {texts.pop(last)}"
            return ", ".join([name, *list(texts.values())[:1]])
        return ", ".join(list(texts.values())[:2])

    @property
    def best(self) -> list[Row]:
        """A row an exercise, in order: of several that were handed in the one with most points.

        Of equal points it is the newest in which the exercise was attempted. A copy is newer than
        what it is a copy of; otherwise the time at which a file was changed says so.
        """

        def rank(row: Row) -> tuple[int | float, ...]:
            little = row.outcome in _SAYS_LITTLE
            says = _SAYS_LITTLE.index(row.outcome) if little else len(_SAYS_LITTLE)
            when = self.times.get(row.notebook, 0.0)
            return row.points, says, copy_number(row.notebook), when

        found: dict[str, Row] = {}
        for row in self.rows:
            if row.exercise:
                found[row.exercise] = max(found.get(row.exercise, row), row, key=rank)
        return sorted(found.values(), key=lambda row: _numbers(row.exercise))

    @property
    def _told(self) -> list[Row]:
        """What the student is told of: an exercise each, and lines about whole files."""
        return [*self.best, *(row for row in self.rows if not row.exercise)]

    @property
    def missing(self) -> list[int]:
        """The chapters of which others handed something in, and this one did not."""
        mine = {_numbers(row.exercise)[0] for row in self.rows if row.exercise}
        return sorted({_numbers(name)[0] for name in self.worth} - mine)

    def line(self) -> dict[str, object]:
        """What the report says, by column."""
        points: dict[str, float] = {}
        for row in self.best:
            chapter = f"grokkit chapter {_numbers(row.exercise)[0]:02}"
            points[chapter] = points.get(chapter, 0) + row.points
        parts = sorted({row.outcome for row in self._told}.intersection(_ODD)) or ["handed in"]
        parts += [f"chapter {number:02} missing" for number in self.missing]
        status = ", ".join(parts) if self.rows else "not handed in"
        line: dict[str, object] = {**self.entries, STATUS: status}
        if not self.known:
            line[STATUS] = f"not in the roster; {status}"
        if self.rows:
            line |= {TOTAL: sum(points.values()), POSSIBLE: sum(self.worth.values())}
        return {**line, **points}

    def page(self) -> str:
        """What the student is told, in Markdown."""
        line = self.line()
        text = [f"# {_as_text(self.name)}", f"{line[TOTAL]:g} of {line[POSSIBLE]:g} points"]
        text += [f"Chapter {number:02}: nothing handed in." for number in self.missing]
        for _, group in groupby(self._told, key=_sentence):
            row, *others = rows = list(group)
            names = ", ".join(one.exercise.removeprefix("ex_").replace("_", ".") for one in rows)
            what, points = f"Exercise{'s' * bool(others)} {names}", ""
            if row.exercise:
                points = f", {sum(r.points for r in rows):g} of {sum(r.of for r in rows):g}"
            else:
                what = _as_text(row.notebook)
            outcome = "some lines were left out" if row.outcome == "skipped" else row.outcome
            text.append(f"## {what}: {outcome}{points}")
            files = {one.notebook for one in self.rows if one.exercise == row.exercise}
            if row.exercise and len(files) > 1:
                text.append(f"This is about the file {_as_text(row.notebook)}.")
            # As a block of code: it may hold anything that a student's code printed.
            said = [f"    {part.strip()}" for part in row.feedback.split(" | ") if part.strip()]
            text += ["\n".join(said)] * bool(said)
        return "\n\n".join(text) + "\n"


def students(
    rows: Sequence[Row], roster: Path | None = None, times: Mapping[str, float] | None = None
) -> list[Student]:
    """The class, in the roster's order, and then whoever handed in and is not in it.

    A name under which somebody handed in is theirs if it is one of their entries or their names in
    any order; else if one of its parts is their number or login, as in
    ``lovelaceada_4711_01_sparse_tasks``; else if two of its parts are names of theirs. A first name
    among other words is not enough.

    Args:
        rows: all marks.
        roster: the file; None for whoever handed in.
        times: when files were last changed, by their names, as far as that is known.

    Raises:
        SettingError: the file is no CSV file, or has no column that says who somebody is.
    """
    people = _people(roster) if roster else []
    column = next(iter(people[0])) if people else "Student"
    known = [_keys(person) for person in people]
    theirs: dict[int, list[Row]] = {}
    strangers: dict[str, list[Row]] = {}
    for row in rows:
        found = _found(row.student, known)
        if found is None:
            strangers.setdefault(row.student, []).append(row)
        else:
            theirs.setdefault(found, []).append(row)
    worth = {row.exercise: row.of for row in rows if row.exercise}
    when = {str(harmless(name)): time for name, time in (times or {}).items()}
    return [
        *(
            Student(person, theirs.get(number, []), worth, times=when)
            for number, person in enumerate(people)
        ),
        *(
            Student({column: name}, own, worth, not roster, when)
            for name, own in sorted(strangers.items())
        ),
    ]


def write(folder: Path, everybody: Sequence[Student]) -> None:
    """Write ``students.csv`` and ``feedback/STUDENT.md`` into a folder, made if it is not there."""
    (folder / "feedback").mkdir(parents=True, exist_ok=True)
    lines = [student.line() for student in everybody]
    write_table(folder / "students.csv", _columns(lines), lines)
    for student in everybody:
        if student.rows:
            name = _file_name(student.name)
            write_whole(folder / "feedback" / f"{name}.md", student.page().encode())


def table(everybody: Sequence[Student]) -> str:
    """The same for the screen: who, the points of each chapter, all of them, and the status."""
    lines = [student.line() for student in everybody]
    own = [column for column in _columns(lines) if column.startswith("grokkit ")]
    rows = [["student", *(column.removeprefix("grokkit ") for column in own)]]
    for student, line in zip(everybody, lines, strict=True):
        values = (line.get(column, "-") for column in own)
        rows.append(
            [student.name, *(f"{v:g}" if isinstance(v, float | int) else str(v) for v in values)]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = (map(str.ljust, row, widths) for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in cells)


def _columns(lines: Sequence[Mapping[str, object]]) -> list[str]:
    """All columns: the roster's, total and possible, the chapters in order, the status."""
    names = dict.fromkeys(name for line in lines for name in line)
    chapters = sorted(name for name in names if name.startswith("grokkit chapter"))
    roster = [name for name in names if not name.startswith("grokkit ")]
    return [*roster, TOTAL, POSSIBLE, *chapters, STATUS]


def _people(path: Path) -> list[dict[str, str]]:
    people = table_of(path, "roster")
    if not people or not any(map(_IDENTIFIES.search, people[0])):
        allowed = "a CSV file with a column such as Student, ID, Email address or First name"
        refuse("roster", str(path), allowed)
    # Canvas puts what an assignment is worth into a line of its own.
    return [one for one in people if "Points Possible" not in next(iter(one.values()))]


def _found(student: str, known: Sequence[tuple[set[str], set[str]]]) -> int | None:
    """The number of the person who handed in under a name; None if nobody or several fit."""
    whole, parts = _plain(student), {_plain(part) for part in re.split(r"[\W_]+", student)}
    for fits in (
        lambda keys, names: whole in keys,
        lambda keys, names: parts & (keys - names),
        lambda keys, names: len(parts & names) > 1,
    ):
        found = [number for number, one in enumerate(known) if fits(*one)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _keys(person: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """All by which somebody may be called, and which of that are parts of their names.

    That is each entry, the first half of an e-mail address, and their names in any order.
    """
    entries = {column: text for column, text in person.items() if _IDENTIFIES.search(column)}
    keys = {_plain(half) for text in entries.values() for half in (text, text.partition("@")[0])}
    names = [text for column, text in entries.items() if not _LOGIN.search(f"{column}={text}")]
    both = [text for part in (_FIRST, _LAST) for c, text in person.items() if part.search(c)]
    tokens = set[str]()
    for group in (*([name] for name in names), names[:2], both):
        parts = [part for name in group for part in re.split(r"[\s,]+", name) if part]
        tokens.update(map(_plain, parts))
        if 1 < len(parts) <= _MOST_NAMES:
            keys |= {_plain("".join(order)) for order in permutations(parts)}
    return keys - {""}, tokens - {""}


def _plain(text: str) -> str:
    """A name without case, accents, blanks and punctuation."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


def _sentence(row: Row) -> tuple[str, ...]:
    """What rows have in common that are told together: of a file that is not read, all are."""
    unread = row.exercise and row.outcome in ("unreadable", "not read")
    return (row.notebook, row.outcome, row.feedback) if unread else (row.notebook, row.exercise)


def _numbers(exercise: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", exercise)]


def _as_text(name: str) -> str:
    """A name that Markdown and HTML leave as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|&~$])", r"\\\1", name)


def _file_name(student: str) -> str:
    """A name for a file, whatever a student is called; different ones stay different."""
    plain = re.sub(r"[^\w .,-]", "_", student).strip(" .,")[:80] or "student"
    return plain if plain == student else f"{plain} {zlib.crc32(student.encode()):08x}"
