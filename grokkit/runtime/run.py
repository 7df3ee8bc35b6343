"""``train``: specs in, History out."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch

from grokkit.diagnostics import grok_epoch
from grokkit.engine.memory import runs_that_fit
from grokkit.engine.spec import RunSpec
from grokkit.engine.trainer import group_key
from grokkit.errors import check_int, check_number, refuse
from grokkit.runtime.executors import InProcess, Workers, cores
from grokkit.runtime.history import join
from grokkit.runtime.jobs import Executor, Job, stays_here
from grokkit.runtime.keys import group_name

if TYPE_CHECKING:
    import xarray as xr

WORTH_WORKERS = 20.0
"""Seconds of training below which starting worker processes would not pay."""


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


def train(
    specs: RunSpec | Sequence[RunSpec],
    *,
    device: torch.device | str = "cpu",
    workers: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_minutes: float = 1.0,
    progress: bool = True,
) -> "xr.Dataset":
    """Train one run or several and return their History.

    On a CPU each run is trained with one thread, several of them side by side in worker
    processes where that is faster; on a GPU those that can be are trained together along
    the run axis. The History does not depend on which. Interrupting (Ctrl-C, or stopping
    the kernel) returns what was trained so far, with ``history.attrs["interrupted"] = 1``.

    Args:
        specs: one spec, or several such as :func:`grokkit.grid` makes.
        device: ``"cpu"``, ``"cuda"``, or a torch device.
        workers: how many processes on a CPU; 1: this one; None: as many as there are
            cores, if the work is long enough for them. Kinds that a notebook or a script
            has registered exist in this process only, and so are trained in it.
        checkpoint: a folder for checkpoints, or, for one run, a file
            ``NAME.safetensors``. The same call after a crash goes on from there.
        checkpoint_minutes: the minutes between two checkpoints.
        progress: whether to show a progress bar.

    Raises:
        SettingError: the specs cannot be trained.
        CheckpointError: a checkpoint is damaged, or of other runs.
        OSError: a checkpoint cannot be written; the last one is intact.
        RunsFailed: a worker process died or failed; its ``history`` has the other runs.
        KeyboardInterrupt: interrupted before there was anything to return.
    """
    specs = [specs] if isinstance(specs, RunSpec) else list(specs)
    if not specs:
        refuse("specs", specs, "at least one RunSpec")
    jobs = plan(specs, device, checkpoint, checkpoint_minutes)
    executor = choose_executor(jobs, workers)
    with Collector(jobs, progress=progress) as collector:
        interrupted = executor.run(jobs, collector)
    return collector.result(interrupted)


def plan(
    specs: Sequence[RunSpec],
    device: torch.device | str,
    checkpoint: str | Path | None,
    checkpoint_minutes: float,
) -> list[Job]:
    """The jobs that train these specs; the arguments are those of :func:`train`."""
    check_number("checkpoint_minutes", checkpoint_minutes)
    sets = groups(specs, torch.device(device))
    folder = None if checkpoint is None else Path(checkpoint)
    file = None
    if folder is not None and folder.suffix == ".safetensors":
        if len(sets) > 1:
            refuse("checkpoint", str(checkpoint), f"a folder, for {len(sets)} groups of runs")
        file = folder
    jobs, first = [], 0
    for group in sets:
        path = file
        if folder is not None and file is None:
            path = folder / f"{group_name(group)}.safetensors"
        jobs.append(Job(tuple(group), first, str(device), path, checkpoint_minutes))
        first += len(group)
    return jobs


def groups(specs: Sequence[RunSpec], device: torch.device) -> list[list[RunSpec]]:
    """The groups that are trained together: single runs on a CPU, whole sets on a GPU.

    The runs keep their order on a CPU; on a GPU, runs of one group come together, as many
    as its memory holds.
    """
    if device.type == "cpu":
        return [[spec] for spec in specs]
    by_key: dict[tuple[object, ...], list[RunSpec]] = {}
    for spec in specs:
        # An unordered split may be one example larger with one seed than with another.
        key = (*group_key(spec), len(spec.task.build(spec.seed).train))
        by_key.setdefault(key, []).append(spec)
    split = []
    for group in by_key.values():
        most = runs_that_fit(group[0], device)
        split += [group[i : i + most] for i in range(0, len(group), most)]
    return split


def choose_executor(jobs: Sequence[Job], workers: int | None) -> Executor:
    """Worker processes where they can be had and are worth it, this process otherwise.

    Raises:
        SettingError: ``workers`` is no whole number from 1, or more than 1 on a GPU.
    """
    from tqdm.auto import tqdm

    if workers is not None:
        check_int("workers", workers, 1)
    if torch.device(jobs[0].device).type != "cpu":
        if workers not in (None, 1):
            refuse("workers", workers, "1 on a GPU, which trains whole groups at once")
        return InProcess()
    count = min(len(jobs), workers or cores())
    if count == 1:
        return InProcess()
    obstacle = stays_here([spec for job in jobs for spec in job.specs])
    if obstacle is not None:
        if workers is not None:
            tqdm.write(f"{obstacle}: training one run after the other in this one")
        return InProcess()
    if workers is None and seconds_alone(jobs) < WORTH_WORKERS:
        return InProcess()
    return Workers(count)


def seconds_alone(jobs: Sequence[Job]) -> float:
    """About how long one core would take, within a factor of three.

    By the hidden -> class product, the largest one, and a fixed cost for each step; as if
    all jobs had the size of the first.
    """
    spec = jobs[0].specs[0]
    data = spec.task.build(spec.seed)
    products = len(data.train) * spec.model.d_mlp * data.n_classes
    return sum(job.epochs for job in jobs) * (6e-4 + 2e-10 * products)


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
        keep: "Callable[[xr.Dataset], None] | None" = None,
        title: str | None = None,
    ) -> None:
        from tqdm.auto import tqdm

        self.histories: dict[int, xr.Dataset] = {}
        self.failures: dict[str, str] = {}
        self.keep = keep
        self._several = (
            f"/{len(jobs)} {'runs' if all(len(j.specs) == 1 for j in jobs) else 'groups'}"
        )
        self._shown = {job.first: 0 for job in jobs}
        self._done = self._grokked = 0
        self._many = len(jobs) > 1
        total = sum(job.epochs for job in jobs)
        # smoothing 0: the time left follows from all epochs so far, not from the last few,
        # which come in bursts when a run stops early or a worker reports.
        self._bar: Any = tqdm(
            total=total,
            unit="epoch",
            desc=title,
            smoothing=0 if self._many else 0.3,
            disable=not (progress and somebody_looks()),
            leave=not _in_notebook(),
        )

    def __enter__(self) -> "Collector":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def progress(self, job: Job, epoch: int, accuracy: float) -> None:
        """Move the bar to where the job is, and say how it stands."""
        text = f"test accuracy {accuracy:.2f}"
        self._bar.set_postfix_str(self._count() if self._many else text, refresh=False)
        self._move(job, epoch * len(job.specs))

    def finished(self, job: Job, history: "xr.Dataset") -> None:
        """Keep a History."""
        from tqdm.auto import tqdm

        self.histories[job.first] = history
        if self.keep is not None:
            self.keep(history)
        self._done += 1
        self._grokked += int(grok_epoch(history).notnull().sum())
        self._bar.set_postfix_str(self._count(), refresh=False)
        self._move(job, job.epochs)
        for message in history.message.values:
            if "not finite" in message:
                tqdm.write(message)

    def failed(self, job: Job, why: str) -> None:
        """Note that a job has come to nothing."""
        from tqdm.auto import tqdm

        self.failures[job.name] = why
        self._move(job, job.epochs)
        tqdm.write(f"{job.name}: {why}")

    def result(self, interrupted: bool) -> "xr.Dataset":
        """The History of all jobs, in their order.

        Raises:
            RunsFailed: not all jobs were trained.
            KeyboardInterrupt: there is nothing to return.
        """
        history = None
        if self.histories:
            history = join([self.histories[first] for first in sorted(self.histories)])
            history.attrs["interrupted"] = int(interrupted)
        if self.failures:
            raise RunsFailed(self.failures, history)
        if history is None:
            raise KeyboardInterrupt
        return history

    def _count(self) -> str:
        return f"{self._done}{self._several}, {self._grokked} grokked"

    def _move(self, job: Job, epochs: int) -> None:
        step = epochs - self._shown[job.first]
        self._shown[job.first] = epochs
        self._bar.update(step)


def somebody_looks() -> bool:
    """Whether a progress bar would be seen: in a notebook or on a terminal, not in a log."""
    quiet = os.environ.get("TQDM_DISABLE", "") not in ("", "0")
    return not quiet and (_in_notebook() or sys.stderr.isatty())


def _in_notebook() -> bool:
    from tqdm.auto import tqdm

    return any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
