"""Three accounts of grokking, read off the same runs: which of their signals comes first?

By structure (arXiv 2605.15787) a network groks when attention finds the informative tokens;
by features (arXiv 2602.06702) when what it computes becomes compressible; by uniformity (arXiv
2504.03162) when the embeddings of the numbers come to lie evenly. Each account has signals;
:mod:`grokkit.experiments.signals` has them and dates them.

The network is that of the classroom preset, with distractors: without them attention that
looks everywhere alike has two thirds of its mass where it should, and there is nothing for
structure to tell. It has no residual stream, so the shortcut probe is not defined for it.

A signal proves something only beside networks that memorise and never grok. There are two
such controls: one without weight decay, and one with it, whose distractors are a trap.
"""

import numpy as np

from grokkit.diagnostics import kendall_w, midranks
from grokkit.diagnostics.order import LARGEST
from grokkit.experiments.judges import bounded, for_each, never_groks, part, ratio, spread
from grokkit.experiments.outcomes import negated
from grokkit.experiments.row import Arms, Bounds, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, slow
from grokkit.experiments.signals import BASE, FALLING, RANKED, SIGNALS, arrivals, gone, ways
from grokkit.experiments.uniformity import below_null

TOLD, NO_DECAY, TRAPPED = "KL 1", "no decay", "random distractors"
"""The arms beside the baseline: one that should grok, and two controls that should not."""


def setup(size: Size) -> Arms:
    """One network as it is and told where to look; without decay; and in a trap.

    The controls are trained for 9,000 epochs at classroom size, longer than the slowest of
    the recorded classroom runs takes to grok (and stop); those are given up to 16,000.
    """
    base = slow(size).with_(features=True, record_every=80)
    control = base.with_(epochs=9000) if size == "classroom" else base
    return {
        BASE: base,
        TOLD: kl(base),
        NO_DECAY: control.with_(weight_decay=0.0),
        TRAPPED: control.with_(distractors="random"),
    }


@for_each
def falls(evidence: Evidence, name: str) -> Part:
    """A signal ends below where memorising left it, by half of the range it has seen."""
    shares = []
    starts = evidence.memorised(BASE).values
    for one, along, start in zip(evidence.runs(BASE), ways(evidence, name), starts, strict=True):
        if along is None:
            shares.append(np.nan)
            continue
        width = np.ptp(SIGNALS[name].of(one)[one.epoch.values >= start])
        shares.append(-along.length / width if width else np.nan)
    says = f"{name}: falls by half of its range or more"
    return bounded(says, shares, f"by {spread(shares)} of it", at_least=0.5)


@for_each
def leads(evidence: Evidence, name: str, factor: float) -> Part:
    """A signal is half-way by a share of the epoch at which the unseen pairs are."""
    its, mine = arrivals(evidence, "unseen pairs"), arrivals(evidence, name)
    return ratio(f"{name} by {factor:g} of its epoch", mine, its, Bounds(at_most=factor, null=1.0))


@for_each
def after(evidence: Evidence, name: str, first: str, arm: str = BASE) -> Part:
    """A signal comes to its mark no sooner than the first one does."""
    mine, its = arrivals(evidence, first, arm), arrivals(evidence, name, arm)
    return ratio(f"{arm}: {first} no later than {name}", mine, its, Bounds(at_most=1.0))


@for_each
def sooner_when_told(evidence: Evidence, name: str, factor: float) -> Part:
    """With the prior, a signal comes to the baseline's mark in a share of the baseline's time."""
    mine, its = arrivals(evidence, name, TOLD), arrivals(evidence, name)
    says = f"{name}: told, by {factor:g} of the baseline's epoch"
    return ratio(says, mine, its, Bounds(at_most=factor, null=1.0))


def one_order(evidence: Evidence) -> list[Part]:
    """Whether the five seeds put the signals of the accounts in one order."""
    epochs = np.stack([arrivals(evidence, name).values for name in RANKED], axis=1)
    known = np.isfinite(epochs).all(axis=1)
    says = "W at least 0.7, with a chance of at most 0.01 (one number for all seeds)"
    if not known.all():
        return [part(says, [None] * len(epochs), "not all signals arrive")]
    if not 2 <= len(epochs) <= LARGEST:
        return [part(says, [None] * len(epochs), f"asked of 2 to {LARGEST} seeds only")]
    found = kendall_w(epochs)
    order = ", ".join(RANKED[thing] for thing in np.argsort(found.mean_ranks, kind="stable"))
    agree = None if np.isnan(found.w) else found.w >= 0.7 and found.p_value <= 0.01
    seen = "undefined" if agree is None else f"W {found.w:.2f}, chance {found.p_value:.1g}: {order}"
    return [part(says, [agree] * len(epochs), seen), _like_the_others(epochs)]


