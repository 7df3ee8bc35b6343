"""A worker process: trains one job after another with one thread.

Started by :mod:`grokkit.runtime.executors` as a plain subprocess and not through
``multiprocessing``, whose workers run the caller's script once more unless it guards its
last lines with ``if __name__ == "__main__"``: so ``train(specs, workers=2)`` can stand in a
script, a notebook or a prompt alike.

Both ways messages are a line of JSON, followed by as many bytes as its ``size`` says.
To the worker: ``job`` and ``stop``; the end of its input ends it, so that no worker
outlives its parent. From it: ``ready``, ``progress``, ``finished`` (with an Outcome),
``stopped``, ``refused`` and ``failed``.
"""

import json
import os
import queue
import signal
import threading
import time
import traceback
from typing import IO, Any

PROGRESS_SECONDS = 0.25
"""The least time between two reports of progress."""


def send(pipe: IO[bytes], message: dict[str, Any], data: bytes = b"") -> None:
    """Write one message."""
    pipe.write(json.dumps(message | {"size": len(data)}).encode() + b"\n" + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read one message; None at the end of the pipe, or if the writer died within one."""
    line = pipe.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    data = pipe.read(message["size"])
    return None if len(data) < message["size"] else (message, data)


def main() -> None:
    """Work until the input ends."""
    # A Ctrl-C in the terminal is for the parent, which then says stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever prints, prints to stderr: stdout is for messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    stop = threading.Event()

    def listen() -> None:
        with os.fdopen(0, "rb", closefd=False) as pipe:
            while (received := receive(pipe)) is not None:
                if received[0]["kind"] == "stop":
                    stop.set()
                else:
                    inbox.put(received[0])
        stop.set()
        inbox.put(None)

    threading.Thread(target=listen, daemon=True).start()
    send(out, {"kind": "ready"})
    while (message := inbox.get()) is not None:
        if stop.is_set():
            send(out, {"kind": "stopped"})
        else:
            _work(message["job"], stop, out)


def _work(plain: dict[str, Any], stop: threading.Event, out: IO[bytes]) -> None:
    from grokkit.engine.trainer import Trainer
    from grokkit.errors import SettingError
    from grokkit.runtime.jobs import Job, train_job

    told = 0.0

    def on_record(now: Trainer) -> None:
        nonlocal told
        if time.monotonic() - told >= PROGRESS_SECONDS:
            told = time.monotonic()
            accuracy = now.records.values["test_accuracy"][-1].mean().item()
            send(out, {"kind": "progress", "epoch": now.epoch, "accuracy": accuracy})

    def on_epoch(now: Trainer) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    try:
        outcome, interrupted = train_job(Job.from_dict(plain), on_record, on_epoch)
        if outcome is None:
            send(out, {"kind": "stopped"})
        else:
            send(out, {"kind": "finished", "interrupted": interrupted}, outcome.to_bytes())
    except SettingError as refusal:
        said = {"field": refusal.field, "value": repr(refusal.value), "allowed": refusal.allowed}
        send(out, {"kind": "refused", **said})
    except BrokenPipeError:
        return
    except Exception as problem:
        traceback.print_exc()
        line = " ".join(str(problem).split()) or "no message"
        send(out, {"kind": "failed", "why": f"{type(problem).__name__}: {line}"})
