"""``grokkit train``: every setting of a RunSpec is a flag."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grokkit.cli import complain
from grokkit.cli.options import Option, Parser, described, options_of
from grokkit.engine.files import write_whole
from grokkit.engine.interrupts import interrupts_held
from grokkit.engine.presets import presets
from grokkit.engine.spec import FAMILIES, PARTS, RunSpec
from grokkit.errors import SettingDropped, SettingError, check_choice, refuse
from grokkit.runtime.kinds import import_kinds

if TYPE_CHECKING:
    import xarray as xr

PROG = "grokkit train"
ABOUT = """\
Train one run; write its History (run.nc) and a picture of it (run.png).

The settings below are those of the kinds that are chosen by
--task, --optimizer, --prior and --accelerator.
To begin with: grokkit train --preset live --out first-run"""
IMPORT = Option("import_", tuple[str, ...], (), "modules that register kinds of your own.")


def main(argv: Sequence[str]) -> int:
    """Train the run that a command line asks for; see :func:`train`."""
    spec, output = read(argv)
    return train(spec, **output)


def train(
    spec: RunSpec,
    *,
    out: Path = Path("."),
    force: bool = False,
    checkpoint_minutes: float = 1.0,
    device: str = "cpu",
    quiet: bool = False,
) -> int:
    """Train one run, write run.nc and run.png, and say in a few lines how it went.

    Args:
        spec: the run.
        out: the folder for run.nc, the History, and run.png, its picture; and, until the run
            has ended, for a checkpoint, from which the same command goes on.
        force: write over a run.nc and run.png that are there.
        checkpoint_minutes: the minutes between two checkpoints.
        device: where to train: cpu, or cuda.
        quiet: no progress bar and no summary.

    Returns:
        0; 1 if the loss went wrong and the run was stopped, or the picture could not be made;
        130 if it was interrupted, and what was trained until then is written.
    """
    from grokkit.runtime import train_into
    from grokkit.runtime.history import diverged

    run, picture = out / "run.nc", out / "run.png"
    if picture.exists() and not run.exists() and not force:
        refuse("out", str(out), "a folder without run.png, or --force")
    how = {"force": force, "device": device, "checkpoint_minutes": checkpoint_minutes}
    try:
        history = train_into(spec, out, **how, progress=not quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was recorded yet, and nothing is written") from None
    with interrupts_held():
        drawn = draw(history, picture)
    interrupted = bool(history.attrs["interrupted"])
    if interrupted:
        epoch = int(history.epoch[-1])
        line = f"interrupted; what was trained until epoch {epoch:,} is in {run}"
        complain(PROG, f"{line}; the same command goes on from there")
    if not quiet:
        print(summary(history))
        print(f"  wrote {run}" + (f" and {picture}" if drawn else ""))
    return 130 if interrupted else int(diverged(history) > 0 or not drawn)


OUTPUT = [option for option in options_of(train) if option.has_flag]
"""What is said of a run beside its spec."""


def read(argv: Sequence[str]) -> tuple[RunSpec, dict[str, Any]]:
    """The run that a command line asks for, and what it says of the :data:`OUTPUT`.

    The kinds decide which flags there are, so they are taken out first.

    Raises:
        SettingError: a flag or a value is refused; the message names it.
        SystemExit: help was asked for, and printed.
    """
    first = Parser(PROG, help=False)
    first.add(_kind_options("paper", RunSpec()))
    kinds, rest = first.read_known(argv)
    import_kinds(kinds.pop("import_", ()))
    name = check_choice("preset", kinds.pop("preset", "paper"), presets)
    for family, kind in kinds.items():
        check_choice(family, kind, sorted(FAMILIES[family]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SettingDropped)
        try:
            start = presets[name].with_(**kinds)
        except SettingError:  # a flag may mend it; if none does, it is refused below
            start = RunSpec().with_(**kinds)
    for taken in {"preset", *(one.name for one in OUTPUT)} & start.settings().keys():
        allowed = f"another name for this setting: {PROG} has a flag --{taken}"
        refuse(taken, start.settings()[taken], allowed)
    parser = Parser(PROG, ABOUT, elsewhere=RunSpec.kinds_with)
    parser.add(_kind_options(name, start), "kinds")
    parser.add([o for o in options_of(RunSpec, vars(start)) if o.name not in PARTS], "run")
    for part in PARTS:
        one = getattr(start, part)
        parser.add(options_of(type(one), vars(one)), part)
    parser.add(OUTPUT, "output")
    values = parser.read(rest)
    output = {one.name: values.pop(one.name) for one in OUTPUT if one.name in values}
    return presets[name].with_(**kinds, **values), output


def summary(history: "xr.Dataset") -> str:
    """How a run went, in a few lines for people."""
    from grokkit.diagnostics import grok_epoch, memorise_epoch

    last = int(history.ended.values[0])

    def when(epoch: Any, word: str) -> str:
        value = float(epoch.values[0])
        if value == value:
            return f"at epoch {value:,.0f}"
        return f"did not {word} by epoch {last:,} (censored)"

    seconds = history.attrs["seconds"]
    lines = [
        f"memorised (train accuracy 0.99)  {when(memorise_epoch(history), 'memorise')}",
        f"grokked (test accuracy 0.95)     {when(grok_epoch(history, 0.95), 'grok')}",
        f"grokked (test accuracy 0.99)     {when(grok_epoch(history), 'grok')}",
        f"{last:,} epochs in {seconds:.1f} s on {history.attrs['device']}",
    ]
    if history.message.values[0]:
        lines.append(str(history.message.values[0]))
    return "\n".join(f"  {line}" for line in lines)


def draw(history: "xr.Dataset", picture: Path) -> bool:
    """Draw the picture of a run; where that fails, say so, for the run itself is whole."""
    from grokkit.viz import four_panels, png

    try:
        write_whole(picture, png(four_panels(history)))
    except (OSError, ValueError, ArithmeticError) as problem:
        complain(PROG, f"the run is whole in {picture.with_suffix('.nc')}, without: {problem}")
        return False
    return True


def _kind_options(preset: str, start: RunSpec) -> list[Option]:
    """The flags that decide which other flags there are."""
    words, settings = described(RunSpec), start.settings()
    what = "a set of values that the other flags change."
    return [
        Option("preset", Literal[*presets], preset, what),
        *(
            Option(name, Literal[*sorted(kinds)], settings[name], words.get(name, ""))
            for name, kinds in FAMILIES.items()
        ),
        IMPORT,
    ]
