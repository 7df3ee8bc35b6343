"""Figure 2: is it the norm, is it the structure, or must it be both?"""

from functools import partial

import numpy as np

from grokkit.engine import RunSpec
from grokkit.experiments.judges import (
    ALSO_MEMORISES,
    APART,
    bounded,
    ends_below,
    for_each,
    groks,
    memorises,
    never_groks,
    no_sooner,
    one_norm,
    sooner,
    spread,
)
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, quick
from grokkit.runtime import specs_of

EPOCHS = 6000
RADIUS = {"classroom": 28.0, "paper": 28.0}
"""The norm of the MLP in the norm-matched arms: about that of a baseline when it groks.

Measured, not chosen: the claim ``norm-vs-structure/radius`` compares the two.
"""
ADVERSARIAL = 0.3
"""The strength of the adversarial prior.

Tried on seed 0 with the live preset: at 0.1 the network groks in spite of it, at 1 it does
not even memorise in 1500 epochs, at 0.3 it memorises late.
"""
at_chance = partial(ends_below, variable="test_accuracy", limit=0.1)
"""Arms end with a test accuracy that counts as chance (1 / p, with room for luck)."""


def setup(size: Size) -> Arms:
    """Three ways with the norm times three ways with attention; and a control for each."""
    base = quick(size)
    if size == "classroom":
        base = base.with_(epochs=EPOCHS)
    norms = {
        "decay 1": base,
        "decay 0": base.with_(weight_decay=0.0),
        "norm held": base.with_(mlp_radius=RADIUS[size]),
    }
    arms: dict[str, RunSpec] = {}
    for name, spec in norms.items():
        arms[name] = spec
        arms[f"{name}, oracle"] = kl(spec)
        arms[f"{name}, adversarial"] = kl(spec, ADVERSARIAL).with_(target="adversarial")
    held = norms["norm held"]
    for strength in (0.1, 1.0):
        opposed = kl(held, strength).with_(target="adversarial")
        arms[f"norm held, adversarial {strength:g}"] = opposed
    # The sphere holds the MLP; what becomes of the other weights is left to their decay.
    arms["norm held, decay 0"] = held.with_(weight_decay=0.0)
    arms["norm held, decay 0, oracle"] = kl(arms["norm held, decay 0"])
    arms["decay 1, L2 on W_Q, W_K"] = base.with_(qk_penalty=0.5)
    return arms


def radius_is_matched(evidence: Evidence) -> list[Part]:
    """The MLP's norm where the baseline groks, against the radius of the sphere."""
    grokked = evidence.grokked("decay 1", 0.95)
    norms = evidence.at("decay 1", "mlp_norm", grokked)
    radius = evidence.final("norm held", "mlp_norm")
    seen = f"{spread(norms, '.3g')}, held at {spread(radius, '.3g')}"
    says = "norm at test accuracy 0.95 within a fifth of the radius"
    return [bounded(says, norms / radius, seen, 0.8, 1.2)]


@for_each
def off_the_informative(evidence: Evidence, arm: str) -> Part:
    """At the end, at most half of the mass on I* that uniform attention would have."""
    informative = specs_of(evidence.arm(arm))[0].task.build(0).train.informative[0]
    limit = float(informative.sum()) / len(informative) / 2
    says = f"{arm}: at most {limit:g} of the attention is on informative tokens at the end"
    return bounded(says, evidence.final(arm, "informative_mass"), at_most=limit)


def more_mass_decides(evidence: Evidence, variable: str = "informative_mass") -> list[Part]:
    """The mass that is left on I* by an adversary that is beaten, against one that is not."""
    weak, strong = "norm held, adversarial 0.1", "norm held, adversarial"
    beaten, holds = (evidence.final(arm, variable) for arm in (weak, strong))
    # Where both are beaten, or neither is, there is nothing to explain.
    groks, fails = (evidence.grokked(arm, 0.95).reached for arm in (weak, strong))
    differ = [one is True and other is False for one, other in zip(groks, fails, strict=True)]
    more = np.where(differ, beaten - holds, np.nan)
    seen = f"{spread(beaten)}, and {spread(holds)} where it does not"
    which = "least mass" if variable.startswith("min") else "mass"
    says = f"{which} on informative tokens by 0.05 larger where the network groks (0.1) than at 0.3"
    return [bounded(says, more, seen, at_least=0.05, null=0.0)]


