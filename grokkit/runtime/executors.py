"""Where jobs are trained: in this process, or in worker processes beside it.

:class:`grokkit.runtime.cluster.Cluster` is the third executor. All give the same History,
bit for bit on machines of one kind, and are interruptible: what was trained is returned.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grokkit.engine.interrupts import interrupts_counted
from grokkit.engine.trainer import Trainer
from grokkit.errors import SettingError, check_int, refuse
from grokkit.runtime.history import to_history
from grokkit.runtime.jobs import Job, Watch, train_job
from grokkit.runtime.outcome import Outcome
from grokkit.runtime.worker import receive, send

GRACE = 30.0
"""The seconds that a worker has to answer a stop; an epoch lasts far less."""

_START = "import sys; sys.path[:] = sys.argv[1:]; from grokkit.runtime.worker import main; main()"
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cores() -> int:
    """The cores that this process may use; fewer than the machine has in a container."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


class InProcess:
    """Trains one job after the other in this process."""

    def run(self, jobs: Sequence[Job], watch: Watch) -> bool:
        """Train all jobs; returns whether an interrupt ended that early.

        Raises:
            SettingError: the specs cannot be trained.
            OSError: a checkpoint cannot be written.
        """
        with interrupts_counted() as interrupts:

            def look(now: Trainer) -> None:
                if interrupts.count:
                    raise KeyboardInterrupt

            for job in jobs:

                def tell(now: Trainer, job: Job = job) -> None:
                    accuracy = now.records.values["test_accuracy"][-1].mean().item()
                    watch.progress(job, now.epoch, accuracy)

                try:
                    outcome, interrupted = train_job(job, on_record=tell, on_epoch=look)
                except KeyboardInterrupt:
                    # A second one, or one while the job was being made ready.
                    return True
                except (SettingError, OSError):
                    raise  # a full disk is full for the next job too
                except Exception as problem:
                    if len(jobs) == 1:
                        raise
                    # One job's trouble must not cost the others.
                    watch.failed(job, f"{type(problem).__name__}: {problem}")
                    continue
                if outcome is not None:
                    watch.finished(job, to_history(outcome))
                if interrupted or (interrupts.count and job is not jobs[-1]):
                    return True
        return False


_ENDINGS = ("finished", "failed", "stopped")
"""The messages after which a worker has no job."""


class Workers:
    """Trains jobs side by side in single-thread processes on this machine.

    Args:
        count: how many processes at most.
    """

    def __init__(self, count: int) -> None:
        self.count = check_int("workers", count, 1)

    def run(self, jobs: Sequence[Job], watch: Watch) -> bool:
        """Train all jobs; returns whether an interrupt ended that early.

        A worker that dies costs the job that it was at, which is told to ``watch``; the
        others are trained by the rest and by a new worker.

        Raises:
            SettingError: the specs cannot be trained.
            RuntimeError: worker processes cannot be started at all.
            KeyboardInterrupt: the workers did not stop, or a second interrupt came before
                they had; what was finished has been told to ``watch``.
        """
        waiting = deque(jobs)
        events: _Events = queue.SimpleQueue()
        crew: list[_Process] = []
        stopping, deadline = False, float("inf")
        with interrupts_counted() as interrupts, contextlib.ExitStack() as stack:
            stack.callback(lambda: [process.close() for process in crew])
            while len(crew) < min(self.count, len(jobs)):
                crew.append(_Process(events))
                crew[-1].give(waiting.popleft())
            while any(process.job for process in crew):
                if interrupts.count and not stopping:
                    stopping = True
                    deadline = time.monotonic() + GRACE
                    waiting.clear()
                    for process in crew:
                        process.say({"kind": "stop"})
                if time.monotonic() > deadline:
                    raise KeyboardInterrupt
                # Short waits, for Python sees a signal only between two of them.
                with contextlib.suppress(queue.Empty):
                    process, message, data = events.get(timeout=0.1)
                    job = process.job
                    if message is None or message["kind"] in _ENDINGS:
                        process.job = None
                        # First more work, then what came of the last: reading a History
                        # takes a moment, in which the worker would be idle.
                        if waiting and job is not None and any(p.ready for p in crew):
                            if message is None:
                                crew.append(_Process(events))
                            worker = crew[-1] if message is None else process
                            worker.give(waiting.popleft())
                    self._hear(process, job, message, data, watch, any(p.ready for p in crew))
            return interrupts.count > 0

    @staticmethod
    def _hear(
        process: "_Process",
        job: Job | None,
        message: dict[str, Any] | None,
        data: bytes,
        watch: Watch,
        started: bool,
    ) -> None:
        """Deal with one message of a worker about its job; no message: it has died."""
        if job is None:
            return
        match message:
            case None if not process.ready and not started:
                raise RuntimeError(f"worker processes do not start here: {process.last_words()}")
            case None:
                watch.failed(job, process.last_words())
            case {"kind": "ready"}:
                process.ready = True
            case {"kind": "progress"}:
                watch.progress(job, message["epoch"], message["accuracy"])
            case {"kind": "refused"}:
                refuse(message["field"], _Shown(message["value"]), message["allowed"])
            case {"kind": "failed"}:
                watch.failed(job, message["why"])
            case {"kind": "finished"}:
                watch.finished(job, to_history(Outcome.from_bytes(data)))


class _Shown(str):
    """A value of another process, of which we have the ``repr`` only."""

    def __repr__(self) -> str:
        return str(self)


_Events = queue.SimpleQueue[tuple["_Process", dict[str, Any] | None, bytes]]


@dataclass(eq=False)
class _Process:
    """One worker process, and a thread that puts what it says into ``events``."""

    events: _Events
    job: Job | None = None
    ready: bool = False
    log: Any = field(default_factory=tempfile.TemporaryFile)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | dict.fromkeys(_ONE_THREAD, "1"),
            # Out of reach of the terminal's Ctrl-C.
            start_new_session=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        while (received := receive(self.stdout)) is not None:
            self.events.put((self, *received))
        self.process.wait()
        self.events.put((self, None, b""))

    def give(self, job: Job) -> None:
        """Hand over a job."""
        self.job = job
        self.say({"kind": "job", "job": job.to_dict()})

    def say(self, message: dict[str, Any]) -> None:
        """Send a message; if the process has died, the thread finds out."""
        with contextlib.suppress(OSError):
            send(self.stdin, message)

    def last_words(self) -> str:
        """How the process died, in one line."""
        code = self.process.returncode
        how = f"exit status {code}"
        if code is not None and code < 0:
            how = f"killed by signal {-code}"
            if -code == getattr(signal, "SIGKILL", 9):
                how += ", perhaps because memory ran out"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"its worker process died ({how})" + (f": {said}" if said else "")

    def close(self) -> None:
        """End the process, by force: left to itself it would tidy up for over a second."""
        self.process.kill()
        with contextlib.suppress(OSError):
            self.stdin.close()
        self.process.wait()
        self.thread.join()
        self.stdout.close()
        self.log.close()
