"""``grokkit train``: every setting of a RunSpec is a flag."""

import dataclasses
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from grokkit.cli.options import attributes, chosen, parse, told, unchecked
from grokkit.engine.interrupts import interrupts_held
from grokkit.engine.presets import for_kinds, presets
from grokkit.engine.spec import FAMILIES, PARTS, RunSpec
from grokkit.errors import refuse

if TYPE_CHECKING:
    import xarray as xr

PROG = "grokkit train"
FILES = ("run.nc", "run.png")


@dataclasses.dataclass(frozen=True)
class Output:
    """Where the run goes.

    Attributes:
        out: the folder for run.nc, the History, and run.png, its picture.
        force: write over a run.nc and run.png that are there.
        device: where to train: cpu, or cuda.
        quiet: no progress bar and no summary.
    """

    out: Path = Path(".")
    force: bool = False
    device: str = "cpu"
    quiet: bool = False


def main(argv: Sequence[str]) -> int:
    """Train one run, write run.nc and run.png, and say in a few lines how it went.

    Returns:
        0; 1 if the loss went wrong and the run was stopped; 130 if it was interrupted,
        and what was trained until then is written.
    """
    spec, output = read(argv)
    check_device(output.device)
    with folder_for_output(output) as folder:
        from grokkit.runtime import train

        try:
            history = train(spec, device=output.device, progress=not output.quiet)
        except KeyboardInterrupt:
            print(f"{PROG}: interrupted before the first record; nothing written", file=sys.stderr)
            return 130
        with interrupts_held():
            written = write(history, folder)
    interrupted = bool(history.attrs["interrupted"])
    if interrupted:
        epoch = int(history.epoch[-1])
        print(
            f"{PROG}: interrupted; what was trained until epoch {epoch:,} is in {written[0]}",
            file=sys.stderr,
        )
    if not output.quiet:
        print(summary(history))
        print(f"  wrote {' and '.join(map(str, written))}")
    if interrupted:
        return 130
    return int("not finite" in str(history.message.values[0]))


def read(argv: Sequence[str]) -> tuple[RunSpec, Output]:
    """The run and the output that a command line asks for.

    Raises:
        SettingError: a flag or a value is refused; the message names it.
        SystemExit: help was asked for, and printed.
    """
    preset = chosen(argv, "preset", "paper", list(presets))
    start = presets[preset].settings()
    kinds = {
        family: chosen(argv, family, start[family], sorted(FAMILIES[family])) for family in FAMILIES
    }
    base = for_kinds(presets[preset], kinds)
    options = parse(_options(base, preset), argv, PROG)
    changes: dict[str, Any] = {}
    for part in PARTS:
        changes |= dataclasses.asdict(getattr(options, part))
    changes |= {name: getattr(options.run, name) for name in _own_fields()}
    given = {name: value for name, value in changes.items() if value != base.settings()[name]}
    output = Output(**dataclasses.asdict(options.output))
    return base.with_(**given), output


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


def write(history: "xr.Dataset", folder: Path) -> list[Path]:
    """Write the History and its picture; the History first, as it cannot be made again."""
    from grokkit.runtime import save_history
    from grokkit.viz import four_panels, png

    paths = [folder / name for name in FILES]
    save_history(history, paths[0])
    paths[1].write_bytes(png(four_panels(history)))
    return paths


@contextmanager
def folder_for_output(output: Output) -> Iterator[Path]:
    """The folder for a run's files, known to be writable before the training starts.

    A folder that was made for them is taken away again if nothing came to lie in it.

    Raises:
        SettingError: it cannot be made or written to, or holds a run already.
    """
    folder = output.out
    there = [name for name in FILES if (folder / name).exists()]
    if there and not output.force:
        refuse("out", str(folder), f"a folder without {' and '.join(there)}, or --force")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as problem:
            refuse("out", str(folder), f"a folder to write to ({problem.strerror})")
        yield folder
    finally:
        for path in made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def check_device(device: str) -> None:
    """Refuse a device that is not there.

    Raises:
        SettingError: torch knows no such device, or this machine has none.
    """
    import torch

    allowed = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    if len(allowed) > 1:
        allowed.insert(1, "cuda")
    if device not in allowed:
        refuse("device", device, ", ".join(allowed))


def _own_fields() -> list[str]:
    return [f.name for f in dataclasses.fields(RunSpec) if f.name not in PARTS]


def _options(base: RunSpec, preset: str) -> type[Any]:
    """What the command line may say: a section of the help for each part of the spec."""
    settings, words, kinds = base.settings(), attributes(RunSpec), get_type_hints(RunSpec)
    kind_words = {family: f"which kind: {words[family]}" for family in FAMILIES}
    choices = [
        ("preset", preset, presets, "a set of values that the other flags change."),
        *((name, settings[name], sorted(FAMILIES[name]), kind_words[name]) for name in FAMILIES),
    ]
    choose = dataclasses.make_dataclass(
        "Kinds",
        [(name, *told(value, Literal[*allowed], help)) for name, value, allowed, help in choices],
    )
    run = dataclasses.make_dataclass(
        "Run", [(name, *told(settings[name], kinds[name], words[name])) for name in _own_fields()]
    )
    sections: dict[str, type[Any]] = {"kinds": choose, "run": run}
    for part in PARTS:
        sections[part] = unchecked(getattr(base, part), part)
    sections["output"] = unchecked(Output(), "Output")
    options = dataclasses.make_dataclass(
        "Options",
        [(name, made, dataclasses.field(default_factory=made)) for name, made in sections.items()],
    )
    options.__doc__ = (
        "Train one run; write its History (run.nc) and a picture of it (run.png). "
        "The settings below are those of the kinds chosen by "
        "--task, --optimizer, --prior, --accelerator. "
        "To begin with: grokkit train --preset live --out first-run"
    )
    return options
