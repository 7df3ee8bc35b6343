"""``grokkit reproduce NAME...``: run experiments of the paper again, and judge them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from grokkit.cli import complain
from grokkit.cli.options import parse
from grokkit.cli.train import check_device
from grokkit.errors import SettingError, check_int, refuse
from grokkit.experiments.row import Size

if TYPE_CHECKING:
    from grokkit.experiments import Row

PROG = "grokkit reproduce"


@dataclasses.dataclass(frozen=True)
class Options:
    """Train what the experiments need and is not there yet, and judge their claims.

    Writes for each NAME: NAME.nc, its runs; NAME.md, the verdicts; NAME.png, the figure. Runs
    are kept as they end, shared by all experiments, and never trained twice: after a stop
    the same command goes on. grokkit claims lists the experiments and what was found.

    Attributes:
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

    names: Annotated[tuple[str, ...], tyro.conf.Positional]
    size: Size = "classroom"
    seeds: tuple[int, ...] | None = None
    folder: Path = Path("reproduced")
    workers: int | None = None
    scheduler: str | None = None
    device: str = "cpu"
    dry_run: bool = False
    record: bool = False
    quiet: bool = False


def main(argv: Sequence[str]) -> int:
    """Reproduce one experiment after the other.

    Returns:
        0; 1 if some runs failed, a file could not be written or no scheduler answered;
        2 for a name or a setting that makes no sense; 130 if it was interrupted.
    """
    options = parse(Options, argv, PROG)
    from grokkit.runtime import CheckpointError, RunsFailed

    rows = _check(options)
    for row in rows:
        if options.dry_run:
            _tell(row, options)
            continue
        try:
            _reproduce(row, options)
        except KeyboardInterrupt:
            complain(PROG, "interrupted; the same command goes on from here")
            return 130
        except SettingError:
            raise
        except (RunsFailed, CheckpointError, OSError, ModuleNotFoundError, ValueError) as problem:
            complain(PROG, problem)
            return 1
    return 0


def _check(options: Options) -> "list[Row]":
    """The rows, once every option is known to make sense."""
    from grokkit import experiments

    if not options.names:
        refuse("names", "", f"one or more of {', '.join(experiments.ROWS)}")
    rows = [experiments.row(name) for name in dict.fromkeys(options.names)]
    for seed in options.seeds or ():
        check_int("seeds", seed, 0)
    for row in rows:
        if not row.arms(options.size, options.seeds) and options.seeds not in (None, row.seeds):
            refuse("seeds", options.seeds, f"{row.seeds} for {row.name}, which trains none")
        if (
            options.record
            and row.arms(options.size)
            and not experiments.own_specs(row, options.size)
        ):
            others = ", ".join(row.shares_recording_of)
            refuse("record", row.name, f"{others}: whose recordings have these runs, too")
        if options.record and options.seeds not in (None, row.seeds):
            refuse("seeds", options.seeds, f"{row.seeds} with --record {row.name}")
    if options.folder.exists() and not options.folder.is_dir():
        refuse("folder", str(options.folder), "a folder")
    if options.workers is not None:
        check_int("workers", options.workers, 1)
        if options.scheduler is not None:
            refuse("workers", options.workers, "None with a scheduler, whose workers it uses")
    # The workers of a cluster may have what this machine has not.
    if options.scheduler is None:
        check_device(options.device)
    return rows


def _tell(row: "Row", options: Options) -> None:
    """Which runs a row has, which of them are there, and how long the others would take."""
    from grokkit import experiments

    plan = experiments.plan(row, options.folder, options.size, options.seeds)
    left = len(plan.specs) - len(plan.done)
    time = f"; about {duration(plan.seconds)} on one core" if left else ""
    print(f"{row.name}, {options.size}: {len(plan.specs)} runs, {len(plan.done)} done{time}")
    arms = row.arms(options.size, options.seeds)
    width = max(map(len, arms), default=0)
    done = set(plan.done)
    for name, specs in arms.items():
        there = sum(spec in done for spec in specs)
        print(f"  {name:{width}}  n = {len(specs)}, {there} done, {specs[0].epochs:,} epochs")


def _reproduce(row: "Row", options: Options) -> None:
    """Train, judge, write; in the end say what was found."""
    from grokkit import experiments, runs, viz
    from grokkit.engine.files import write_whole

    history, results = experiments.reproduce(
        row,
        options.folder,
        options.size,
        options.seeds,
        workers=options.workers,
        device=options.device,
        scheduler=options.scheduler,
        progress=not options.quiet,
    )
    name = experiments.name_at(row.name, options.size)
    figure = viz.row_figure(row.name, history, options.size)
    written = [write_whole(options.folder / f"{name}.png", viz.png(figure))]
    written.insert(0, options.folder / f"{name}.md")
    if history is not None:
        written.insert(0, options.folder / f"{name}.nc")
    if options.record and history is not None:
        thinned = experiments.small(row, history, options.size)
        written.append(runs.keep(name, thinned))
    if not options.quiet:
        print(experiments.text(results))
        print(f"\n{row.name}, {options.size}: {experiments.count(results)}")
        print(f"wrote {', '.join(map(str, written))}")


def duration(seconds: float | int) -> str:
    """A time in words: ``"40 s"``, ``"12 min"``, ``"3.5 h"``."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 99.5 else f"{minutes / 60:.1f} h"
