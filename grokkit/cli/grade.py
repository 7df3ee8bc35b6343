"""``grokkit grade FOLDER``."""

from pathlib import Path
from typing import Literal

from grokkit.errors import check_int


def grade(
    folder: Path,
    *,
    exercises: Path = Path("exercises"),
    out: Path = Path("grades.csv"),
    report: Path = Path("report"),
    roster: Path | None = None,
    walls: Literal["bubblewrap", "basic"] = "bubblewrap",
    seconds: int = 60,
    memory_mb: int = 2000,
    disk_mb: int = 100,
    jobs: int = 1,
) -> int:
    """Grade a folder of students' notebooks; nothing that they hold is trusted.

    Args:
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
    import IPython  # noqa: F401  # runs the notebooks; installed with the course only
    from tqdm.auto import tqdm

    from grokkit.classroom.grading import roster as rosters
    from grokkit.classroom.grading.supervise import sandbox
    from grokkit.classroom.grading.walls import Limits

    check_int("jobs", jobs, 1)
    limits = Limits(seconds, memory_mb, disk_mb)
    rosters.students([], roster)  # that cannot be read is to be known before the work
    box = sandbox(walls, limits)  # on Windows this refuses; what comes now needs more
    from grokkit.classroom.grading.classes import grade_class
    from grokkit.classroom.grading.submissions import times

    rows = grade_class(
        folder,
        exercises,
        out,
        box,
        jobs,
        lambda steps, total: iter(tqdm(steps, total=total, desc="grading", unit="file")),
    )
    everybody = rosters.students(rows, roster, times(folder))
    rosters.write(report, everybody)
    print(rosters.table(everybody))
    print(f"\n{out}: {len(rows)} marks; {report}: students.csv and feedback/")
    for what, who in (
        ("Not handed in", [one.name for one in everybody if not one.rows]),
        ("Not in the roster", [one.name for one in everybody if not one.known]),
    ):
        if who:
            print(f"{what}: {'; '.join(who)}")
    return 0
