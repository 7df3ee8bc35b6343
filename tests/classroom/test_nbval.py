"""``pytest --nbval-lax exercises/`` with the repository's own configuration.

The untouched exercises themselves run in `make test-all`; here some answers are filled in.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import exercise_notebook

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_cell_with_the_wrong_answer_is_red_and_no_other(tmp_path: Path):
    chapter = sources.read(ROOT / "solutions" / "01_sparse_tasks.py")
    notebook = exercise_notebook(chapter, solve=True)
    stubs = {cell.id: cell.source for cell in exercise_notebook(chapter).cells}
    answers = {
        # 1.1 stays as solved
        "ex_1_2-answer": "def kl_to_oracle(a, m):\n    return (a[m] * m.sum()).log().mean()",
        "ex_1_3-answer": "def mirror_rate(train, test):\n    return train[99]",
        "ex_1_4-answer": stubs["ex_1_4-answer"],
    }
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    nbformat.write(notebook, tmp_path / "01_sparse_tasks.ipynb")
    shutil.copy(ROOT / "exercises" / "conftest.py", tmp_path)

    words = ["--nbval-lax", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
    )
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    red = {int(number) for number in re.findall(r"^FAILED .*::Cell (\d+)", done.stdout, re.M)}
    assert {code[number].id for number in red} == {"ex_1_2-check", "ex_1_3-check"}, done.stdout
    assert f"2 failed, {len(code) - 2} passed" in done.stdout
    # What is shown is the check's message, and no traceback through its code.
    assert "The ratio is upside down" in done.stdout
    assert "IndexError: list index out of range" in done.stdout
    assert "CheckFailed(result)" not in done.stdout
