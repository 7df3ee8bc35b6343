"""Every row of the table of experiments, so small that all of it is trained in seconds."""

import dataclasses
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import xarray as xr

from grokkit.engine import RunSpec, Spec, load_weights
from grokkit.experiments import ROWS, Row, Size
from grokkit.images import ImageSpec
from grokkit.operators import ContestSpec
from grokkit.runtime import run
from grokkit.runtime.collector import Collector
from grokkit.runtime.executors import in_this_process
from grokkit.runtime.jobs import Job
from grokkit.tickets import Pruning, draw, prune, save_ticket, shuffled
from tests.conftest import SHARED

SEEDS = (0, 1)
EPOCHS = 12

LEAST = {"p": 7, "n": 3, "bits": 6, "d_mlp": 12, "examples": 60}
"""The largest that a setting of a tiny run may be, where it has it."""


def tiny(name: str) -> Row:
    """A row with its own arms and claims, and with tiny runs."""
    row = ROWS[name]

    def setup(size: Size) -> dict[str, Spec | Callable[[int], Spec]]:
        return {
            arm: (lambda seed, spec=spec: shrink(spec(seed))) if callable(spec) else shrink(spec)
            for arm, spec in row.setup(size).items()
        }

    return dataclasses.replace(row, setup=setup, prepare=None)


def shrink(spec: Spec) -> Spec:
    """The same run of a small network on a small table or a few images, for a few epochs."""
    if isinstance(spec, ImageSpec):
        few = spec.with_(grid_rows=1, grid_columns=2, alphabet=(0, 3, 4, 6), cell_size=4)
        return few.with_(width=2, batch_size=4, epochs=EPOCHS, record_every=4)
    if isinstance(spec, ContestSpec):
        few = spec.with_(grid=16, steps=32, inputs=12, tests=1, samples=8, width=4, waves=4)
        return few.with_(batch_size=4, round_steps=1, epochs=4, record_every=2)
    there = spec.settings()
    changes: dict[str, object] = {
        name: least
        for name, least in LEAST.items()
        if isinstance(there.get(name), int) and there[name] > least
    }
    changes |= {"d_model": max(4, there["d_model"] // 8), "epochs": EPOCHS, "record_every": 4}
    if there["batch_size"] is not None:
        changes["batch_size"] = there["batch_size"] // 32
    if there.get("hole_edge"):  # the same share of the numbers, and 0 at least
        changes["hole_edge"] = max(0, (there["hole_edge"] + 1) * LEAST["p"] // there["p"] - 1)
    if there.get("schedule_epochs"):
        changes["schedule_epochs"] = EPOCHS // 3
    for file in ("ticket", "teacher"):
        if there.get(file):
            changes[file] = str(made(Path(there[file]).name))
    return spec.with_(**changes)


@cache
def made(file: str) -> Path:
    """A tiny teacher or ticket in place of the one of this name."""
    folder = Path(os.environ[SHARED])
    path, source = folder / file, folder / "source.safetensors"
    if not source.exists():
        base = shrink(ROWS["tickets"].arms(seeds=[0])["dense"][0])
        assert isinstance(base, RunSpec)
        draw(base.with_(seed=100), source)
    if not path.exists():
        ticket = prune(*load_weights(source), Pruning(sparsity=0.5))
        kind, _, seed = path.stem.rpartition("-")
        save_ticket(shuffled(ticket, int(seed)) if kind.startswith("random") else ticket, path)
    return path


@cache
def history_of(
    name: str, seeds: tuple[int, ...] = SEEDS, size: Size = "classroom"
) -> xr.Dataset | None:
    """The runs of a tiny row, labelled; None for a row that trains nothing.

    Trained once for all workers of this session.
    """
    row = tiny(name)
    specs = row.specs(size, seeds)
    if not specs:
        return None
    file = Path(os.environ[SHARED]) / f"{name}-{size}-{'-'.join(map(str, seeds))}.npz"
    if not file.exists():
        put(trained_together(specs), file)
    return row.label(taken(file), size)


def put(history: xr.Dataset, file: Path) -> None:
    """Write a History for other workers: as NumPy's arrays, in a tenth of netCDF's time."""
    about = {str(name): [one.dims, one.attrs] for name, one in history.variables.items()}
    facts = json.dumps([about, list(history.coords), history.attrs])
    arrays: dict[str, Any] = {str(name): one.values for name, one in history.variables.items()}
    arrays |= {name: one.astype(str) for name, one in arrays.items() if one.dtype == object}
    half = file.with_suffix(f".{os.getpid()}.npz")
    np.savez(half, **arrays, FACTS=np.array(facts))
    half.replace(file)  # another worker never sees half a file


def taken(file: Path) -> xr.Dataset:
    """What :func:`put` wrote."""
    with np.load(file) as arrays:
        about, coords, attrs = json.loads(str(arrays["FACTS"]))
        data = {name: (dims, arrays[name], kept) for name, (dims, kept) in about.items()}
    return xr.Dataset(data, attrs=attrs).set_coords(coords)


def trained_together(specs: list[Spec]) -> xr.Dataset:
    """The History of these runs, in groups as a GPU trains them: so small, they cost less so."""
    jobs: list[Job] = []
    with mock.patch.object(run, "runs_that_fit", return_value=len(specs)):
        together = run.groups(specs, torch.device("cuda"))
    for group in together:
        jobs.append(Job(tuple(group), sum(len(job.specs) for job in jobs)))
    with Collector(jobs, progress=False) as collector:
        if in_this_process(jobs, collector):
            raise KeyboardInterrupt  # a part of the runs must not be kept for other tests
    return collector.result(False)


def understood(history: xr.Dataset, at: float = 0.5) -> xr.Dataset:
    """The same runs, if they had memorised after a quarter of their epochs and grokked.

    Args:
        history: tiny runs.
        at: after which share of its epochs each run groks; above 1: none does.
    """
    when = at * float(history.epoch.max())
    early = 0.25 * float(history.epoch.max())
    there = history.train_accuracy.notnull()

    def risen(epoch: float) -> xr.DataArray:
        return xr.where(history.epoch >= epoch, 1.0, 0.1).where(there)

    changed = {
        "train_accuracy": risen(early),
        "test_accuracy": risen(when),
        "unmirrored_accuracy": risen(when),
        "mirrored_accuracy": risen(when),
    }
    if "kl" in history:
        changed["kl"] = history.kl * xr.where(history.epoch >= early, 0.001, 1.0)
    dims = ("run", "epoch")
    return history.assign({n: v.transpose(*dims) for n, v in changed.items() if n in history})
