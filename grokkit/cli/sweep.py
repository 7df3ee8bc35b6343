"""``grokkit sweep FILE.toml``: the runs of a grid, into a folder."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from grokkit.cli import complain
from grokkit.cli.options import parse
from grokkit.cli.train import check_device

PROG = "grokkit sweep"


@dataclasses.dataclass(frozen=True)
class Options:
    """Train the runs that FILE describes into a folder; those that are there are skipped.

    FILE is TOML: [base] has settings by name, and may name a preset; [grid] has a list of
    values for each setting that varies, such as weight_decay = [0.5, 1.0] or seed = "0..4".

    Attributes:
        file: the sweep file.
        folder: where the runs go; None: a folder beside FILE with its name.
        workers: how many processes on this machine; None: by the cores and the work.
        scheduler: the address of a Dask scheduler, whose workers then train; such as
            tcp://10.0.0.1:8786.
        device: where to train: cpu, or cuda.
        quiet: no progress bar and no summary.
    """

    file: Annotated[Path, tyro.conf.Positional]
    folder: Path | None = None
    workers: int | None = None
    scheduler: str | None = None
    device: str = "cpu"
    quiet: bool = False


def main(argv: Sequence[str]) -> int:
    """Train what is missing, and say how many runs there are and how many have grokked.

    Returns:
        0; 1 if some runs failed, a file could not be written or no scheduler answered;
        2 for a sweep file that makes no sense; 130 if it was interrupted.
    """
    options = parse(Options, argv, PROG)
    from grokkit.diagnostics import grok_epoch
    from grokkit.runtime import CheckpointError, RunsFailed, load_sweep, sweep

    # The workers of a cluster may have what this machine has not.
    if options.scheduler is None:
        check_device(options.device)
    try:
        specs = load_sweep(options.file)
    except (OSError, ValueError) as problem:
        return complain(PROG, problem)
    folder = options.folder or options.file.with_suffix("")
    try:
        history = sweep(
            specs,
            folder,
            workers=options.workers,
            scheduler=options.scheduler,
            device=options.device,
            progress=not options.quiet,
        )
    except (RunsFailed, CheckpointError, OSError, ModuleNotFoundError) as problem:
        complain(PROG, problem)
        return 1
    interrupted = bool(history.attrs["interrupted"])
    if interrupted:
        complain(PROG, "interrupted; the same command goes on from here")
    if not options.quiet:
        grokked = int(grok_epoch(history).notnull().sum())
        runs = "1 run" if len(specs) == 1 else f"{len(specs)} runs"
        trained = history.sizes["run"]
        if interrupted:
            print(f"  {trained} of {runs} begun, those that ended are in {folder}")
        else:
            print(f"  {trained} of {runs} in {folder}, {grokked} grokked (test accuracy 0.99)")
            print(f'  to open them: grokkit.load_history("{folder}")')
    return 130 if interrupted else 0
