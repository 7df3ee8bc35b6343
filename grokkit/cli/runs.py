"""``grokkit runs list|show|record|verify``."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import tyro

from grokkit.cli.options import parse
from grokkit.errors import check_int, refuse
from grokkit.experiments.row import Size

if TYPE_CHECKING:
    import xarray as xr

    from grokkit.experiments import Row

ACTIONS = ("list", "show", "record", "verify")


@dataclasses.dataclass(frozen=True)
class Show:
    """Say what a recording found; with --out, draw it.

    Attributes:
        name: which recording.
        out: write the picture to this PNG file.
    """

    name: Annotated[str, tyro.conf.Positional]
    out: Path | None = None


@dataclasses.dataclass(frozen=True)
class Record:
    """Train the runs of a recording again, and write its file.

    Attributes:
        name: which recording.
        folder: where to write it; by default over the package's own file.
    """

    name: Annotated[str, tyro.conf.Positional]
    folder: Path | None = None


@dataclasses.dataclass(frozen=True)
class Verify:
    """Train the first epochs of a recording again, and compare every value.

    One run of each setting is trained. Values must agree within the precision that they are
    recorded with; on another kind of machine they may drift apart.

    Attributes:
        name: which recording.
        epochs: how many epochs to train.
        quiet: no progress bar.
    """

    name: Annotated[str, tyro.conf.Positional]
    epochs: int = 200
    quiet: bool = False


def main(argv: Sequence[str]) -> int:
    """List the recorded runs, show one, make it again, or verify it."""
    action, *rest = [*argv] or [""]
    if action in ("-h", "--help"):
        print("usage: grokkit runs list|show|record|verify [NAME] [OPTIONS]\n")
        print("grokkit runs show --help, record --help and verify --help tell more.")
        return 0
    if action not in ACTIONS:
        refuse("action", action, ", ".join(ACTIONS))
    if action == "list":
        return _list(rest)
    prog = f"grokkit runs {action}"
    if action == "show":
        return _show(parse(Show, rest, prog))
    if action == "verify":
        return _verify(parse(Verify, rest, prog))
    return _record(parse(Record, rest, prog))


def _list(rest: Sequence[str]) -> int:
    from grokkit import runs

    if rest:
        refuse("argument", rest[0], "none")
    for name in sorted({*runs.names(), *runs.RECIPES}):
        file = runs.path(name)
        there = file.exists()
        n = runs.load(name).sizes["run"] if there else len(runs.RECIPES[name]())
        state = f"{file.stat().st_size / 1000:.0f} kB" if there else "not recorded"
        print(f"{name:20} {n:3d} runs, {state}")
    return 0


def _show(options: Show) -> int:
    from grokkit.diagnostics import grok_epoch, memorise_epoch

    if options.out is not None and options.out.suffix != ".png":
        refuse("out", str(options.out), "a file that ends in .png")
    history, row, size = _labelled(options.name)
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
    if options.out is not None:
        from grokkit import viz

        if row is not None:
            figure = viz.row_figure(row.name, history, size)
        else:
            title = f"{options.name}: what is trained on, and what is not"
            figure = viz.seed_curves(history, title=title)
        figure.savefig(options.out)
        print(f"wrote {options.out}")
    return 0


def _labelled(name: str) -> "tuple[xr.Dataset, Row | None, Size]":
    """A recording; if it is that of an experiment, with its arms, the experiment and the size."""
    from grokkit import experiments, runs

    history = runs.load(name)
    for row in experiments.ROWS.values():
        for size in get_args(Size):
            if name == experiments.name_at(row.name, size):
                return row.label(history, size), row, size
    return history, None, "classroom"


def _record(options: Record) -> int:
    from grokkit import runs

    if options.name in runs.names() and options.name not in runs.RECIPES:
        by = "grokkit reproduce NAME --record makes those of the experiments"
        refuse("name", options.name, f"{', '.join(runs.RECIPES)}; {by}")
    print(f"wrote {runs.record(options.name, into=options.folder)}")
    return 0


def _verify(options: Verify) -> int:
    from grokkit import experiments, runs

    check_int("epochs", options.epochs, 1)
    history = runs.load(options.name)
    lines = experiments.differences(history, options.epochs, progress=not options.quiet)
    for line in lines:
        print(line)
    if not lines:
        bits = history.attrs["mantissa_bits"]
        print(f"{options.name}: its first {options.epochs} epochs agree to 2^-{bits}")
    return int(bool(lines))
