"""A class: every file of a folder, graded one after another or a few at once."""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path, PurePosixPath

from grokkit.classroom.grading import report
from grokkit.classroom.grading.judge import LONGEST_FEEDBACK
from grokkit.classroom.grading.report import Row
from grokkit.classroom.grading.submissions import (
    Sheet,
    Submission,
    Unreadable,
    sheets,
    submissions,
)
from grokkit.classroom.grading.supervise import FAILED, Mark, Sandbox
from grokkit.errors import refuse


def grade_class(
    folder: Path,
    exercises: Path,
    out: Path,
    sandbox: Sandbox,
    jobs: int = 1,
    progress: Callable[[Iterator[str], int], Iterator[str]] = lambda steps, total: steps,
) -> list[Row]:
    """Grade every notebook of a folder; keep what is known already.

    A row stays as it is in ``out``, points changed by hand included, as long as its notebook, the
    exercise and the checks are the same. A row that is missing is marked anew. Rows of other
    notebooks stay. The file is written anew after each notebook, so that nothing is lost if the
    work is interrupted.

    Args:
        folder: where the students' notebooks lie.
        exercises: where the clean exercise notebooks lie.
        out: the file of marks, read first if it is there.
        sandbox: how the processes are started.
        jobs: how many notebooks to grade at once.
        progress: wraps the names of the students as they are done, given how many files there are.

    Returns:
        All rows of the file.

    Raises:
        SettingError: there is nothing to grade, ``out`` is another file, lies in ``folder``, or is
            being written by another ``grokkit grade``.
        OSError: ``out`` cannot be written.
    """
    chapters = sheets(exercises)
    handed_in = submissions(folder, chapters)
    if out.resolve().is_relative_to(folder.resolve()):
        refuse("out", str(out), f"a file outside of {folder}, where students may have put one")
    with _alone(out.resolve().parent):
        key = report.teachers_key()
        rows = {row.place: row for row in report.read(out, key)}
        report.write(out, list(rows.values()))  # if that fails, it does so before the work

        def steps() -> Iterator[str]:
            with ThreadPoolExecutor(jobs) as pool:
                known = dict(rows)
                whose = {
                    pool.submit(_rows, one, chapters, known, sandbox, key): one for one in handed_in
                }
                try:
                    for future in as_completed(whose):
                        one, new = whose[future], future.result()
                        # A line about the whole file, which may not hold any longer.
                        rows.pop((*_place(one), ""), None)
                        rows.update({row.place: row for row in new})
                        report.write(out, sorted(rows.values(), key=lambda row: row.place))
                        yield one.student
                finally:
                    pool.shutdown(cancel_futures=True)

        for _ in progress(steps(), len(handed_in)):
            pass
    return sorted(rows.values(), key=lambda row: row.place)


def _rows(
    one: Submission,
    chapters: dict[str, Sheet],
    known: dict[tuple[str, str, str], Row],
    sandbox: Sandbox,
    key: bytes,
) -> list[Row]:
    """The rows of one file, known or new; nothing that is in it ends the others' grading."""
    # What is not read may be known by its name at least.
    named = PurePosixPath(one.name).suffix in (".py", ".ipynb")
    sheet = one.sheet(b"", chapters) if named else None
    digest, fresh = "", list[Row]()
    try:
        data = one.read()
        sheet = one.sheet(data, chapters)
        if sheet is None:
            raise Unreadable("neither its cells nor its name say which chapter")
        digest = _digest(data, sheet.digest)
        # What was stopped may end if it is given more.
        with_limits = _digest(data, sheet.digest, repr(sandbox.limits))
        found = [known.get((*_place(one), name)) for name in [*sheet.checks, ""]]
        seals = (f"x{digest}.", f"x{with_limits}.")
        fresh = [row for row in found if row and row.fingerprint.startswith(seals)]
        missing = sheet.checks.keys() - {row.exercise for row in fresh}
        if not missing:
            return fresh
        seed = int.from_bytes(hashlib.blake2b(key + digest.encode(), digest_size=4).digest())
        marks = sandbox.grade(data, sheet.checks, seed)
    except Exception as error:
        why = f"this file could not be graded ({type(error).__name__}: {error})"
        if isinstance(error, Unreadable):
            why = f"this file is not read: {error}"
        outcome = "not read" if one.why_not else "unreadable"
        marks = [Mark(name, outcome, why) for name in (sheet.checks if sheet else [""])]
        digest = with_limits = ""  # to be tried again
    kept = {row.exercise: row for row in fresh if row.exercise}
    new = []
    for mark in marks:
        again = "" if mark.feedback.startswith(FAILED) else with_limits
        depends = again if mark.outcome == "stopped" else digest
        new.append(kept.get(mark.exercise) or _row(one, sheet, mark, depends, key))
    return new


def _row(one: Submission, sheet: Sheet | None, mark: Mark, digest: str, key: bytes) -> Row:
    of = sheet.points.get(mark.exercise, 0) if sheet else 0
    points = of if mark.outcome == "correct" else 0
    feedback = str(report.harmless(mark.feedback))[:LONGEST_FEEDBACK]
    row = Row(*_place(one), mark.exercise, mark.outcome, points, of, feedback, "")
    return replace(row, fingerprint=row.sealed(key, digest))


def _place(one: Submission) -> tuple[str, str]:
    """A file's student and name as the rows have them."""
    return str(report.harmless(one.student)), str(report.harmless(one.name))


def _digest(data: bytes, *others: str) -> str:
    digest = hashlib.blake2b(data, digest_size=8)
    for other in others:
        digest.update(other.encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other graders from the marks of a folder, so that none overwrites another's.

    Raises:
        SettingError: there is one already, or no such folder.
    """
    if not folder.is_dir():
        refuse("out", str(folder), "a file in a folder that is there")
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refuse("out", str(folder), "a folder in which no other `grokkit grade` is at work")
        yield
    finally:
        os.close(handle)