def _like_the_others(epochs: np.ndarray) -> Part:
    """The order of each seed against the mean order of all others."""
    ranks = midranks(epochs)
    rhos = [
        order_agrees(own, np.delete(ranks, seed, axis=0).mean(axis=0))
        for seed, own in enumerate(ranks)
    ]
    says = "rank correlation of its order with that of the others at least 0.7"
    return bounded(says, rhos, at_least=0.7, null=0.0)


def order_agrees(one: np.ndarray, other: np.ndarray) -> float:
    """The rank correlation of two orders; ``nan`` where one is not known, or of ties alone."""
    from scipy.stats import spearmanr

    known = np.isfinite(other).all() and np.ptp(one) > 0 and np.ptp(other) > 0
    return float(np.asarray(spearmanr(one, other))[0]) if known else np.nan


@for_each
def moves(evidence: Evidence, name: str, arm: str, holds: bool) -> Part:
    """A signal goes half of the baseline's way in a control, or does not."""
    bound = {"at_least": 0.5} if holds else {"at_most": 0.5}
    way = "half of the baseline's way"
    says = f"{arm}: {name} goes {f'{way} or more' if holds else f'less than {way}'}"
    shares = gone(evidence, name, arm)
    return bounded(says, shares, f"{spread(shares)} of it", **bound)


@for_each
def no_better_than_shuffled(evidence: Evidence, arm: str) -> Part:
    """The best relative MED of a control does not end below that of all shuffled orders."""
    (found,) = below_null(arm, order="natural")(evidence)
    says = f"{arm}: relative MED not below that of all shuffled orders"
    return part(says, negated(found.outcomes), found.seen)


ROW = Row(
    name="three-accounts",
    figure="ours: arXiv 2605.15787, 2602.06702 and 2504.03162 on one network",
    question="Of the signals of three accounts of grokking, which comes first?",
    setup=setup,
    every_record=True,
    claims=(
        Claim(
            "three-accounts/fall",
            "From memorising to the end the divergence from the oracle, the features' effective "
            "rank and alpha, and the best step (the least relative MED) fall; the best step ends "
            "below that of every shuffled order.",
            "the three papers",
            falls(*FALLING),
            below_null(BASE, order="natural"),
        ),
        Claim(
            "three-accounts/each-leads",
            "Each of them is half-way a tenth of the epochs or more before the unseen pairs are.",
            "the three papers as they are read: each account's signal predicts",
            leads(*FALLING, factor=0.9),
        ),
        Claim(
            "three-accounts/structure-first",
            "Attention finds the structure no later than features become compressible and "
            "embeddings even.",
            "arXiv 2605.15787; lesson 09 had seen attention before waves at another rate",
            after("effective rank", "alpha", "best step", first="KL"),
        ),
        Claim(
            "three-accounts/one-order",
            "Whatever the order of the accounts' five signals, it is the same in all seeds.",
            "ours",
            one_order,
        ),
        Claim(
            "three-accounts/no-decay",
            "In a network that memorises and, for want of weight decay, never groks, no signal "
            "goes half as far.",
            "our control",
            never_groks(NO_DECAY, accuracy=0.95),
            moves(*FALLING, "Fourier", "norm", arm=NO_DECAY, holds=False),
            no_better_than_shuffled(NO_DECAY),
        ),
        Claim(
            "three-accounts/decay-alone",
            "In one that decays and never groks, the norm, the effective rank and alpha go as far "
            "all the same: they show the decay. Structure, evenness and waves do not.",
            "our control",
            never_groks(TRAPPED, accuracy=0.95),
            moves("norm", "effective rank", "alpha", arm=TRAPPED, holds=True),
            moves("KL", "best step", "Fourier", arm=TRAPPED, holds=False),
            no_better_than_shuffled(TRAPPED),
        ),
        Claim(
            "three-accounts/told",
            "Told where to look, the features become compressible and the embeddings even sooner, "
            "by a fifth at least: finding the structure was what they waited for.",
            "ours, after arXiv 2605.15787",
            sooner_when_told("effective rank", "alpha", "best step", factor=0.8),
        ),
    ),
)
