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
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from grokkit.errors import refuse

if TYPE_CHECKING:
    from grokkit.experiments.evidence import Evidence

Verdict = Literal["reproduced", "partly", "not reproduced", "undecided", "not run at this size"]
VERDICTS: tuple[str, ...] = get_args(Verdict)

NEEDED = 4 / 5
"""The share of seeds for which a part must hold."""

SEEDS = tuple(range(5))
"""The seeds of every experiment; a verdict on fewer says on how many."""


@dataclass(frozen=True)
class Part:
    """One comparison or one bound, seed by seed.

    Attributes:
        says: what was asked, with its effect size.
        outcomes: for each seed, whether it holds; None: its runs do not tell, because what
            should be compared was not reached by their last epoch (censored).
        seen: what was measured instead of words: a median, its spread, how many of n.
    """

    says: str
    outcomes: tuple[bool | None, ...]
    seen: str

    def __post_init__(self) -> None:
        # NumPy's own True is not True, and would be counted as a no.
        if not all(one is None or isinstance(one, bool) for one in self.outcomes):
            refuse("outcomes", self.outcomes, "True, False, None for each seed")

    @property
    def needed(self) -> int:
        """For how many seeds it must hold."""
        return math.ceil(NEEDED * len(self.outcomes))

    @property
    def count(self) -> int:
        """For how many seeds it holds."""
        return sum(outcome is True for outcome in self.outcomes)

    @property
    def holds(self) -> bool | None:
        """Whether it holds for enough seeds; None: undecided."""
        if self.outcomes and self.count >= self.needed:
            return True
        open_ = sum(outcome is None for outcome in self.outcomes)
        return False if self.count + open_ < self.needed else None


@dataclass(frozen=True)
class Claim:
    """A sentence that could be false, and who judges it.

    Attributes:
        id: its name, ``ROW/NAME``.
        says: the claim, in one sentence.
        source: who claims it: a statement or figure of the paper, or a weak point of it.
        judge: from the evidence of a row to the parts of this claim.
        afterwards: what of it was written or changed after runs had been seen, and why.
    """

    id: str
    says: str
    source: str
    judge: "Callable[[Evidence], Sequence[Part]]"
    afterwards: str = ""


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
    def label(self) -> str:
        """The verdict; if fewer seeds than five were asked, with their number."""
        few = self.parts and 0 < self.seeds < len(SEEDS)
        return f"{self.verdict} on {self.seeds} of {len(SEEDS)} seeds" if few else self.verdict

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
