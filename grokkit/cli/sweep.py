"""``grokkit sweep FILE.toml``: the runs of a grid, into a folder."""

from pathlib import Path

from grokkit.cli import complain

PROG = "grokkit sweep"


def sweep(
    file: Path,
    *,
    folder: Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    device: str = "cpu",
    checkpoint_minutes: float = 1.0,
    import_: tuple[str, ...] = (),
    quiet: bool = False,
) -> int:
    """Train the runs that FILE describes into a folder; those that are there are skipped.

    FILE is TOML: [base] has settings by name, and may name a preset; [grid] has a list of
    values for each setting that varies, such as weight_decay = [0.5, 1.0] or seed = "0..4".

    Args:
        file: the sweep file.
        folder: where the runs go; None: a folder beside FILE with its name.
        workers: how many processes on this machine; None: by the cores and the work.
        scheduler: the address of a Dask scheduler, whose workers then train; such as
            tcp://10.0.0.1:8786.
        device: where to train: cpu, or cuda.
        checkpoint_minutes: the minutes between two checkpoints.
        import_: modules that register kinds of your own.
        quiet: no progress bar and no summary.

    Returns:
        0; 1 if some runs diverged; 2 for a sweep file that makes no sense; 130 if interrupted.
    """
    from grokkit.diagnostics import grok_epoch
    from grokkit.runtime import import_kinds, load_sweep, sweep
    from grokkit.runtime.history import diverged

    import_kinds(import_)
    try:
        specs = load_sweep(file)
    except (OSError, ValueError) as problem:
        return complain(PROG, problem)
    into = folder or file.with_suffix("")
    history = sweep(
        specs,
        into,
        workers=workers,
        scheduler=scheduler,
        device=device,
        checkpoint_minutes=checkpoint_minutes,
        progress=not quiet,
    )
    interrupted = bool(history.attrs["interrupted"])
    if interrupted:
        complain(PROG, "interrupted; the same command goes on from here")
    lost, trained = diverged(history), history.sizes["run"]
    if lost:
        complain(PROG, f"the loss of {lost} of {trained} runs was not finite; they were stopped")
    if not quiet:
        grokked = int(grok_epoch(history).notnull().sum())
        runs = "1 run" if len(specs) == 1 else f"{len(specs)} runs"
        if interrupted:
            print(f"  {trained} of {runs} begun, those that ended are in {into}")
        else:
            print(f"  {trained} of {runs} in {into}, {grokked} grokked (test accuracy 0.99)")
            print(f'  to open them: grokkit.load_history("{into}")')
    return 130 if interrupted else int(lost > 0)
