"""Where a LayerNorm stands, and whether it is the block that makes the network wait.

arXiv 2602.06702 orders networks by how soon they grok: by what their architecture makes easy
to learn first. The placements are those of :class:`grokkit.model.ModelSpec`.
"""

import numpy as np

from grokkit.engine import RunSpec
from grokkit.experiments.claims import Claim, Part
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.judges import (
    ALSO_MEMORISES,
    bounded,
    in_order,
    memorises,
    never_groks,
    rank_correlations,
    sooner,
    spread,
)
from grokkit.experiments.row import Arms, Row, Size
from grokkit.experiments.settings import recorded_base

PLACEMENTS = ("none", "A*", "A^qk", "A^v", "M", "M+A*")
"""The placements that are run; the order is not one of speed."""


def block(size: Size) -> RunSpec:
    """The paper's block; at classroom size on a table of 47 by 47.

    Chosen on seed 0: of p 59 and p 47 at a train fraction of 0.4 the second takes half of the
    time. With it none, A* and A^qk had been seen on that seed, and with p 59 none and M, when
    the claims were written; they are the paper's.
    """
    base = recorded_base("inductive-bias").with_(epochs=10_000, record_every=50, features=True)
    if size == "classroom":
        base = base.with_(p=47, train_fraction=0.4, stop_after=500)
    return base


def placed(size: Size) -> Arms:
    """Each placement, and nothing else changed."""
    return {name: block(size).with_(norm=name) for name in PLACEMENTS}


def entropy_orders(evidence: Evidence) -> list[Part]:
    """The entropy of the averaged map when memorised, against when the network groks."""
    epochs = in_order([evidence.grokked(name, 0.95) for name in PLACEMENTS])
    entropies = np.stack(
        [evidence.at(name, "map_entropy", evidence.memorised(name)) for name in PLACEMENTS]
    )
    ranks = rank_correlations(entropies, epochs)
    says = "rank correlation, over placements, of entropy when memorised and epoch at most -0.8"
    return [bounded(says, ranks, at_most=-0.8, null=0.0)]


def shortcut(evidence: Evidence) -> list[Part]:
    """The train loss without the length of y, half-way between memorising and the grok.

    Not asked of M: its norm takes the length away in any case, and the probe costs nothing.
    """
    parts = []
    for name in ("none", "A*"):
        rises = []
        for one, start, end in zip(
            evidence.runs(name),
            evidence.memorised(name).values,
            evidence.grokked(name, 0.95).values,
            strict=True,
        ):
            if np.isnan(start) or np.isnan(end):
                rises.append(np.nan)
                continue
            middle = one.sel(epoch=(start + end) / 2, method="nearest")
            rises.append(float(middle.shortcut_loss - middle.train_loss))
        says = f"{name}: the probe costs at least 1 nat half-way through the wait"
        parts.append(bounded(says, rises, f"{spread(rises)} nats", at_least=1.0))
    return parts


PLACEMENT = Row(
    name="ln-placement",
    figure="arXiv 2602.06702: placements, attention entropy, shortcut probe",
    question="Does the place of a LayerNorm decide how long the network waits?",
    setup=placed,
    claims=(
        Claim(
            "ln-placement/order",
            "M groks before M+A*, M+A* before A*, A* before a network without a norm.",
            "arXiv 2602.06702",
            sooner("M", "M+A*"),
            sooner("M+A*", "A*"),
            sooner("A*", "none"),
        ),
        Claim(
            "ln-placement/mlp-norm",
            "A norm before the MLP alone brings the grok to less than half of the epochs.",
            "arXiv 2602.06702",
            sooner("M", "none", 0.5),
        ),
        Claim(
            "ln-placement/entropy",
            "The more evenly a network looks when it has memorised, the sooner it groks.",
            "arXiv 2602.06702",
            entropy_orders,
        ),
        Claim(
            "ln-placement/shortcut",
            "Without a norm before the MLP the network reads the length of the MLP's input (with "
            "one it cannot).",
            "arXiv 2602.06702: SR-train",
            shortcut,
        ),
    ),
)

PATHWAYS = Row(
    name="ln-pathways",
    figure="arXiv 2602.06702: A* taken apart",
    question="Which of attention's pathways is it that a LayerNorm helps?",
    setup=placed,
    shares_recording_of=("ln-placement",),
    claims=(
        Claim(
            "ln-pathways/values",
            "A norm on what the values read brings the grok to less than half of the epochs.",
            "arXiv 2602.06702: A^v",
            sooner("A^v", "none", 0.5),
        ),
        Claim(
            "ln-pathways/scores",
            "A norm on what queries and keys read keeps the network from grokking.",
            "arXiv 2602.06702: A^qk",
            memorises("A^qk"),
            never_groks("A^qk"),
            afterwards=ALSO_MEMORISES,
        ),
        Claim(
            "ln-pathways/together",
            "With A* the grok epoch lies between those of A^v and A^qk.",
            "arXiv 2602.06702: A*",
            sooner("A^v", "A*"),
            sooner("A*", "A^qk"),
        ),
    ),
)
