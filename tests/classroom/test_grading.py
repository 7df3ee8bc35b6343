"""A class is graded: the honest get their points, and the hostile harm nobody and earn nothing."""

import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat
import numpy as np
import pytest
import torch

import grokkit
from grokkit.classroom.checks import check
from grokkit.classroom.checks.learner import LearnerError, Recorded
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import exercise_notebook
from grokkit.classroom.grading import report, roster, supervise, walls
from grokkit.classroom.grading.classes import grade_class
from grokkit.classroom.grading.codec import CodecError, Opaque, decode, encode, specs
from grokkit.classroom.grading.judge import LONGEST_FEEDBACK, code_cells
from grokkit.classroom.grading.peer import Gone, Peer
from grokkit.classroom.grading.report import Row
from grokkit.classroom.grading.student import Notebook
from grokkit.classroom.grading.submissions import (
    LARGEST_NOTEBOOK,
    Unreadable,
    sheets,
    submissions,
)
from grokkit.classroom.grading.submissions import times as submission_times
from grokkit.classroom.grading.supervise import Mark, Sandbox, sandbox
from grokkit.classroom.grading.walls import Limits
from grokkit.cli import main
from grokkit.errors import SettingError
from grokkit.tasks import ModularAddition
from tests.classroom.attacks import ATTEMPTS, FORGED, FRAMES, HOSTILE, OBJECTS, TREES, TRICKS

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "exercises"
STEM = "01_sparse_tasks"
CHAPTER = sources.read(ROOT / "solutions" / f"{STEM}.py")
NAMES = [exercise.name for exercise in CHAPTER.exercises]
LIMITS = Limits(seconds=20, memory_mb=1500, disk_mb=20)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")


@pytest.fixture(scope="session", autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory):
    """No test touches the key of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def box() -> Sandbox:
    """The sandbox of bubblewrap; where it must be there, its absence is a failure."""
    try:
        return sandbox("bubblewrap", LIMITS)
    except SettingError as refused:
        if os.environ.get("GROKKIT_REQUIRE_BUBBLEWRAP"):
            raise
        pytest.skip(str(refused))


def notebook(solve: bool = True, **cells: str) -> nbformat.NotebookNode:
    """A student's notebook: solved or untouched, some cells replaced."""
    made = exercise_notebook(CHAPTER, solve)
    for name, text in cells.items():
        (cell,) = [cell for cell in made.cells if cell.id == name.replace("__", "-")]
        cell.source = text
    return made


def graded_alone(box: Sandbox, made: nbformat.NotebookNode | bytes) -> dict[str, Mark]:
    """The marks of one notebook by exercise."""
    data = made if isinstance(made, bytes) else nbformat.writes(made).encode()
    marks = box.grade(data, sheets(EXERCISES)[STEM].checks)
    return {mark.exercise: mark for mark in marks}


# --- a class ------------------------------------------------------------------------------

(RIGHT,) = [cell.source for cell in notebook().cells if cell.id == "ex_1_2-answer"]
WRONG = "def kl_to_oracle(attention, informative): return 0.0"


def colab() -> nbformat.NotebookNode:
    """As Colab saves it: ids in the metadata, and what people put on top."""
    made = notebook()
    for number, cell in enumerate(made.cells):
        cell.pop("id")
        cell.metadata = {"id": f"mine{number}", "colab": {"base_uri": "https://x"}}
    made.nbformat_minor = 2
    first = next(cell for cell in made.cells if cell.cell_type == "code")
    first.source = "\n".join(
        [
            "%matplotlib inline",
            "%pip install grokkit",
            "!nvidia-smi",
            "from google.colab import drive",
            "drive.mount('/content/drive')",
            "import seaborn_that_nobody_has as sns; sns.set_theme()",
            "names = !ls",
            "import asyncio",
            "await asyncio.sleep(0)",
            "how_many = int(input('How many epochs? '))",
            first.source,
        ]
    )
    return made


def rearranged() -> nbformat.NotebookNode:
    """An answer below its check, one timed, one with a magic and one in the check's own cell."""
    made = notebook()
    cells = {cell.id: cell for cell in made.cells}
    below = nbformat.v4.new_code_cell(cells["ex_1_1-answer"].source)
    cells["ex_1_1-answer"].source = "# see below"
    made.cells.append(below)
    cells["ex_1_2-answer"].source = f"%%time\n{cells['ex_1_2-answer'].source}"
    cells["ex_1_3-answer"].source = f"%load_ext autoreload\n{cells['ex_1_3-answer'].source}"
    cells[
        "ex_1_4-check"
    ].source = f"{cells['ex_1_4-answer'].source}\n{cells['ex_1_4-check'].source}"
    cells["ex_1_4-answer"].source = ""
    picture = nbformat.v4.new_output("display_data", {"image/png": "A" * 30 * 2**20})
    cells["ex_1_1-check"].outputs = [picture]
    return made


@pytest.fixture(scope="module")
def class_of_many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    cut = notebook(ex_1_3__answer="mirror_rate = lambda train, test: 1")
    # Its author has deleted every check cell, and every id.
    cut.cells = [cell for cell in cut.cells if not cell.source.startswith("check.")]
    for number, cell in enumerate(cut.cells):
        cell.id = f"mine-{number}"
    students = {
        "right": notebook(),
        "colab": colab(),
        "rearranged": rearranged(),
        "untouched": notebook(solve=False),
        "wrong once": notebook(ex_1_2__answer=WRONG),
        "wrong and cut": cut,
        **{
            name: notebook(ex_1_2__answer=code.replace("{right}", RIGHT))
            for name, code in HOSTILE.items()
        },
    }
    for name, made in students.items():
        (folder / name).mkdir()
        (folder / name / f"{STEM}.ipynb").write_text(json.dumps(made), encoding="utf-8")
    dos = (folder / "right" / f"{STEM}.ipynb").read_text().replace("\\n", "\\r\\n")
    (folder / f"windows_{STEM}.ipynb").write_bytes(b"\xef\xbb\xbf" + dos.encode())
    (folder / f"no json_{STEM}.ipynb").write_text('{"cells": [')
    (folder / f"deep_{STEM}.ipynb").write_text("[" * 10**6)
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        archive.write(folder / "right" / f"{STEM}.ipynb", f"x/{STEM}.ipynb")
        archive.writestr(f"__MACOSX/x/._{STEM}.ipynb", "no notebook")
    (folder / "script").mkdir()
    (folder / "script" / f"{STEM}.py").write_text("# my answers")
    huge = folder / f"huge_{STEM}.ipynb"
    huge.touch()
    os.truncate(huge, 2**40)
    secret = folder / f"secret_{STEM}.ipynb"
    secret.write_text("{}")
    secret.chmod(0)
    return folder


