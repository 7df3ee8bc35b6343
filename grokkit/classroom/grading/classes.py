"""A class: every notebook of a folder, graded one after another or a few at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from grokkit.classroom.grading import report
from grokkit.classroom.grading.limits import EVERYTHING, available
from grokkit.classroom.grading.report import Row
from grokkit.classroom.grading.submissions import Submission, sheets, submissions
from grokkit.classroom.grading.supervise import Limits, Mark, grade
from grokkit.errors import refuse


def grade_class(
    folder: Path,
    exercises: Path,
    out: Path,
    limits: Limits,
    jobs: int = 1,
    progress: Callable[[Iterator[str], int], Iterator[str]] = lambda steps, total: steps,
) -> tuple[list[Row], list[str]]:
    """Grade every notebook of a folder; keep what is known already.

    The file is written anew after each notebook, so that nothing is lost if the work is
    interrupted.

    Args:
        folder: where the students' notebooks lie.
        exercises: where the clean exercise notebooks lie.
        out: the file of marks, read first if it is there.
        limits: what each notebook may use.
        jobs: how many notebooks to grade at once.
        progress: wraps the names of the notebooks as they are done, given how many there are.

    Returns:
        All rows, and what could not be kept from the students' processes on this machine.

    Raises:
        SettingError: there is nothing to grade, ``out`` is another file, or this system has no
            limits for a process.
    """
    if not available():
        refuse("platform", "Windows", "Linux or macOS: only they can limit what a process does")
    handed_in = submissions(folder, sheets(exercises))
    known: dict[tuple[str, str], list[Row]] = {}
    for row in report.read(out):
        known.setdefault((row.notebook, row.fingerprint), []).append(row)
    done: dict[Path, list[Row]] = {}
    missing: set[str] = set()

    def work(one: Submission) -> tuple[Submission, list[Row], list[str]]:
        name, fingerprint = str(one.path.relative_to(folder)), one.fingerprint(repr(limits))
        old = known.get((str(report.harmless(name)), fingerprint))
        if old:
            return one, old, []
        marks, taken = _marks(one, limits)
        rows = [_row(one, name, mark, fingerprint) for mark in marks]
        return one, rows, taken

    def steps() -> Iterator[str]:
        with ThreadPoolExecutor(jobs) as pool:
            futures: list[Future] = [pool.submit(work, one) for one in handed_in]
            try:
                for future in as_completed(futures):
                    one, rows, taken = future.result()
                    done[one.path] = rows
                    missing.update(set(EVERYTHING) - set(taken) if taken else ())
                    report.write(out, _in_order(handed_in, done))
                    yield one.student
            finally:
                pool.shutdown(cancel_futures=True)

    for _ in progress(steps(), len(handed_in)):
        pass
    return _in_order(handed_in, done), [name for name in EVERYTHING if name in missing]


def _marks(one: Submission, limits: Limits) -> tuple[list[Mark], list[str]]:
    if one.sheet is None:
        return [Mark("", "unreadable", "neither its name nor its cells say which chapter")], []
    return grade(one.path.resolve(), one.sheet.path, list(one.sheet.points), limits)


def _row(one: Submission, name: str, mark: Mark, fingerprint: str) -> Row:
    worth = one.sheet.points.get(mark.exercise, 0) if one.sheet else 0
    points = worth if mark.outcome == "correct" else 0
    return Row(
        one.student, name, mark.exercise, mark.outcome, points, worth, mark.feedback, fingerprint
    )


def _in_order(handed_in: Sequence[Submission], done: dict[Path, list[Row]]) -> list[Row]:
    return [row for one in handed_in for row in done.get(one.path, [])]
