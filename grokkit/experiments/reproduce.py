"""Run an experiment: through the store, so that rows share runs and a stop loses little."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grokkit.engine import Spec
from grokkit.engine.files import write_whole
from grokkit.experiments.claims import Result
from grokkit.experiments.engines import begin, engine_of
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.row import Row, Size
from grokkit.experiments.table import markdown
from grokkit.runs import LIMIT
from grokkit.runtime import RunStore, any_specs_of, save_history, sweep, thin
from grokkit.runtime.history import join, to_bytes

if TYPE_CHECKING:
    import xarray as xr

STORE = "store"
"""The folder of the runs that all rows share, inside the folder of the reproductions."""


RECORDS = (100, 60, 40)
"""About how many records of a run to keep: the first number that fits."""

ALL = 10_000
"""More log-spaced records than any run has, even late: every one is kept."""

BOUNDS = (
    "starvation_bound",
    "starvation_bound_position",
    "starvation_bound_linear",
    "starvation_worst",
    "starvation_worst_linear",
    "starvation_exponent",
    "score_gradient_max",
    "score_variance_bound",
    "gradient_norm",
    "lipschitz",
    "value_radius",
    "collapsed",
)
"""What a row with very many runs is kept without."""


@dataclass(frozen=True)
class Plan:
    """What reproducing a row would do.

    Attributes:
        specs: all its runs, each once.
        done: those that the store holds already.
        seconds: an estimate for the others on one core: the time of a few epochs, measured
            now, times the epochs of each run. Runs that grok and stop early take less.
    """

    specs: tuple[Spec, ...]
    done: tuple[Spec, ...]
    seconds: float


def plan(
    row: Row,
    folder: str | Path,
    size: Size = "classroom",
    seeds: Sequence[int] | None = None,
    only: Sequence[str] | None = None,
) -> Plan:
    """What is left to do for a row, and how long it would take on this machine.

    The arguments are those of :func:`reproduce`.
    """
    specs = row.specs(size, seeds, only)
    store = RunStore(Path(folder) / STORE)
    done = [spec for spec in specs if spec in store]
    missing = [spec for spec in specs if spec not in done]
    cost: dict[Spec, float] = {}
    total = 0.0
    for spec in missing:
        engine = engine_of(spec)
        like = engine.like(spec)
        if like not in cost:
            cost[like] = engine.seconds(like)
        total += cost[like] * spec.epochs
    return Plan(tuple(specs), tuple(done), total)


def reproduce(
    row: Row,
    folder: str | Path = "reproduced",
    size: Size = "classroom",
    seeds: Sequence[int] | None = None,
    only: Sequence[str] | None = None,
    *,
    workers: int | None = None,
    device: str = "cpu",
    scheduler: str | None = None,
    progress: bool = True,
) -> "tuple[xr.Dataset | None, list[Result]]":
    """Train what a row needs and is not there yet, and judge its claims.

    Writes ``FOLDER/NAME.nc``, the History with a coordinate ``arm``, and ``FOLDER/NAME.md``,
    the verdicts. The runs themselves are in ``FOLDER/store``; an interrupted call goes on
    from there.

    Args:
        row: the experiment.
        folder: where its runs and results go.
        size: ``"classroom"`` or ``"paper"``.
        seeds: which seeds; None: the row's own.
        only: the arms to run; None: all. Claims that need others are "not run".
        workers: how many processes, as for :func:`grokkit.train`.
        device: where to train.
        scheduler: the address of a Dask scheduler, whose workers then train.
        progress: whether to show a progress bar.

    Returns:
        The History, None for a row that trains nothing; and the results.

    Raises:
        SettingError: a spec cannot be trained here.
        KeyboardInterrupt: interrupted; what has ended is in the store.
        RunsFailed: some runs failed; the others are in the store.
    """
    folder = Path(folder)
    specs = row.specs(size, seeds, only)
    history = None
    if specs:
        if row.prepare is not None:
            row.prepare(size)
        history = sweep(
            specs,
            folder / STORE,
            workers=workers,
            device=device,
            scheduler=scheduler,
            progress=progress,
        )
        if history.attrs["interrupted"]:
            raise KeyboardInterrupt
        history = row.label(history, size)
    results = row.judge(history, size, seeds)
    folder.mkdir(parents=True, exist_ok=True)
    if history is not None:
        save_history(history, folder / f"{name_at(row.name, size)}.nc")
    write_whole(folder / f"{name_at(row.name, size)}.md", markdown(results).encode())
    return history, results


def name_at(name: str, size: Size) -> str:
    """The name of a row's files: that of the row, and the size unless it is the usual one."""
    return name if size == "classroom" else f"{name}-{size}"