@pytest.fixture(scope="module")
def graded(class_of_many: Path, box: Sandbox) -> Iterator[list[dict[str, str]]]:
    """The lines of the file of marks, after the command has run over the class.

    It runs in a folder into which a student has put what the processes might import.
    """
    trap = class_of_many.parent / "trap"
    trap.mkdir()
    for name in ("socket", "grokkit", "sitecustomize"):
        (trap / f"{name}.py").write_text("raise SystemExit('a student was here')")
    out = class_of_many.parent / "grades.csv"
    students = class_of_many.parent / "students.csv"
    students.write_text("Student;ID\nright;1\nColab;2\nwrong once;3\nNobody, Nora;4\n")
    words = [str(class_of_many), "--exercises", str(EXERCISES), "--out", str(out), "--jobs", "2"]
    words += ["--roster", str(students), "--report", str(class_of_many.parent / "report")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(trap)
        patch.setenv("PYTHONPATH", str(trap))
        assert main(["grade", *words, "--seconds", "10", "--memory-mb", "1500"]) == 0
    with out.open(newline="") as file:
        yield list(csv.DictReader(file))


def outcomes(graded: list[dict[str, str]], student: str) -> list[str]:
    rows = [row for row in graded if row["student"] == student]
    return [row["outcome"] for row in rows if row["outcome"] != "skipped"]


HONEST = ("right", "colab", "rearranged", "windows", "zipped")


@pytest.mark.slow
def test_the_honest_get_what_they_deserve(graded: list[dict[str, str]]):
    for student in HONEST:
        assert outcomes(graded, student) == ["correct"] * len(NAMES), student
    assert outcomes(graded, "untouched") == ["not attempted"] * len(NAMES)
    assert outcomes(graded, "wrong once") == ["correct", "wrong", *["correct"] * 3]
    points = [row["points"] for row in graded if row["student"] == "wrong once"]
    assert points == ["1", "0", "2", "3", "3"]
    told = [row["feedback"] for row in graded if row["feedback"] and row["student"] == "wrong once"]
    assert len(told) == 1 and "it is the mean over I*" in told[0]


@pytest.mark.slow
def test_what_was_not_run_is_listed(graded: list[dict[str, str]]):
    (told,) = [
        row["feedback"]
        for row in graded
        if row["outcome"] == "skipped" and row["student"] == "colab"
    ]
    for what in ("%matplotlib", "%pip", "!nvidia-smi", "google", "seaborn", "!ls", "input("):
        assert what in told
    assert told.startswith("only these lines were left out: ")
    told = {row["student"]: row["feedback"] for row in graded if row["outcome"] == "not read"}
    assert set(told) == {"script"} and "hand that in" in told["script"]
    assert outcomes(graded, "script") == ["not read"] * len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("student", "wanted"),
    [
        ("wrong and cut", ["correct", "correct", "wrong", "correct", "correct"]),
        ("hangs", ["correct", "stopped", *["correct"] * 3]),
        ("leaves", ["correct", "stopped", *["correct"] * 3]),
        ("kills itself", ["correct", "stopped", *["correct"] * 3]),
        ("speaks out of turn", ["correct", "stopped", *["correct"] * 3]),
        ("folders without end", ["correct", "not attempted", *["correct"] * 3]),
        ("loops when called", ["correct", "stopped", *["correct"] * 3]),
        ("loops below", ["correct"] * 5),
        ("noisy", ["correct", "raised", *["correct"] * 3]),
        ("no json", ["unreadable"] * len(NAMES)),
        ("deep", ["unreadable"] * len(NAMES)),
        ("huge", ["unreadable"] * len(NAMES)),
        ("secret", ["unreadable"] * len(NAMES)),
    ],
)
def test_the_hostile_cost_themselves_points_and_nobody_else_anything(
    graded: list[dict[str, str]], student: str, wanted: list[str]
):
    assert outcomes(graded, student) == wanted


@pytest.mark.slow
def test_why_a_notebook_was_stopped_is_told_and_not_at_length(graded: list[dict[str, str]]):
    told = {(row["student"], row["exercise"]): row["feedback"] for row in graded}
    assert told["leaves", "ex_1_2"] == "a line of its cell had to be left out"
    assert "`import os; os._exit(0)  # kl_to_oracle`), as it stopped" in told["leaves", ""]
    # On a busy machine the clock may end a loop before its processor time does.
    too_long = "it (computed for more than 10|did not end within 100) s "
    too_long += r"\(a loop in it may never end\)"
    call = r" \| it was called as kl_to_oracle\(a=\[.*\], i=\[.*\]\)"
    assert re.fullmatch(too_long + call, told["loops when called", "ex_1_2"])
    line = r"line \d+ of code cell 4 \(`while True: pass`\), as it stopped the notebook: "
    assert re.search(line + too_long, told["loops below", ""])
    assert told["no json", "ex_1_1"].startswith("this file is no notebook, or was cut short (JSON")
    assert told["no json", "ex_1_1"].endswith("; save the notebook and hand it in again")
    assert told["huge", "ex_1_1"].startswith("this file is not read: 1,099,511,627,776 bytes")
    assert max(map(len, told.values())) <= LONGEST_FEEDBACK


@pytest.mark.slow
def test_the_report_has_a_line_and_a_page_for_each_student(
    graded: list[dict[str, str]], class_of_many: Path
):
    folder = class_of_many.parent / "report"
    with (folder / "students.csv").open(newline="") as file:
        lines = {line["Student"]: line for line in csv.DictReader(file)}
    assert list(lines)[:4] == ["right", "Colab", "wrong once", "Nobody, Nora"]
    total = {name: line[roster.TOTAL] for name, line in lines.items()}
    assert [total[name] for name in ("right", "Colab", "wrong once", "Nobody, Nora")] == [
        "11",
        "11",
        "9",
        "",
    ]
    assert lines["Colab"]["ID"] == "2"
    assert lines["Nobody, Nora"][roster.STATUS] == "not handed in"
    assert lines["zipped"][roster.STATUS] == "not in the roster; handed in"
    page = (folder / "feedback" / "wrong once, 3.md").read_text()
    assert "9 of 11 points" in page and "Exercise 1.2: wrong, 0 of 2" in page


