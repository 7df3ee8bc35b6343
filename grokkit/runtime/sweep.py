"""Sweeps: many runs, stored as they end, skipped where they are done.

A sweep file says what all runs share, and the axes of a grid; settings go by their own
names, as in :meth:`RunSpec.with_`::

    [base]
    preset = "live"                   # optional: where to start from
    epochs = 4000

    [grid]
    weight_decay = [0.5, 1.0, 2.0]
    seed = "0..4"                     # whole numbers, both ends included

    grokkit sweep decay.toml                       on the cores of this machine
    grokkit sweep decay.toml --scheduler ADDRESS   on a cluster (grokkit.runtime.cluster)

The same from Python: ``sweep(load_sweep("decay.toml"), "decay")``.
"""

import contextlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from grokkit.engine.files import check_folder, delete_drafts
from grokkit.engine.presets import presets
from grokkit.engine.spec import RunSpec
from grokkit.engine.spec_kinds import Spec, grid
from grokkit.errors import refuse
from grokkit.runtime.checkpoint import CheckpointError, checkpoint_specs
from grokkit.runtime.collector import Collector, outcome
from grokkit.runtime.history import any_specs_of, complete, diverged, split
from grokkit.runtime.jobs import Job
from grokkit.runtime.run import as_specs, choose_executor, plan
from grokkit.runtime.store import RunStore
from grokkit.runtime.terminal import report

if TYPE_CHECKING:
    import xarray as xr

RANGE = re.compile(r"\s*(\d{1,18})\s*\.\.\s*(\d{1,18})\s*")
"""How an axis writes whole numbers from one to another."""


def load_sweep(path: str | Path) -> list[RunSpec]:
    """The runs that a sweep file describes, the last axis of its grid fastest.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no TOML.
        SettingError: it names an unknown setting, or a value is refused.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path}: not TOML: {problem}") from problem
    return sweep_specs(plain)


def sweep_specs(plain: Mapping[str, Any]) -> list[RunSpec]:
    """The runs of a sweep file that was read already."""
    for name, table in plain.items():
        if name not in ("base", "grid"):
            refuse(name, table, "[base] and [grid]")
        if not isinstance(table, Mapping):
            refuse(name, table, f"a table of settings, [{name}]")
    if not plain:
        refuse("sweep", "an empty file", "[base] or [grid], or both")
    base = dict(plain.get("base", {}))
    axes = {name: _axis(name, values) for name, values in plain.get("grid", {}).items()}
    both = sorted(set(base) & set(axes))
    if both:
        refuse(both[0], base[both[0]], "[base] or [grid], not both")
    spec = presets[base.pop("preset")] if "preset" in base else RunSpec()
    return grid(spec.with_(**base), **axes)


def sweep(
    specs: Sequence[Spec],
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    device: torch.device | str = "cpu",
    checkpoint_minutes: float = 1.0,
    progress: bool = True,
) -> "xr.Dataset":
    """Train many runs into a folder and return their History, in the order of the specs.

    Runs that the folder holds already are not trained again. A run is stored as soon as
    its group has ended; what was under way in a sweep that was killed or interrupted is in
    ``FOLDER/checkpoints``, and the next call goes on from there (not on a cluster, whose
    workers may have no disk in common). A run that fails costs no other. Several sweeps may
    fill one folder at once; a run that two of them want is trained twice, and is the same.

    Args:
        specs: the runs.
        folder: a folder for :class:`grokkit.runtime.RunStore`.
        workers: how many processes on this machine, as for :func:`grokkit.train`.
        scheduler: the address of a Dask scheduler, whose workers then do the work.
        device: where each group is trained.
        checkpoint_minutes: the minutes between two checkpoints.
        progress: whether to show a progress bar.

    Raises:
        SettingError: it is known before the first run that one cannot be trained.
        OSError: a run or a checkpoint cannot be written; what is there is intact.
        RunsFailed: some groups failed; the others are stored.
        KeyboardInterrupt: interrupted before there was anything to return.
        ModuleNotFoundError: ``scheduler`` needs Dask, which is not installed.
    """
    specs = as_specs(specs)
    if scheduler is not None and workers is not None:
        refuse("workers", workers, "None with a scheduler, whose workers it uses")
    store = RunStore(folder)
    checkpoints = store.folder / "checkpoints"
    found = {spec: store.get(spec) for spec in dict.fromkeys(specs)}
    done = {spec: history for spec, history in found.items() if history is not None}
    missing = [spec for spec in found if spec not in done]
    collector, interrupted = None, False

    def keep(job: Job, history: "xr.Dataset") -> None:
        store.put(history)
        done.update((any_specs_of(one)[0], one) for one in split(history))
        if job.checkpoint is not None and all(complete(history)):
            job.checkpoint.unlink(missing_ok=True)

    if missing:
        place = checkpoints if scheduler is None else None
        jobs = plan(missing, device, place, checkpoint_minutes, here=scheduler is None)
        if scheduler is None:
            executor = choose_executor(jobs, workers)
        else:
            from grokkit.runtime.cluster import on_cluster

            executor = partial(on_cluster, address=scheduler)
        check_folder("folder", store.folder)
        _tidy(store, checkpoints)
        title = f"{len(specs)} runs" + (f", {len(done)} done before" if done else "")
        with Collector(jobs, progress=progress, keep=keep, title=title) as collector:
            interrupted = executor(jobs, collector)
    _tidy(store, checkpoints)
    if lost := sum(diverged(done[spec]) for spec in found if spec in done):
        report(f"{lost} of {len(found)} runs ended early: their loss was not finite")
    return outcome([done[spec] for spec in specs if spec in done], collector, interrupted)


def _tidy(store: RunStore, checkpoints: Path) -> None:
    """Delete what killed sweeps have left: drafts of files, and checkpoints of stored runs."""
    for folder in (store.folder, checkpoints):
        delete_drafts(folder)
    for path in checkpoints.glob("*.safetensors"):
        with contextlib.suppress(CheckpointError, OSError):
            if all(spec in store for spec in checkpoint_specs(path)):
                path.unlink()
    with contextlib.suppress(OSError):  # some are left, or there is no such folder
        checkpoints.rmdir()


def _axis(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str) and (ends := RANGE.fullmatch(values)):
        first, last = map(int, ends.groups())
        if first > last:
            refuse(name, values, f'the smaller number first, as in "{last}..{first}"')
        return range(first, last + 1)
    if not isinstance(values, list):
        refuse(name, values, 'a list of values, or whole numbers such as "0..4"')
    return values
