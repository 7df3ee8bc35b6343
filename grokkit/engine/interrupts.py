"""Ctrl-C between epochs, never within one.

Python may raise KeyboardInterrupt between any two operations: when the weights are already
changed and the count of steps is not, or when half of a record is stored. What was trained
could then neither be kept nor continued. So it is held back while short work is under way,
or counted, for code that looks at the count where stopping is harmless.

A process may also be told to end by TERM (a batch system, ``kill``) or HUP (its terminal is
gone). These are counted like Ctrl-C. A signal that is ignored stays ignored, so that
``nohup`` works.

Signals reach the main thread alone: in any other thread, and where no Python code handles
the signal, there is nothing to do.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals that ask a process to end; those that this system has."""


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt (Ctrl-C, a stopped kernel) wait until the end of the block."""
    waiting: list[int] = []
    try:
        with _handled([signal.SIGINT], waiting.append):
            yield
    finally:
        if waiting:
            # Once more, now for whoever handled it before.
            signal.raise_signal(waiting[0])


@dataclass
class Interrupts:
    """How often Ctrl-C was pressed, the kernel stopped, or the process told to end."""

    count: int = 0


@contextmanager
def interrupts_counted() -> Iterator[Interrupts]:
    """Count the first interrupt and let a second Ctrl-C through.

    So nothing is lost in the hands of the code that was interrupted; it is to look at the
    count from time to time.
    """
    seen = Interrupts()

    def note(number: int) -> None:
        seen.count += 1
        if seen.count > 1 and number == signal.SIGINT:
            raise KeyboardInterrupt

    with _handled(ENDING, note):
        yield seen


@contextmanager
def endings_as_interrupts() -> Iterator[None]:
    """Let TERM and HUP raise KeyboardInterrupt, as Ctrl-C does."""

    def stop(number: int) -> None:
        raise KeyboardInterrupt

    with _handled(ENDING, stop):
        yield


@contextmanager
def _handled(signals: Sequence[int], handle: Callable[[int], None]) -> Iterator[None]:
    """Hand these signals to ``handle`` during the block, where they reach this thread."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in signals:
            if signal.getsignal(number) not in (None, signal.SIG_IGN):
                before[number] = signal.signal(number, lambda number, frame: handle(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
