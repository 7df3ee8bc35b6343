"""Figure 8: informative positions that move, and sequences longer than those trained on."""

import math

import numpy as np

from grokkit.engine import RunSpec
from grokkit.experiments.judges import (
    bounded,
    for_each,
    groks,
    judge,
    memorises,
    never_groks,
    sooner,
    spread,
)
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, recorded_base
from grokkit.tasks import LongerAddition, MarkedAddition


def setup(size: Size) -> Arms:
    """Marked operands in places of their own, and longer test sequences; both distractors.

    At classroom size with the live preset's learning rate: routing takes twice as long.
    """
    if size == "paper":
        base, p, moving, fixed = recorded_base("paper"), 113, 0.3, 0.3
    else:
        base = recorded_base("live").with_(epochs=4000, stop_after=500)
        p, moving, fixed = 43, 0.6, 0.5
    tasks = {
        "moving": MarkedAddition(p=p, train_fraction=moving),
        "moving, random": MarkedAddition(p=p, train_fraction=moving, distractors="random"),
        "longer": LongerAddition(p=p, train_fraction=fixed),
        "longer, random": LongerAddition(p=p, train_fraction=fixed, distractors="random"),
    }
    arms: dict[str, RunSpec] = {}
    for name, task in tasks.items():
        arms[name] = base.with_(task=task)
        arms[f"{name}, KL 1"] = kl(arms[name])
    return arms


@for_each
def keeps(evidence: Evidence, arm: str, share: float, holds: bool = True) -> Part:
    """What is left of the accuracy at the longest sequences, at the end: a share, or less.

    ``nan`` where the run has not come to 0.95: there is no accuracy to keep, or to lose.
    """
    groks = [one is True for one in evidence.grokked(arm, 0.95).reached]
    kept = np.where(groks, _longest(evidence, arm), np.nan) / evidence.final(arm, "test_accuracy")
    words = f"{'at least' if holds else 'less than'} {share:g} of the test accuracy"
    bound = {"at_least": share} if holds else {"at_most": math.nextafter(share, 0)}
    says = f"{arm}: {words} is left at the longest"
    return bounded(says, kept, f"{spread(kept)} of it", **bound)


@judge
def keeps_more(evidence: Evidence, arm: str, other: str) -> list[Part]:
    """The accuracy at the longest sequences, of one arm against the other, at the end."""
    mine, its = _longest(evidence, arm), _longest(evidence, other)
    says = f"{arm}: accuracy at the longest above that of {other} by 0.05"
    return [bounded(says, mine - its, f"{spread(mine)} against {spread(its)}", 0.05, null=0.0)]


def _longest(evidence: Evidence, arm: str) -> np.ndarray:
    names = [str(name) for name in evidence.arm(arm).extra.values]
    longest = max(names, key=lambda name: int(name.removeprefix("length ")))
    return evidence.final(arm, "extra_accuracy", extra=longest)


ROW = Row(
    name="routing",
    figure="Figure 8",
    question="Does the prior help where the informative tokens move, and on longer sequences?",
    setup=setup,
    claims=(
        Claim(
            "routing/moving",
            "Where the informative positions are drawn anew for every sequence, the KL prior "
            "bypasses the plateau.",
            "Figure 8",
            memorises("moving"),
            sooner("moving, KL 1", "moving", 0.8),
        ),
        Claim(
            "routing/moving-trap",
            "With random numbers as distractors the network without a prior is trapped, and the "
            "one with the prior generalises.",
            "ours",
            memorises("moving, random"),
            never_groks("moving, random", accuracy=0.95),
            groks("moving, random, KL 1", accuracy=0.95),
        ),
        Claim(
            "routing/longer",
            "On longer sequences KL keeps more of the accuracy than the baseline.",
            "Figure 8",
            keeps_more("longer, KL 1", "longer"),
            keeps_more("longer, random, KL 1", "longer, random"),
        ),
        Claim(
            "routing/not-solved",
            "With the KL prior less than 0.9 of the accuracy is left on the longest sequences.",
            "Figure 8",
            keeps("longer, KL 1", "longer, random, KL 1", share=0.9, holds=False),
            afterwards="a run that does not grok, and has nothing to lose, is now undecided",
        ),
        Claim(
            "routing/nothing-lost",
            "With distractors from a small alphabet nothing is lost on longer sequences, with or "
            "without the prior.",
            "ours",
            groks("longer", "longer, KL 1", accuracy=0.95),
            keeps("longer", "longer, KL 1", share=0.95),
            afterwards="that there is an accuracy to lose was added, and now to the rule",
        ),
    ),
)
