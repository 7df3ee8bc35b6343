"""Ours: what the distractors are decides where the delay comes from."""

import math

from grokkit.engine import RunSpec
from grokkit.experiments.judges import (
    bounded,
    groks,
    judge,
    memorises,
    never_groks,
    no_sooner,
    so_far,
    sooner,
    spread,
)
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, recorded_base

KINDS = {
    "constant": {"distractors": "constant"},
    "alphabet": {"distractors": "alphabet"},
    "random": {"distractors": "random"},
    "4 draws": {"distractors": "random", "draws": 4},
}
"""The kinds of distractors, and the settings that make them."""


def setup(size: Size) -> Arms:
    """Each kind of distractors, without a prior and with KL 1."""
    base = recorded_base("paper")
    if size == "classroom":
        base = base.with_(p=31, train_fraction=0.7, epochs=10_000, stop_after=500)
    arms: dict[str, RunSpec] = {}
    for kind, settings in KINDS.items():
        arms[kind] = base.with_(**settings)
        arms[f"{kind}, KL 1"] = kl(arms[kind])
    return arms


def on_the_distractors(evidence: Evidence) -> list[Part]:
    """Where a trapped network looks at its end."""
    mass = evidence.final("random", "informative_mass")
    says = "random: less than half of the attention on informative tokens at the end"
    return [bounded(says, mass, at_most=math.nextafter(0.5, 0))]


@judge
def structure_at_once(evidence: Evidence, kind: str, epochs: int) -> list[Part]:
    """Attention has found the informative tokens within a few hundred epochs."""
    soon = evidence.each(kind, lambda one: one.informative_mass.sel(epoch=slice(0, epochs)).max())
    says = f"{kind}: 0.8 of the attention on informative tokens within {epochs} epochs"
    return [bounded(says, so_far(evidence, kind, soon, rising=True), spread(soon), 0.8)]


ROW = Row(
    name="distractors",
    figure="ours",
    question="Where is the delay one of structure, where is it not, and where is it a trap?",
    setup=setup,
    claims=(
        Claim(
            "distractors/constant",
            "With constant distractors attention is right at once, and the KL prior does not help.",
            "ours",
            structure_at_once("constant", 300),
            groks("constant"),
            no_sooner("constant, KL 1", "constant"),
            afterwards='it had said too "the wait is the norm\'s", which nothing here measures',
        ),
        Claim(
            "distractors/alphabet",
            "With distractors from a small alphabet the wait is structural: the prior shortens it.",
            "ours",
            memorises("alphabet"),
            sooner("alphabet, KL 1", "alphabet", 0.8),
        ),
        Claim(
            "distractors/random",
            "With a fresh random token in every place there is no plateau but a trap: it "
            "memorises through the distractors and never groks.",
            "ours",
            memorises("random"),
            never_groks("random", accuracy=0.95),
            on_the_distractors,
        ),
        Claim(
            "distractors/way-out",
            "The prior leads out of the trap.",
            "ours",
            groks("random, KL 1"),
        ),
        Claim(
            "distractors/draws",
            "Shown each pair with four draws of the distractors, attention finds the structure "
            "by itself.",
            "ours",
            structure_at_once("4 draws", 300),
            groks("4 draws"),
        ),
    ),
)
