"""A claim, what was seen of it, and the rule that turns the one into a verdict.

A claim is written down before its runs: a sentence that could be false, with a direction
and an effect size. What was added or changed once runs had been seen says so
(``Claim.afterwards``). A function judges it by its *parts*; each part is a yes, a no or a
"cannot be told" for every seed. From there on nobody has a say:

    a part holds       if it holds for 4 of 5 seeds (four fifths of them, rounded up)
    a part fails       if it no longer could, whatever the undecided seeds would say
    reproduced         every part holds
    partly             some parts hold and some fail
    not reproduced     some part fails and none holds
    undecided          no part fails, and not all of them hold
    not run at this size   a run that the claim needs is not there

A part that asks for a number has an *effect*, the median over seeds with its interval
(:mod:`grokkit.experiments.estimates`). Parts that were written after the estimates are judged
by it instead of by counting seeds: they hold if the whole interval lies within the bounds, fail
if it lies outside them, and are undecided otherwise. A part that fails does so in one of three
ways:

    refuted     its interval lies on the other side of no effect (outside the bounds, where they
                hold no effect or none is named)
    missed      its interval lies on the claimed side of no effect, short of the threshold
    not shown   its interval reaches across

Without a number, a part is refuted if four fifths of the seeds say no.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from grokkit.errors import refuse
from grokkit.experiments.estimates import Estimate, Measured

if TYPE_CHECKING:
    from grokkit.experiments.evidence import Evidence

Shortfall = Literal["refuted", "not shown", "missed"]
SHORTFALLS: tuple[Shortfall, ...] = get_args(Shortfall)
"""How a part fails, the worst first (see the head of this module)."""

Whose = Literal["papers", "ours", "algebra"]

Verdict = Literal["reproduced", "partly", "not reproduced", "undecided", "not run at this size"]
VERDICTS: tuple[str, ...] = get_args(Verdict)

NEEDED = 4 / 5
"""The share of seeds for which a part must hold."""

SEEDS = tuple(range(5))
"""The seeds of every experiment; a verdict on fewer says on how many."""


Rule = Literal["seeds", "interval"]
"""How a part is judged: by counting seeds, or by the interval of its effect."""


@dataclass(frozen=True)
class Bounds:
    """What is asked of a number: that it lies between two bounds.

    Attributes:
        at_least: the lower bound.
        at_most: the upper one.
        null: the value that means no effect, such as a ratio of 1; None: there is none.
        rule: ``seeds``: of enough seeds; ``interval``: of the whole interval of the median.
    """

    at_least: float = -math.inf
    at_most: float = math.inf
    null: float | None = None
    rule: Rule = "seeds"

    def shortfall(self, estimate: Estimate) -> Shortfall:
        """How an effect that fails does so."""
        null = math.nan if self.null is None else self.null
        less, more = self.at_most < null, self.at_least > null
        if (less and estimate.high < null) or (more and estimate.low > null):
            return "missed"
        if less or more:
            against = estimate.low >= null if less else estimate.high <= null
        else:
            against = self.judge(estimate) is False
        return "refuted" if against else "not shown"

    def judge(self, estimate: Estimate) -> bool | None:
        """Whether a whole interval lies within the bounds (True) or outside them (False)."""
        if self.at_least <= estimate.low and estimate.high <= self.at_most:
            return True
        return False if estimate.high < self.at_least or estimate.low > self.at_most else None

    def moved(self) -> "list[Bounds]":
        """These bounds with one of them a quarter larger or smaller; a bound of 0 stays."""
        return [
            replace(self, **{name: share * getattr(self, name)})
            for name in ("at_least", "at_most")
            for share in (0.75, 1.25)
            if math.isfinite(getattr(self, name)) and getattr(self, name) != 0
        ]


@dataclass(frozen=True)
class Part:
    """One comparison or one bound, seed by seed.

    Attributes:
        says: what was asked, with its effect size.
        outcomes: for each seed, whether it holds; None: its runs do not tell, because what
            should be compared was not reached by their last epoch (censored).
        seen: what was measured instead of words: a median, its spread, how many of n.
        measured: the number of each seed, where the part asks for one.
        bounds: what is asked of that number.
    """

    says: str
    outcomes: tuple[bool | None, ...]
    seen: str
    measured: Measured | None = field(default=None, compare=False)
    bounds: Bounds = Bounds()

    def __post_init__(self) -> None:
        # NumPy's own True is not True, and would be counted as a no.
        if not all(one is None or isinstance(one, bool) for one in self.outcomes):
            refuse("outcomes", self.outcomes, "True, False, None for each seed")

    @classmethod
    def of(cls, says: str, measured: Measured, bounds: Bounds, seen: str) -> "Part":
        """A part that asks for a number of each seed between two bounds."""
        outcomes = tuple(measured.within(bounds.at_least, bounds.at_most))
        return cls(says, outcomes, seen, measured, bounds)

    @property
    def needed(self) -> int:
        """For how many seeds it must hold."""
        return math.ceil(NEEDED * len(self.outcomes))

    @property
    def count(self) -> int:
        """For how many seeds it holds."""
        return sum(outcome is True for outcome in self.outcomes)

    @property
    def effect(self) -> Estimate | None:
        """The median over seeds with its interval; None where no number is asked for."""
        return None if self.measured is None else self.measured.estimate()

    @property
    def holds(self) -> bool | None:
        """Whether it holds, by the rule of its bounds; None: undecided."""
        if self.bounds.rule == "interval" and self.effect is not None:
            return self.bounds.judge(self.effect)
        if self.outcomes and self.count >= self.needed:
            return True
        open_ = sum(outcome is None for outcome in self.outcomes)
        return False if self.count + open_ < self.needed else None

    @property
    def shortfall(self) -> Shortfall:
        """How a part that fails does so."""
        effect = self.effect
        if effect is None:
            against = sum(outcome is False for outcome in self.outcomes)
            return "refuted" if against >= self.needed else "not shown"
        return self.bounds.shortfall(effect)

    def without(self, seed: int) -> "Part":
        """The same part, had one seed not been run."""
        outcomes = self.outcomes[:seed] + self.outcomes[seed + 1 :]
        fewer = None if self.measured is None else self.measured.without(seed)
        return replace(self, outcomes=outcomes, measured=fewer)

    def moved(self) -> "list[Part]":
        """The same part with each of its thresholds a quarter larger or smaller."""
        if self.measured is None:
            return []
        return [Part.of(self.says, self.measured, one, self.seen) for one in self.bounds.moved()]


@dataclass(frozen=True, init=False)
class Claim:
    """A sentence that could be false, and who judges it.

    Attributes:
        id: its name, ``ROW/NAME``.
        says: the claim, in one sentence.
        source: who claims it: a statement or figure of the paper, or a weak point of it.
        judges: each from the evidence of a row to some of the parts of this claim.
        afterwards: what of it was written or changed after runs had been seen, and why.
    """

    id: str
    says: str
    source: str
    judges: "tuple[Callable[[Evidence], Sequence[Part]], ...]"
    afterwards: str = ""

    def __init__(
        self,
        id: str,
        says: str,
        source: str,
        *judges: "Callable[[Evidence], Sequence[Part]]",
        afterwards: str = "",
    ) -> None:
        values = {"id": id, "says": says, "source": source, "judges": judges}
        for name, value in (values | {"afterwards": afterwards}).items():
            object.__setattr__(self, name, value)

    def judge(self, evidence: "Evidence") -> "tuple[Part, ...]":
        """The parts of the claim, in the order of its judges."""
        return tuple(part for judge in self.judges for part in judge(evidence))

    @property
    def whose(self) -> Whose:
        """Whether a paper claims it, we do (controls and our own findings), or algebra does."""
        if self.id.startswith("theory/"):
            return "algebra"
        return "ours" if self.source.startswith(("our", "weak point")) else "papers"


@dataclass(frozen=True)
class Result:
    """What was found of one claim.

    Attributes:
        claim: the claim.
        verdict: by the rule at the head of this module.
        parts: what it was made from.
        settings: the settings of the runs it was judged by, in words.
        seeds: how many seeds there were.
    """

    claim: Claim
    verdict: Verdict
    parts: tuple[Part, ...]
    settings: str
    seeds: int

    @property
    def shortfall(self) -> Shortfall | None:
        """How the parts that fail do so, the worst of them; None where none fails."""
        found = {part.shortfall for part in self.parts if part.holds is False}
        return next((one for one in SHORTFALLS if one in found), None)

    @property
    def fragile(self) -> tuple[str, ...]:
        """What turns the verdict: ``"one seed"``, ``"a quarter of a threshold"``."""
        parts, turns = self.parts, []
        if not parts or self.seeds < 2:
            return ()
        n = min(len(part.outcomes) for part in parts)
        found = verdict_of(parts)
        if any(verdict_of([one.without(i) for one in parts]) != found for i in range(n)):
            turns.append("one seed")
        moved = [
            [*parts[:i], other, *parts[i + 1 :]]
            for i, part in enumerate(parts)
            for other in part.moved()
        ]
        if any(verdict_of(others) != found for others in moved):
            turns.append("a quarter of a threshold")
        return tuple(turns)

    @property
    def label(self) -> str:
        """The verdict, with how it falls short; and on how many seeds, if on fewer than five."""
        label = f"{self.verdict}: {self.shortfall}" if self.shortfall else self.verdict
        few = self.parts and 0 < self.seeds < len(SEEDS)
        return f"{label} on {self.seeds} seed{'s' if self.seeds > 1 else ''}" if few else label

    @property
    def seen(self) -> str:
        """What was seen of every part, in one line."""
        return "; ".join(
            f"{part.says}: {part.seen}, {part.count}/{len(part.outcomes)}" for part in self.parts
        )


def verdict_of(parts: Sequence[Part]) -> Verdict:
    """The verdict on a claim from its parts, by the rule at the head of this module."""
    holds = [part.holds for part in parts]
    if holds and all(one is True for one in holds):
        return "reproduced"
    if any(one is False for one in holds):
        return "partly" if any(one is True for one in holds) else "not reproduced"
    return "undecided"
