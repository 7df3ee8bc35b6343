"""Our rules on fresh seeds: what earlier runs suggested, claimed first and then run on fresh seeds.

Whoever looks at five seeds for long enough finds a rule that they obey. Lessons 11 to 13 made
such rules, on seeds 0 to 4, and said that they prove nothing. Here they are claims like any
other: written down before seeds 5 to 9 of the same settings were trained.
"""

from typing import TYPE_CHECKING

import numpy as np

from grokkit.diagnostics import memorise_epoch
from grokkit.experiments import inductive_bias, three_accounts, uniformity
from grokkit.experiments.compressibility import COMPARED, foretold
from grokkit.experiments.judges import bounded, for_each, never_groks, part
from grokkit.experiments.outcomes import both, negated, where
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size, Times
from grokkit.experiments.signals import BASE, SIGNALS, arrivals, ways
from grokkit.experiments.three_accounts import TRAPPED, order_agrees

if TYPE_CHECKING:
    import xarray as xr

FRESH = tuple(range(5, 10))
"""Seeds that nobody had looked at when the claims were written."""

QUICK, SLOW = ("M", "A^v"), ("none", "A*")
"""Placements that had their mirror images at once on seeds 0 to 4, and two that had not."""

ORDER = ("effective rank", "KL", "entropy", "best step", "alpha")
"""In which order seeds 0 to 4 of three-accounts put the signals of the accounts."""


def rank_falls(evidence: Evidence, arm: str, share: float = 0.75) -> Times:
    """When the effective rank is down to a share of what it was when the network had memorised."""
    runs = evidence.arm(arm)
    start, rank = memorise_epoch(runs), runs.effective_rank.sel(feature_set="train")
    then = rank.where(runs.epoch == start).max("epoch")
    return evidence.first(arm, (rank <= share * then) & (runs.epoch >= start))


def rank_foretells(evidence: Evidence) -> list[Part]:
    """The rank is down before the grok in four placements, and never where none follows."""
    down = {arm: rank_falls(evidence, arm) for arm in (*COMPARED, "A^qk")}
    parts = [foretold(evidence, arm, down[arm], "down to 3/4") for arm in COMPARED]
    mine, its = down["A^qk"], evidence.grokked("A^qk", 0.95)
    waits = both(evidence.memorised("A^qk").reached, negated(its.reached))
    silent = where(waits, negated(mine.reached))
    return [*parts, part("A^qk: not down to 3/4", silent, str(mine))]


def mirror_images_at_once(evidence: Evidence) -> list[Part]:
    """Half of the mirrored pairs are right by twice the epoch of memorising, or are not."""
    parts = []
    for arm in (*QUICK, *SLOW):
        mirrored, its = evidence.arm(arm).mirrored_accuracy, evidence.memorised(arm)
        mine = evidence.first(arm, mirrored >= 0.5)
        seen = mirrored.notnull().any("epoch").values
        by_then = where(both(seen, its.reached), mine.sooner(its, 2))
        outcomes = by_then if arm in QUICK else negated(by_then)
        says = f"{arm}: half of the mirrored pairs {'' if arm in QUICK else 'not '}right by twice"
        parts.append(part(f"{says} the epoch of memorising", outcomes, f"{mine} against {its}"))
    return parts


def same_order(evidence: Evidence) -> list[Part]:
    """The rank correlation of each seed's order of signals with the order that was found."""
    epochs = np.stack([arrivals(evidence, name).values for name in ORDER], axis=1)
    rhos = [order_agrees(np.arange(len(ORDER)), own) for own in epochs]
    says = f"rank correlation with the order {', '.join(ORDER)} at least 0.7"
    return [bounded(says, rhos, at_least=0.7, null=0.0)]


def rank_turns(evidence: Evidence) -> list[Part]:
    """The peak of the effective rank, in shares of the epoch at which the unseen are half-way."""

    def peak(one: "xr.Dataset") -> float:
        rank = SIGNALS["effective rank"].of(one)
        return float(one.epoch[rank.argmax()]) if np.isfinite(rank).all() else np.nan

    shares = evidence.each(BASE, peak) / arrivals(evidence, "unseen pairs").values
    says = "its peak lies between 0.7 and 1 of the epoch at which the unseen pairs are half-way"
    return [bounded(says, shares, at_least=0.7, at_most=1.0)]


