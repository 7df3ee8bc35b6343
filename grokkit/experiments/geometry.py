"""Figure 9: how wide the embedding is, and how many heads look."""

from collections.abc import Sequence

import numpy as np

from grokkit.experiments.judges import (
    bounded,
    groks,
    in_order,
    no_sooner,
    rank_correlations,
    sooner,
    spread,
)
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, quick
from grokkit.runtime import specs_of

WIDTHS = {"classroom": (16, 32, 64, 128), "paper": (16, 32, 64, 128, 256)}
"""d_model; 64 is the default."""

STRUCTURE = 0.1
"""Nats; a divergence from the oracle at which the structure has been found."""


def setup(size: Size) -> Arms:
    """Widths; four heads without a prior, with one on each head, and on their summed mass."""
    base = quick(size)
    four = base.with_(heads=4)
    return {
        **{f"d {width}": base.with_(d_model=width) for width in WIDTHS[size]},
        "4 heads": four,
        "4 heads, KL 1 each": kl(four),
        "4 heads, KL 1 summed": kl(four).with_(head_reduction="summed"),
    }


def structure_by_width(evidence: Evidence) -> list[Part]:
    """The rank correlation of width with the epoch at which KL is small."""
    names = [name for name in evidence.arms if name.startswith("d ")]
    widths = [float(name.removeprefix("d ")) for name in names]
    times = [evidence.first(name, evidence.arm(name).kl <= STRUCTURE) for name in names]
    ranks = rank_correlations(widths, in_order(times))
    medians = "; ".join(f"d {width:g}: {one}" for width, one in zip(widths, times, strict=True))
    says = f"rank correlation of d and the epoch of KL <= {STRUCTURE} at most -0.8"
    return [bounded(says, ranks, f"{spread(ranks)} ({medians})", at_most=-0.8, null=0.0)]


def every_width(evidence: Evidence) -> Sequence[Part]:
    """Every width of this size reaches a test accuracy of 0.95."""
    widths = [name for name in evidence.arms if name.startswith("d ")]
    return groks(*widths, accuracy=0.95)(evidence)


def by_summed_mass(evidence: Evidence) -> list[Part]:
    """At the end: what the mean over heads and what each head alone looks at."""
    least, summed = [], []
    for one in evidence.runs("4 heads"):
        spec = specs_of(one)[0]
        informative = spec.task.build(spec.seed).train.informative[0].numpy()
        alone = one.attention_mass.isel(epoch=-1, pos=informative)
        least.append(float(alone.min()))
        summed.append(float(alone.mean("head").min()))
    there = evidence.whole("4 heads")  # the end of a run that was cut short is not its end
    summed, least = (np.where(there, one, np.nan) for one in (summed, least))
    return [
        bounded("mean over heads: at least 0.3 on each", summed, at_least=0.3),
        bounded("some head alone: below 0.3 on one", least, at_most=0.3),
    ]


ROW = Row(
    name="geometry",
    figure="Figure 9, Conjecture E.2",
    question="What do a wider embedding and more heads change?",
    setup=setup,
    claims=(
        Claim(
            "geometry/width",
            "The larger d, the sooner the structure is found.",
            "Figure 9",
            structure_by_width,
        ),
        Claim(
            "geometry/all-widths",
            "Every width groks.",
            "Figure 9",
            every_width,
        ),
        Claim(
            "geometry/summed-mass",
            "Four heads meet the condition together and not each for itself, in the mean over "
            "sequences.",
            "Conjecture E.2, Figure 9",
            by_summed_mass,
            afterwards='the words "in the mean over sequences" were added',
        ),
        Claim(
            "geometry/heads-and-prior",
            "With four heads, too, the KL prior shortens the wait.",
            "Figure 9",
            sooner("4 heads, KL 1 each", "4 heads", 0.8),
            sooner("4 heads, KL 1 summed", "4 heads", 0.8),
        ),
        Claim(
            "geometry/heads-no-help",
            "Four heads are no faster than one of the same total width.",
            "ours",
            no_sooner("4 heads", "d 64"),
        ),
    ),
)
