"""A smaller readout groks sooner; or is that the learning rate, which was changed with it?"""

from grokkit.experiments.claims import Claim, Part
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.inductive_bias import block
from grokkit.experiments.judges import bounded, grok_ranks, judge, spread
from grokkit.experiments.row import Arms, Row, Size

SCALES = {"classroom": (0.5, 1.0, 1.5), "paper": (0.5, 0.75, 1.0, 1.25, 1.5)}
"""a, the factor on the logits' matrix; of the paper's five, two cores have time for three."""


def setup(size: Size) -> Arms:
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


ROW = Row(
    name="readout-scale",
    figure="arXiv 2602.06702: readout scale",
    question="Does a smaller readout make a network grok sooner?",
    setup=setup,
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