@pytest.mark.slow
def test_a_rerun_marks_only_what_has_changed(
    class_of_many: Path, graded: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
):
    again: list[int] = []

    def grade(self: Sandbox, notebook: bytes, checks: dict[str, str], seed: int) -> list[Mark]:
        again.append(seed)
        return [Mark(name, "wrong") for name in checks]

    monkeypatch.setattr(Sandbox, "grade", grade)
    out = class_of_many.parent / "grades.csv"
    before = out.read_text()

    def rerun(seconds: int = 10) -> tuple[int, list[Row]]:
        again.clear()
        box = Sandbox("bubblewrap", Limits(seconds=seconds, memory_mb=1500))
        rows = grade_class(class_of_many, EXERCISES, out, box)
        return len(again), rows

    assert rerun()[0] == 0 and out.read_text() == before
    # What was stopped is tried again with other limits.
    stopped = {line["notebook"] for line in graded if line["outcome"] == "stopped"}
    assert rerun(seconds=11)[0] == len(stopped) > 1
    out.write_text(before)

    changed = class_of_many / "untouched" / f"{STEM}.ipynb"
    original = changed.read_text()
    changed.write_text(original + " ")
    assert rerun()[0] == 1
    changed.write_text(original)
    out.write_text(before)

    # A line that was deleted is marked anew; those beside it, changed by hand, stay.
    lines = before.splitlines(keepends=True)
    lines = [
        line.replace(",1,1,", ",0.5,1,") if line.startswith("right,") else line
        for line in lines
        if not line.startswith(f"right,right/{STEM}.ipynb,ex_1_2")
    ]
    out.write_text("".join(lines))
    count, rows = rerun()
    mine = {row.exercise: (row.outcome, row.points) for row in rows if row.student == "right"}
    assert count == 1
    assert mine["ex_1_2"] == ("wrong", 0) and mine["ex_1_1"] == ("correct", 0.5)
    out.write_text(before)


# --- what a student's process is kept from ------------------------------------------------


