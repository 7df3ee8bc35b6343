"""Watching jobs: the progress bar, the Histories that have come, and what has failed."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from grokkit.diagnostics import grok_epoch
from grokkit.errors import SettingError
from grokkit.runtime.history import join
from grokkit.runtime.jobs import Job, reason
from grokkit.runtime.terminal import in_notebook, progress_visible, report

if TYPE_CHECKING:
    import xarray as xr


class RunsFailed(RuntimeError):
    """Some of several runs came to nothing; the others were trained.

    Attributes:
        failures: for each run or group that failed, why.
        history: the History of the others; None if there are none.
    """

    def __init__(self, failures: Mapping[str, str], history: "xr.Dataset | None") -> None:
        super().__init__(failures, history)
        self.failures = dict(failures)
        self.history = history

    def __str__(self) -> str:
        line = "; ".join(f"{name}: {why}" for name, why in self.failures.items())
        if self.history is not None:
            line += f" (the History of {self.history.sizes['run']} other runs: error.history)"
        return line


class Collector:
    """Watches jobs: shows how they stand, and keeps the Histories.

    Args:
        jobs: what will be trained.
        progress: whether to show a progress bar.
        keep: what to do with each History as it comes; for storing it.
        title: a word before the bar.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        progress: bool = True,
        keep: "Callable[[Job, xr.Dataset], None] | None" = None,
        title: str | None = None,
    ) -> None:
        from tqdm.auto import tqdm

        self.histories: dict[int, xr.Dataset] = {}
        self.problems: dict[str, Exception] = {}
        self.keep = keep
        kind = "runs" if all(len(job.specs) == 1 for job in jobs) else "groups"
        self._several = f"/{len(jobs)} {kind}"
        self._shown = {job.first: 0 for job in jobs}
        self._grokked = 0
        self._many = len(jobs) > 1
        # smoothing 0: the time left follows from all epochs so far, not from the last few,
        # which come in bursts when a run stops early or a worker reports.
        self._bar: Any = tqdm(
            total=sum(job.epochs for job in jobs),
            unit="epoch",
            desc=title,
            smoothing=0 if self._many else 0.3,
            disable=not (progress and progress_visible()),
            leave=not in_notebook(),
        )

    def __enter__(self) -> "Collector":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def progress(self, job: Job, epoch: int, accuracy: float) -> None:
        """Move the bar to where the job is, and say how it stands."""
        text = self._count() if self._many else f"test accuracy {accuracy:.2f}"
        self._move(job, epoch * len(job.specs), text)

    def finished(self, job: Job, history: "xr.Dataset") -> None:
        """Keep a History."""
        self.histories[job.first] = history
        if self.keep is not None:
            self.keep(job, history)
        self._grokked += int(grok_epoch(history).notnull().sum())
        self._move(job, job.epochs, self._count())
        for message in history.message.values:
            if "not finite" in message:
                report(message)

    def failed(self, job: Job, problem: Exception) -> None:
        """Note that a job has come to nothing; the only one of :func:`train` raises as it is."""
        if not self._many and self.keep is None:
            raise problem
        self.problems[job.name] = problem
        self._move(job, job.epochs, self._count())
        report(f"{job.name}: {reason(problem)}")

    def result(self, interrupted: bool) -> "xr.Dataset":
        """The History of all jobs, in their order; raises as :func:`outcome`."""
        return outcome([self.histories[i] for i in sorted(self.histories)], self, interrupted)

    def _count(self) -> str:
        return f"{len(self.histories)}{self._several}, {self._grokked} grokked"

    def _move(self, job: Job, epochs: int, text: str) -> None:
        step = epochs - self._shown[job.first]
        self._shown[job.first] = epochs
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(step)


def outcome(
    histories: "Sequence[xr.Dataset]", collector: Collector | None, interrupted: bool
) -> "xr.Dataset":
    """One History of several.

    Args:
        histories: those there are.
        collector: who knows what failed; None: nothing was trained.
        interrupted: whether an interrupt came.

    Raises:
        RunsFailed: not all jobs were trained.
        SettingError: nothing was trained, for the settings make no sense.
        KeyboardInterrupt: there is nothing to return.
    """
    history = None
    if histories:
        history = join(histories)
        history.attrs["interrupted"] = int(interrupted)
    problems = {} if collector is None else collector.problems
    if history is None and all(isinstance(one, SettingError) for one in problems.values()):
        raise next(iter(problems.values()), KeyboardInterrupt)
    if problems:
        raise RunsFailed({name: reason(one) for name, one in problems.items()}, history)
    assert history is not None
    return history
