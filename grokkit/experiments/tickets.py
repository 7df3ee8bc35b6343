"""Figure 4: the lottery ticket against the Bayesian ticket, with fair rivals.

A lottery ticket is fair if its mask keeps what it was cut from: at a sparsity of 0.8, our first
choice, the trained network no longer knows all of its own train set under the mask. The second
row cuts gently enough, on fresh seeds.
"""

from functools import partial

from grokkit.engine import RunSpec
from grokkit.experiments.judges import for_each, no_sooner, part, sooner
from grokkit.experiments.quantities import takes
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, quick
from grokkit.experiments.sources import FRESH, WHOLE, prepare, right_under, source, ticket

KEEPS = (0.99, 0.95)
"""A mask keeps the source's function if it leaves so much of train and of test right."""


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


def gently(size: Size) -> Arms:
    """Lottery tickets of four sparsities, with the rivals of the first row."""
    base = quick(size)
    lottery = {f"lottery {s:g}": base.with_(ticket=ticket(size, f"lottery-{s:g}")) for s in WHOLE}
    return {
        "dense": base,
        **lottery,
        "lottery 0.8": base.with_(ticket=ticket(size, "lottery")),
        "random 0.5": lambda seed: base.with_(seed=seed, ticket=ticket(size, f"random-0.5-{seed}")),
        "lottery 0.5, oracle": kl(lottery["lottery 0.5"]),
        "Bayesian": kl(base),
        "Bayesian, teacher": base.with_(prior="teacher", teacher=source(size), kl_strength=1.0),
    }


@for_each
def keeps(evidence: Evidence, arm: str, holds: bool = True) -> Part:
    """Under the arm's mask the source still answers, without retraining; or no longer does."""
    evidence.arm(arm)
    specs = evidence.arms[arm]
    assert isinstance(specs[0], RunSpec) and specs[0].controls.ticket is not None
    train, test = right_under(specs[0].controls.ticket)
    kept = train >= KEEPS[0] and test >= KEEPS[1]
    limits = f"{KEEPS[0]:g} of train and {KEEPS[1]:g} of test"
    says = f"{arm}: {'' if holds else 'not '}{limits} right under the mask alone"
    seen = f"train {train:.3f}, test {test:.3f} (one source for all seeds)"
    return part(says, [kept == holds] * len(specs), seen)


ROW = Row(
    name="tickets",
    figure="Figure 4, section 6; at a sparsity that breaks the source: see tickets-again",
    question="Which ticket is inherited: the weights that matter, or where to look?",
    setup=setup,
    prepare=prepare,
    claims=(
        Claim(
            "tickets/bayesian-wins",
            "The Bayesian ticket groks no later than the lottery ticket.",
            "Figure 4; this mask, of sparsity 0.8, breaks the network that it was cut from: see "
            "tickets-again/bayesian-wins",
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
            sooner("lottery", "dense", 0.9),
            sooner("lottery, attention whole", "dense", 0.9),
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

AGAIN = Row(
    name="tickets-again",
    figure="Figure 4, with masks that keep the network's function, on fresh seeds",
    question="And if the lottery ticket's mask keeps what the network could do?",
    setup=gently,
    prepare=prepare,
    seeds=FRESH,
    claims=(
        Claim(
            "tickets-again/masks-keep",
            "At sparsities of 0.5, 0.6 and 0.7 the trained network still answers under its own "
            "mask, without retraining; at 0.8, the sparsity of the first race, it does not.",
            "ours: what should be asked before any race",
            keeps(*(f"lottery {share:g}" for share in WHOLE)),
            keeps("lottery 0.8", holds=False),
            afterwards="the sparsities were chosen by this, before the race: no run had been seen",
        ),
        Claim(
            "tickets-again/bayesian-wins",
            "The Bayesian ticket groks no later than a lottery ticket whose mask keeps the "
            "function of the network that it was cut from.",
            "Figure 4",
            *(
                takes("Bayesian", f"lottery {share:g}", at_most=1.0, accuracy=accuracy)
                for share in WHOLE
                for accuracy in (0.95, 0.99)
            ),
        ),
        Claim(
            "tickets-again/both-with-oracle",
            "The Bayesian ticket groks no later than such a lottery ticket that is given the "
            "oracle.",
            "weak point 9: the rivals were not given the same information",
            takes("Bayesian", "lottery 0.5, oracle", at_most=1.0),
        ),
        Claim(
            "tickets-again/both-without-oracle",
            "A Bayesian ticket whose oracle is the attention of the lottery ticket's own source "
            "groks no later than such a lottery ticket.",
            "weak point 9",
            *(takes("Bayesian, teacher", f"lottery {s:g}", at_most=1.0) for s in WHOLE),
        ),
        Claim(
            "tickets-again/lottery-helps",
            "A lottery ticket whose mask keeps the function groks in at most 0.9 of the epochs of "
            "the dense network.",
            "section 6",
            *(takes(f"lottery {share:g}", "dense", at_most=0.9) for share in WHOLE),
        ),
        Claim(
            "tickets-again/mask-is-meaningful",
            "Such a lottery ticket takes at most 0.9 of the epochs of a random mask as sparse.",
            "our control",
            takes("lottery 0.5", "random 0.5", at_most=0.9),
        ),
        Claim(
            "tickets-again/nothing-to-gain",
            "Given the oracle, such a mask gives no speed-up: at least 0.9 of the epochs.",
            "section 6",
            takes("lottery 0.5, oracle", "Bayesian", at_least=0.9),
        ),
        Claim(
            "tickets-again/hangs-on-the-cut",
            "How the lottery ticket fares hangs on how deep it is cut: at a sparsity of 0.8 it "
            "takes at least 1.5 times the epochs that it takes at 0.5.",
            "ours: the first race was against a broken rival",
            takes("lottery 0.8", "lottery 0.5", at_least=1.5),
        ),
    ),
)
