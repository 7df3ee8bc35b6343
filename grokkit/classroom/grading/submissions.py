"""Which notebooks a folder of students holds: whose they are, and of which chapter.

A student is a folder (``FOLDER/ada/01_sparse_tasks.ipynb``, with whatever folders in between, as
nbgrader and Moodle have them) or a file (``FOLDER/ada_01_sparse_tasks.ipynb``). A ``.zip`` is read
as a folder, without being unpacked. The ids of its cells say which chapter a notebook is of; only
where there are none, its name does.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import grokkit
from grokkit.classroom.checks.cells import checked, is_check
from grokkit.classroom.grading.judge import text_of
from grokkit.errors import refuse

LARGEST_NOTEBOOK = 64 * 2**20
"""Bytes, outputs included; a larger file is not read."""

LARGEST_ZIP = 256 * 2**20
"""Bytes of a ``.zip``."""

MOST_FILES = 200
"""How many files of one student are looked at."""

DEEPEST_FOLDER = 20
"""How deep notebooks are looked for."""

_IDS = re.compile(rb'"(?:grade_)?id"\s*:\s*"ex_(\d{1,2})_\d+-|check\.ex_(\d{1,2})_\d+\(')
_COPY = re.compile(r"(?:[ _-]*(?:\(\d+\)|-? ?copy ?\d*))+$", re.IGNORECASE)
_NUMBER = re.compile(r"\d\d_[a-z_]+-(\d{1,2})(?=$|[ _.])")
_MOODLE = re.compile(r"_\d+_assignsubmission_\w*$")
_NO_HAND_IN = ("Thumbs.db", "desktop.ini", "__MACOSX", "__pycache__")


class Unreadable(Exception):
    """A file that is not read; the message says why."""


@dataclass(frozen=True)
class Sheet:
    """The exercises of a chapter.

    Attributes:
        stem: the name of the clean notebook.
        checks: the source of each check cell by the exercise's name, in order.
        points: what each exercise is worth.
        digest: of the clean notebook and the chapter's checks.
    """

    stem: str
    checks: dict[str, str]
    points: dict[str, int]
    digest: str


@dataclass(frozen=True)
class Submission:
    """One file of one student.

    Attributes:
        student: whose it is.
        name: what it is called in the folder of the class.
        path: where it lies, or the ``.zip`` that it lies in.
        member: its name in the ``.zip``; empty for a file of its own.
        why_not: why it is not read; empty if it may be.
    """

    student: str
    name: str
    path: Path
    member: str = ""
    why_not: str = ""

    def read(self) -> bytes:
        """What the notebook holds.

        Raises:
            Unreadable: it is too large, or cannot be read.
        """
        if self.why_not:
            raise Unreadable(self.why_not)
        try:
            if not self.member:
                return _bytes(self.path, LARGEST_NOTEBOOK)
            with _opened(self.path) as archive, archive.open(self.member) as file:
                data = file.read(LARGEST_NOTEBOOK + 1)
        except Unreadable:
            raise
        except Exception as error:  # a .zip can be broken in many ways
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        if len(data) > LARGEST_NOTEBOOK:
            raise Unreadable(f"more than {LARGEST_NOTEBOOK:,} bytes")
        return data

    def sheet(self, data: bytes, exercises: dict[str, Sheet]) -> Sheet | None:
        """The exercises that it answers; None if that cannot be told.

        Args:
            data: what the notebook holds.
            exercises: the chapters by stem.
        """
        numbers = Counter(int(a or b) for a, b in _IDS.findall(data))
        stem = PurePosixPath(self.name).stem
        named = [one for one in exercises if one in stem]
        if numbers:
            wanted = [f"{numbers.most_common(1)[0][0]:02}"]
        else:
            wanted = [one[:2] for one in named] or re.findall(r"(?<!\d)\d\d(?!\d)", stem)
        fitting = [one for one in exercises if one[:2] in wanted]
        return exercises[fitting[0]] if len(fitting) == 1 else None


def sheets(folder: Path) -> dict[str, Sheet]:
    """The exercise notebooks of a folder by their stems.

    Raises:
        SettingError: there are none.
    """
    found = {}
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        data = path.read_bytes()
        cells = [{**cell, "source": text_of(cell)} for cell in json.loads(data)["cells"]]
        clean = [cell for cell in cells if is_check(cell)]
        found[path.stem] = Sheet(
            path.stem,
            {checked(cell): cell["source"] for cell in clean},
            {checked(cell): cell["metadata"]["nbgrader"]["points"] for cell in clean},
            _digest(path.stem[:2], data),
        )
    if not found:
        allowed = (
            "the folder of the clean exercise notebooks, of the checkout or of the handout; "
            "give it with --exercises FOLDER"
        )
        refuse("exercises", str(folder), allowed)
    return found


def _digest(chapter: str, data: bytes) -> str:
    digest = hashlib.blake2b(grokkit.__version__.encode() + data, digest_size=8)
    checks = Path(grokkit.__file__).parent / "classroom" / "checks"
    for path in sorted(checks.glob("*.py")):
        # The checks of other chapters have no say here.
        if not path.stem.startswith("chapter_") or path.stem[-2:] == chapter:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def submissions(folder: Path, exercises: dict[str, Sheet]) -> list[Submission]:
    """The files in a folder by student and name; those that are not read say why.

    Raises:
        SettingError: there is no such folder, or nothing handed in.
    """
    if not folder.is_dir():
        refuse("folder", str(folder), "a folder of students' notebooks")
    found: dict[str, list[Submission]] = {}
    for name, path, member, why_not in _files(folder):
        student = _student(PurePosixPath(name), exercises)
        mine = found.setdefault(student, [])
        if len(mine) < MOST_FILES:
            mine.append(Submission(student, name, path, member, why_not))
        elif len(mine) == MOST_FILES:
            why_not = f"more than {MOST_FILES} files; the others are not looked at"
            mine.append(Submission(student, f"{name} ...", path, "", why_not))
    if not any(not one.why_not for mine in found.values() for one in mine):
        refuse("folder", str(folder), "a folder with notebooks (.ipynb) in it")
    return [one for _, mine in sorted(found.items()) for one in mine]


def copy_number(name: str) -> int:
    """Which copy a file is by its name, from 1; 0 if its name says nothing of a copy.

    Browsers (``x (2).ipynb``), Jupyter (``x-Copy2.ipynb``), desktops (``x copy 2.ipynb``) and
    Canvas (``01_sparse_tasks-2.ipynb``) count so; a later copy has a larger number.
    """
    stem = PurePosixPath(name).stem
    copy, number = _COPY.search(stem), _NUMBER.search(stem)
    if copy:
        return int((re.findall(r"\d+", copy[0]) or [1])[-1])
    return int(number[1]) if number else 0


def times(folder: Path) -> dict[str, float]:
    """When each file of a folder was last changed, in seconds, by its name in the folder.

    Of what lies in a ``.zip`` it is the time that is kept there. What cannot be read is left out.
    """
    found: dict[str, float] = {}
    for name, path, member, _ in _files(folder):
        with contextlib.suppress(Exception):  # a .zip can be broken in many ways
            found[name] = path.stat().st_mtime
            if member:
                with _opened(path) as archive:
                    at = archive.getinfo(member).date_time
                found[name] = time.mktime((*at, 0, 0, -1))
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path, str, str]]:
    """Name, path, name in a ``.zip``, and why it is not read, of all but hidden files."""
    problems: list[OSError] = []
    for here, folders, files in os.walk(folder, onerror=problems.append):
        if len(Path(here).relative_to(folder).parts) >= DEEPEST_FOLDER:
            folders.clear()
        links = [name for name in folders if Path(here, name).is_symlink()]
        folders[:] = sorted(name for name in folders if _may_be_handed_in(name))
        for file in sorted([*files, *links]):
            path = Path(here, file)
            name = unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
            if not _may_be_handed_in(file):
                continue
            if path.is_symlink():
                yield name, path, "", "a link"
            elif not path.is_file():
                yield name, path, "", "no regular file"
            elif path.suffix.lower() == ".zip":
                yield from _members(name, path)
            else:
                yield name, path, "", _why_not(name)
    for problem in problems:
        path = Path(problem.filename)
        yield path.relative_to(folder).as_posix(), path, "", str(problem.strerror)


def _members(name: str, path: Path) -> Iterator[tuple[str, Path, str, str]]:
    """The same of what is in a ``.zip``; nothing is unpacked."""
    try:
        with _opened(path) as archive:
            inside = [one for one in dict.fromkeys(archive.namelist()) if not one.endswith("/")]
    except Exception as error:
        yield name, path, "", f"a .zip that cannot be read: {error}"[:200]
        return
    for member in inside:
        parts = PurePosixPath(member.replace("\\", "/")).parts
        if all(map(_may_be_handed_in, parts)):
            inner = unicodedata.normalize("NFC", "/".join(parts))
            yield f"{name}/{inner}", path, member, _why_not(inner)


def _may_be_handed_in(name: str) -> bool:
    return not name.startswith(".") and name not in _NO_HAND_IN


def _why_not(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    if suffix == ".ipynb":
        return ""
    if suffix == ".py":
        return "a script (.py); only the notebook (.ipynb) is read: hand that in"
    return "no notebook (.ipynb)" if suffix else "a file of no known kind"


def _student(name: PurePosixPath, exercises: dict[str, Sheet]) -> str:
    """Whose a file is: its folder, or what is left of its name without the chapter's."""
    first, *rest = name.parts
    if rest and not first.lower().endswith(".zip"):
        return _MOODLE.sub("", first).strip() or first
    stem = PurePosixPath(first).stem
    plain = _COPY.sub("", stem)
    for chapter in exercises:
        # "ada_01_sparse_tasks-1", "ada_01" and "01-ada", but not "s01".
        whole = re.sub(rf"{re.escape(chapter)}(-\d{{1,2}}(?=$|[ _.]))?", "", plain)
        parts = re.sub(rf"(?:^|(?<=[ _.-])){chapter[:2]}(?=$|[ _.-])", "", plain, count=1)
        if chapter in plain:
            plain = whole
            break
        if parts != plain and len(re.findall(r"(?<!\d)\d\d(?!\d)", plain)) == 1:
            plain = parts
            break
    return re.sub(r"[ _.-]{2,}", "_", plain).strip(" _-.") or stem


def _opened(path: Path) -> zipfile.ZipFile:
    if path.stat().st_size > LARGEST_ZIP:
        raise Unreadable(f"more than {LARGEST_ZIP:,} bytes")
    return zipfile.ZipFile(path)


def _bytes(path: Path, most: int) -> bytes:
    """The bytes of a regular file, whose size is looked at first."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable("no regular file")
        if found.st_size > most:
            raise Unreadable(f"{found.st_size:,} bytes; allowed: {most:,}")
        return file.read(most + 1)
