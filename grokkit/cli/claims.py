"""``grokkit claims``: what was claimed, and what was found."""

import dataclasses
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import tyro

from grokkit.cli import complain
from grokkit.cli.options import parse
from grokkit.errors import refuse
from grokkit.experiments.row import Size

if TYPE_CHECKING:
    import xarray as xr

    from grokkit.experiments import Row

PROG = "grokkit claims"


@dataclasses.dataclass(frozen=True)
class Options:
    """Judge the claims by the recorded runs, and print the verdicts.

    Attributes:
        names: which experiments; none: all.
        size: classroom, or paper. A document has both.
        history: judge these runs of the experiment instead, a file NAME.nc that grokkit
            reproduce wrote.
        out: write the whole document of results to this file, as RESULTS.md is.
        check: compare this file with that document; where they differ, say where.
        figures: draw the figure of each experiment into this folder.
        findings: write the page of findings to this file, as FINDINGS.md is.
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    size: Size = "classroom"
    history: Path | None = None
    out: Path | None = None
    check: Path | None = None
    figures: Path | None = None
    findings: Path | None = None


def main(argv: Sequence[str]) -> int:
    """Print the table and the count of verdicts; write or check the document; draw.

    Returns:
        0; 1 if a checked file differs, or a History cannot be read; 2 for bad input.
    """
    options = parse(Options, argv, PROG)
    from grokkit import experiments

    _check(options)
    if options.findings is not None:
        from grokkit.engine.files import write_whole
        from grokkit.experiments.findings import findings_document

        print(f"wrote {write_whole(options.findings, findings_document().encode())}")
        return 0
    if options.out is not None or options.check is not None:
        try:
            code = _document(options)
        except OSError as problem:
            complain(PROG, problem)
            return 1
        for row in experiments.ROWS.values():
            for size in get_args(Size):
                _draw(row, experiments.recorded(row.name, size), size, options.figures)
        return code
    rows = [experiments.row(name) for name in options.names or experiments.ROWS]
    given = None
    if options.history is not None:
        try:
            given = _load(options.history)
        except (OSError, ValueError) as problem:
            complain(PROG, problem)
            return 1
        given = rows[0].label(given, options.size)
    results = []
    for row in rows:
        history = experiments.recorded(row.name, options.size) if given is None else given
        seeds = row.seeds if given is None else _seeds(given)
        results += row.judge(history, options.size, seeds)
        if seeds != row.seeds:
            own, these = (", ".join(map(str, one)) for one in (row.seeds, seeds))
            print(f"{row.name} is about seeds {own}; here it is asked of {these}\n")
        _draw(row, history, options.size, options.figures)
    print(experiments.text(results))
    print(f"\n{len(results)} claims: {experiments.count(results)}")
    return 0


def _check(options: Options) -> None:
    from grokkit import experiments

    for name in options.names:
        experiments.row(name)
    if options.history is not None and len(options.names) != 1:
        refuse("names", " ".join(options.names), "one name, that of the History's experiment")
    for flag in ("out", "check"):
        if getattr(options, flag) is not None and (options.names or options.history):
            refuse(flag, str(getattr(options, flag)), "no names and no --history: it has all rows")
    if options.size != "classroom" and (options.out is not None or options.check is not None):
        refuse("size", options.size, "none with --out and --check: a document has both sizes")
    if options.out is not None and options.out.is_dir():
        refuse("out", str(options.out), "a file to write")
    for flag in ("check", "history"):
        file = getattr(options, flag)
        if file is not None and not file.is_file():
            refuse(flag, str(file), "a file that is there")
    if options.figures is not None and options.figures.exists() and not options.figures.is_dir():
        refuse("figures", str(options.figures), "a folder")


def _load(file: Path) -> "xr.Dataset":
    from grokkit.runtime import load_history

    return load_history(file)


def _seeds(given: "xr.Dataset") -> tuple[int, ...]:
    """The seeds of a History that was given: what is claimed is asked of them."""
    from grokkit.runtime import any_specs_of

    return tuple(sorted({spec.seed for spec in any_specs_of(given)}))


def _document(options: Options) -> int:
    from grokkit.engine.files import write_whole
    from grokkit.experiments.results import document

    text = document()
    if options.out is not None:
        print(f"wrote {write_whole(options.out, text.encode())}")
    if options.check is None:
        return 0
    lines = difflib.unified_diff(
        options.check.read_text(encoding="utf-8").splitlines(),
        text.splitlines(),
        str(options.check),
        "the recorded runs",
        lineterm="",
        n=0,
    )
    different = list(lines)
    if different:
        print("\n".join(different))
        complain(PROG, f"{options.check} is not what the recorded runs say; --out writes it anew")
        return 1
    print(f"{options.check} is what the recorded runs say")
    return 0


def _draw(row: "Row", history: "xr.Dataset | None", size: Size, figures: Path | None) -> None:
    if figures is None:
        return
    from grokkit import experiments, viz
    from grokkit.engine.files import write_whole

    name = experiments.name_at(row.name, size)
    if history is None and (row.arms(size) or size != "classroom"):
        if size == "classroom":
            print(f"{name}: no recorded runs, no figure")
        return
    figures.mkdir(parents=True, exist_ok=True)
    data = viz.png(viz.row_figure(row.name, history, size))
    print(f"wrote {write_whole(figures / f'{name}.png', data)}")
