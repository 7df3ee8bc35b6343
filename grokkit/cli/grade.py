"""``grokkit grade FOLDER``."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

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
        seconds: how long one notebook may compute; it may wait four times as long.
        memory_mb: how much memory one notebook may use.
        disk_mb: how much one notebook may write.
        jobs: how many notebooks to grade at once.
    """

    folder: Annotated[Path, tyro.conf.Positional]
    exercises: Path = Path("exercises")
    out: Path = Path("grades.csv")
    seconds: int = 60
    memory_mb: int = 2000
    disk_mb: int = 100
    jobs: int = 1


def main(argv: Sequence[str]) -> int:
    """Grade, write the marks, and print a table of them."""
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

    from grokkit.classroom.grading.classes import grade_class
    from grokkit.classroom.grading.report import table
    from grokkit.classroom.grading.supervise import Limits

    check_int("jobs", options.jobs, 1)
    limits = Limits(options.seconds, options.memory_mb, options.disk_mb)
    rows, missing = grade_class(
        options.folder,
        options.exercises,
        options.out,
        limits,
        options.jobs,
        lambda steps, total: iter(tqdm(steps, total=total, desc="grading", unit="notebook")),
    )
    print(table(rows))
    print(f"\n{options.out}: {len(rows)} marks")
    if missing:
        print(f"Not limited on this machine: {', '.join(missing)}. Grade as a user of its own.")
    return 0
