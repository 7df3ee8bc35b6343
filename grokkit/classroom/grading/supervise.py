"""Two processes for each notebook, and a clock over both.

The supervisor looks at nothing that a student wrote. It starts the student's process and the
judge, hands the notebook to the judge, waits for the judge's lines, and ends both when time is up.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grokkit.classroom.grading import walls
from grokkit.classroom.grading.walls import Kind, Limits
from grokkit.errors import refuse

MOST_SAID = 2**20
"""Bytes that a judge's lines may take."""

FAILED = "the check itself failed: "
"""How the feedback of a notebook begins whose judge did not come to its end."""

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


@dataclass(frozen=True)
class Sandbox:
    """How the processes of a class are started.

    Attributes:
        kind: which walls stand around them.
        limits: what each notebook may use.
        cgroup: whether ``systemd-run`` bounds memory as well.
    """

    kind: Kind = "bubblewrap"
    limits: Limits = field(default_factory=Limits)
    cgroup: bool = False

    def grade(self, notebook: bytes, checks: Mapping[str, str], seed: int = 0) -> list[Mark]:
        """Mark one notebook.

        Args:
            notebook: what the student's file holds.
            checks: the clean check cells of the chapter: their source by the exercise's name.
            seed: of what the checks draw.

        Returns:
            A mark for each exercise, in order, and one for what was skipped, if anything was.
        """
        lines, why = self._run(notebook, checks, seed)
        said = [line for line in lines if line.get("outcome") in _OUTCOMES]
        marks = {line["exercise"]: Mark(**line) for line in said}
        for name, mark in marks.items():
            if mark.outcome == "stopped" and why:
                marks[name] = Mark(name, "stopped", why)
        missing = Mark("", "stopped", why or "the check did not come to an end")
        found = [marks.get(name, Mark(name, "stopped", missing.feedback)) for name in checks]
        skipped = [name for line in lines for name in line.get("skipped", ())]
        return found + [Mark("", "skipped", "not run: " + "; ".join(skipped))] * bool(skipped)

    def _run(
        self, notebook: bytes, checks: Mapping[str, str], seed: int
    ) -> tuple[list[dict[str, Any]], str]:
        """The lines that the judge wrote, and why the student's process ended before its time."""
        ours, theirs = socket.socketpair()
        with (
            tempfile.TemporaryFile() as orders,
            tempfile.TemporaryFile() as said,
            tempfile.TemporaryFile() as problems,
            contextlib.ExitStack() as ends,
        ):
            orders.write(json.dumps({"checks": dict(checks), "seed": seed}).encode() + b"\n")
            orders.write(notebook)
            orders.seek(0)
            with ours, theirs:
                null = subprocess.DEVNULL
                student = self._start("student", theirs, (null, null, null), ends)
                judge = self._start("judge", ours, (orders, said, problems), ends)
            why, end = "", time.monotonic() + self.limits.patience
            while judge.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    judge.wait(0.25)
                if time.monotonic() > end and not why:
                    why = f"it did not end within {self.limits.patience} s"
                    _end(student)  # the judge then hears that it is gone, and says so
                    end += 5
                elif time.monotonic() > end:
                    _end(judge)
            with contextlib.suppress(subprocess.TimeoutExpired):
                student.wait(1)  # it hears that the judge has hung up
            _end(student)
            said.seek(0)
            problems.seek(0, os.SEEK_END)
            problems.seek(max(0, problems.tell() - 2000))
            lines = [json.loads(line) for line in said.read(MOST_SAID).splitlines()]
            last = problems.read().decode(errors="replace").strip().splitlines()
        if not why and judge.returncode != 0:
            why = FAILED + (last or ["no reason"])[-1]
        return lines, why or self._ending(student.returncode)

    def _start(
        self,
        role: str,
        connection: socket.socket,
        streams: Sequence[Any],
        ends: contextlib.ExitStack,
    ) -> subprocess.Popen[bytes]:
        """One of the two processes; ``ends`` ends it, whatever happens."""
        folder = "/tmp"
        if self.kind == "basic":
            folder = ends.enter_context(
                tempfile.TemporaryDirectory(prefix="grokkit-", ignore_cleanup_errors=True)
            )
            if os.getuid() == 0:
                os.chown(folder, walls.NOBODY, walls.NOBODY)
        number = str(connection.fileno())
        words, environment = walls.command(
            role, [number], self.kind, self.limits, folder, self.cgroup
        )
        stdin, stdout, stderr = streams
        process = subprocess.Popen(
            words,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
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
            return f"it computed for more than {self.limits.seconds} s"
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
    for cgroup in (True, False):
        made = Sandbox(kind, limits, cgroup)
        if cgroup and not walls.has_cgroup(kind):
            continue
        lines, why = made._run(b'{"cells": []}', {}, 0)
        known = walls.OPEN_IN_BASIC if kind == "basic" else ()
        for line in lines:
            why = "; ".join(hole for hole in line.get("holes", ()) if hole not in known)
        if not why:
            return made
    refuse("walls", f"{kind}: {why}", _WAYS_ON)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
