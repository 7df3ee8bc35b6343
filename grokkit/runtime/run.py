"""``train``: specs in, History out."""

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from grokkit.engine.files import check_folder, locked
from grokkit.engine.memory import runs_that_fit
from grokkit.engine.spec_kinds import Spec
from grokkit.errors import check_int, check_number, refuse
from grokkit.runtime.collector import Collector
from grokkit.runtime.executors import Executor, cores, in_this_process, in_workers
from grokkit.runtime.jobs import Job
from grokkit.runtime.keys import group_name
from grokkit.runtime.kinds import why_not_remote
from grokkit.runtime.terminal import report

if TYPE_CHECKING:
    import xarray as xr

S = TypeVar("S", bound=Spec)

WORTH_WORKERS = 20.0
"""Seconds of training below which starting worker processes would not pay."""


def train(
    specs: Spec | Sequence[Spec],
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
    the run axis. The History does not depend on which. Interrupting (Ctrl-C, stopping the
    kernel, or a TERM or HUP to the process) returns what was trained so far, with
    ``history.attrs["interrupted"] = 1``.

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
        SettingError: the specs cannot be trained, there is no such device, or another process
            is using the checkpoint.
        CheckpointError: a checkpoint is damaged, or of other runs.
        OSError: a checkpoint cannot be written; the last one is intact.
        RunsFailed: a run or its worker process failed; its ``history`` has the other runs.
        KeyboardInterrupt: interrupted before there was anything to return.
    """
    specs = as_specs(specs)
    place = None if checkpoint is None else Path(checkpoint)
    jobs = plan(specs, device, place, checkpoint_minutes)
    executor = choose_executor(jobs, workers)
    with contextlib.ExitStack() as stack:
        if place is not None:
            folder = place.parent if place.suffix == ".safetensors" else place
            check_folder("checkpoint", folder, str(checkpoint))
            stack.enter_context(locked("checkpoint", place))
        collector = stack.enter_context(Collector(jobs, progress=progress))
        interrupted = executor(jobs, collector)
    return collector.result(interrupted)


def as_specs(specs: Any) -> list[Spec]:
    """One spec or several as a list."""
    listed: list[Any] = [specs] if isinstance(specs, Spec | str) else list(specs)
    wrong = [one for one in listed if not isinstance(one, Spec)]
    if wrong or not listed:
        got = wrong[0] if wrong else specs
        refuse("specs", got, 'a RunSpec, such as presets["live"], or several')
    return listed


def plan(
    specs: Sequence[Spec],
    device: torch.device | str = "cpu",
    checkpoint: Path | None = None,
    checkpoint_minutes: float = 1.0,
    here: bool = True,
) -> list[Job]:
    """The jobs that train these specs.

    Args:
        specs: the runs.
        device: as for :func:`train`.
        checkpoint: as for :func:`train`.
        checkpoint_minutes: as for :func:`train`.
        here: whether they are trained on this machine, so that devices and files are looked
            for before the first run.
    """
    check_number("checkpoint_minutes", checkpoint_minutes)
    if here:
        check_device(device)
        for spec in specs:
            spec.check()
    sets = groups(specs, torch.device(device))
    one_file = checkpoint is not None and checkpoint.suffix == ".safetensors"
    if one_file and len(sets) > 1:
        refuse("checkpoint", str(checkpoint), f"a folder, for {len(sets)} groups of runs")
    jobs, first = [], 0
    for group in sets:
        path = checkpoint
        if checkpoint is not None and not one_file:
            path = checkpoint / f"{group_name(group)}.safetensors"
        jobs.append(Job(tuple(group), first, str(device), path, checkpoint_minutes))
        first += len(group)
    return jobs


def check_device(device: torch.device | str) -> None:
    """Refuse a device that is not there."""
    there = ["cpu"]
    if torch.cuda.device_count():
        there += ["cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if str(device) not in there:
        refuse("device", str(device), ", ".join(there))


def groups(specs: Sequence[S], device: torch.device) -> list[list[S]]:
    """The groups that are trained together: single runs on a CPU, whole sets on a GPU.

    The runs keep their order on a CPU; on a GPU, runs of one group come together, as many
    as its memory holds.
    """
    if device.type == "cpu":
        return [[spec] for spec in specs]
    by_key: dict[tuple[object, ...], list[S]] = {}
    for spec in specs:
        key = (type(spec), *spec.group_key())
        task: Any = getattr(spec, "task", None)
        if getattr(task, "split", None) == "unordered":
            # May be one example larger with one seed than with another.
            key = (*key, len(task.build(spec.seed).train))
        by_key.setdefault(key, []).append(spec)
    split = []
    for group in by_key.values():
        first: Any = group[0]
        most = 1 if len(group) == 1 else runs_that_fit(first, device)
        split += [group[i : i + most] for i in range(0, len(group), most)]
    return split


def choose_executor(jobs: Sequence[Job], workers: int | None) -> Executor:
    """Worker processes where they can be had and are worth it, this process otherwise."""
    if workers is not None:
        check_int("workers", workers, 1)
    if torch.device(jobs[0].device).type != "cpu":
        if workers not in (None, 1):
            refuse("workers", workers, "1 on a GPU, which trains whole groups at once")
        return in_this_process
    count = min(len(jobs), workers or cores())
    if count == 1:
        return in_this_process
    obstacle = why_not_remote([spec for job in jobs for spec in job.specs])
    if obstacle is not None:
        if workers is not None:
            report(f"{obstacle}: training one run after the other in this one")
        return in_this_process
    seconds = sum(job.epochs * job.specs[0].epoch_seconds() for job in jobs)
    if workers is None and seconds < WORTH_WORKERS:
        return in_this_process
    return partial(in_workers, count=count)
