"""The map of the course: what a paper says, what was measured, and the verdict on it.

Lines are written by hand; numbers and verdicts are not. They are worked out from the recorded
runs by :func:`measure` and kept in ``grokkit/runs/map.json``, so that the map is there at once:
``grokkit claims --out RESULTS.md`` writes both, and ``--check`` compares both.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from grokkit.errors import check_int, refuse
from grokkit.experiments.claims import Part, Result
from grokkit.experiments.estimates import Estimate, in_digits

FILE = "map.json"
"""The file of the numbers and verdicts, beside the recordings."""


@dataclass(frozen=True)
class MapLine:
    """One line of the map.

    Attributes:
        lesson: in which lesson it is met first.
        says: the claim, in one sentence.
        claim: the claim that judges it, ``ROW/NAME``.
        who: who says it.
        measured: what was measured, in words; ``{0}`` stands for the effect of the claim's first
            part, ``{0.count}`` and ``{0.of}`` for how many of the seeds it holds, ``{0.seen}`` for
            what was seen.
        verdict: the verdict on the claim; empty until it is known.
    """

    lesson: int
    says: str
    claim: str
    who: str
    measured: str
    verdict: str = ""


PAPER = "the paper"
INDUCTIVE = "arXiv 2602.06702"
UNIFORM = "arXiv 2504.03162"
OURS = "ours"

LINES: tuple[MapLine, ...] = (
    MapLine(
        1,
        "Attention finds the tokens that matter before unseen pairs are answered.",
        "four-phases/structure-first",
        PAPER,
        "when half of the unmirrored ones are right, attention's divergence from the oracle has "
        "fallen to {0} of that at the start",
    ),
    MapLine(
        2,
        "Where every distractor is a random token, drawn once for each pair, nothing generalises.",
        "distractors/random",
        OURS,
        "{1.count} of {1.of} networks stay below 95 % for 10,000 epochs",
    ),
    MapLine(
        3,
        "Nothing generalises while a token that matters gets next to no attention.",
        "structure/least-mass",
        PAPER,
        "where a pull keeps it below 0.05, {5.count} of {5.of} networks stay below 95 %; without a "
        "pull the smallest share of one number is {0} when 95 % are right",
    ),
    MapLine(
        3,
        "Networks generalise at one norm of the MLP.",
        "four-phases/goldilocks",
        PAPER,
        "over five settings of rate and decay the largest norm is {0.fine} x the least; closer to "
        "each other than at memorising in {1.count} of {1.of} seeds",
    ),
    MapLine(
        4,
        "Memorising reduces attention's gradient twice as much as the whole network's.",
        "four-phases/starves-all",
        "Figure 1, as it is read",
        "attention's falls {0.fine} times as much",
    ),
    MapLine(
        4,
        "The gradient of attention falls with the square root of the train loss.",
        "starvation-bound/square-root",
        PAPER,
        "it falls as the loss to the power {0.fine}; 1/2 was claimed",
    ),
    MapLine(
        5,
        "The wait goes as 1 / weight decay.",
        "structure/inverse-decay",
        PAPER,
        "as decay to the power {0}; -1.25 to -0.8 was claimed",
    ),
    MapLine(
        5,
        "Equation (5) says how long the wait is.",
        "four-phases/plateau-length",
        PAPER,
        "it gives {0} x the wait that was measured",
    ),
    MapLine(
        5,
        "The epochs to 95 % are a search and then learning to add: the two parts add up.",
        "wait-again/a-sum",
        OURS,
        "they are {0} x the search plus the epochs of a network with frozen attention; within a "
        "quarter was claimed",
    ),
    MapLine(
        6,
        "A prior that says where to look shortens the way to 95 %, to two thirds or less.",
        "headlines/faster",
        PAPER,
        "to {0} of the epochs, in {0.of} pairs of runs",
    ),
    MapLine(
        6,
        "A strong prior leaves no wait.",
        "kl-acceleration/no-plateau",
        PAPER,
        "95 % comes at {0} x the epoch of memorising",
    ),
    MapLine(
        6,
        "Noise as large as the prior takes twice as long.",
        "controls/content",
        OURS,
        "the prior's epochs over noise's: {0.most} or less in the median, the interval up to "
        "{0.end}; half or less was claimed",
    ),
    MapLine(
        7,
        "A Bayesian ticket generalises no later than a lottery ticket.",
        "tickets-again/bayesian-wins",
        PAPER,
        "against a lottery ticket that keeps half of its weights: {0} x as long to 95 %; to 99 % "
        "some never come",
    ),
    MapLine(
        8,
        "On longer sequences a network with the prior keeps more of its accuracy.",
        "routing/longer",
        PAPER,
        "at four times the length it has {0} more with letters as distractors, {1} more with "
        "random numbers; 0.05 was claimed",
    ),
    MapLine(
        8,
        "A prior that only asks for sharp attention shortens the way to 95 %.",
        "priors/undirected",
        PAPER,
        "epochs over those without a prior: entropy {1.start} or more, sparsity {3.start} or more",
    ),
    MapLine(
        8,
        "Every optimizer generalises in the end.",
        "assumptions/groks",
        PAPER,
        "95 % and held: AdamW {0.count}/{0.of}, Muon {2.count}/{2.of}, Lion {3.count}/{3.of}, "
        "SGD {4.count}/{4.of}",
    ),
    MapLine(
        9,
        "While it learns to add, its embeddings gather into few frequencies.",
        "wait/what-moves",
        OURS,
        "from memorising to 95 % their Fourier concentration becomes {0} x as large",
    ),
    MapLine(
        11,
        "A LayerNorm before the MLP halves the epochs, or better.",
        "ln-placement/mlp-norm",
        INDUCTIVE,
        "to {1} of the epochs to 95 %",
    ),
    MapLine(
        12,
        "MED, the mean step to the next number, falls before unseen pairs are answered.",
        "med-tracking/falls-first",
        UNIFORM,
        "x + y, one block: in {0.count} of {0.of} seeds",
    ),
    MapLine(
        12,
        "Embeddings become even, whatever their size, before unseen pairs are answered.",
        "med-tracking/not-by-shrinking",
        OURS,
        "best step half-way down before half of the unseen pairs are right (or they never are): "
        "x + y in {0.count} of {0.of} seeds, x - y in {1.count} of {1.of}",
    ),
    MapLine(
        12,
        "x² + xy + y² is memorised and never understood.",
        "polynomial-ceiling/never",
        UNIFORM,
        "{1.count} of {1.of} networks stay below 95 % for 8,000 epochs",
    ),
    MapLine(
        13,
        "Attention is half-way no later than features are compressible and embeddings even.",
        "three-accounts/structure-first",
        OURS,
        "half-way epoch of KL over that of the effective rank {0}, of alpha {1}, of the best "
        "step {2}",
    ),
)
"""The lines, in the order of the lessons; what was measured is filled in by :func:`claims_map`."""


def claims_map(upto: int | None = None) -> tuple[MapLine, ...]:
    """The lines of the map, with what was measured and the verdicts.

    Args:
        upto: only lines of this lesson and of those before it; None: all.

    Raises:
        SettingError: ``upto`` is not a whole number from 0 on.
    """
    if upto is not None:
        check_int("upto", upto, 0)
    known = _kept()
    return tuple(
        MapLine(one.lesson, one.says, one.claim, one.who, **known[one.claim])
        for one in LINES
        if upto is None or one.lesson <= upto
    )


@cache
def _kept() -> Mapping[str, Mapping[str, str]]:
    from grokkit import runs

    return json.loads((runs.folder() / FILE).read_text(encoding="utf-8"))


def measure(results: Sequence[Result]) -> str:
    """The text of :data:`FILE`: for every line what was measured, and the verdict.

    Args:
        results: those of all rows; a claim that is not among them, or that was not judged, is
            left out.
    """
    found = {result.claim.id: result for result in results if result.parts}
    table = {
        one.claim: {
            "measured": one.measured.format(*map(_Told, found[one.claim].parts)),
            "verdict": found[one.claim].label,
        }
        for one in LINES
        if one.claim in found
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


class _Told:
    """A part as a line of the map tells it."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.count, self.of, self.seen = part.count, len(part.outcomes), part.seen

    def __str__(self) -> str:
        """Its effect with the interval."""
        return str(self._part.effect)

    @property
    def fine(self) -> str:
        """Its effect with the interval, a digit more: where two would hide on which side it is."""
        effect = self._known
        middle = " to ".join(dict.fromkeys(in_digits(end, ".3g") for end in effect.median))
        return f"{middle} [{in_digits(effect.low, '.3g')} to {in_digits(effect.high, '.3g')}]"

    @property
    def _known(self) -> Estimate:
        """Its effect, of a part that asks for a number of each seed."""
        effect = self._part.effect
        return refuse("effect", effect, "a number of each seed") if effect is None else effect

    @property
    def most(self) -> str:
        """The greatest that the median of its effect can be."""
        return in_digits(self._known.median[1])

    @property
    def start(self) -> str:
        """Where the interval of its effect begins, with a digit more."""
        return in_digits(self._known.low, ".3g")

    @property
    def end(self) -> str:
        """Where the interval of its effect ends."""
        return in_digits(self._known.high)
