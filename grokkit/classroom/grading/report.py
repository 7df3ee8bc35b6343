"""The file of marks: a line for each exercise of each notebook.

The file is also the memory: each line carries a fingerprint of what it depends on, and a line
whose fingerprint still holds is not marked again. A line is sealed with a key of the teacher's,
so that a file which a student put there is not believed; points and feedback may be changed by
hand.
"""

import csv
import hashlib
import hmac
import io
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from grokkit.engine.files import write_whole
from grokkit.errors import refuse


@dataclass(frozen=True)
class Row:
    """One exercise of one notebook of one student.

    Attributes:
        student: their name, as the folder has it.
        notebook: the file, from the folder of the class.
        exercise: its name; empty for a line about the whole file.
        outcome: see :class:`grokkit.classroom.grading.supervise.Mark`.
        points: what the student gets.
        of: what the exercise is worth.
        feedback: what the student is to be told.
        fingerprint: of what the mark depends on, and a seal.
    """

    student: str
    notebook: str
    exercise: str
    outcome: str
    points: int | float
    of: int | float
    feedback: str
    fingerprint: str

    @property
    def place(self) -> tuple[str, str, str]:
        """What makes it the line that it is: student, notebook and exercise."""
        return self.student, self.notebook, self.exercise

    def sealed(self, key: bytes, digest: str) -> str:
        """The fingerprint of this line.

        Args:
            key: the teacher's.
            digest: of what the mark depends on.
        """
        text = "\0".join([*self.place, digest]).encode()
        # A letter first, so that no spreadsheet takes it for a number.
        return f"x{digest}.{hmac.new(key, text, hashlib.sha256).hexdigest()[:16]}"


COLUMNS = [field.name for field in fields(Row)]


def key_file() -> Path:
    """Where the teacher's key lies: in their home, where no hand-in does."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "grokkit" / "grading.key"


def teachers_key() -> bytes:
    """The key of whoever grades on this machine; made when first asked for."""
    path = key_file()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, secrets.token_hex(32).encode())
        path.chmod(0o600)
    return path.read_bytes()


def read(path: Path, key: bytes) -> list[Row]:
    """The lines of a file that :func:`write` wrote, and maybe a spreadsheet since; none if new.

    Args:
        path: the file.
        key: the teacher's.

    Raises:
        SettingError: the file is another one, or holds a line that was not written with this key.
    """
    if not path.exists():
        return []
    lines = table_of(path, "out")
    if lines and sorted(lines[0]) != sorted(COLUMNS):
        refuse("out", str(path), f"a new file, or one with the columns {', '.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines, 2):
        try:
            points, of = (_number(line[name]) for name in ("points", "of"))
            row = Row(**{**line, "points": points, "of": of})
            digest = row.fingerprint.removeprefix("x").partition(".")[0]
            if not hmac.compare_digest(row.fingerprint, row.sealed(key, digest)):
                raise ValueError("a line that was not written here")
        except (TypeError, ValueError):
            refuse(
                "out",
                f"{path}, row {number}",
                "rows that grokkit grade wrote with your key; only points, outcome and feedback "
                f"may be changed. Take a new file, or bring the key along: {key_file()}",
            )
        rows.append(row)
    return rows


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write the lines, all or none."""
    write_table(path, COLUMNS, [asdict(row) for row in rows])


def table_of(path: Path, field: str) -> list[dict[str, str]]:
    """The lines of a CSV file as spreadsheets save it: with a BOM or not, in UTF-8 or cp1252.

    Columns are separated by a comma, a semicolon or a tab, whichever the first line has most of.

    Args:
        path: the file.
        field: the setting that named it, for the refusal.

    Raises:
        SettingError: it is no such file.
    """
    try:
        data = path.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252")
        first = text.partition("\n")[0]
        separator = max(",;\t", key=first.count)
        found = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        refuse(field, f"{path} ({error})", "a CSV file")
    lines = [{k: v or "" for k, v in line.items() if k} for line in found]
    return [line for line in lines if any(line.values())]


def write_table(path: Path, columns: Sequence[str], lines: Sequence[dict[str, object]]) -> None:
    """Write a CSV file, all or nothing of it, that is harmless in a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for line in lines:
        writer.writerow({name: harmless(value) for name, value in line.items()})
    write_whole(path, text.getvalue().encode())


def harmless(value: object) -> object:
    """A text without control characters that no spreadsheet takes for a formula."""
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, str):
        return value
    text = "".join(c if c.isprintable() else " " for c in value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _number(text: str) -> float:
    return float(text.replace(",", "."))
