"""Learning rate with its product with the decay held; and the decay alone."""

from grokkit.experiments.claims import Bounds, Claim, Part
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.inductive_bias import block
from grokkit.experiments.judges import falls_with, never_groks, ratio, sooner
from grokkit.experiments.row import Arms, Row, Size

RATES = {"classroom": (10,), "paper": (3, 5, 10)}
"""Multiples of the learning rate, each with as small a share of the decay."""

DECAYS = {"classroom": (0.5, 1.0, 1.5), "paper": (0.5, 0.75, 1.0, 1.5)}
"""Weight decays at one learning rate; two cores have no time for all of the paper's arms."""


def setup(size: Size) -> Arms:
    """Rates at one product, decays at one rate."""
    base = block(size)
    rate, decay = base.optimizer.learning_rate, base.optimizer.weight_decay
    decays = {f"decay {d:g}": base.with_(weight_decay=d) for d in DECAYS[size]}
    rates = {
        f"rate x{k}, decay / {k}": base.with_(learning_rate=k * rate, weight_decay=decay / k)
        for k in RATES[size]
    }
    return decays | rates


def product_decides(evidence: Evidence) -> list[Part]:
    """The largest rate against the least, the product held."""
    mine = evidence.grokked("rate x10, decay / 10", 0.95)
    its = evidence.grokked("decay 1", 0.95)
    says = "ten times the rate, at one product, within a factor of two"
    return [ratio(says, mine, its, Bounds(0.5, 2.0), "and")]


ROW = Row(
    name="lr-and-decay",
    figure="arXiv 2602.06702: learning rate and decay",
    question="Is it the product of learning rate and decay that sets the pace?",
    setup=setup,
    claims=(
        Claim(
            "lr-and-decay/product",
            "At one product of the two a tenfold rate changes the grok epoch by less than two.",
            "arXiv 2602.06702",
            product_decides,
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
