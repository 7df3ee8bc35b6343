"""A process for each notebook, a judge for the class, and a clock over both.

The supervisor looks at nothing that a student wrote. It starts the student's process, hands the
notebook to the judge, waits for the judge's lines, and ends the process when time is up. Where a
notebook ended its process, by an endless loop or otherwise, it is run again without what did so.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from grokkit.classroom.grading import walls
from grokkit.classroom.grading.walls import Kind, Limits
from grokkit.errors import refuse

MOST_SAID = 2**20
"""Bytes that a judge's lines may take."""

MOST_RUNS = 8
"""How often a notebook is run that ends its own process."""

FAILED = "the check itself failed: "
"""How the feedback of a notebook begins whose judge did not come to its end."""

_LOOP = " (a loop in it may never end)"
_RANK = ("stopped", "not attempted", "raised", "wrong", "correct")
_OUTCOMES = ("correct", "wrong", "raised", "not attempted", "stopped", "unreadable", "skipped")
_WAYS_ON = (
    "bubblewrap, by `apt install bubblewrap` on Linux; --walls=basic, which keeps students' code "
    "neither from your files nor from the network; or a container: see TEACHING.md"
)


@dataclass(frozen=True)
class Mark:
    """What came out for one exercise of one notebook.

    Attributes:
        exercise: its name; empty for a line about the whole notebook.
        outcome: one of a check's four; ``"unreadable"``: the file is no notebook; ``"stopped"``:
            its process ended before the exercise was marked; ``"not read"``: no notebook; or
            ``"skipped"``: lines of it that were not run.
        feedback: what the student is to be told.
    """

    exercise: str
    outcome: str
    feedback: str = ""

    @property
    def final(self) -> bool:
        """Whether no further run of the notebook may change it."""
        return self.outcome in ("correct", "stopped", "unreadable")


