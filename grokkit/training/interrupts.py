"""Ctrl-C between epochs, never within one.

Python may raise KeyboardInterrupt between any two operations: when the weights are already
changed and the count of steps is not, or when half of a record is stored. What was trained
could then neither be kept nor continued.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt (Ctrl-C, a stopped kernel) wait until the end of the block.

    To be held around short work only. Signals reach the main thread alone: in any other
    thread, and where no Python code handles the signal, the block runs as it is.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is None
    ):
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
