"""A class is graded: the honest get their points, and the hostile cost nobody but themselves."""

import csv
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
import xarray as xr

import grokkit
from grokkit.classroom.checks.learner import LearnerError, Recorded
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import exercise_notebook
from grokkit.classroom.grading import report
from grokkit.classroom.grading.classes import grade_class
from grokkit.classroom.grading.codec import CodecError, Opaque, decode, encode
from grokkit.classroom.grading.limits import EVERYTHING
from grokkit.classroom.grading.peer import Gone, Peer
from grokkit.classroom.grading.report import Row
from grokkit.classroom.grading.submissions import sheets, submissions
from grokkit.classroom.grading.supervise import LARGEST_NOTEBOOK, Limits, Mark, _too_much, grade
from grokkit.cli import main
from grokkit.errors import SettingError
from grokkit.theory.starvation import OutputGradientBounds

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises"
CHAPTER = sources.read(ROOT / "solutions" / "01_sparse_tasks.py")
NAMES = [exercise.name for exercise in CHAPTER.exercises]
LIMITS = Limits(seconds=20, memory_mb=1500)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")


def notebook(solve: bool = True, **cells: str) -> nbformat.NotebookNode:
    """A student's notebook: solved or untouched, some cells replaced, others taken out."""
    made = exercise_notebook(CHAPTER, solve)
    for name, text in cells.items():
        (cell,) = [cell for cell in made.cells if cell.id == name.replace("__", "-")]
        cell.source = text
    return made


HOSTILE = {
    "hangs": "while True: pass",
    "forks": "import os\nwhile True: os.fork()",
    "eats memory": "eaten = [bytearray(10**8) for _ in range(10**6)]",
    "prints": "for _ in range(10**5): print('x' * 10**4)",
    "leaves": "import os; os._exit(0)",
}
"""Each stands where the answer to 1.2 is asked for; the other answers are right."""


@pytest.fixture(scope="module")
def class_of_ten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    wrong = "def kl_to_oracle(attention, informative): return 0.0"
    forged = (
        "import grokkit.classroom.checks.exercise as e\n"
        "e.Exercise.judge = e.Exercise.__call__ = lambda self, *a: 'correct'\n"
        "def kl_to_oracle(attention, informative): return 0.0"
    )
    students = {
        "right": notebook(),
        "untouched": notebook(solve=False),
        "wrong once": notebook(ex_1_2__answer=wrong),
        "wrong and forged": notebook(
            ex_1_2__answer=forged, ex_1_2__check="print('ex_1_2: correct')"
        ),
        "wrong and cut": notebook(ex_1_3__answer="mirror_rate = lambda train, test: 1"),
        **{name: notebook(ex_1_2__answer=code) for name, code in HOSTILE.items()},
    }
    # Its author has deleted every check cell, and every id.
    cut = students["wrong and cut"]
    cut.cells = [cell for cell in cut.cells if not cell.source.startswith("check.")]
    for number, cell in enumerate(cut.cells):
        cell.id = f"mine-{number}"
    for name, made in students.items():
        (folder / name).mkdir()
        nbformat.write(made, folder / name / "01_sparse_tasks.ipynb")
    (folder / "no json_01_sparse_tasks.ipynb").write_text('{"cells": [')
    return folder


@pytest.fixture(scope="module")
def graded(class_of_ten: Path) -> list[dict[str, str]]:
    """The lines of the file of marks, after the command has run over the class."""
    out = class_of_ten.parent / "grades.csv"
    words = [str(class_of_ten), "--exercises", str(EXERCISES), "--out", str(out)]
    assert main(["grade", *words, "--seconds", "20", "--memory-mb", "1500", "--jobs", "2"]) == 0
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


def outcomes(graded: list[dict[str, str]], student: str) -> list[str]:
    return [row["outcome"] for row in graded if row["student"] == student]


def test_the_honest_get_what_they_deserve(graded: list[dict[str, str]]):
    assert outcomes(graded, "right") == ["correct"] * 4
    assert outcomes(graded, "untouched") == ["not attempted"] * 4
    assert outcomes(graded, "wrong once") == ["correct", "wrong", "correct", "correct"]
    points = [row["points"] for row in graded if row["student"] == "wrong once"]
    assert points == ["1", "0", "2", "3"]
    (told,) = [
        row["feedback"] for row in graded if row["feedback"] and row["student"] == "wrong once"
    ]
    assert "it is the mean over I*" in told


def test_forged_checks_and_deleted_ones_gain_nothing(graded: list[dict[str, str]]):
    assert outcomes(graded, "wrong and forged") == ["correct", "wrong", "correct", "correct"]
    assert outcomes(graded, "wrong and cut") == ["correct", "correct", "wrong", "correct"]


