"""``grokkit claims``: what was claimed, and what was found."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from grokkit.cli import complain
from grokkit.cli.options import check_writable
from grokkit.errors import refuse

if TYPE_CHECKING:
    import xarray as xr

    from grokkit.experiments import Row, Size

PROG = "grokkit claims"


def claims(
    names: tuple[str, ...] = (),
    *,
    size: Literal["classroom", "paper"] = "classroom",
    history: Path | None = None,
    out: Path | None = None,
    check: Path | None = None,
    figures: Path | None = None,
    findings: Path | None = None,
    map_: Path | None = None,
) -> int:
    """Judge the claims by the recorded runs, and print the verdicts.

    Args:
        names: which experiments; none: all.
        size: classroom, or paper. A document has both.
        history: judge these runs of the experiment instead, a file NAME.nc that grokkit
            reproduce wrote.
        out: write the whole document of results to this file, as RESULTS.md is.
        check: compare this file with that document; where they differ, say where.
        figures: draw the figure of each experiment into this folder.
        findings: write the page of findings to this file, as FINDINGS.md is.
        map_: draw the map of the course, what is said and what was measured, into this PNG file.

    Returns:
        0; 1 if a checked file differs, or a History cannot be read.
    """
    from grokkit import experiments
    from grokkit.runtime import any_specs_of, load_history

    rows = [experiments.row(name) for name in names or experiments.ROWS]
    if history is not None and len(names) != 1:
        refuse("names", " ".join(names), "one name, that of the History's experiment")
    for flag, file in (("out", out), ("check", check)):
        if file is not None and (names or history):
            refuse(flag, str(file), "no names and no --history: it has all rows")
        if file is not None and size != "classroom":
            refuse("size", size, "none with --out and --check: a document has both sizes")
    check_writable("out", out)
    check_writable("findings", findings)
    check_writable("map", map_)
    for flag, file in (("check", check), ("history", history)):
        if file is not None and not file.is_file():
            refuse(flag, str(file), "a file that is there")
    if figures is not None and figures.exists() and not figures.is_dir():
        refuse("figures", str(figures), "a folder")

    if findings is not None:
        from grokkit.engine.files import write_whole
        from grokkit.experiments.findings import findings_document

        print(f"wrote {write_whole(findings, findings_document().encode())}")
    if map_ is not None:
        from grokkit import viz
        from grokkit.engine.files import write_whole

        print(f"wrote {write_whole(map_, viz.png(viz.claims_map()))}")
    if findings is not None or map_ is not None:
        return 0
    if out is not None or check is not None:
        code = _document(out, check)
        for row in rows:
            for each in get_args(experiments.Size):
                _draw(row, experiments.recorded(row.name, each), each, figures)
        return code
    given = None
    if history is not None:
        try:
            given = load_history(history)
        except ValueError as problem:
            complain(PROG, problem)
            return 1
        given = rows[0].label(given, size)
    results = []
    for row in rows:
        judged = experiments.recorded(row.name, size) if given is None else given
        seeds = row.seeds
        if given is not None:
            seeds = tuple(sorted({spec.seed for spec in any_specs_of(given)}))
        results += row.judge(judged, size, seeds)
        if seeds != row.seeds:
            own, these = (", ".join(str(seed) for seed in one) for one in (row.seeds, seeds))
            print(f"{row.name} is about seeds {own}; here it is asked of {these}\n")
        _draw(row, judged, size, figures)
    print(experiments.text(results))
    print(f"\n{len(results)} claims: {experiments.count(results)}")
    return 0


def _document(out: Path | None, check: Path | None) -> int:
    """Write the document of results and the file of the map, or compare both with the runs."""
    from grokkit import runs
    from grokkit.engine.files import write_whole
    from grokkit.experiments.claims_map import FILE
    from grokkit.experiments.results import documents

    text, of_map = documents()
    if out is not None:
        print(f"wrote {write_whole(out, text.encode())}")
        write_whole(runs.folder() / FILE, of_map.encode())
    if check is None:
        return 0
    return _compare(check, text) or _compare(runs.folder() / FILE, of_map)


def _compare(file: Path, text: str) -> int:
    """Say where a file is not what the runs say; 1 if there is such a place."""
    there = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    files = (str(file), "the recorded runs")
    different = list(difflib.unified_diff(there, text.splitlines(), *files, lineterm="", n=0))
    if different:
        print("\n".join(different))
        complain(PROG, f"{file} is not what the recorded runs say; --out writes it anew")
        return 1
    print(f"{file.name} is what the recorded runs say")
    return 0


def _draw(row: "Row", history: "xr.Dataset | None", size: "Size", figures: Path | None) -> None:
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
