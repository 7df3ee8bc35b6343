"""Figure 4: the lottery ticket against the Bayesian ticket, with fair rivals."""

from functools import partial

from grokkit.engine import RunSpec
from grokkit.experiments.claims import Claim
from grokkit.experiments.judges import all_of, no_sooner, sooner
from grokkit.experiments.row import Arms, Row, Size
from grokkit.experiments.settings import kl, quick
from grokkit.experiments.sources import prepare, source, ticket


def setup(size: Size) -> Arms:
    """Fresh weights under a mask, with a prior, with both, with neither."""
    base = quick(size)
    lottery = base.with_(ticket=ticket(size, "lottery"))
    return {
        "dense": base,
        "random mask": partial(_random, size),
        "lottery": lottery,
        "lottery, attention whole": base.with_(ticket=ticket(size, "lottery-mlp")),
        "lottery, oracle": kl(lottery),
        "Bayesian": kl(base),
        "Bayesian, teacher": base.with_(prior="teacher", teacher=source(size), kl_strength=1.0),
    }


def _random(size: Size, seed: int) -> RunSpec:
    """A mask as sparse as the lottery ticket's, another one for every seed."""
    return quick(size).with_(seed=seed, ticket=ticket(size, f"random-{seed}"))


ROW = Row(
    name="tickets",
    figure="Figure 4, section 6",
    question="Which ticket is inherited: the weights that matter, or where to look?",
    setup=setup,
    prepare=prepare,
    claims=(
        Claim(
            "tickets/bayesian-wins",
            "The Bayesian ticket groks no later than the lottery ticket.",
            "Figure 4",
            sooner("Bayesian", "lottery"),
        ),
        Claim(
            "tickets/both-with-oracle",
            "The Bayesian ticket groks no later than a lottery ticket that is given the oracle.",
            "weak point 9: the rivals were not given the same information",
            sooner("Bayesian", "lottery, oracle"),
        ),
        Claim(
            "tickets/both-without-oracle",
            "A Bayesian ticket whose oracle is the attention of the lottery ticket's own source "
            "groks no later than the lottery ticket.",
            "weak point 9",
            sooner("Bayesian, teacher", "lottery"),
        ),
        Claim(
            "tickets/lottery-helps",
            "A lottery ticket groks sooner than the dense network on fresh seeds.",
            "section 6",
            all_of(
                sooner("lottery", "dense", 0.9), sooner("lottery, attention whole", "dense", 0.9)
            ),
        ),
        Claim(
            "tickets/mask-is-meaningful",
            "The lottery ticket's mask is better than a random one as sparse.",
            "our control",
            sooner("lottery", "random mask", 0.9),
        ),
        Claim(
            "tickets/nothing-to-gain",
            "Given the oracle, a lottery mask gives no speed-up.",
            "section 6",
            no_sooner("lottery, oracle", "Bayesian", 0.9),
        ),
    ),
)