@pytest.mark.parametrize(
    ("student", "wanted"),
    [
        ("hangs", ["correct", "stopped", "stopped", "stopped"]),
        ("forks", ["correct", "raised", "correct", "correct"]),
        ("eats memory", ["correct", "raised", "correct", "correct"]),
        ("prints", ["correct", "not attempted", "correct", "correct"]),
        ("leaves", ["correct", "stopped", "stopped", "stopped"]),
        ("no json", ["unreadable"] * 4),
    ],
)
def test_the_hostile_cost_themselves_points_and_nobody_else_anything(
    graded: list[dict[str, str]], student: str, wanted: list[str]
):
    assert outcomes(graded, student) == wanted


def test_why_a_notebook_was_stopped_is_told(graded: list[dict[str, str]]):
    told = {(row["student"], row["exercise"]): row["feedback"] for row in graded}
    # On a busy machine the clock may be first.
    assert told["hangs", "ex_1_2"] in (
        f"it computed for more than {LIMITS.seconds} s",
        f"it did not end within {LIMITS.patience} s",
    )
    assert told["leaves", "ex_1_2"] == "its process ended by itself, with exit code 0"
    assert told["no json", "ex_1_1"].startswith("JSONDecodeError")
    assert told["eats memory", "ex_1_2"].startswith("MemoryError")


def test_a_rerun_marks_only_what_has_changed(
    class_of_ten: Path,
    graded: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    again: list[str] = []

    def mark(notebook: Path, exercises: Path, names: list[str], limits: Limits):
        again.append(notebook.parent.name)
        return [Mark(name, "correct") for name in names], list(EVERYTHING)

    monkeypatch.setattr("grokkit.classroom.grading.classes.grade", mark)
    out = class_of_ten.parent / "grades.csv"
    before = out.read_text()
    rows, missing = grade_class(class_of_ten, EXERCISES, out, LIMITS)
    assert again == [] and out.read_text() == before and missing == []

    changed = class_of_ten / "untouched" / "01_sparse_tasks.ipynb"
    original = changed.read_text()
    changed.write_text(original + " ")
    rows, _ = grade_class(class_of_ten, EXERCISES, out, LIMITS)
    assert again == ["untouched"]
    assert sum(row.points for row in rows if row.student == "untouched") == 8
    grade_class(class_of_ten, EXERCISES, out, Limits(seconds=21))
    assert len(again) == 1 + 11
    changed.write_text(original)


# --- what a student's process is kept from ------------------------------------------------

ATTEMPTS = {
    "the solutions": f"open({str(ROOT / 'solutions' / '01_sparse_tasks.py')!r}).read()",
    "the tests": f"__import__('os').listdir({str(ROOT / 'tests')!r})",
    "the network": "__import__('socket').socket()",
    "another program": "__import__('subprocess').run(['/bin/ls'])",
    "a process": "__import__('os').fork()",
    "the teacher's process": "__import__('os').kill(__import__('os').getppid(), 9)",
    "its limits": "__import__('resource').setrlimit(0, (-1, -1))",
    "the teacher's environment": "open('/proc/%d/environ' % __import__('os').getppid()).read()",
    "a file of the package": f"open({grokkit.__file__!r}, 'a')",
    "the folder above": "open('../left_behind', 'w')",
}


def test_a_students_process_reaches_nothing_but_its_own_folder(tmp_path: Path):
    """Each attempt is made in one cell, and the answers say which of them worked."""
    lines = ["worked = []"]
    for name, code in ATTEMPTS.items():
        lines += ["try:", f"    {code}", f"    worked.append({name!r})", "except OSError: pass"]
        lines += ["except ValueError: pass"]
    lines += ["open('mine', 'w').write('x')", "import threading, secrets"]
    lines += ["threading.Thread(target=secrets.token_hex).start()"]
    lines += ["def kl_to_oracle(a, i): raise KeyError(', '.join(worked) + '; of the above')"]
    path = tmp_path / "01_sparse_tasks.ipynb"
    nbformat.write(notebook(ex_1_2__answer="\n".join(lines)), path)
    marks, taken = grade(path, EXERCISES / "01_sparse_tasks.ipynb", NAMES, LIMITS)
    (told,) = [mark.feedback for mark in marks if mark.exercise == "ex_1_2"]
    if taken != list(EVERYTHING):
        pytest.skip(f"this machine cannot keep it from {set(EVERYTHING) - set(taken)}")
    assert "KeyError: '; of the above'" in told, told


def test_too_long_and_too_much_written_end_a_notebook(tmp_path: Path):
    (tmp_path / "big").write_bytes(b"x" * 3 * 2**20)
    now = 1e12
    assert _too_much(tmp_path, now, Limits(disk_mb=4)) == ""
    assert _too_much(tmp_path, now, Limits(disk_mb=2)) == "it wrote more than 2 MB"
    assert _too_much(tmp_path, 0.0, Limits(seconds=5)) == "it did not end within 80 s"


def test_a_notebook_of_a_gigabyte_is_not_read(tmp_path: Path):
    path = tmp_path / "01_sparse_tasks.ipynb"
    path.touch()
    os.truncate(path, LARGEST_NOTEBOOK + 1)
    marks, taken = grade(path, EXERCISES / "01_sparse_tasks.ipynb", NAMES, LIMITS)
    assert {mark.outcome for mark in marks} == {"unreadable"} and taken == []


# --- whose notebook, and of which chapter -------------------------------------------------


def test_students_are_folders_or_files_and_links_are_left_alone(tmp_path: Path):
    names = {
        "ada/01_sparse_tasks.ipynb": ("ada", True),
        "ben/week 1/my 01.ipynb": ("ben", True),
        "eva_01_sparse_tasks.ipynb": ("eva", True),
        "01-joe.ipynb": ("joe", True),
        "kim/notes.ipynb": ("kim", False),
    }
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    by_ids = tmp_path / "lou.ipynb"
    nbformat.write(notebook(), by_ids)
    (tmp_path / "mal").symlink_to(ROOT)
    (tmp_path / "ned_01.ipynb").symlink_to(by_ids)
    os.mkfifo(tmp_path / "oda_01.ipynb")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "pat_01.ipynb").write_text("{}")
    found = submissions(tmp_path, sheets(EXERCISES))
    said = {str(s.path.relative_to(tmp_path)): (s.student, s.sheet is not None) for s in found}
    assert said == {**names, "lou.ipynb": ("lou", True)}


