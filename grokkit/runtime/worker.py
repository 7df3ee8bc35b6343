"""A worker process: trains one job after another with one thread.

Started by :mod:`grokkit.runtime.executors` as a plain subprocess and not through
``multiprocessing``, whose workers run the caller's script once more unless it guards its
last lines with ``if __name__ == "__main__"``: so ``train(specs, workers=2)`` can stand in a
script, a notebook or a prompt alike. (A pool of ``loky`` needs no guard either, but counts as
broken once a worker dies, and would lose every run that is under way.)

Both ways messages are pickled. To the worker: jobs, and ``"stop"``; the end of its input ends
it, so that no worker outlives its parent. From it, one of

    ("ready",)
    ("progress", epoch, accuracy)
    ("finished", parts)          the History's parts, None without a record
    ("failed", problem)          an exception
"""

import os
import pickle
import queue
import signal
import threading
import time
from typing import IO, Any

from grokkit.engine.interrupts import ENDING
from grokkit.runtime.jobs import Job, JobFailed, reason, train_job

PROGRESS_SECONDS = 0.25
"""The least time between two reports of progress."""


def send(pipe: IO[bytes], message: object) -> None:
    """Write one message."""
    # Pickled twice: a message that cannot be understood must not cost the next one.
    pickle.dump(pickle.dumps(message), pipe)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Read one message, still pickled; None if the writer has closed the pipe or died."""
    try:
        return pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError):
        return None


def main() -> None:
    """Work until the input ends."""
    # A Ctrl-C in the terminal is for the parent, which then says stop.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    # Whatever prints, prints to stderr: stdout is for messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stop = threading.Event()

    def listen() -> None:
        with os.fdopen(0, "rb", closefd=False) as pipe:
            while (data := receive(pipe)) is not None:
                try:
                    message = pickle.loads(data)
                except Exception as problem:  # such as a module that is not there
                    message = problem
                if message == "stop":
                    stop.set()
                else:
                    inbox.put(message)
        stop.set()
        inbox.put(None)

    threading.Thread(target=listen, daemon=True).start()
    send(out, ("ready",))
    while (job := inbox.get()) is not None:
        try:
            if isinstance(job, Exception):
                raise job
            send(out, ("finished", None if stop.is_set() else _train(job, stop, out)))
        except BrokenPipeError:
            return
        except Exception as problem:
            send(out, ("failed", _sendable(problem)))


def _train(job: Job, stop: threading.Event, out: IO[bytes]) -> dict[str, Any] | None:
    reported = 0.0

    def on_record(epoch: int, accuracy: float) -> None:
        nonlocal reported
        if time.monotonic() - reported >= PROGRESS_SECONDS:
            reported = time.monotonic()
            send(out, ("progress", epoch, accuracy))

    def on_epoch() -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    return train_job(job, on_record, on_epoch)[0]


def _sendable(problem: Exception) -> Exception:
    """The exception, or its line where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return JobFailed(reason(problem))
    return problem
