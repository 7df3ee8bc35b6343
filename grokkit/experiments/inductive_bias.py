"""What makes a network wait: where a LayerNorm stands, its readout, or its pace.

arXiv 2602.06702 orders networks by how soon they grok: by what their architecture makes easy
to learn first. The placements are those of :class:`grokkit.model.ModelSpec`.
"""

from typing import TYPE_CHECKING

import numpy as np

from grokkit.engine import RunSpec
from grokkit.experiments.judges import (
    ALSO_MEMORISES,
    bounded,
    compared,
    falls_with,
    grok_ranks,
    in_order,
    judge,
    memorises,
    never_groks,
    rank_correlations,
    sooner,
    spread,
)
from grokkit.experiments.quantities import grok
from grokkit.experiments.row import Arms, Bounds, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import recorded_base

if TYPE_CHECKING:
    import xarray as xr

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

    def rise(one: "xr.Dataset", start: float, end: float) -> float:
        middle = one.sel(epoch=(start + end) / 2, method="nearest")
        return float(middle.shortcut_loss - middle.train_loss)

    parts = []
    for name in ("none", "A*"):
        rises = evidence.each(name, rise, evidence.memorised(name), evidence.grokked(name, 0.95))
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


SCALES = {"classroom": (0.5, 1.0, 1.5), "paper": (0.5, 0.75, 1.0, 1.25, 1.5)}
"""a, the factor on the logits' matrix; of the paper's five, two cores have time for three."""


def scaled(size: Size) -> Arms:
    """Each scale by two rules: the learning rate goes as 1/a^2, or stays."""
    base = block(size)
    rate = base.optimizer.learning_rate
    arms = {}
    for a in SCALES[size]:
        arms[f"a {a:g}"] = base.with_(readout_scale=a)
        if a != 1:
            arms[f"a {a:g}, rate / a^2"] = base.with_(readout_scale=a, learning_rate=rate / a**2)
    return arms


@judge
def orders(evidence: Evidence, suffix: str, sign: int) -> list[Part]:
    """The rank correlation of a with the grok epoch under one rule."""
    by_name = {f"a {a:g}{suffix if a != 1 else ''}": a for a in SCALES["paper"]}
    ranks = grok_ranks(evidence, by_name)
    times = {name: evidence.grokked(name, 0.95) for name in by_name if name in evidence.arms}
    seen = "; ".join(f"{name}: {when}" for name, when in times.items())
    says = f"rank correlation of a and epoch {'at least 0.8' if sign > 0 else 'at most -0.8'}"
    bound = {"at_least": 0.8} if sign > 0 else {"at_most": -0.8}
    return [bounded(says, ranks, f"{spread(ranks)} ({seen})", **bound, null=0.0)]


READOUT = Row(
    name="readout-scale",
    figure="arXiv 2602.06702: readout scale",
    question="Does a smaller readout make a network grok sooner?",
    setup=scaled,
    claims=(
        Claim(
            "readout-scale/smaller-is-sooner",
            "With the learning rate at 1/a^2 of its own, the network groks the sooner, the smaller "
            "the readout scale a.",
            "arXiv 2602.06702",
            orders(", rate / a^2", +1),
        ),
        Claim(
            "readout-scale/rate-left-alone",
            "With one learning rate for all, the network groks the later, the smaller the readout "
            "scale a.",
            "our control; the rule is one for squared error and SGD",
            orders("", -1),
        ),
    ),
)


RATES = {"classroom": (10,), "paper": (3, 5, 10)}
"""Multiples of the learning rate, each with as small a share of the decay."""

DECAYS = {"classroom": (0.5, 1.0, 1.5), "paper": (0.5, 0.75, 1.0, 1.5)}
"""Weight decays at one learning rate; two cores have no time for all of the paper's arms."""


def paced(size: Size) -> Arms:
    """Rates at one product, decays at one rate."""
    base = block(size)
    rate, decay = base.optimizer.learning_rate, base.optimizer.weight_decay
    decays = {f"decay {d:g}": base.with_(weight_decay=d) for d in DECAYS[size]}
    rates = {
        f"rate x{k}, decay / {k}": base.with_(learning_rate=k * rate, weight_decay=decay / k)
        for k in RATES[size]
    }
    return decays | rates


PACE = Row(
    name="lr-and-decay",
    figure="arXiv 2602.06702: learning rate and decay",
    question="Is it the product of learning rate and decay that sets the pace?",
    setup=paced,
    claims=(
        Claim(
            "lr-and-decay/product",
            "At one product of the two a tenfold rate changes the grok epoch by less than two.",
            "arXiv 2602.06702",
            compared(
                grok("rate x10, decay / 10"),
                grok("decay 1"),
                "ten times the rate, at one product, within a factor of two",
                Bounds(0.5, 2.0),
                "and",
            ),
        ),
        Claim(
            "lr-and-decay/larger-rate-is-sooner",
            "At one product of rate and decay a larger rate is sooner.",
            "arXiv 2602.06702",
            sooner("rate x10, decay / 10", "decay 1"),
        ),
        Claim(
            "lr-and-decay/decay",
            "At one learning rate the network groks the sooner, the larger the decay.",
            "arXiv 2602.06702",
            falls_with("decay", {f"decay {d:g}": d for d in DECAYS["paper"]}),
        ),
        Claim(
            "lr-and-decay/too-little",
            "With half of the decay the network does not grok within 10,000 epochs.",
            "arXiv 2602.06702",
            never_groks("decay 0.5"),
        ),
    ),
)
