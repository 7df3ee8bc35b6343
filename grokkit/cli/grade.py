"""``grokkit grade FOLDER``."""

from collections.abc import Sequence
from pathlib import Path

from grokkit.cli.options import call
from grokkit.errors import check_int


def main(argv: Sequence[str]) -> int:
    """Grade, write the marks, and print a table of them."""
    return call(grade, argv, "grokkit grade")


def grade(
    folder: Path,
    *,
    exercises: Path = Path("exercises"),
    out: Path = Path("grades.csv"),
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
        seconds: how long one notebook may compute; it may wait four times as long.
        memory_mb: how much memory one notebook may use.
        disk_mb: how much one notebook may write.
        jobs: how many notebooks to grade at once.
    """
    import IPython  # noqa: F401  # runs the notebooks; installed with the course only
    from tqdm.auto import tqdm

    from grokkit.classroom.grading.classes import grade_class
    from grokkit.classroom.grading.report import table
    from grokkit.classroom.grading.supervise import Limits

    check_int("jobs", jobs, 1)
    rows, missing = grade_class(
        folder,
        exercises,
        out,
        Limits(seconds, memory_mb, disk_mb),
        jobs,
        lambda steps, total: iter(tqdm(steps, total=total, desc="grading", unit="notebook")),
    )
    print(table(rows))
    print(f"\n{out}: {len(rows)} marks")
    if missing:
        print(f"Not limited on this machine: {', '.join(missing)}. Grade as a user of its own.")
    return 0
