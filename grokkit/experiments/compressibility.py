"""Do compressible features come before the grok, and do they say which network comes first?"""

import numpy as np

from grokkit.diagnostics import memorise_epoch
from grokkit.experiments.inductive_bias import placed
from grokkit.experiments.judges import bounded, in_order, judge, part, rank_correlations
from grokkit.experiments.row import Claim, Evidence, Part, Row, Times

COMPARED = ("M", "M+A*", "A*", "none")
"""The four placements that the paper compares."""

OF_THOSE_THAT_GROK = "a run that did not grok had counted as led; it is undecided now"
"""How the rule for leading was changed."""

NEAR = 1.1
"""A measure within 10 % of its least has arrived, as in the paper."""


def arrives(evidence: Evidence, arm: str, variable: str) -> Times:
    """When a measure of the train features is first within 10 % of its least after memorising."""
    runs = evidence.arm(arm)
    after = runs[variable].sel(feature_set="train").where(runs.epoch >= memorise_epoch(runs))
    # The least so far of a run that was cut short need not be its least.
    whole = runs.seed.copy(data=evidence.whole(arm))
    return evidence.first(arm, (after <= NEAR * after.min("epoch")) & whole)


def foretold(evidence: Evidence, arm: str, when: Times, says: str) -> Part:
    """Something comes in an arm by 0.9 of the epoch at which its test accuracy reaches 0.95."""
    its = evidence.grokked(arm, 0.95)
    says = f"{arm}: {says} by 0.9 of the grok's epoch"
    return part(says, when.foretells(its, 0.9), f"{when} against {its}")


@judge
def orders(evidence: Evidence, variable: str) -> list[Part]:
    """The rank correlation, over placements, of arriving and grokking."""
    grokked = in_order([evidence.grokked(arm, 0.95) for arm in COMPARED])
    arrived = np.stack([arrives(evidence, arm, variable).values for arm in COMPARED])
    ranks = rank_correlations(arrived, grokked)
    says = "rank correlation, over four placements, of its arrival and the grok at least 0.8"
    return [bounded(says, ranks, at_least=0.8, null=0.0)]


@judge
def leads(evidence: Evidence, variable: str) -> list[Part]:
    """It arrives before the test accuracy reaches 0.95, in every placement."""
    return [
        foretold(evidence, arm, arrives(evidence, arm, variable), "arrived") for arm in COMPARED
    ]


ROW = Row(
    name="compressibility",
    figure="arXiv 2602.06702: effective rank and power law",
    question="Do features become compressible before the network groks?",
    setup=lambda size: {arm: placed(size)[arm] for arm in COMPARED},
    shares_recording_of=("ln-placement",),
    claims=(
        Claim(
            "compressibility/rank-orders",
            "Placements whose features reach their lowest effective rank sooner grok sooner.",
            "arXiv 2602.06702",
            orders("effective_rank"),
        ),
        Claim(
            "compressibility/alpha-orders",
            "Placements whose features reach their lowest power-law exponent sooner grok sooner.",
            "arXiv 2602.06702",
            orders("alpha"),
        ),
        Claim(
            "compressibility/rank-leads",
            "The effective rank is at its lowest before the network groks: it predicts.",
            "arXiv 2602.06702 as it is read; its own figures come after the grok, in all four",
            leads("effective_rank"),
            afterwards=OF_THOSE_THAT_GROK,
        ),
        Claim(
            "compressibility/alpha-leads",
            "The exponent is at its lowest before the network groks.",
            "arXiv 2602.06702 as it is read",
            leads("alpha"),
            afterwards=OF_THOSE_THAT_GROK,
        ),
    ),
)
