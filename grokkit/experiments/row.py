"""A row of the table of experiments: what runs, and what is claimed of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from grokkit.engine import Spec
from grokkit.errors import check_choice, refuse
from grokkit.experiments.claims import SEEDS, Bounds, Claim, Part, Result, verdict_of
from grokkit.experiments.evidence import Evidence, MissingArm, NoRecord
from grokkit.experiments.times import Times
from grokkit.runtime import any_specs_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "SEEDS", "SIZES", "Arms", "Bounds", "Claim", "Evidence", "MissingArm", "Part", "Row", "Size",
    "Times",
]  # fmt: skip
"""What a row is written in."""

Size = Literal["classroom", "paper"]
SIZES: tuple[str, ...] = get_args(Size)
Arms = Mapping[str, Spec | Callable[[int], Spec]]
"""Arm by name: a spec whose seed is replaced, or, where more hangs on it, a function of it."""


@dataclass(frozen=True)
class Row:
    """One experiment.

    Attributes:
        name: how it is called on the command line.
        figure: the paper's figure or statements.
        question: what it asks, in one sentence.
        setup: from a size to the arms. Arms differ in what their name says and in nothing
            else; their specs are of one kind.
        claims: written down before the runs.
        prepare: makes the files that the runs begin with, where they are missing.
        shares_recording_of: rows whose recordings hold runs of this one; what none of them
            holds is in a recording of its own.
        also_kept: from an arm to an epoch of each of its runs that a thinned recording keeps.
        every_record: whether its recording has every record of its runs, because epochs within
            a run are compared; otherwise about 100 of each.
        seeds: which seeds its verdicts are about.
        variables: what a recording of it keeps of its History; empty: everything.
        paper_claims: what is claimed besides at the size of the paper, of arms that it has alone.
        table: what is shown in RESULTS.md beside the verdicts, as Markdown.
    """

    name: str
    figure: str
    question: str
    setup: Callable[[Size], Arms]
    claims: tuple[Claim, ...]
    prepare: Callable[[Size], None] | None = None
    shares_recording_of: tuple[str, ...] = ()
    also_kept: Callable[[str], Callable[[Evidence], Times]] | None = None
    every_record: bool = False
    seeds: Sequence[int] = SEEDS
    variables: tuple[str, ...] = ()
    paper_claims: tuple[Claim, ...] = ()
    table: Callable[[Evidence], str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(self.seeds))  # a list could not be hashed

    def claims_at(self, size: Size) -> tuple[Claim, ...]:
        """What is claimed at a size."""
        return self.claims + (self.paper_claims if size == "paper" else ())

    def arms(
        self, size: Size = "classroom", seeds: Sequence[int] | None = None
    ) -> dict[str, list[Spec]]:
        """The runs of every arm, one for each seed; by default the row's own.

        Raises:
            SettingError: there is no such size, no seed, or one of them twice.
        """
        check_choice("size", size, SIZES)
        seeds = self.seeds if seeds is None else seeds
        if len(seeds) == 0 or len(set(seeds)) < len(seeds):
            refuse("seeds", seeds, "at least one, each once")
        return {
            name: [arm(seed) if callable(arm) else arm.with_(seed=seed) for seed in seeds]
            for name, arm in self.setup(size).items()
        }

    def specs(
        self,
        size: Size = "classroom",
        seeds: Sequence[int] | None = None,
        only: Sequence[str] | None = None,
    ) -> list[Spec]:
        """All runs, each once, arm after arm.

        Args:
            size: ``"classroom"`` or ``"paper"``.
            seeds: which seeds; None: the row's own.
            only: the arms to take; None: all.

        Raises:
            SettingError: there is no such size, seed or arm.
        """
        arms = self.arms(size, seeds)
        for name in only or ():
            check_choice("arm", name, tuple(arms))
        every = [spec for name in (arms if only is None else only) for spec in arms[name]]
        return list(dict.fromkeys(every))

    def evidence(
        self,
        history: "xr.Dataset | None",
        size: Size = "classroom",
        seeds: Sequence[int] | None = None,
    ) -> Evidence:
        """The runs of this row, by arm."""
        return Evidence(history, self.arms(size, seeds))

    def judge(
        self,
        history: "xr.Dataset | None",
        size: Size = "classroom",
        seeds: Sequence[int] | None = None,
    ) -> list[Result]:
        """The verdict on every claim.

        Args:
            history: the runs, of all arms or of some; None: there are none.
            size: of which size they are.
            seeds: of which seeds they are; None: the row's own.
        """
        results, evidence = [], self.evidence(history, size, seeds)
        for claim in self.claims_at(size):
            evidence.forget()
            try:
                parts = claim.judge(evidence)
                verdict = verdict_of(parts)
            except MissingArm:
                parts, verdict = (), "not run at this size"
            except NoRecord as problem:
                parts = (Part(str(problem), (None,) * evidence.seeds, "nothing"),)
                verdict = verdict_of(parts)
            settings, n = evidence.settings(), evidence.seeds
            results.append(Result(claim, verdict, parts, settings, n))
        return results

    def label(self, history: "xr.Dataset", size: Size = "classroom") -> "xr.Dataset":
        """The History with a run coordinate ``arm``; a run of several arms has their first.

        Raises:
            SettingError: a run belongs to no arm of this row.
        """
        import numpy as np

        specs = any_specs_of(history)
        arm_of: dict[Spec, str] = {}
        for name, runs in self.arms(size, sorted({spec.seed for spec in specs})).items():
            for spec in runs:
                arm_of.setdefault(spec, name)
        labels = [arm_of.get(spec, "") for spec in specs]
        if "" in labels:
            allowed = f"runs of {self.name} at size {size}"
            refuse("history", f"run {labels.index('')}, of no arm", allowed)
        return history.assign_coords(arm=("run", np.array(labels, dtype=object)))
