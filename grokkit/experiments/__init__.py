"""The paper's experiments, as claims that were measured.

One module a row: what runs, what is claimed, and who judges it. A claim is written down
before its runs; the verdict is computed.

>>> from grokkit import experiments
>>> history = experiments.recorded("kl-acceleration")   # all arms, five seeds each
>>> found = experiments.claims("kl-acceleration")       # what was found

``grokkit reproduce NAME`` trains the runs of a row again; ``grokkit claims`` prints what the
recorded ones say.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from grokkit.engine import Spec
from grokkit.errors import check_choice
from grokkit.experiments import (
    again,
    assumptions,
    compressibility,
    distractors,
    field,
    four_phases,
    geometry,
    headlines,
    inductive_bias,
    kl_acceleration,
    norm_vs_structure,
    operators,
    priors,
    resnet_grokking,
    routing,
    starvation_bound,
    tasks,
    theory,
    three_accounts,
    tickets,
    ungrokking,
    uniformity,
    wait,
)
from grokkit.experiments.claims import VERDICTS, Claim, Part, Result, Verdict, verdict_of
from grokkit.experiments.claims_map import MapLine, claims_map
from grokkit.experiments.evidence import Evidence, MissingArm
from grokkit.experiments.reproduce import differences, name_at, plan, reproduce, small
from grokkit.experiments.row import SEEDS, SIZES, Arms, Row, Size
from grokkit.experiments.table import Table, count, markdown, text
from grokkit.experiments.times import Times
from grokkit.runtime import any_specs_of

if TYPE_CHECKING:
    import xarray as xr

ROWS: Mapping[str, Row] = MappingProxyType(
    {
        row.name: row
        for row in (
            # What the course rests on, on fresh seeds.
            headlines.ROW,
            headlines.STRUCTURE,
            headlines.CONTROLS,
            wait.ROW,
            wait.AGAIN_ROW,
            # The structural account, arXiv 2605.15787, in the order of its figures.
            four_phases.ROW,
            norm_vs_structure.ROW,
            kl_acceleration.ROW,
            tickets.ROW,
            tickets.AGAIN,
            starvation_bound.ROW,
            priors.ROW,
            routing.ROW,
            geometry.ROW,
            tasks.ROW,
            assumptions.ROW,
            tasks.NEXT_TOKEN,
            distractors.ROW,
            theory.ROW,
            # Inductive bias, arXiv 2602.06702.
            inductive_bias.PLACEMENT,
            inductive_bias.PATHWAYS,
            inductive_bias.READOUT,
            inductive_bias.PACE,
            compressibility.ROW,
            # Token uniformity, arXiv 2504.03162.
            uniformity.MED,
            uniformity.HOLES,
            uniformity.CEILING,
            uniformity.FACTORED,
            uniformity.TOEPLITZ,
            uniformity.DEPTH,
            resnet_grokking.ROW,
            # All three, on one network.
            three_accounts.ROW,
            # What these suggested, on seeds that nobody had seen.
            again.PLACEMENTS,
            again.ACCOUNTS,
            again.CEILING,
            field.CIRCUITS,
            field.KERNEL,
            field.NORM,
            field.DATA,
            ungrokking.ROW,
            # The elective, arXiv 2605.15806.
            operators.ROW,
        )
    }
)
"""The experiments by name: those of the first paper's figures, then those of two others."""


def row(name: str) -> Row:
    """An experiment by its name.

    Raises:
        SettingError: there is none of that name.
    """
    check_choice("name", name, tuple(ROWS))
    return ROWS[name]


def own_specs(row: Row, size: Size = "classroom", seeds: Sequence[int] | None = None) -> list[Spec]:
    """The runs of a row that no recording of another row holds."""
    shared = {spec for name in row.shares_recording_of for spec in ROWS[name].specs(size, seeds)}
    return [spec for spec in row.specs(size, seeds) if spec not in shared]


def recorded(name: str, size: Size = "classroom") -> "xr.Dataset | None":
    """The recorded runs of a row, with a run coordinate ``arm``; None where there are none.

    Raises:
        SettingError: there is no such row, or the recording is not of its runs.
        ValueError: the file is damaged.
    """
    from grokkit import runs
    from grokkit.runtime.history import join

    own, there, parts = row(name), runs.names(), []
    files = [name_at(one, size) for one in (*own.shares_recording_of, own.name)]
    if not own.shares_recording_of:
        return own.label(runs.load(name_at(name, size)), size) if files[0] in there else None
    missing = set(own.specs(size))
    for file in [one for one in files if one in there]:
        stamp = runs.path(file).stat()
        history, specs = _opened(file, stamp.st_mtime_ns, stamp.st_size, str(runs.folder()))
        mine = [spec in missing for spec in specs]
        if any(mine):
            parts.append(history.isel(run=mine))  # a copy
            missing -= set(specs)
    return own.label(join(parts), size) if parts else None


@lru_cache(maxsize=4)
def _opened(file: str, *_: object) -> "tuple[xr.Dataset, list[Spec]]":
    """A recording that several rows share, opened once; nothing of it is handed out."""
    from grokkit import runs

    history = runs.load(file)
    return history, any_specs_of(history)


def claims(name: str | None = None, size: Size = "classroom") -> Table:
    """The verdicts over the recorded runs, of one row or of all.

    Raises:
        SettingError: there is no such row.
    """
    names = tuple(ROWS) if name is None else (row(name).name,)
    results = [result for one in names for result in ROWS[one].judge(recorded(one, size), size)]
    return Table(results)


__all__ = [
    "ROWS",
    "SEEDS",
    "SIZES",
    "VERDICTS",
    "Arms",
    "Claim",
    "Evidence",
    "MapLine",
    "MissingArm",
    "Part",
    "Result",
    "Row",
    "Size",
    "Table",
    "Times",
    "Verdict",
    "claims",
    "claims_map",
    "count",
    "differences",
    "markdown",
    "name_at",
    "own_specs",
    "plan",
    "recorded",
    "reproduce",
    "row",
    "small",
    "text",
    "verdict_of",
]