def test_a_students_process_reaches_nothing(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each attempt is made in one cell, and the answer says which of them worked."""
    monkeypatch.setenv("GROKKIT_TEST_SECRET", "s3cret")
    mine = tmp_path / "mine"
    mine.mkdir()
    server = socket.create_server(("127.0.0.1", 0))
    lines = ["import multiprocessing, os, resource, socket, subprocess, sys, ctypes, torch"]
    lines += ["from importlib import import_module"]
    lines += [f"SUPERVISOR = {os.getpid()}"]
    lines += [f"PORT = {server.getsockname()[1]}", f"FOLDER = {str(mine)!r}"]
    lines += [f"KEY = {str(report.key_file())!r}", "libc = ctypes.CDLL(None)"]
    lines += ["def mount():\n    if libc.mount(b'x', b'/tmp', b'tmpfs', 0, None): raise OSError"]
    lines += ["def unmount(path):\n    if libc.umount2(path.encode(), 2): raise OSError"]
    lines += ["worked = []"]
    for name, code in ATTEMPTS.items():
        lines += [
            "try:",
            f"    {code}",
            f"    worked.append({name!r})",
            "except BaseException: pass",
        ]
    lines += ["open('/tmp/mine', 'w').write('x')"]
    lines += ["def kl_to_oracle(a, i): raise KeyError(', '.join(worked) + '; of the above')"]
    report.teachers_key()
    with server:
        marks = graded_alone(box, notebook(ex_1_2__answer="\n".join(lines)))
    assert "KeyError: '; of the above'" in marks["ex_1_2"].feedback, marks["ex_1_2"].feedback
    assert {marks[name].outcome for name in NAMES if name != "ex_1_2"} == {"correct"}
    assert mine.stat().st_mode & 0o777 and not (mine / "x").exists()


# --- points without work ------------------------------------------------------------------


def wrong_answers(before: str, value: str) -> nbformat.NotebookNode:
    """A notebook whose every answer is a function that returns something wrong."""
    names = [exercise.answers[0] for exercise in CHAPTER.exercises]
    made = notebook(solve=False)
    for exercise, name in zip(NAMES, names, strict=True):
        (cell,) = [cell for cell in made.cells if cell.id == f"{exercise}-answer"]
        cell.source = f"def {name}(*args):\n    return {value}"
    first = next(cell for cell in made.cells if cell.cell_type == "code")
    first.source += f"\n{before}"
    return made


def test_no_trick_earns_a_point(box: Sandbox):
    before = ["answer = 7.0"]
    for code in TRICKS.values():
        before += [
            "try:",
            *(f"    {line}" for line in code.splitlines()),
            "except BaseException: pass",
        ]
    marks = graded_alone(box, wrong_answers("\n".join(before), "answer"))
    assert {marks[name].outcome for name in NAMES} <= {"wrong", "stopped", "raised"}


@pytest.mark.slow
@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_alone_earns_a_point(box: Sandbox, trick: str):
    marks = graded_alone(box, wrong_answers(f"answer = 7.0\n{TRICKS[trick]}", "answer"))
    assert "correct" not in {marks[name].outcome for name in NAMES}


@pytest.mark.parametrize("name", OBJECTS)
def test_no_object_earns_a_point_or_ends_the_judge(name: str):
    """Without a sandbox: two ends of a conversation in one process."""
    names: dict[str, Any] = {}
    exec(f"{OBJECTS[name]}\ndef function(*args): return answer", names)
    ours, theirs = socket.socketpair()
    peer = Peer(theirs, {"get": lambda _: names["function"]})
    thread = threading.Thread(target=peer.serve, daemon=True)
    thread.start()
    with ours, theirs:
        answer = Peer(ours, {}).ask("get")
        for exercise in NAMES:
            result = getattr(check, exercise).judge(answer)
            assert result.outcome in ("wrong", "raised")
            assert len(result.line()) < 20_000
        ours.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=60)


def test_the_inputs_known_by_heart_earn_nothing():
    """The answers to what a check asks at home do not serve when it draws anew."""
    names: dict[str, Any] = {"torch": torch}
    (cell,) = [cell for cell in notebook().cells if cell.id == "ex_1_2-answer"]
    exec(cell.source, names)
    heart: dict[str, Any] = {}

    def at_home(*args: Any) -> Any:
        return heart.setdefault(repr(args), names["kl_to_oracle"](*args))

    assert check.ex_1_2.judge(at_home).outcome == "correct"
    assert check.ex_1_2.judge(lambda *args: heart.get(repr(args))).outcome == "correct"
    assert check.ex_1_2.judge(lambda *args: heart.get(repr(args)), seed=12345).outcome == "wrong"


def test_what_a_check_draws_differs_between_notebooks_and_not_between_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seeds: list[int] = []

    def grade(self: Sandbox, notebook: bytes, checks: dict[str, str], seed: int) -> list[Mark]:
        seeds.append(seed)
        return [Mark(name, "correct") for name in checks]

    monkeypatch.setattr(Sandbox, "grade", grade)
    for number in range(2):
        made = notebook(ex_1_2__answer=f"# {number}")
        nbformat.write(made, handed_in(tmp_path / "class") / f"s{number}_{STEM}.ipynb")
    for name in ("a.csv", "b.csv"):
        grade_class(tmp_path / "class", EXERCISES, tmp_path / name, Sandbox())
    assert seeds[:2] == seeds[2:] and seeds[0] != seeds[1]


# --- walls --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "patched", "said"),
    [
        ("bubblewrap", ("shutil.which", lambda name: None), "not installed"),
        ("bubblewrap", ("sys.platform", "darwin"), "needs Linux"),
        ("basic", ("resource", None), "no limits"),
    ],
)
def test_without_walls_nothing_is_run_and_the_ways_on_are_named(
    kind: walls.Kind,
    patched: tuple[str, Any],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(f"grokkit.classroom.grading.walls.{patched[0]}", patched[1])
    monkeypatch.setattr(subprocess, "Popen", None)
    assert main(["grade", str(tmp_path), "--walls", kind]) == 2
    told = capsys.readouterr().err
    assert said in told and "--walls=basic" in told and "container" in told


def test_a_bubblewrap_that_does_not_work_is_found_out_by_trying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SettingError, match="setting up uid map: Permission denied"):
        sandbox("bubblewrap", LIMITS)


def test_walls_that_leak_are_refused(monkeypatch: pytest.MonkeyPatch):
    """Here none but the limits stand, and it is asked for more."""
    holes = [{"holes": ["it has a network", "it sees the checks"]}]
    monkeypatch.setattr(Sandbox, "_run", lambda *_: (holes, ""))
    monkeypatch.setattr(walls, "why_not", lambda kind: "")
    with pytest.raises(SettingError, match="it has a network; it sees the checks"):
        sandbox("bubblewrap", LIMITS)
    assert sandbox("basic", LIMITS).kind == "basic"


@pytest.mark.slow
def test_systemd_bounds_memory_where_it_can(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake = tmp_path / "systemd-run"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert sandbox("bubblewrap", LIMITS).cgroup
    fake.write_text("#!/bin/sh\nexit 1\n")
    assert not sandbox("bubblewrap", LIMITS).cgroup


@pytest.mark.slow
def test_the_basic_walls_grade_too():
    try:
        basic = sandbox("basic", LIMITS)
    except SettingError as refused:
        assert os.getuid() == 0 and "nobody, who cannot read" in str(refused)
        pytest.skip(str(refused))
    marks = graded_alone(basic, notebook(ex_1_2__answer=f"import os; os.fork()\n{WRONG}"))
    assert [marks[name].outcome for name in NAMES] == ["correct", "raised", *["correct"] * 3]


@pytest.mark.slow
def test_one_who_sleeps_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch, box: Sandbox):
    monkeypatch.setattr(Limits, "patience", 40)
    code = "import time; time.sleep(10**6)  # kl_to_oracle"
    marks = graded_alone(box, notebook(ex_1_2__answer=code))
    assert [marks[name].outcome for name in NAMES] == ["correct", "stopped", *["correct"] * 3]
    assert (
        f"(`{code}`), as it stopped the notebook: it did not end within 40 s" in marks[""].feedback
    )


def test_a_notebook_that_stops_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch):
    runs: list[Any] = []

    def run(self: Sandbox, notebook: bytes, orders: Any) -> tuple[list[dict[str, Any]], str]:
        runs.append(list(orders["left_out"]))
        gone = {"gone": "", "cell": 3, "statement": len(runs), "line": 1, "text": "f()"}
        return [{"exercise": "ex_1_1", "outcome": "correct", "feedback": ""}, gone], "it left"

    monkeypatch.setattr(Sandbox, "_run", run)
    marks = Sandbox().grade(b"", {"ex_1_1": "", "ex_1_2": ""})
    assert len(runs) == supervise.MOST_RUNS and runs[2] == [(3, 1), (3, 2)]
    assert [mark.outcome for mark in marks] == ["correct", "stopped", "skipped"]
    assert "stopped 8 times; the last time: it left" in marks[1].feedback


@pytest.mark.slow
def test_a_judge_that_has_ended_is_replaced(box: Sandbox):
    assert {m.outcome for m in graded_alone(box, notebook()).values()} == {"correct"}
    judge = box._judges[-1]
    judge.process.kill()
    judge.process.wait()
    assert {m.outcome for m in graded_alone(box, notebook()).values()} == {"correct"}
    assert box._judges[-1] is not judge


# --- cells --------------------------------------------------------------------------------


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """A notebook in this process, which is left as it was."""
    monkeypatch.setattr("builtins.input", input)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return Notebook()


@pytest.mark.parametrize(
    ("cell", "skipped"),
    [
        ("x = 3", []),
        ("%matplotlib inline\nx = 3", ["%matplotlib inline"]),
        ("pip install a b\nx = 3", ["%pip install a b"]),
        ("!ls\nx = 3", ["!ls"]),
        ("y = !ls\nx = 3 + len(y)", ["!ls"]),
        ("%%time\nx = 3", ["%%time"]),
        ("\n%%timeit -n 3\n!ls\nx = 3", ["%%timeit -n 3", "!ls"]),
        ("%%capture out\nx = 3; out.show()", ["%%capture out"]),
        ("%time x = 3", []),
        ("x = 3\nint?", ["%pinfo int"]),
        ("import nobody.has.this as n; n.go().on; x = 3", ["import nobody (not installed here)"]),
        (
            "from nobody import a, b\nx = 3 if not a() else b",
            ["import nobody (not installed here)"],
        ),
        ("from nobody import *\nx = 3", ["import nobody (not installed here)"]),
        ("import asyncio\nx = await asyncio.sleep(0, 3)", []),
        ("x = int(input('n?')) + 2", ["input('n?'), answered with 1"]),
        ("display('x'); get_ipython().magic.x; x = 3", []),
        ("from __future__ import annotations\ndef f(a: nobody): pass\nx = 3", []),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n  a: int = 3\nx = A().a", []),
        ("x = 3\r\ny = 4", []),
    ],
)
def test_what_classes_use_does_no_harm(learner: Notebook, cell: str, skipped: list[str]):
    assert learner.run(cell) == ""
    assert learner.get("x") == (True, 3) and learner.skipped == skipped


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("%%bash\nrm -rf /", ""),
        ("%%time\n1 / 0", "line 2: 1 / 0 | ZeroDivisionError"),
        ("1 / 0", "line 1: 1 / 0 | ZeroDivisionError: division by zero"),
        ("raise SystemExit(1)", "line 1: raise SystemExit(1) | SystemExit: 1"),
        (
            "while True: input()",
            "line 1: while True: input() | EOFError: nobody is there to answer",
        ),
        ("y = 1\ndef f(:", "line 2: def f(: | SyntaxError"),
        ("def f():\n  import nobody\nf()", "in f, line 2: import nobody | ModuleNotFoundError"),
    ],
)
def test_a_cell_that_fails_says_so(learner: Notebook, cell: str, error: str):
    assert learner.run(cell).startswith(error) and learner.get("x") == (False, None)


def test_a_statement_that_is_left_out_takes_nothing_else_with_it(learner: Notebook):
    at: list[tuple[int, int]] = []
    learner._before = at.append
    assert learner.run("x = 1\nx = 2; y = 3\n\nz = x", without=[1]) == ""
    assert [learner.get(name)[1] for name in "xyz"] == [1, 3, 1]
    assert at == [(0, 1), (2, 2), (3, 4)]


def cells(*found: dict[str, Any]) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", **cell} for cell in found]}).encode()


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (cells({"source": "x", "id": "ex_1_2-check"}), [("ex_1_2", "x")]),
        (cells({"source": ["a\r\n", "b"], "id": "q"}), [("", "a\nb")]),
        (
            cells({"source": "x", "metadata": {"nbgrader": {"grade_id": "ex_1_2-check"}}}),
            [("ex_1_2", "x")],
        ),
        (cells({"source": "check.ex_1_2(f)"}), [("ex_1_2", "check.ex_1_2(f)")]),
        (
            cells({"source": "check.ex_1_2(f)"}, {"source": "y", "id": "ex_1_2-check"}),
            [("", "check.ex_1_2(f)"), ("ex_1_2", "y")],
        ),
        (b"\xef\xbb\xbf" + cells({"source": "x"}), [("", "x")]),
    ],
)
def test_a_check_cell_is_known_by_ids_then_by_its_text(data: bytes, wanted: list[tuple[str, str]]):
    assert code_cells(data) == wanted


# --- whose notebook, and of which chapter -------------------------------------------------


def handed_in(folder: Path) -> Path:
    """A folder with such files."""
    folder.mkdir(exist_ok=True)
    return folder


BY_IDS = '{"cells": [{"id": "ex_1_1-answer"}, {"id": "ex_1_1-check"}, {"id": "ex_2_1-x"}]}'
OWNERS = {
    "ada/01_sparse_tasks.ipynb": ("ada", "01"),
    "ben/week 1/my 02.ipynb": ("ben", "02"),
    "eva_01_sparse_tasks.ipynb": ("eva", "01"),
    "eva_01_sparse_tasks (1).ipynb": ("eva", "01"),
    "eva_01_sparse_tasks-1.ipynb": ("eva", "01"),
    "eva_01_sparse_tasks-Copy1.ipynb": ("eva", "01"),
    "eva_01_sparse_tasks - Copy.ipynb": ("eva", "01"),
    "01-joe.ipynb": ("joe", "01"),
    "07_01_sparse_tasks.ipynb": ("07", "01"),
    "s07.ipynb": ("s07", "01 by its ids"),
    "s08.ipynb": ("s08", "01 by its ids"),
    "kim/notes.ipynb": ("kim", ""),
    "Li Na_4711_assignsubmission_file_/01_sparse_tasks.ipynb": ("Li Na", "01"),
    "group-1_02_attention_as_a_posterior.ipynb": ("group-1", "02"),
    unicodedata.normalize("NFD", "Zoë_01_sparse_tasks.ipynb"): ("Zoë", "01"),
    unicodedata.normalize("NFD", "Zoë_02.ipynb"): ("Zoë", "02"),
}


def test_students_and_chapters_are_told_from_folders_names_and_ids(tmp_path: Path):
    for name, (_, chapter) in OWNERS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BY_IDS if "ids" in chapter else "{}")
    chapters = sheets(EXERCISES)
    for one in submissions(tmp_path, chapters):
        (wanted,) = [
            owner
            for name, owner in OWNERS.items()
            if unicodedata.normalize("NFC", name) == one.name
        ]
        sheet = one.sheet(one.read(), chapters)
        assert (one.student, sheet.stem[:2] if sheet else "") == (wanted[0], wanted[1][:2]), (
            one.name
        )


def test_what_is_not_read_is_listed_and_a_zip_is_not_unpacked(tmp_path: Path):
    good = tmp_path / "lou.ipynb"
    good.write_text("{}")
    for name in (".ipynb_checkpoints", "__MACOSX"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pat_01.ipynb").write_text("{}")
    (tmp_path / "mal").symlink_to(ROOT)
    (tmp_path / "ned_01.ipynb").symlink_to(good)
    os.mkfifo(tmp_path / "oda_01.ipynb")
    (tmp_path / "script.py").write_text("")
    (tmp_path / "broken.zip").write_text("PK no")
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        archive.writestr("../../evil_01.ipynb", "{}")
        archive.writestr("/abs/01_x.ipynb", "{}")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("01_x.ipynb", b" " * (LARGEST_NOTEBOOK + 1))
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}.ipynb", "{}")
    deep = tmp_path / "deep"
    for _ in range(300):
        deep /= "d"
    os.makedirs(deep)
    before = sorted(os.listdir(tmp_path.parent))
    found = submissions(tmp_path, sheets(EXERCISES))
    why = {one.name: one.why_not for one in found if one.why_not}
    assert why.pop("broken.zip").startswith("a .zip that cannot be read")
    assert why.pop("many.zip/200.ipynb ...").startswith("more than 200 files")
    assert why == {
        "mal": "a link",
        "ned_01.ipynb": "a link",
        "oda_01.ipynb": "no regular file",
        "script.py": "a script (.py); only the notebook (.ipynb) is read: hand that in",
    }
    read = {one.name: one for one in found if not one.why_not}
    slips = [one for one in found if one.name.startswith("slip.zip")]
    assert {one.student for one in slips} == {"slip"}
    with pytest.raises(Unreadable, match="more than"):
        read["bomb.zip/01_x.ipynb"].read()
    assert sorted(os.listdir(tmp_path.parent)) == before


def test_a_folder_without_notebooks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(supervise, "sandbox", Sandbox)
    for words, complaint in (
        ([str(tmp_path)], "folder: got"),
        ([str(tmp_path / "no")], "folder: got"),
        ([str(tmp_path), "--exercises", str(tmp_path)], "exercises: got"),
        ([str(tmp_path), "--seconds", "1"], "seconds: got 1; allowed"),
        ([str(tmp_path), "--jobs", "0"], "jobs: got 0; allowed"),
        ([str(tmp_path), "--roster", str(tmp_path / "no.csv")], "roster: got"),
    ):
        rest = [] if "--exercises" in words else ["--exercises", str(EXERCISES)]
        assert main(["grade", *words, *rest]) == 2
        assert complaint in capsys.readouterr().err


# --- the file of marks --------------------------------------------------------------------

KEY = b"the teacher's"


def row(student: str, exercise: str, points: float, **more: Any) -> Row:
    outcome = "correct" if points else "wrong"
    values = {"notebook": "n", "outcome": outcome, "of": 2, "feedback": ""}
    made = Row(
        **{
            "student": student,
            "exercise": exercise,
            "points": points,
            "fingerprint": "",
            **values,
            **more,
        }
    )
    return Row(**{**vars(made), "fingerprint": made.sealed(KEY, "d")})


def test_the_file_is_read_as_it_was_written_and_harmless_in_a_spreadsheet(tmp_path: Path):
    path = tmp_path / "grades.csv"
    assert report.read(path, KEY) == []
    rows = [row("ada", "ex_1_1", 2), row("'=1+1", "ex_1_1", 0, feedback="@x, \n\x1b[31m red")]
    report.write(path, rows)
    assert report.read(path, KEY)[0] == rows[0]
    assert report.read(path, KEY)[1].feedback == "'@x,   [31m red"
    assert report.harmless("=1+1") == "'=1+1"


SPREADSHEETS: dict[str, Callable[[str], bytes]] = {
    "a BOM": lambda text: text.encode("utf-8-sig"),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "tabs": lambda text: text.replace(",", "\t").encode(),
    "cp1252": lambda text: text.encode("cp1252"),
    "Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "a comma in numbers": lambda text: text.replace(",", ";").replace(";2;2;", ";2,0;2;").encode(),
    "empty rows": lambda text: (text + ",,,,,,,\n").encode(),
}


@pytest.mark.parametrize("how", SPREADSHEETS)
def test_a_file_that_a_spreadsheet_saved_is_read(tmp_path: Path, how: str):
    path = tmp_path / "grades.csv"
    rows = [row("Zoë", "ex_1_1", 2), row("ben", "ex_1_1", 0)]
    report.write(path, rows)
    path.write_bytes(SPREADSHEETS[how](path.read_text(encoding="utf-8")))
    assert report.read(path, KEY) == rows


@pytest.mark.parametrize("how", FORGED)
def test_a_foreign_or_forged_file_is_refused_and_stays(tmp_path: Path, how: str):
    path = tmp_path / "grades.csv"
    report.write(path, [row("ada", "ex_1_1", 2)])
    path.write_text(FORGED[how](path.read_text()))
    before = path.read_bytes()
    with pytest.raises(SettingError, match="out: got"):
        report.read(path, KEY)
    assert path.read_bytes() == before


def test_the_marks_of_another_week_stay_and_those_in_the_class_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        Sandbox,
        "grade",
        lambda self, data, checks, seed: [Mark(name, "correct") for name in checks],
    )
    out = tmp_path / "grades.csv"
    for number in (1, 2):
        week = handed_in(tmp_path / f"week {number}")
        (week / f"ada_0{number}.ipynb").write_text("{}")
        rows = grade_class(week, EXERCISES, out, Sandbox())
    assert sorted({one.exercise[:4] for one in rows}) == ["ex_1", "ex_2"]
    assert report.read(out, report.teachers_key()) == rows
    shutil.copy(out, tmp_path / "week 1")
    with pytest.raises(SettingError, match="outside of"):
        grade_class(tmp_path / "week 1", EXERCISES, tmp_path / "week 1" / "grades.csv", Sandbox())


def test_two_graders_do_not_overwrite_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    week = handed_in(tmp_path / "class")
    (week / "ada_01.ipynb").write_text("{}")

    def grade(self: Sandbox, *_: Any) -> list[Mark]:
        with pytest.raises(SettingError, match="no other `grokkit grade`"):
            grade_class(week, EXERCISES, tmp_path / "grades.csv", self)
        return [Mark(name, "correct") for name in NAMES]

    monkeypatch.setattr(Sandbox, "grade", grade)
    assert len(grade_class(week, EXERCISES, tmp_path / "grades.csv", Sandbox())) == len(NAMES)


def test_one_that_cannot_be_graded_ends_nobody_elses_grading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def grade(self: Sandbox, notebook: bytes, checks: dict[str, str], seed: int) -> list[Mark]:
        if b"mal" in notebook:
            raise RuntimeError("nobody foresaw this")
        return [Mark(name, "correct", "x" * 10_000) for name in checks]

    monkeypatch.setattr(Sandbox, "grade", grade)
    folder = handed_in(tmp_path / "class")
    for name in ("ada", "mal", "zoe"):
        (folder / f"{name}_01.ipynb").write_text(f'{{"by": "{name}"}}')
    rows = grade_class(folder, EXERCISES, tmp_path / "grades.csv", Sandbox())
    told = {one.student: one.outcome for one in rows}
    assert told == {"ada": "correct", "mal": "unreadable", "zoe": "correct"}
    assert max(len(one.feedback) for one in rows) == LONGEST_FEEDBACK
    # What failed here is tried again, and what was marked before does not suffer from it.
    monkeypatch.setattr(Sandbox, "grade", lambda *_: [Mark(n, "correct") for n in NAMES])
    out = tmp_path / "grades.csv"
    assert {one.outcome for one in grade_class(folder, EXERCISES, out, Sandbox())} == {"correct"}
    report.write(
        out,
        [
            one
            for one in report.read(out, report.teachers_key())
            if (one.student, one.exercise) != ("mal", "ex_1_1")
        ],
    )
    monkeypatch.setattr(Sandbox, "grade", grade)
    rows = grade_class(folder, EXERCISES, out, Sandbox())
    told = [one.outcome for one in rows if one.student == "mal"]
    assert told == ["unreadable", *["correct"] * 4]


def test_the_table_has_a_line_a_student_and_the_better_of_two_counts():
    rows = [
        row("ada", "ex_1_1", 2),
        row("ada", "ex_1_1", 0, notebook="older"),
        row("ada", "ex_2_1", 1.5),
        row("ben", "ex_1_1", 0, outcome="stopped"),
    ]
    assert roster.table(roster.students(rows)).splitlines() == [
        "student  total  points possible  chapter 01  chapter 02  status",
        "ada      3.5    4                2           1.5         handed in",
        "ben      0      4                0           -           stopped, chapter 02 missing",
    ]


def test_of_equal_points_the_outcome_that_says_more_counts():
    given = [
        row("ada", "ex_1_1", 0, outcome="wrong", feedback="the cause"),
        row("ada", "ex_1_1", 0, outcome="not read", notebook="also.py"),
    ]
    for rows in (given, given[::-1]):
        (ada,) = roster.students(rows)
        assert [one.feedback for one in ada.best] == ["the cause"]
        assert ada.line()[roster.STATUS] == "handed in"


OLD = f"ada/{STEM}.ipynb"


@pytest.mark.parametrize(
    "new",
    [
        f"ada/{STEM} (1).ipynb",
        f"ada/{STEM}-Copy1.ipynb",
        f"ada/{STEM} copy.ipynb",
        f"ada/{STEM}-1.ipynb",
        f"ada_{STEM}-1_late.ipynb",
        "ada/again.ipynb",
        "ada/0.ipynb",
        "ada.zip/0.ipynb",
    ],
)
@pytest.mark.parametrize("outcome", ["raised", "stopped", "wrong"])
def test_of_equal_points_the_newest_hand_in_speaks(tmp_path: Path, new: str, outcome: str):
    """Whatever the file says, and whichever comes first in the file of marks."""
    for name, time in ((OLD, 2e9 if "-" in new or " " in new else 1e9), (new, 1.5e9)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
        os.utime(path, (time, time))
    if ".zip" in new:
        shutil.rmtree(tmp_path / "ada.zip")
        with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
            archive.writestr(zipfile.ZipInfo("0.ipynb", (2017, 7, 14, 0, 0, 0)), "{}")
    rows = [
        row("ada", "ex_1_1", 0, outcome=other, notebook=notebook, feedback=f"of {notebook}")
        for notebook, other in ((OLD, "wrong"), (new, outcome))
    ]
    for given in (rows, rows[::-1]):
        (ada,) = roster.students(given, times=submission_times(tmp_path))
        assert [one.notebook for one in ada.best] == [new]
        told = roster._as_text(new)
        assert f"{outcome}, 0 of 2\n\nThis is about the file {told}.\n\n    of {new}" in ada.page()
        (ada,) = roster.students(given[:1])
        assert "about the file" not in ada.page()


def test_a_newer_file_in_which_an_exercise_was_left_out_does_not_hide_what_was_said():
    rows = [
        row("ada", "ex_1_1", 0, notebook=OLD, feedback="the cause"),
        row("ada", "ex_1_1", 0, notebook="new (2).ipynb", outcome="not attempted"),
    ]
    (ada,) = roster.students(rows, times={OLD: 1.0, "new (2).ipynb": 2.0})
    assert [one.feedback for one in ada.best] == ["the cause"]


# --- the roster ---------------------------------------------------------------------------

MOODLE = (
    "First name,Last name,ID number,Email address\nAda,Lovelace,4711,ada@uni.example\n"
    "Ada,Byron,4712,byron@uni.example\nZoë,Müller-Lüdenscheidt,4713,zoe@uni.example\n"
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Lovelace, Ada",815,4711,alove,A\n"Byron, Ada",816,4712,abyron,A\n'
)
GROUPS = (
    "Username;Group name;Surname;First name\nal1;blue;Lovelace;Ada\nab1;blue;Byron;Ada Augusta\n"
)


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        (MOODLE, "Ada Lovelace", 0),
        (MOODLE, "lovelace_ada", 0),
        (MOODLE, "4712", 1),
        (MOODLE, "byron", 1),
        (MOODLE, "zoe", 2),
        (MOODLE, "Zoe Muller-Ludenscheidt", 2),
        (MOODLE, "Ada, Lovelace", 0),
        (MOODLE, "Lovelace, Ada", 0),
        (CANVAS, "Ada, Lovelace", 0),
        (CANVAS, "Lovelace, Ada", 0),
        (GROUPS, "Lovelace, Ada", 0),
        (GROUPS, "ada_byron_late", 1),
        (GROUPS, "al1-late", 0),
        (MOODLE, "Zoe Smith", None),
        (MOODLE, "Ben Lovelace", None),
        (MOODLE, "Ada", None),
        (MOODLE, "s4711", None),
        (CANVAS, "lovelaceada_815_99120_1", 0),
        (CANVAS, "byronada_LATE_816_99121", 1),
        (CANVAS, "abyron", 1),
        (CANVAS, "Somebody Else", None),
    ],
)
def test_a_student_is_found_in_the_roster(tmp_path: Path, text: str, name: str, found: int | None):
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8")
    people = roster.students([row(name, "ex_1_1", 2)], path)
    owners = [number for number, one in enumerate(people) if one.rows]
    known = len(people) - (found is None)
    assert owners == [known if found is None else found] and known in (2, 3)


def test_the_report_keeps_the_rosters_columns_and_its_pages_are_harmless(tmp_path: Path):
    path = tmp_path / "students.csv"
    path.write_text(CANVAS)
    told = "wrong | ![x](http://spy) | <script>alert(1)</script> | ``` | # title"
    rows = [
        row("alove", "ex_1_1", 2),
        row("4711", "ex_1_2", 0, feedback=told),
        row("../../mal", "ex_1_1", 2),
    ]
    everybody = roster.students(rows, path)
    roster.write(tmp_path / "report", everybody)
    assert [one.name for one in everybody if not one.rows] == ["Byron, Ada, 816"]
    assert [one.name for one in everybody if not one.known] == ["../../mal"]
    lines = list(csv.DictReader(io.StringIO((tmp_path / "report" / "students.csv").read_text())))
    assert list(lines[0])[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert [(line["Student"], line[roster.TOTAL], line[roster.POSSIBLE]) for line in lines] == [
        ("Lovelace, Ada", "2", "4"),
        ("Byron, Ada", "", ""),
        ("../../mal", "2", "4"),
    ]
    pages = sorted(os.listdir(tmp_path / "report" / "feedback"))
    assert len(pages) == 2 and all("/" not in name for name in pages)
    page = next(p for p in (tmp_path / "report" / "feedback").iterdir() if "mal" not in p.name)
    body = page.read_text().split("wrong, 0 of 2")[1].strip("\n")
    assert all(line.startswith("    ") for line in body.splitlines())


def test_lines_that_were_left_out_do_not_read_as_if_the_notebook_was():
    told = "only these lines were left out: !pip install numpy"
    (ada,) = roster.students(
        [row("ada", "ex_1_1", 2), row("ada", "", 0, of=0, outcome="skipped", feedback=told)]
    )
    assert f"## n: some lines were left out\n\n    {told}" in ada.page()
    assert "skipped" not in ada.page() and ada.line()[roster.STATUS] == "handed in"


def test_a_file_that_was_not_read_is_told_once():
    cut = [row("ada", f"ex_1_{n}", 0, outcome="unreadable", feedback="cut short") for n in (1, 2)]
    (ada,) = roster.students([*cut, row("ada", "ex_2_1", 0, outcome="stopped", feedback="left")])
    page = ada.page()
    assert "## Exercises 1.1, 1.2: unreadable, 0 of 4\n\n    cut short\n\n## Exercise 2.1" in page


def test_without_clean_exercises_the_refusal_names_the_option(tmp_path: Path):
    with pytest.raises(SettingError, match="give it with --exercises FOLDER"):
        sheets(tmp_path)


def test_a_file_that_is_no_roster_is_refused(tmp_path: Path):
    path = tmp_path / "students.csv"
    path.write_text("colour,size\nred,3\n")
    with pytest.raises(SettingError, match="roster: got"):
        roster.students([], path)


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
        (1, [2, (3,)], {"a": {4}, 5: None}),
        Fraction(-2, 3),
        range(3),
        len,
        grokkit.presets["live"],
        grokkit.presets["live"].task,
    ],
    ids=repr,
)
def test_a_value_arrives_as_it_was(value: Any):
    arrived = travelled(value)
    assert arrived == value and type(arrived) is type(value)


def test_arrays_and_tensors_arrive_with_shape_and_type():
    tensor = torch.arange(6, dtype=torch.int16).reshape(2, 3).T
    assert torch.equal(travelled(tensor), tensor) and travelled(tensor).dtype is torch.int16
    array = np.array([[1.5, float("nan")]])
    np.testing.assert_array_equal(travelled(array), array)
    assert travelled(np.float32(0.1)) == np.float32(0.1)


def test_anything_else_arrives_as_its_print():
    class Mine:
        def __repr__(self) -> str:
            return "mine"

    assert travelled([Mine(), 1 + 2j, torch.float64]) == [
        *map(Opaque, ("mine", "(1+2j)", "torch.float64"))
    ]
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    assert "nested too deeply" in repr(travelled(nested))


def test_values_of_a_class_of_ones_own_arrive_as_what_they_are_made_of():
    class Mine(float):
        pass

    assert travelled(MappingProxyType({"a": Mine(2.0)})) == {"a": 2.0}
    assert travelled(torch.eye(2).to_sparse()).tolist() == [[1, 0], [0, 1]]
    arrived = travelled(grokkit.presets["live"])
    assert travelled([arrived]) == [arrived]


def test_the_specs_that_travel_are_dataclasses_of_the_package():
    for name, kind in specs().items():
        # What another test has registered in this process is nobody's package.
        assert is_dataclass(kind) and kind.__module__.startswith(("grokkit.", "tests.")), name
    assert len(specs()) > 20


def test_a_kind_of_ones_own_arrives_as_its_print():
    @dataclass(frozen=True)
    class Mine(ModularAddition):
        pass

    assert isinstance(travelled(Mine(p=7)), Opaque)


def test_a_spec_that_cannot_be_made_is_no_spec():
    tree = {"is": "spec", "name": "RunSpec", "parts": [["epochs", -1]]}
    arrived = decode(tree, [], lambda number, name, of: len)
    assert isinstance(arrived, Opaque) and "epochs" in repr(arrived)


@pytest.mark.parametrize("tree", TREES)
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


@pytest.mark.parametrize("frame", FRAMES)
def test_a_message_that_cannot_be_read_ends_the_conversation(frame: bytes):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frame)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(Gone):
            Peer(ours, {}).ask("limits")


@pytest.mark.slow
def test_the_judge_needs_no_more_than_a_few_modules():
    """It is started once for each notebook of a class."""
    code = "import sys, grokkit.classroom.grading.judge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    costly = {"jupytext", "nbformat", "IPython", "xarray", "scipy", "matplotlib"}
    assert not costly & {name.split(".")[0] for name in done.stdout.split()}
