"""Figure 5 and Lemma 5.1: memorising silences the gradient of attention; how far?"""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from grokkit.experiments.judges import bounded, judge, so_far, spread
from grokkit.experiments.row import Arms, Claim, Evidence, MissingArm, Part, Row, Size
from grokkit.experiments.settings import kl, slow

if TYPE_CHECKING:
    import xarray as xr

FORMS = {
    "(4)": ("starvation_worst", "starvation_bound"),
    "the form by position (33, 34)": (None, "starvation_bound_position"),
    "the linear form": ("starvation_worst_linear", "starvation_bound_linear"),
}
"""Each bound: what is recorded of its worst example, and of its mean over examples."""


def setup(size: Size) -> Arms:
    """The baseline and the KL prior, both shared with other rows."""
    return {"baseline": slow(size), "KL 1": kl(slow(size))}


@judge
def holds_everywhere(evidence: Evidence, *arms: str) -> list[Part]:
    """No record of any run breaks a bound, for its worst example or in the mean."""
    parts = []
    for arm, (name, (worst, mean)) in product(arms, FORMS.items()):
        ratios = []
        for one in _with_bounds(evidence, arm):
            largest = float((one.score_gradient_max / one[mean]).max())
            # NumPy's maximum: nan, which says nothing, stays nan. A bound of 0 that is broken
            # is a breach like any other, not a number that never came.
            ratio = np.maximum(largest, float(one[worst].max()) if worst else 0.0)
            ratios.append(np.minimum(ratio, np.finfo(float).max))
        says = f"{arm}: gradient at most {name} at every record"
        seen = f"at most {spread(ratios)} of it"
        # The recorded values are rounded to 2^-11. Of a run cut short only a breach is known.
        known = so_far(evidence, arm, ratios, rising=True)
        parts.append(bounded(says, known, seen, at_most=1 + 2**-10))
    return parts


def square_root(evidence: Evidence) -> list[Part]:
    """With which power of the loss the gradient falls, from memorising on."""
    return [_power_between(0.4, 0.6, evidence.runs("baseline"))]


def linear(evidence: Evidence) -> list[Part]:
    """The same power; and how far the gradient moves against the linear form and (4)."""
    runs = _with_bounds(evidence, "baseline")
    of_linear = [_range(one, "starvation_bound_linear") for one in runs]
    of_root = [_range(one, "starvation_bound") for one in runs]
    says = "gradient / linear form moves less than gradient / (4)"
    seen = f"by {spread(of_linear)} x against {spread(of_root)} x"
    moves = bounded(says, np.divide(of_linear, of_root), seen, at_most=1.0)
    return [_power_between(0.8, 1.2, runs), moves]


def tight(evidence: Evidence) -> list[Part]:
    """How near the gradient comes to (4) at all."""
    nearest = [
        float((one.score_gradient_max / one.starvation_bound).max())
        for one in _with_bounds(evidence, "baseline")
    ]
    says = "within a factor of ten at some record"
    known = so_far(evidence, "baseline", nearest, rising=True)
    return [bounded(says, known, f"at most {spread(nearest)} of (4)", at_least=0.1)]


def vacuous(evidence: Evidence) -> list[Part]:
    """The threshold gamma from measured factors, against the least mass, once memorised."""
    gammas, masses = [], []
    for one in _with_bounds(evidence, "baseline"):
        memorised = one.where((one.train_accuracy >= 0.99) & (one.logit_margin > 0), drop=True)
        if not memorised.sizes["epoch"]:
            gammas.append(np.nan)
            masses.append(np.nan)
            continue
        first = memorised.isel(epoch=0)
        # Delta_emb is at most 2R, and at least R/2 or the bound by 2R would be of no use:
        # a gamma four times that of 2R is on the safe side of the true one.
        c_margin = np.sqrt(2) * float(first.logit_margin)
        gamma = 4 * c_margin / (float(first.lipschitz) * 2 * float(first.value_radius))
        gammas.append(gamma)
        masses.append(float(first.min_informative_mass))
    says = "B_gamma is not met at the first memorised record"
    seen = f"gamma at most {spread(gammas)}, least mass {spread(masses)}"
    return [bounded(says, np.divide(masses, gammas), seen, at_most=1.0)]


def _with_bounds(evidence: Evidence, arm: str) -> "list[xr.Dataset]":
    """The runs of an arm; rows with very many runs are kept without records of the bounds."""
    runs = evidence.runs(arm)
    needed = {"score_gradient_max", "lipschitz", "value_radius"}
    needed |= {name for pair in FORMS.values() for name in pair if name}
    if not all(needed <= set(one.data_vars) for one in runs):
        raise MissingArm(f"{arm}, with records of the bounds")
    return runs


def _power_between(low: float, high: float, runs: "list[xr.Dataset]") -> Part:
    """The slope of log gradient over log loss from memorising on; ``nan``: under two records."""
    powers = []
    for one in runs:
        after = one.where(one.train_accuracy >= 0.99, drop=True)
        loss, gradient = (
            np.log(after[name].values.astype(float)) for name in ("train_loss", "score_gradient")
        )
        powers.append(float(np.polyfit(loss, gradient, 1)[0]) if len(loss) > 1 else np.nan)
    seen = f"power {spread(powers)}"
    return bounded(f"power of the loss between {low:g} and {high:g}", powers, seen, low, high)


def _range(one, bound: str) -> float:
    """The largest over the least share of a bound from memorising on; ``nan``: no record."""
    after = one.where(one.train_accuracy >= 0.99, drop=True)
    if not after.sizes["epoch"]:
        return np.nan
    share = (after.score_gradient_max / after[bound]).values
    return float(share.max() / share.min())


ROW = Row(
    name="starvation-bound",
    figure="Figure 5, Lemma 5.1, (4)",
    question="Does the gradient of attention starve as the lemma says, and how tight is it?",
    setup=setup,
    claims=(
        Claim(
            "starvation-bound/holds",
            "The measured score gradient lies under every form of the bound at every record.",
            "Lemma 5.1, Figure 5",
            holds_everywhere("baseline", "KL 1"),
        ),
        Claim(
            "starvation-bound/square-root",
            "The gradient of attention's scores falls with the square root of the train loss.",
            "(4) read as a rate",
            square_root,
        ),
        Claim(
            "starvation-bound/linear",
            "The gradient of attention's scores falls in proportion to the train loss.",
            "ours; weak point 8",
            linear,
            afterwards="the upper limit of the power was added",
        ),
        Claim(
            "starvation-bound/tight",
            "The bound of Lemma 5.1 comes within a factor of ten of the measured gradient.",
            "Figure 5",
            tight,
        ),
        Claim(
            "starvation-bound/gamma",
            "The threshold gamma, measured, is what a network that has just memorised fails.",
            "Definition 4.1; weak point 5: never measured",
            vacuous,
        ),
    ),
)
