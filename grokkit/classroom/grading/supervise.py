"""Two processes for each notebook, and a clock over both.

The supervisor never reads what a student wrote. It starts the student's process in an empty
folder of its own and the judge beside it, waits for the judge's lines, and ends both when time
is up or the folder has grown too large.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokkit.errors import check_int

LARGEST_NOTEBOOK = 20 * 2**20
"""Bytes; a larger file is not read."""


@dataclass(frozen=True)
class Limits:
    """What one notebook may use.

    Attributes:
        seconds: of processor time, so that a busy machine costs nobody points. Time in which
            it only waits is bounded too, by ``patience``.
        memory_mb: memory, of which Python and torch take about 800.
        disk_mb: what it may write.

    Raises:
        SettingError: one of them is too little to run anything.
    """

    seconds: int = 60
    memory_mb: int = 2000
    disk_mb: int = 100

    def __post_init__(self) -> None:
        check_int("seconds", self.seconds, 5)
        check_int("memory_mb", self.memory_mb, 1200)
        check_int("disk_mb", self.disk_mb, 1)

    @property
    def patience(self) -> int:
        """How long it may take by the clock, in seconds."""
        return 60 + 4 * self.seconds


@dataclass(frozen=True)
class Mark:
    """What came out for one exercise of one notebook.

    Attributes:
        exercise: its name.
        outcome: one of a check's four; or ``"unreadable"``: the file is no notebook; or
            ``"stopped"``: its process ended before the exercise was marked.
        feedback: what the student is to be told.
    """

    exercise: str
    outcome: str
    feedback: str = ""


def grade(
    notebook: Path, exercises: Path, names: Sequence[str], limits: Limits
) -> tuple[list[Mark], list[str]]:
    """Mark one notebook.

    Args:
        notebook: a student's file.
        exercises: the clean notebook of the same chapter.
        names: the exercises of the chapter.
        limits: what the notebook may use.

    Returns:
        A mark for each exercise, in order; and what was kept from the student's process (see
        :data:`~grokkit.classroom.grading.limits.EVERYTHING`), empty if it was never started.
    """
    if notebook.stat().st_size > LARGEST_NOTEBOOK:
        why = f"{notebook.stat().st_size:,} bytes; allowed: {LARGEST_NOTEBOOK:,}"
        return [Mark(name, "unreadable", why) for name in names], []
    # An own temporary folder of the student's, which goes when they are done.
    with tempfile.TemporaryDirectory(prefix="grokkit-") as folder:
        lines, why = _run(notebook, exercises, Path(folder), limits)
    marks = {line["exercise"]: Mark(**line) for line in lines if "exercise" in line}
    taken = [name for line in lines for name in line.get("limits", [])]
    for name, mark in marks.items():
        if mark.outcome == "stopped":
            marks[name] = Mark(name, "stopped", why or mark.feedback)
    missing = why or "the check did not come to an end"
    return [marks.get(name, Mark(name, "stopped", missing)) for name in names], taken


def _run(
    notebook: Path, exercises: Path, folder: Path, limits: Limits
) -> tuple[list[dict[str, Any]], str]:
    """The lines that the judge wrote, and why the student's process ended before its time."""
    ours, theirs = socket.socketpair()
    bounds = (limits.seconds, limits.memory_mb, limits.disk_mb)
    with ours, theirs:
        student = _start("student", theirs, bounds, folder)
        judge = _start("judge", ours, bounds, None)
    orders = json.dumps({"notebook": str(notebook), "exercises": str(exercises)})
    why, end = "", time.monotonic() + limits.patience
    try:
        while True:
            try:
                out, problem = judge.communicate(orders, timeout=0.25)
                break
            except subprocess.TimeoutExpired:
                orders = None  # they are on their way
            if not why:
                why = _too_much(folder, end, limits)
                if why:
                    _end(student)  # the judge then hears that it is gone, and says so
                    end = time.monotonic() + 5
            elif time.monotonic() > end:
                _end(judge)
    finally:
        _end(student)
        _end(judge)
    if not why and judge.returncode != 0:
        why = "the check itself failed: " + (problem.strip().splitlines() or ["no reason"])[-1]
    elif not why and student.returncode != -signal.SIGKILL:
        why = _ending(student.returncode, limits)
    return [json.loads(line) for line in out.splitlines()], why


def _start(
    role: str, connection: socket.socket, bounds: tuple[int, int, int], folder: Path | None
) -> subprocess.Popen[str]:
    """One of the two processes; with a folder, all else is kept from it."""
    sees = subprocess.DEVNULL if folder else subprocess.PIPE
    words = [str(number) for number in (connection.fileno(), *bounds)]
    return subprocess.Popen(
        [sys.executable, "-m", f"grokkit.classroom.grading.{role}", *words],
        stdin=sees,
        stdout=sees,
        stderr=sees,
        text=True,
        cwd=folder,
        pass_fds=[connection.fileno()],
        start_new_session=True,  # so that all that comes of it can be ended together
        env=_environment(folder),
    )


def _environment(folder: Path | None) -> dict[str, str]:
    """The environment of a process; the student's holds nothing of the teacher's."""
    names = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    kept |= dict.fromkeys(threads, "1")
    kept |= {"TQDM_DISABLE": "1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    if folder is not None:
        kept |= dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), str(folder))
    return kept


def _too_much(folder: Path, end: float, limits: Limits) -> str:
    """What a process has had too much of; empty if nothing."""
    if time.monotonic() > end:
        return f"it did not end within {limits.patience} s"
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # it may be gone by now
            size += path.lstat().st_blocks * 512
    return f"it wrote more than {limits.disk_mb} MB" if size > limits.disk_mb * 2**20 else ""


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int, limits: Limits) -> str:
    if code == -signal.SIGXCPU:
        return f"it computed for more than {limits.seconds} s"
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"its process ended by itself, with {how}"
