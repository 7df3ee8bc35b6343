"""A school that uses nbgrader takes the exercises as they are."""

import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import exercise_notebook

ROOT = Path(__file__).parents[2]
NAME = "01_sparse_tasks"

pytest.importorskip("nbgrader")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of nbgrader's database, and its kernels'
def test_nbgrader_makes_an_assignment_of_an_exercise_and_grades_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    # nbgrader calls alembic, which lies beside this Python.
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", beside)
    monkeypatch.delenv("GROKKIT_CHECKS", raising=False)
    chapter = sources.read(ROOT / "solutions" / f"{NAME}.py")
    exercise = ROOT / "exercises" / f"{NAME}.ipynb"
    notebook = exercise_notebook(chapter, solve=True)
    for cell in notebook.cells:
        if cell.id == "ex_1_2-answer":
            cell.source = "def kl_to_oracle(attention, informative):\n    return 0.0"
        if cell.id == "ex_1_3-answer":
            cell.source = exercise_notebook(chapter).cells[notebook.cells.index(cell)].source
    source, submitted = (tmp_path / part / NAME for part in ("source", "submitted/ada"))
    source.mkdir(parents=True)
    submitted.mkdir(parents=True)
    shutil.copy(exercise, source)
    nbformat.write(notebook, submitted / f"{NAME}.ipynb")

    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.course_id = "grokkit"
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    made = api.generate_assignment(NAME)
    assert made["success"], made["log"]
    released = nbformat.read(tmp_path / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    ours = nbformat.read(exercise, as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in ours.cells]

    done = api.autograde(NAME, "ada", create=True)
    assert done["success"], done["log"]
    with api.gradebook as book:
        (graded,) = book.find_submission(NAME, "ada").notebooks
        points = {grade.name: grade.auto_score for grade in graded.grades}
    book.close()
    wanted = {f"{exercise.name}-check": exercise.points for exercise in chapter.exercises}
    wanted |= {"ex_1_2-check": 0, "ex_1_3-check": 0}  # wrong, and not attempted
    assert points == wanted and sum(points.values()) > 0
