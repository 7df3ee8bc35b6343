"""A training in a thread of its own, so that the kernel stays free, and ends with its cell."""

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython

from grokkit.engine import Trainer

SECONDS = 0.2
"""The least time from one report to the next: at most five a second."""

PATIENCE = 15
"""How many times as long as a report took is trained until the next: they cost a sixteenth."""


class Background:
    """Trains epoch by epoch until it is told to stop, and reports a few times a second.

    Reports come from the thread. However long one takes, many times as long is trained until
    the next, so that pictures cost the training less than a tenth of its epochs.

    Args:
        trainer: what is trained; nobody else may touch it while the thread runs.
        report: called after some epochs, and once more at the end.
        fail: called with what the training or a report has raised, which ends the thread.
    """

    def __init__(
        self, trainer: Trainer, report: Callable[[], None], fail: Callable[[Exception], None]
    ) -> None:
        self.trainer = trainer
        self._report, self._fail = report, fail
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the thread is at work and has not been told to stop."""
        return self._alive and not self._stop.is_set()

    @property
    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Go on training; nothing happens if it is, or if the run has ended."""
        if self.running or self.trainer.done:
            return
        self.stop()
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="grokkit training", daemon=True)
        # A daemon is cut off in the middle of an operation when Python ends.
        atexit.register(self.stop)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the epoch that is under way, and wait for that."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self.wait()

    def wait(self, seconds: float | int | None = None) -> None:
        """Wait until the run has ended, but not longer than some seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        try:
            pause, reported = SECONDS, time.perf_counter()
            while not self._stop.is_set() and not self.trainer.done:
                self.trainer.advance(1)
                if time.perf_counter() - reported >= pause:
                    started = time.perf_counter()
                    self._report()
                    reported = time.perf_counter()
                    took = reported - started
                    pause = max(SECONDS - took, PATIENCE * took)
            # From here on it is not running any more, which is what the last report says.
            self._stop.set()
            self._report()
        except Exception as error:
            self._stop.set()
            self._fail(error)
        finally:
            atexit.unregister(self.stop)


def when_its_cell_runs_again(act: Callable[[], None]) -> Callable[[], None]:
    """Call a function when the notebook cell that is running now is run once more.

    Args:
        act: what to call, right before the cell runs.

    Returns:
        What takes this back; it may be called more than once. Outside of a notebook, or in
        one that does not name its cells, nothing is ever called.
    """
    shell = get_ipython()
    parent = getattr(shell, "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId")
    if shell is None or cell is None:
        return lambda: None

    def look(info: Any) -> None:
        if getattr(info, "cell_id", None) == cell:
            act()

    def forget() -> None:
        if look in shell.events.callbacks["pre_run_cell"]:
            shell.events.unregister("pre_run_cell", look)

    shell.events.register("pre_run_cell", look)
    return forget