def test_a_folder_without_notebooks_is_refused(tmp_path: Path, capsys):
    for words, complaint in (
        ([str(tmp_path)], "folder: got"),
        ([str(tmp_path / "no")], "folder: got"),
        ([str(tmp_path), "--exercises", str(tmp_path)], "exercises: got"),
        ([str(tmp_path), "--seconds", "1"], "seconds: got 1; allowed"),
        ([str(tmp_path), "--jobs", "0"], "jobs: got 0; allowed"),
    ):
        rest = [] if "--exercises" in words else ["--exercises", str(EXERCISES)]
        assert main(["grade", *words, *rest]) == 2
        assert complaint in capsys.readouterr().err


# --- the file of marks and the table ------------------------------------------------------


def row(student: str, exercise: str, points: int, **more: Any) -> Row:
    outcome = "correct" if points else "wrong"
    values = {"notebook": "n", "outcome": outcome, "of": 2, "feedback": "", "fingerprint": "f"}
    return Row(student=student, exercise=exercise, points=points, **{**values, **more})


def test_the_file_is_read_as_it_was_written_and_harmless_in_a_spreadsheet(tmp_path: Path):
    path = tmp_path / "grades.csv"
    assert report.read(path) == []
    rows = [row("ada", "ex_1_1", 2), row("=1+1", "ex_1_1", 0, feedback="@x, \n\x1b[31m red")]
    report.write(path, rows)
    assert report.read(path)[0] == rows[0]
    assert report.read(path)[1].student == "'=1+1"
    assert report.read(path)[1].feedback == "'@x,   [31m red"
    path.write_text("name,mark\nada,1\n")
    with pytest.raises(SettingError, match=r"out: got .*; allowed: a new file"):
        report.read(path)
    assert path.read_text() == "name,mark\nada,1\n"


def test_the_table_has_a_line_a_student_and_the_better_of_two_counts():
    rows = [
        row("ada", "ex_1_1", 2),
        row("ada", "ex_1_1", 0, notebook="older"),
        row("ada", "ex_2_1", 2),
        row("ben", "ex_1_1", 0, outcome="stopped"),
    ]
    assert report.table(rows).splitlines() == [
        "student  ch. 01  ch. 02  points  to look at",
        "ada      2/2     2/2     4/4",
        "ben      0/2     -       0/2     stopped",
    ]


# --- values that travel -------------------------------------------------------------------


def travelled(value: Any) -> Any:
    """A value after the way to another process and into JSON."""
    functions: list[Any] = []
    blobs: list[bytes] = []

    def keep(function: Any) -> int:
        functions.append(function)
        return len(functions) - 1

    tree = json.loads(json.dumps(encode(value, keep, blobs)))
    return decode(tree, blobs, lambda number, name, of: functions[number])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.5,
        float("inf"),
        "täxt",
        ...,
        1 + 2j,
        (1, [2, (3,)], {"a": {4}, 5: None}),
        slice(1, None, 2),
        range(3),
        torch.float64,
        len,
        grokkit.presets["live"],
        grokkit.presets["live"].task,
        OutputGradientBounds(1.0, 2.0, 3.0),
    ],
    ids=repr,
)
def test_a_value_arrives_as_it_was(value: Any):
    arrived = travelled(value)
    assert arrived == value and type(arrived) is type(value)


