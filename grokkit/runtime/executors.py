"""Where jobs are trained: in this process, or in worker processes beside it.

:func:`grokkit.runtime.cluster.on_cluster` is the third executor. All give the same History,
bit for bit on machines of one kind, and are interruptible: what was trained is returned.
"""

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from grokkit.engine.interrupts import interrupts_counted
from grokkit.runtime.collector import Collector
from grokkit.runtime.history import from_parts
from grokkit.runtime.jobs import Job, JobFailed, train_job
from grokkit.runtime.worker import receive, send

Executor = Callable[[Sequence[Job], Collector], bool]
"""Trains jobs somewhere, and tells the collector how they fare; whether it was interrupted."""

GRACE = 120.0
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


def in_this_process(jobs: Sequence[Job], watch: Collector) -> bool:
    """Train one job after the other here; returns whether an interrupt ended that early.

    Raises:
        OSError: a checkpoint cannot be written.
    """
    with interrupts_counted() as interrupts:

        def stop_if_interrupted() -> None:
            if interrupts.count:
                raise KeyboardInterrupt

        for job in jobs:
            try:
                tell = partial(watch.progress, job)
                parts, interrupted = train_job(job, tell, stop_if_interrupted)
            except KeyboardInterrupt:
                # A second one, or one while the job was being made ready.
                return True
            except OSError:
                raise  # a full disk is full for the next job too
            except Exception as problem:
                watch.failed(job, problem)
                continue
            if parts is not None:
                watch.finished(job, from_parts(parts))
            if interrupted or (interrupts.count and job is not jobs[-1]):
                return True
    return False


def in_workers(jobs: Sequence[Job], watch: Collector, count: int) -> bool:
    """Train jobs side by side in single-thread processes; returns whether that was interrupted.

    A worker that dies costs the job that it was at, which is told to ``watch``; the
    others are trained by the rest and by a new worker.

    Args:
        jobs: what to train.
        watch: is told how they fare.
        count: the number of worker processes.

    Raises:
        RuntimeError: worker processes cannot be started at all.
        KeyboardInterrupt: the workers did not stop, or a second interrupt came before
            they had; what was finished has been told to ``watch``.
    """
    waiting = deque(jobs)
    events: _Events = queue.SimpleQueue()
    crew: list[_Worker] = []
    deadline = float("inf")
    with interrupts_counted() as interrupts, contextlib.ExitStack() as stack:
        stack.callback(lambda: [worker.close() for worker in crew])
        for _ in range(min(count, len(jobs))):
            crew.append(_Worker(events, waiting.popleft()))
        while any(worker.job for worker in crew):
            if interrupts.count and deadline == float("inf"):
                deadline = time.monotonic() + GRACE
                waiting.clear()
                for worker in crew:
                    worker.send("stop")
            if time.monotonic() > deadline:
                raise KeyboardInterrupt
            # Short waits, for Python sees a signal only between two of them.
            with contextlib.suppress(queue.Empty):
                worker, message = events.get(timeout=0.1)
                job = worker.job
                if message[0] in ("finished", "failed", "died"):
                    worker.job = None
                    # First more work, then what came of the last: reading a History
                    # takes a moment, in which the worker would be idle.
                    if waiting and job is not None and any(one.ready for one in crew):
                        if message[0] == "died":
                            crew.append(_Worker(events, waiting.popleft()))
                        else:
                            worker.give(waiting.popleft())
                if job is not None:
                    _handle_message(worker, job, message, watch, crew)
        return interrupts.count > 0


def _handle_message(
    worker: "_Worker", job: Job, message: tuple[Any, ...], watch: Collector, crew: "list[_Worker]"
) -> None:
    match message:
        case ("ready",):
            worker.ready = True
        case ("progress", epoch, accuracy):
            watch.progress(job, epoch, accuracy)
        case ("finished", parts) if parts is not None:
            watch.finished(job, from_parts(parts))
        case ("failed", problem):
            watch.failed(job, problem)
        case ("died",) if not any(one.ready for one in crew):
            raise RuntimeError(f"worker processes do not start here: {worker.exit_reason()}")
        case ("died",):
            watch.failed(job, JobFailed(worker.exit_reason()))


class _Worker:
    """A worker process at a job, and a thread that puts its messages into ``events``."""

    def __init__(self, events: "_Events", job: Job) -> None:
        self.events = events
        self.ready = False
        self.log: Any = tempfile.TemporaryFile()  # noqa: SIM115
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
        self.give(job)

    def _listen(self) -> None:
        while (data := receive(self.stdout)) is not None:
            self.events.put((self, pickle.loads(data)))
        self.process.wait()
        self.events.put((self, ("died",)))

    def give(self, job: Job) -> None:
        """Hand over a job."""
        self.job: Job | None = job
        self.send(job)

    def send(self, message: object) -> None:
        """Send a message; if the process has died, the thread finds out."""
        with contextlib.suppress(OSError):
            send(self.stdin, message)

    def exit_reason(self) -> str:
        """How the process died, in one line."""
        code = self.process.returncode
        how = f"exit status {code}"
        if code is not None and code < 0:
            how = f"killed by signal {-code}"
            if -code == getattr(signal, "SIGKILL", 9):
                how += ", perhaps because memory ran out"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"its worker process died ({how})" + (f": {last}" if last else "")

    def close(self) -> None:
        """End the process, by force: left to itself it would tidy up for over a second."""
        self.process.kill()
        with contextlib.suppress(OSError):
            self.stdin.close()
        self.process.wait()
        self.thread.join()
        self.stdout.close()
        self.log.close()


_Events = queue.SimpleQueue[tuple["_Worker", tuple[Any, ...]]]