@dataclass(frozen=True, eq=False)
class Sandbox:
    """How the processes of a class are started.

    Attributes:
        kind: which walls stand around them.
        limits: what each notebook may use.
        cgroup: whether ``systemd-run`` bounds the memory of the student's process as well.
    """

    kind: Kind = "bubblewrap"
    limits: Limits = field(default_factory=Limits)
    cgroup: bool = False
    _judges: list["_Judge"] = field(default_factory=list, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def grade(self, notebook: bytes, checks: Mapping[str, str], seed: int = 0) -> list[Mark]:
        """Mark one notebook.

        If its process ends before the time, the notebook is run again without the statement that
        ended it, or without a check of the function that did, so that what is right elsewhere
        counts. Each run has all the time of :class:`~grokkit.classroom.grading.walls.Limits`.

        Args:
            notebook: what the student's file holds.
            checks: the clean check cells of the chapter: their source by the exercise's name.
            seed: of what the checks draw.

        Returns:
            A mark for each exercise, in order, and one for what was not run, if anything was.
        """
        marks: dict[str, Mark] = {}
        left_out: list[tuple[int, int]] = []
        not_run: dict[str, None] = {}
        why, end = "", time.monotonic() + 3 * self.limits.patience
        for _ in range(MOST_RUNS):
            open_ = {n: c for n, c in checks.items() if n not in marks or not marks[n].final}
            orders = {"checks": open_, "seed": seed, "left_out": left_out}
            lines, why = self._run(notebook, orders)
            for line in lines:
                if line.get("outcome") in _OUTCOMES:
                    mark = Mark(**line)
                    marks[mark.exercise] = max(marks.get(mark.exercise, mark), mark, key=_rank)
                not_run |= dict.fromkeys(line.get("skipped", ()))
            gone = next((line for line in lines if "gone" in line), None)
            if gone is None:
                break
            why = why or gone["gone"]
            if "exercise" in gone:
                called = f" | it was called as {gone['call']}" if gone.get("call") else ""
                marks[gone["exercise"]] = Mark(gone["exercise"], "stopped", why + called)
            elif "statement" in gone:
                left_out.append((gone["cell"], gone["statement"]))
                not_run[f"{_place(gone)}, as it stopped the notebook: {why}"] = None
            else:
                break
            why = f"the notebook was stopped {MOST_RUNS} times; the last time: {why}"
            if time.monotonic() > end:
                break
        found = [
            marks.get(name, Mark(name, "stopped", why or "nothing came back")) for name in checks
        ]
        told = "only these lines were left out: " + "; ".join(not_run)
        return found + [Mark("", "skipped", told)] * bool(not_run)

    def _run(self, notebook: bytes, orders: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """The lines that the judge wrote, and why the notebook was not marked to its end."""
        ours, theirs = socket.socketpair()
        reads, writes = os.pipe()
        with (
            contextlib.ExitStack() as ends,
            open(reads, "rb", buffering=0) as said,
            tempfile.TemporaryFile() as given,
        ):
            given.write(json.dumps(orders).encode() + b"\n" + notebook)
            given.seek(0)
            with ours, theirs, open(writes, "wb") as lines_in:
                student = self._start("student", [], theirs, None, ends)
                judge = self._judge()
                number = max((int(name.split("_")[1]) for name in orders["checks"]), default=0)
                judge.take(number, (ours.fileno(), given.fileno(), lines_in.fileno()))
            text, late = _until(
                said, time.monotonic() + self.limits.patience, lambda: _end(student)
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                student.wait(1)  # it hears that the judge has hung up
            _end(student)
        lines = [json.loads(line) for line in text.splitlines()]
        if late:
            return lines, f"it did not end within {self.limits.patience} s{_LOOP}"
        last = lines[-1] if lines else {}
        if "done" not in last:
            return lines, FAILED + (last.get("failed") or judge.problem())
        gone = any("gone" in line for line in lines)
        return lines, self._ending(student.returncode) if gone else ""

    def _judge(self) -> "_Judge":
        """The judge of the class; a new one if there is none."""
        with self._lock:
            if not self._judges or self._judges[-1].process.poll() is not None:
                ours, theirs = socket.socketpair()
                ends = contextlib.ExitStack()
                problems = ends.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # by ends
                ends.enter_context(ours)
                with theirs:
                    words = [str(self.limits.patience + 10)]
                    process = self._start("judge", words, theirs, problems, ends)
                self._judges.append(_Judge(process, ours, problems))
                weakref.finalize(self._judges[-1], ends.close)
            return self._judges[-1]

    def _start(
        self,
        role: str,
        words: Sequence[str],
        connection: socket.socket,
        problems: IO[bytes] | None,
        ends: contextlib.ExitStack,
    ) -> subprocess.Popen[bytes]:
        """A process that is told the number of its socket and some words; ``ends`` ends it."""
        folder = "/tmp"
        if self.kind == "basic":
            folder = ends.enter_context(
                tempfile.TemporaryDirectory(prefix="grokkit-", ignore_cleanup_errors=True)
            )
            if os.getuid() == 0:
                os.chown(folder, walls.NOBODY, walls.NOBODY)
        command, environment = walls.command(
            role,
            [str(connection.fileno()), *words],
            self.kind,
            self.limits,
            folder,
            self.cgroup and role == "student",
        )
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=problems or subprocess.DEVNULL,
            cwd=folder,
            pass_fds=[connection.fileno()],
            start_new_session=True,  # so that all that comes of it can be ended together
            env=environment,
        )
        ends.callback(_end, process)
        return process

    def _ending(self, code: int) -> str:
        """Why the student's process ended by itself; nothing if it was ended from here."""
        number = code - 128 if code > 128 else -code  # bubblewrap says 128 and the signal
        if number == signal.SIGKILL or code == 0:
            return "its process ended by itself" if code == 0 else ""
        if number == signal.SIGXCPU:
            return f"it computed for more than {self.limits.seconds} s{_LOOP}"
        known = number in set(signal.Signals)
        how = signal.Signals(number).name if known else f"exit code {code}"
        return f"its process ended by itself, with {how}"


def sandbox(kind: Kind, limits: Limits) -> Sandbox:
    """The sandbox for a class, after it was tried with an empty notebook.

    Raises:
        SettingError: the walls cannot stand here; nothing of the students' was run.
    """
    why = walls.why_not(kind)
    if why:
        refuse("walls", f"{kind}: {why}", _WAYS_ON)
    systemd = kind == "bubblewrap" and shutil.which("systemd-run") is not None
    for cgroup in (True, False) if systemd else (False,):
        made = Sandbox(kind, limits, cgroup)
        lines, why = made._run(b'{"cells": []}', {"checks": {}, "seed": 0})
        known = walls.OPEN_IN_BASIC if kind == "basic" else ()
        found = [hole for line in lines for hole in line.get("holes", ()) if hole not in known]
        tried = any("holes" in line for line in lines)
        why = why or "; ".join(found) or ("" if tried else "the student's process did not start")
        if not why:
            return made
    refuse("walls", f"{kind}: {why}", _WAYS_ON)


@dataclass(frozen=True, eq=False)
class _Judge:
    """The judge's process, the socket to it, and what it writes to stderr."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    problems: IO[bytes]

    def take(self, chapter: int, files: Sequence[int]) -> None:
        """Have a notebook marked; see :func:`grokkit.classroom.grading.judge.main`."""
        with contextlib.suppress(OSError):  # it has ended; that is seen as nothing comes back
            socket.send_fds(self.socket, [bytes([chapter])], files)

    def problem(self) -> str:
        """The last line of stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        size = self.problems.seek(0, os.SEEK_END)
        self.problems.seek(max(0, size - 2000))
        lines = self.problems.read().decode(errors="replace").strip().splitlines()
        return (lines or ["no reason"])[-1]


def _until(said: IO[bytes], end: float, late: Callable[[], None]) -> tuple[bytes, bool]:
    """All that comes from a pipe, and whether it took longer than until ``end``.

    Then ``late`` is called, and there are 15 s left in which something may come of that.
    """
    text, was_late = b"", False
    while True:
        ready, _, _ = select.select([said], [], [], max(0, end - time.monotonic()))
        if ready:
            part = said.read(2**16)
            if not part:
                return text, was_late
            text += part[: MOST_SAID - len(text)]
        elif was_late:
            return text.rpartition(b"\n")[0], True
        else:
            late()
            end, was_late = time.monotonic() + 15, True


def _rank(mark: Mark) -> int:
    return _RANK.index(mark.outcome) if mark.outcome in _RANK else len(_RANK)


def _place(gone: Mapping[str, Any]) -> str:
    """Where a statement stands, in words."""
    lines = gone["text"].splitlines()
    line = lines[gone["line"] - 1].strip() if 0 < gone["line"] <= len(lines) else ""
    return f"line {gone['line']} of code cell {gone['cell'] + 1} (`{line[:60]}`)"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
