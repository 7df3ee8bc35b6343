"""``grokkit runs list|show|record|verify``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from grokkit.cli.options import check_writable, choose
from grokkit.errors import check_int, refuse

if TYPE_CHECKING:
    import xarray as xr

    from grokkit.experiments import Row, Size


def main(argv: Sequence[str]) -> int:
    """List the recorded runs, show one, make it again, or verify it."""
    actions = {"list": list_, "show": show, "record": record, "verify": verify}
    return choose(actions, argv, "grokkit runs")


def list_() -> int:
    """List the recorded runs."""
    import h5py

    from grokkit import runs

    for name in sorted({*runs.names(), *runs.RECIPES}):
        file = runs.path(name)
        if file.exists():
            with h5py.File(file) as inside:  # to read whole Histories would take seconds
                n = len(inside["seed"])  # pyright: ignore[reportArgumentType]
            state = f"{file.stat().st_size / 1000:.0f} kB"
        else:
            n, state = len(runs.RECIPES[name]()), "not recorded"
        print(f"{name:20} {n:3d} runs, {state}")
    return 0


def show(name: str, *, out: Path | None = None) -> int:
    """Say what a recording found; with --out, draw it.

    Args:
        name: which recording.
        out: write the picture to this PNG file.
    """
    from grokkit import viz
    from grokkit.diagnostics import grok_epoch, memorise_epoch
    from grokkit.engine.files import write_whole

    if out is not None and out.suffix != ".png":
        refuse("out", str(out), "a file that ends in .png")
    check_writable("out", out)
    history, row, size = _labelled(name)
    arms = [] if row is None else [str(arm) for arm in history.arm.values]
    width = max((len(arm) + 2 for arm in arms), default=0)
    print(" " * width + "seed  memorised  grokked at 0.95  at 0.99")
    for run in range(history.sizes["run"]):
        one = history.isel(run=run)
        epochs = [memorise_epoch(one), grok_epoch(one, 0.95), grok_epoch(one)]
        texts = ["never" if epoch.isnull() else f"{int(epoch):,}" for epoch in epochs]
        arm = f"{arms[run]:{width}}" if arms else ""
        print(f"{arm}{int(one.seed):4d}  {texts[0]:>9}  {texts[1]:>15}  {texts[2]:>7}")
    made = ", ".join(f"{name} {history.attrs[name]}" for name in ("grokkit", "torch", "device"))
    print(f"recorded in {history.attrs['seconds']:.0f} s with {made}")
    if out is not None:
        if row is not None:
            figure = viz.row_figure(row.name, history, size)
        else:
            title = f"{name}: what is trained on, and what is not"
            figure = viz.seed_curves(history, title=title)
        print(f"wrote {write_whole(out, viz.png(figure))}")
    return 0


def record(name: str, *, folder: Path | None = None) -> int:
    """Train the runs of a recording again, and write its file.

    Args:
        name: which recording.
        folder: where to write it; by default over the package's own file.
    """
    from grokkit import runs

    if name in runs.names() and name not in runs.RECIPES:
        by = "grokkit reproduce NAME --record makes those of the experiments"
        refuse("name", name, f"{', '.join(runs.RECIPES)}; {by}")
    file = runs.path(name)
    if folder is not None and not folder.is_dir():
        refuse("folder", str(folder), "a folder that is there")
    check_writable("folder", file if folder is None else folder / file.name)
    print(f"wrote {runs.record(name, into=folder)}")
    return 0


def verify(name: str, *, epochs: int = 200, quiet: bool = False) -> int:
    """Train the first epochs of a recording again, and compare every value.

    One run of each setting is trained. Values must agree within the precision that they are
    recorded with; on another kind of machine they may drift apart.

    Args:
        name: which recording.
        epochs: how many epochs to train.
        quiet: no progress bar.
    """
    from grokkit import experiments, runs

    check_int("epochs", epochs, 1)
    history = runs.load(name)
    lines = experiments.differences(history, epochs, progress=not quiet)
    for line in lines:
        print(line)
    if lines:
        print("where later records alone differ, this processor may round sums in another way")
    else:
        bits = history.attrs["mantissa_bits"]
        print(f"{name}: its first {epochs} epochs agree to 2^-{bits}")
    return int(bool(lines))


def _labelled(name: str) -> "tuple[xr.Dataset, Row | None, Size]":
    """A recording; if it is that of an experiment, with its arms, the experiment and the size."""
    from grokkit import experiments, runs
    from grokkit.experiments import Size

    history = runs.load(name)
    for row in experiments.ROWS.values():
        for size in get_args(Size):
            if name == experiments.name_at(row.name, size):
                return row.label(history, size), row, size
    return history, None, "classroom"
