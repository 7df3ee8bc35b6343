"""``grokkit reproduce NAME...``: run experiments of the paper again, and judge them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grokkit.cli import complain
from grokkit.errors import SettingError, check_int, refuse

if TYPE_CHECKING:
    from grokkit.experiments import Row, Size

PROG = "grokkit reproduce"


def reproduce(
    names: tuple[str, ...] = (),
    *,
    size: Literal["classroom", "paper"] = "classroom",
    seeds: tuple[int, ...] | None = None,
    folder: Path = Path("reproduced"),
    workers: int | None = None,
    scheduler: str | None = None,
    device: str = "cpu",
    dry_run: bool = False,
    record: bool = False,
    quiet: bool = False,
) -> int:
    """Train what the experiments need and is not there yet, and judge their claims.

    Writes for each NAME: NAME.nc, its runs; NAME.md, the verdicts; NAME.png, the figure. Runs
    are kept as they end, shared by all experiments, and never trained twice: after a stop
    the same command goes on. grokkit claims lists the experiments and what was found.

    Args:
        names: which experiments, such as kl-acceleration.
        size: classroom, for two cores; or paper, for a GPU.
        seeds: which seeds; by default those of the experiment. Verdicts need 4 of 5.
        folder: where runs and results go.
        workers: how many processes on this machine; None: by the cores and the work.
        scheduler: the address of a Dask scheduler, whose workers then train; such as
            tcp://10.0.0.1:8786.
        device: where to train: cpu, or cuda.
        dry_run: train nothing; say which runs there are and how long the others would take.
        record: put the runs, thinned, among those that come with the package, too.
        quiet: no progress bar and no verdicts.
    """
    from grokkit import experiments
    from grokkit.runtime.run import check_device

    if not names:
        refuse("names", "", f"one or more of {', '.join(experiments.ROWS)}")
    rows = [experiments.row(name) for name in dict.fromkeys(names)]
    for seed in seeds or ():
        check_int("seeds", seed, 0)
    for row in rows:
        if not row.arms(size, seeds) and seeds not in (None, row.seeds):
            refuse("seeds", seeds, f"{row.seeds} for {row.name}, which trains none")
        if record and row.arms(size) and not experiments.own_specs(row, size):
            others = ", ".join(row.shares_recording_of)
            refuse("record", row.name, f"{others}: whose recordings have these runs, too")
        if record and seeds not in (None, row.seeds):
            refuse("seeds", seeds, f"{row.seeds} with --record {row.name}")
    if folder.exists() and not folder.is_dir():
        refuse("folder", str(folder), "a folder")
    if workers is not None:
        check_int("workers", workers, 1)
        if scheduler is not None:
            refuse("workers", workers, "None with a scheduler, whose workers it uses")
    # The workers of a cluster may have what this machine has not.
    if scheduler is None:
        check_device(device)

    how = {"workers": workers, "scheduler": scheduler, "device": device, "progress": not quiet}
    try:
        for row in rows:
            if dry_run:
                _tell(row, folder, size, seeds)
            else:
                _reproduce(row, folder, size, seeds, how, record, quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on from here") from None
    except SettingError:
        raise
    except ValueError as problem:  # a recording is damaged, or too large to keep
        complain(PROG, problem)
        return 1
    return 0


def _tell(row: "Row", folder: Path, size: "Size", seeds: Sequence[int] | None) -> None:
    """Which runs a row has, which of them are there, and how long the others would take."""
    from grokkit import experiments

    plan = experiments.plan(row, folder, size, seeds)
    left = len(plan.specs) - len(plan.done)
    time = f"; about {duration(plan.seconds)} on one core" if left else ""
    print(f"{row.name}, {size}: {len(plan.specs)} runs, {len(plan.done)} done{time}")
    if shared := len(plan.specs) - len(experiments.own_specs(row, size, seeds)):
        others = ", ".join(row.shares_recording_of)
        print(f"  {shared} of them are runs of {others} too: whichever comes first trains them")
    arms = row.arms(size, seeds)
    width = max(map(len, arms), default=0)
    done = set(plan.done)
    for name, specs in arms.items():
        there = sum(spec in done for spec in specs)
        print(f"  {name:{width}}  n = {len(specs)}, {there} done, {specs[0].epochs:,} epochs")


def _reproduce(
    row: "Row",
    folder: Path,
    size: "Size",
    seeds: Sequence[int] | None,
    how: Mapping[str, Any],
    record: bool,
    quiet: bool,
) -> None:
    """Train, judge, write; in the end say what was found."""
    from grokkit import experiments, runs, viz
    from grokkit.engine.files import write_whole

    history, results = experiments.reproduce(row, folder, size, seeds, **how)
    name = experiments.name_at(row.name, size)
    figure = viz.row_figure(row.name, history, size)
    written = [folder / f"{name}.md", write_whole(folder / f"{name}.png", viz.png(figure))]
    if history is not None:
        written.insert(0, folder / f"{name}.nc")
        if record:
            written.append(runs.keep(name, experiments.small(row, history, size)))
    if not quiet:
        print(experiments.text(results))
        print(f"\n{row.name}, {size}: {experiments.count(results)}")
        print(f"wrote {', '.join(map(str, written))}")


def duration(seconds: float | int) -> str:
    """A time in words: ``"40 s"``, ``"12 min"``, ``"3.5 h"``."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 99.5 else f"{minutes / 60:.1f} h"
