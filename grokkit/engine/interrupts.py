"""Ctrl-C between epochs, never within one.

Python may raise KeyboardInterrupt between any two operations: when the weights are already
changed and the count of steps is not, or when half of a record is stored. What was trained
could then neither be kept nor continued. So it is held back while short work is under way,
or counted, for code that looks at the count where stopping is harmless.

Signals reach the main thread alone: in any other thread, and where no Python code handles
the signal, there is nothing to do.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt (Ctrl-C, a stopped kernel) wait until the end of the block."""
    if not _reach_us():
        yield
        return
    waiting = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            # Once more, now for whoever handled it before.
            signal.raise_signal(signal.SIGINT)


@dataclass
class Interrupts:
    """How often Ctrl-C was pressed, or the kernel stopped."""

    count: int = 0


@contextmanager
def interrupts_counted() -> Iterator[Interrupts]:
    """Count the first interrupt and let a second one through.

    So nothing is lost in the hands of the code that was interrupted; it is to look at the
    count from time to time.
    """
    seen = Interrupts()
    if not _reach_us():
        yield seen
        return

    def note(number: int, frame: object) -> None:
        seen.count += 1
        if seen.count > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def _reach_us() -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is not None
    )