def test_arrays_tensors_and_datasets_arrive_with_shape_and_type():
    tensor = torch.arange(6, dtype=torch.int16).reshape(2, 3).T
    assert torch.equal(travelled(tensor), tensor) and travelled(tensor).dtype is torch.int16
    array = np.array([[1.5, float("nan")]])
    np.testing.assert_array_equal(travelled(array), array)
    assert travelled(np.float32(0.1)) == np.float32(0.1)
    data = xr.Dataset({"loss": (("run", "epoch"), np.ones((1, 2)))}, {"epoch": [0, 5]}, {"a": "b"})
    assert travelled(data).identical(data)
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(travelled(generator).get_state(), generator.get_state())


def test_anything_else_arrives_as_its_print():
    class Mine:
        def __repr__(self) -> str:
            return "mine"

    assert travelled([Mine()]) == [Opaque("mine")]
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    assert "nested too deeply" in repr(travelled(nested))


@pytest.mark.parametrize(
    "tree",
    [
        {},
        [],
        {"is": "exec"},
        {"is": "array", "array": {"blob": 0, "dtype": "O", "shape": [1]}},
        {"is": "array", "array": {"blob": 7, "dtype": "<f8", "shape": [1]}},
        {"is": "array", "array": {"blob": 0, "dtype": "<f8", "shape": [10**12]}},
        {"is": "dataclass", "name": "os:system", "parts": []},
        {"is": "dataclass", "name": "grokkit.cli.__main__:main", "parts": []},
        {"is": "dataclass", "name": "grokkit.errors:refuse", "parts": []},
        {"is": "dataclass", "name": "grokkit.engine.spec:RunSpec", "parts": [["epochs", -1]]},
        {"is": "dtype", "name": "ones"},
        {"is": "dict", "parts": [[{"is": "list", "parts": []}, 1]]},
    ],
)
def test_what_nobody_encoded_is_refused(tree: Any):
    with pytest.raises(CodecError):
        decode(tree, [b"12345678"], lambda number, name, of: len)


# --- two ends of a conversation -----------------------------------------------------------


@pytest.fixture
def pair():
    """One end, and the other being served in a thread."""
    ours, theirs = socket.socketpair()

    def boom(_: Any) -> None:
        raise KeyError("theirs")

    def apply(value: Any) -> Any:
        function, argument = value
        return function(argument) + 1

    handlers = {"boom": boom, "apply": apply, "add": lambda _: lambda x, y=1: x + y}
    thread = threading.Thread(target=Peer(theirs, handlers).serve, daemon=True)
    thread.start()
    yield Peer(ours, {})
    ours.close()
    thread.join(timeout=60)
    theirs.close()


def test_functions_can_be_called_from_afar_both_ways(pair: Peer):
    add = pair.ask("add")
    assert add(2) == 3 and add(torch.ones(2), y=2).tolist() == [3, 3]
    assert pair.ask("apply", (lambda x: 10 * x, 4)) == 41


def test_what_a_function_does_to_its_arguments_over_there_is_told():
    ours, theirs = socket.socketpair()

    def spoil(row):
        row += 1
        return row

    handlers = {"spoil": lambda _: spoil}
    thread = threading.Thread(target=Peer(theirs, handlers).serve, daemon=True)
    thread.start()
    recorded = Recorded(Peer(ours, {}).ask("spoil"))
    assert recorded(torch.ones(2)).tolist() == [2, 2]
    assert recorded.calls[0].changed == ["row"]
    ours.close()
    thread.join(timeout=60)
    theirs.close()


def test_an_error_over_there_is_the_learners(pair: Peer):
    with pytest.raises(LearnerError, match="KeyError: 'theirs'"):
        pair.ask("boom")
    assert pair.ask("add")(1, 1) == 2


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xff\xff\xff\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x02\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x04\x00\x00\x00\x04nope",
        b"\x00\x00",
    ],
)
def test_a_message_that_cannot_be_read_ends_the_conversation(frame: bytes):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frame)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            Peer(ours, {}).ask("limits")


def test_the_judge_needs_no_more_than_a_few_modules():
    """It is started once for each notebook of a class."""
    code = "import sys, grokkit.classroom.grading.judge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    costly = {"jupytext", "nbformat", "IPython", "xarray", "scipy", "matplotlib"}
    assert not costly & {name.split(".")[0] for name in done.stdout.split()}