ROW = Row(
    name="norm-vs-structure",
    figure="Figure 2, Theorem 4.3",
    question="Is generalising a matter of the MLP's norm, of where attention looks, or of both?",
    setup=setup,
    claims=(
        Claim(
            "norm-vs-structure/adversarial",
            "With attention held on the distractors, and the norm held or left to decay, the "
            "network memorises and stays at chance.",
            "Figure 2",
            memorises("norm held, adversarial", "decay 1, adversarial"),
            off_the_informative("norm held, adversarial", "decay 1, adversarial"),
            at_chance("norm held, adversarial", "decay 1, adversarial"),
            afterwards="the parts on memorising and on where attention is were added: it had been "
            "called held there, and not measured",
        ),
        Claim(
            "norm-vs-structure/mass-decides",
            "What the adversary does it does by the mass that it takes: where the network groks in "
            "spite of it, more mass is left on the informative tokens.",
            "Theorem 4.3",
            more_mass_decides,
            afterwards="added, to tell the adversary's mass from the rest of what it does; "
            "undecided, since then, unless the weaker adversary alone is beaten",
        ),
        Claim(
            "norm-vs-structure/least-mass-decides",
            "What the adversary does it does by the least mass that it leaves: where the network "
            "groks in spite of it, every informative token of every train example keeps more.",
            "Theorem 4.3, by the least mass as Definition 4.1 states it",
            partial(more_mass_decides, variable="min_informative_mass"),
            afterwards="the claim above asked the mean mass, where the theorem speaks of the "
            "least; judged again on fresh seeds in structure/least-mass",
        ),
        Claim(
            "norm-vs-structure/adversarial-any-strength",
            "At a third and at three times the strength, too, an adversary lets the network "
            "memorise and keeps it at chance.",
            "our control",
            at_chance("norm held, adversarial 0.1", "norm held, adversarial 1"),
            memorises("norm held, adversarial 0.1", "norm held, adversarial 1"),
            afterwards="written knowing from seed 0, which is among those judged, that 0.1 is "
            "beaten and that at 1 it does not memorise; " + ALSO_MEMORISES,
        ),
        Claim(
            "norm-vs-structure/oracle-alone",
            "The right attention without control of the norm falls short.",
            "Figure 2",
            memorises("decay 0, oracle"),
            never_groks("decay 0, oracle"),
            afterwards=ALSO_MEMORISES,
        ),
        Claim(
            "norm-vs-structure/both",
            "The right attention and the right norm together generalise.",
            "Figure 2",
            groks("decay 1, oracle", "norm held, oracle"),
        ),
        Claim(
            "norm-vs-structure/mlp-norm-is-all",
            "Holding the norm of the MLP does all that decay does: with the right attention the "
            "other weights need none.",
            "Figure 2, Definition 4.2: N speaks of the MLP alone",
            groks("norm held, decay 0, oracle", accuracy=0.95),
        ),
        Claim(
            "norm-vs-structure/norm-alone",
            "The right norm from the beginning does not spare the wait for structure: the oracle "
            "still helps.",
            "Theorem 4.3",
            sooner("norm held, oracle", "norm held", 0.8),
        ),
        Claim(
            "norm-vs-structure/not-any-shrinking",
            "Shrinking W_Q and W_K without telling them where to look is no substitute.",
            "Appendix G.3",
            no_sooner("decay 1, L2 on W_Q, W_K", "decay 1"),
        ),
        Claim(
            "norm-vs-structure/goldilocks",
            "With the oracle and without it, networks grok at about one norm.",
            "Definition 4.2; weak point 2: cited, not derived",
            one_norm("decay 1", "decay 1, oracle"),
            afterwards='it had said "however they came there"; other ways are asked of in '
            "four-phases/goldilocks and assumptions/goldilocks; " + APART,
        ),
        Claim(
            "norm-vs-structure/radius",
            "The held norm is the one that the baseline groks at (a check of this experiment).",
            "ours",
            radius_is_matched,
        ),
    ),
)