def small(row: Row, history: "xr.Dataset", size: Size = "classroom") -> "xr.Dataset":
    """A row's History for keeping: every arm thinned by itself, and joined again.

    As much as fits into :data:`grokkit.runs.LIMIT`: about 100 records of each run; where a
    row has very many runs, without :data:`BOUNDS` and then with fewer records. Those at
    which something happened are always among them. A row that asks for every record has all,
    without those bounds.

    Args:
        row: the experiment.
        history: its runs, unlabelled or labelled.
        size: of which size they are.
    """
    from grokkit.experiments import own_specs

    own = set(own_specs(row, size))
    if row.shares_recording_of:
        history = history.isel(run=[spec in own for spec in any_specs_of(history)])
    labelled = row.label(history, size)
    if row.variables:
        labelled = labelled[[name for name in row.variables if name in labelled]]
    arms, also = [], []
    for name in dict.fromkeys(labelled.arm.values):
        arm = labelled.isel(run=labelled.arm.values == name).drop_vars("arm")
        arm = arm.isel(epoch=arm.train_loss.notnull().any("run").values)
        also.append(_also_kept(row, name, arm))
        # Its share, so that joining the arms adds up to the whole again.
        share = arm.sizes["run"] / labelled.sizes["run"]
        arms.append(arm.assign_attrs(seconds=labelled.attrs["seconds"] * share))
    if row.every_record:
        arms = [arm.drop_vars(BOUNDS, errors="ignore") for arm in arms]
        return join([thin(arm, ALL) for arm in arms])
    for records, without in ((RECORDS[0], ()), *((few, BOUNDS) for few in RECORDS)):
        less = [arm.drop_vars(without, errors="ignore") for arm in arms]
        kept = join([thin(arm, records, keep=e) for arm, e in zip(less, also, strict=True)])
        if len(to_bytes(kept)) <= LIMIT:
            break
    return kept


def _also_kept(row: Row, name: str, arm: "xr.Dataset") -> list[float]:
    """The epochs of an arm that its row asks to be kept."""
    if row.also_kept is None:
        return []
    evidence = Evidence(arm, {name: any_specs_of(arm)})
    found, epochs = row.also_kept(name)(evidence).values, arm.epoch.values
    after = np.searchsorted(epochs, found[np.isfinite(found)])
    # The record before it, too: without that one it would seem to have come sooner.
    return [float(epoch) for epoch in epochs[np.union1d(after, np.maximum(after - 1, 0))]]


def differences(history: "xr.Dataset", epochs: int = 200, progress: bool = True) -> list[str]:
    """What is not the same when the first epochs of recorded runs are trained again.

    One run of each setting, the first, is trained for some epochs; every record that both
    have must agree within the stored precision. On other hardware sums may be rounded in
    another way, and a difference in the last bit grows: then look at how large it is.

    Args:
        history: recorded runs.
        epochs: how many epochs to train again.
        progress: whether to show a progress bar.

    Returns:
        One line for each value that differs; empty if all agree.
    """
    from tqdm.auto import tqdm

    bits = int(history.attrs.get("mantissa_bits", 23))
    specs = any_specs_of(history)
    firsts: dict[Spec, int] = {}
    for index, spec in enumerate(specs):
        firsts.setdefault(spec.with_(seed=0), index)
    lines = []
    for index in tqdm(list(firsts.values()), disable=not progress, unit="run"):
        spec = specs[index]
        # So far that the last epoch of all is recorded.
        again = begin(spec, epochs + 1).isel(run=0)
        then = history.isel(run=index)
        then = then.isel(epoch=then.train_loss.notnull().values)
        shared = np.intersect1d(again.epoch.values, then.epoch.values)
        for name in again.data_vars:
            if name not in then or not len(shared):
                continue
            new, old = (one[name].sel(epoch=shared).values for one in (again, then))
            new, old = np.broadcast_arrays(new, old[tuple(slice(n) for n in new.shape)])
            bad = ~np.isclose(new, old, rtol=2.0**-bits, atol=1e-30, equal_nan=True)
            if bad.any():
                epoch = shared[np.argwhere(bad)[0][0]]
                lines.append(
                    f"run {index} (seed {spec.seed}), {name} at epoch {epoch}: recorded "
                    f"{old[bad][0]:.6g}, now {new[bad][0]:.6g}"
                )
                break
    return lines
