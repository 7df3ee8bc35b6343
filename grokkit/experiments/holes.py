"""Regions of the table in which nothing is trained on: how far does understanding reach?"""

import numpy as np

from grokkit.experiments.judges import bounded, for_each, spread
from grokkit.experiments.row import Arms, Claim, Evidence, Part, Row, Size
from grokkit.experiments.uniformity import field

EDGES = {
    "classroom": {
        "square": {"small": 15, "large": 29},
        "strip": {"small": 11, "large": 27},
    },
    "paper": {
        "square": {"small": 30, "middle": 45, "large": 60},
        "strip": {"small": 40, "middle": 50, "large": 60},
    },
}
"""The last number inside: i, j <= k in a square, i <= t in a strip."""


def setup(size: Size) -> Arms:
    """Squares and strips of growing size, with as many train pairs outside each."""
    return {
        f"{which} {kind}": field(size, hole=kind, hole_edge=edge)
        for kind, edges in EDGES[size].items()
        for which, edge in edges.items()
    }


def inside(evidence: Evidence, arm: str, variable: str = "extra_accuracy") -> np.ndarray:
    """The last accuracy in the hole, for each run."""
    return evidence.final(arm, variable, extra="hole")


def _lower(says: str, one: np.ndarray, other: np.ndarray, by: float) -> Part:
    """One accuracy lies below another of the same seed."""
    return bounded(
        f"{says} by {by:g}", other - one, f"{spread(one)} against {spread(other)}", by, null=0.0
    )


@for_each
def larger_is_worse(evidence: Evidence, kind: str) -> Part:
    """The accuracy in the largest hole of a shape against that in the smallest."""
    small, large = (inside(evidence, f"{which} {kind}") for which in ("small", "large"))
    return _lower(f"{kind}: accuracy in the large hole lower", large, small, 0.05)


def strips_are_worse(evidence: Evidence) -> list[Part]:
    """The largest strip against the largest square."""
    strip, square = (inside(evidence, f"large {kind}") for kind in ("strip", "square"))
    return [
        _lower("accuracy in the large strip below that in the large square", strip, square, 0.05)
    ]


def by_mirrors(evidence: Evidence) -> list[Part]:
    """In a strip: pairs whose mirror image is trained on, against the others."""
    arm = "small strip"
    seen = inside(evidence, arm, "extra_mirrored_accuracy")
    unseen = inside(evidence, arm, "extra_unmirrored_accuracy")
    says = f"{arm}: accuracy with a mirror image in train above that without by 0.1"
    return [bounded(says, seen - unseen, f"{spread(seen)} against {spread(unseen)}", 0.1, null=0.0)]


ROW = Row(
    name="holes",
    figure="arXiv 2504.03162: square and strip holes",
    question="How far into a region without data does understanding reach?",
    setup=setup,
    claims=(
        Claim(
            "holes/size",
            "The larger the hole, the fewer of its pairs are right.",
            "arXiv 2504.03162",
            larger_is_worse("square", "strip"),
        ),
        Claim(
            "holes/strips",
            "Strips are worse than squares.",
            "arXiv 2504.03162, where hole and other test pairs are mixed; here the hole alone",
            strips_are_worse,
        ),
        Claim(
            "holes/mirrors",
            "Much of what is right in a strip is right by its mirror image, which is trained on.",
            "ours",
            by_mirrors,
        ),
    ),
)
