"""``grokkit grade FOLDER``."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import tyro

from grokkit.cli.options import parse
from grokkit.errors import check_int


@dataclasses.dataclass(frozen=True)
class Grade:
    """Grade a folder of students' notebooks; nothing that they hold is trusted.

    Attributes:
        folder: a folder or a file for each student.
        exercises: the folder of the clean exercise notebooks; name it outside of the checkout.
        out: where the marks go; what it knows already is not marked again.
        report: the folder for a line and a page of feedback for each student.
        roster: the list of the class, a CSV file as Moodle or Canvas export it.
        walls: what keeps students' code from your machine; basic: limits on time, memory and
            processes only.
        seconds: how long one notebook may compute; it may wait four times as long.
        memory_mb: how much memory one notebook may use.
        disk_mb: how much one notebook may write.
        jobs: how many notebooks to grade at once.
    """

    folder: Annotated[Path, tyro.conf.Positional]
    exercises: Path = Path("exercises")
    out: Path = Path("grades.csv")
    report: Path = Path("report")
    roster: Path | None = None
    walls: Literal["bubblewrap", "basic"] = "bubblewrap"
    seconds: int = 60
    memory_mb: int = 2000
    disk_mb: int = 100
    jobs: int = 1


def main(argv: Sequence[str]) -> int:
    """Grade, write the marks and the report, and print a table of them."""
    options = parse(Grade, argv, "grokkit grade")
    # What is needed to run notebooks is installed with the course only.
    try:
        import IPython  # noqa: F401
    except ModuleNotFoundError as missing:
        print(
            f"grokkit grade: needs {missing.name}; pip install 'grokkit[course]'", file=sys.stderr
        )
        return 1
    from tqdm.auto import tqdm

    from grokkit.classroom.grading import roster
    from grokkit.classroom.grading.supervise import sandbox
    from grokkit.classroom.grading.walls import Limits

    check_int("jobs", options.jobs, 1)
    limits = Limits(options.seconds, options.memory_mb, options.disk_mb)
    roster.students([], options.roster)  # that cannot be read is to be known before the work
    box = sandbox(options.walls, limits)  # on Windows this refuses; what comes now needs more
    from grokkit.classroom.grading.classes import grade_class

    rows = grade_class(
        options.folder,
        options.exercises,
        options.out,
        box,
        options.jobs,
        lambda steps, total: iter(tqdm(steps, total=total, desc="grading", unit="file")),
    )
    everybody = roster.students(rows, options.roster)
    roster.write(options.report, everybody)
    print(roster.table(everybody))
    print(f"\n{options.out}: {len(rows)} marks; {options.report}: students.csv and feedback/")
    for what, who in (
        ("Not handed in", [one.name for one in everybody if not one.rows]),
        ("Not in the roster", [one.name for one in everybody if not one.known]),
    ):
        if who:
            print(f"{what}: {'; '.join(who)}")
    return 0