@for_each
def stays_away(evidence: Evidence, name: str) -> Part:
    """A signal of the trap never comes to stay at the level that is half-way in the baseline."""
    mine = arrivals(evidence, name, TRAPPED)
    marked = [along is not None and along.length != 0 for along in ways(evidence, name)]
    seen = [np.isfinite(SIGNALS[name].of(one)).all() for one in evidence.runs(TRAPPED)]
    known = both(both(marked, seen), evidence.memorised(TRAPPED).reached)
    outcomes = where(known, negated(mine.reached))
    return part(f"{TRAPPED}: {name} not for good at its mark", outcomes, str(mine))


PLACEMENTS = Row(
    name="ln-placement-again",
    figure="ours: what ln-placement suggested, on fresh seeds",
    question="Do two rules hold that were found by looking at seeds 0 to 4 (placements)?",
    setup=inductive_bias.placed,
    seeds=FRESH,
    claims=(
        Claim(
            "ln-placement-again/rank-foretells",
            "The effective rank is down to three quarters of what it was at memorising before the "
            "network groks, and not where it does not.",
            "ours: a ruler found on seeds 0 to 4",
            rank_foretells,
            afterwards="a run that did not grok had counted as foretold; it is undecided now",
        ),
        Claim(
            "ln-placement-again/mirror-images-first",
            "A norm before the MLP or before the values brings the mirror images of train pairs "
            "with memorising; without one, or with one around attention, they come later.",
            "ours: seen on seeds 0 to 4",
            mirror_images_at_once,
        ),
    ),
)


def accounts(size: Size) -> Arms:
    """The network of the three accounts, and its trap."""
    arms = three_accounts.setup(size)
    return {name: arms[name] for name in (BASE, TRAPPED)}


ACCOUNTS = Row(
    name="three-accounts-again",
    figure="ours: what three-accounts suggested, on fresh seeds",
    question="Do three rules hold that were found by looking at seeds 0 to 4 (signals)?",
    setup=accounts,
    seeds=FRESH,
    every_record=True,
    claims=(
        Claim(
            "three-accounts-again/same-order",
            "The signals come in the order that the other seeds gave.",
            "ours: the order of seeds 0 to 4",
            same_order,
        ),
        Claim(
            "three-accounts-again/rank-turns",
            "The effective rank turns, from spreading to compressing, shortly before the unseen "
            "pairs are understood.",
            "ours: seen on seeds 0 to 4",
            rank_turns,
        ),
        Claim(
            "three-accounts-again/level",
            "In the trap, which does not grok, attention does not come to stay at the level that "
            "is half-way in the baseline, by its divergence from the oracle or by its entropy.",
            "ours: a rule made after seeds 0 to 4, where the rule before it had failed",
            never_groks(TRAPPED, accuracy=0.95),
            stays_away("KL", "entropy"),
            afterwards="the words 'to stay', as the rule has it: by its entropy attention is at "
            "that level for some records after memorising, in three of the five seeds, and "
            "leaves it; and that the trap does not grok is asked, too",
        ),
    ),
)


def more_data(size: Size) -> Arms:
    """The form that is not understood, with 0.7 of all pairs."""
    name = "x^2+xy+y^2, fraction 0.7"
    return {name: uniformity.ceiling(size)[name]}


CEILING = Row(
    name="polynomial-ceiling-again",
    figure="ours: what polynomial-ceiling suggested, on fresh seeds",
    question="Does a rule hold that was found by looking at seeds 0 to 4 (mirror images)?",
    setup=more_data,
    seeds=FRESH,
    claims=(
        Claim(
            "polynomial-ceiling-again/mirror-images",
            "What is right of x^2 + xy + y^2, 0.7 of it trained on, are the mirror images of "
            "train pairs, and hardly anything else.",
            "ours: seen on seeds 0 to 4",
            uniformity.by_mirror_images("x^2+xy+y^2, fraction 0.7"),
            afterwards="it had said 'nothing else'; the rule always left a tenth",
        ),
    ),
)
