"""The comparisons that most claims are made of; each makes a judge.

A judge is a function from the evidence to parts. Every comparison of grok epochs is made
twice, at a test accuracy of 0.99 (the paper's rule) and of 0.95 (where the last few pairs
of a small table do not decide), and is paired by seed.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
from jaxtyping import Float

from grokkit.experiments.claims import Bounds, Part
from grokkit.experiments.estimates import Measured, in_digits
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.outcomes import both, negated
from grokkit.experiments.times import Times

Judge = Callable[[Evidence], Sequence[Part]]
P = ParamSpec("P")


def judge(look: Callable[Concatenate[Evidence, P], Sequence[Part]]) -> Callable[P, Judge]:
    """The arms first, the evidence later: ``f(arm)(evidence)`` is ``look(evidence, arm)``."""

    @wraps(look)
    def asked(*what: P.args, **how: P.kwargs) -> Judge:
        return lambda evidence: look(evidence, *what, **how)

    return asked


def for_each(look: Callable[Concatenate[Evidence, str, ...], Part]) -> Callable[..., Judge]:
    """A part for each arm (or signal): ``f(*arms, **how)(evidence)`` asks ``look`` of each."""

    @wraps(look)
    def asked(*arms: str, **how: Any) -> Judge:
        return lambda evidence: [look(evidence, arm, **how) for arm in arms]

    return asked


ACCURACIES = (0.99, 0.95)


Quantity = Callable[[Evidence], Measured]
"""A number for each seed, measured on the evidence."""

Epochs = Callable[[Evidence], Times]
"""An epoch for each seed of one arm."""


@judge
def asks(
    evidence: Evidence,
    says: str,
    quantity: Quantity,
    bounds: Bounds,
    seen: Callable[[Evidence], str] | None = None,
) -> list[Part]:
    """A number of each seed between two bounds: what every comparison is made of.

    Args:
        evidence: the runs.
        says: what is asked, with its effect size.
        quantity: the number.
        bounds: what is asked of it.
        seen: what was measured, in words; None: the numbers' spread.
    """
    measured = quantity(evidence)
    words = seen(evidence) if seen else spread(measured.known)
    return [Part.of(says, measured, bounds, words)]


def sooner(arm: str, other: str, factor: float = 1.0) -> Judge:
    """``arm`` groks by ``factor`` times the epoch at which ``other`` does."""
    share = "" if factor == 1 else f"{factor:.3g} of "
    says = f"{arm} by {share}{other}'s epoch"
    return _compared(arm, other, says, Bounds(at_most=factor, null=1.0))


def no_sooner(arm: str, other: str, factor: float = 0.8) -> Judge:
    """``arm`` does *not* grok before ``factor`` times ``other``'s epoch: it is no help.

    Where neither groks there was nothing to help: not known.
    """
    says = f"{arm} not before {factor:.3g} of {other}'s epoch"
    return _compared(arm, other, says, Bounds(at_least=np.nextafter(factor, 2 * factor)))


@judge
def compared(
    evidence: Evidence, mine: Epochs, its: Epochs, says: str, bounds: Bounds, word: str = "against"
) -> list[Part]:
    """One epoch over another of the same seed, between two bounds."""
    return [ratio(says, mine(evidence), its(evidence), bounds, word)]


@judge
def _compared(evidence: Evidence, arm: str, other: str, says: str, bounds: Bounds) -> list[Part]:
    return [
        ratio(f"{says}, at {a:g}", evidence.grokked(arm, a), evidence.grokked(other, a), bounds)
        for a in ACCURACIES
    ]


def ratio(says: str, mine: Times, its: Times, bounds: Bounds, word: str = "against") -> Part:
    """The epochs of one arm over those of another, between two bounds."""
    return Part.of(says, mine.measured / its.measured, bounds, f"{mine} {word} {its}")


def bounded(
    says: str,
    values: Iterable[float] | Measured,
    seen: str | None = None,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    null: float | None = None,
) -> Part:
    """A number of each seed between two bounds; ``nan`` is not known.

    Args:
        says: what is asked.
        values: the numbers.
        seen: what was measured, in words; None: their spread.
        at_least: the lower bound.
        at_most: the upper one.
        null: the number that means no effect.
    """
    if not isinstance(values, Measured):
        values = Measured.of(values)
    seen = spread(values.known) if seen is None else seen
    return Part.of(says, values, Bounds(at_least, at_most, null), seen)


ALSO_MEMORISES = "that it memorises was added: a network that does not proves nothing"
"""What was added to some claims that a network does not grok."""


HOLDS = 0.8
"""A network that has grokked holds at least this test accuracy to the end of its run."""

AND_HOLDS = "that it holds was added: a network that falls back below 0.8 has not grokked"
"""How :func:`groks` was changed, when runs had been seen that fell back."""


@for_each
def groks(evidence: Evidence, arm: str, accuracy: float = 0.99) -> Part:
    """An arm reaches a test accuracy within its run, and holds it."""
    times, fell = evidence.grokked(arm, accuracy), evidence.least_after(arm, accuracy) < HOLDS
    back = f"; {fell.sum()} fell back below {HOLDS:g}" if fell.any() else ""
    says = f"{arm} reaches {accuracy:g} and holds"
    return part(says, both(times.reached, ~fell), f"{times}{back}")


@for_each
def never_groks(evidence: Evidence, arm: str, accuracy: float = 0.99) -> Part:
    """An arm does not reach a test accuracy within its run."""
    times = evidence.grokked(arm, accuracy)
    seen = f"{times}, test accuracy {spread(evidence.final(arm, 'test_accuracy'))} at the end"
    return part(f"{arm} does not reach {accuracy:g}", negated(times.reached), seen)


@for_each
def memorises(evidence: Evidence, arm: str) -> Part:
    """An arm reaches a train accuracy of 0.99."""
    times = evidence.memorised(arm)
    return part(f"{arm} memorises", times.reached, str(times))


@judge
def memorised_first(evidence: Evidence, arm: str, share: float = 0.5) -> list[Part]:
    """There is a gap: memorised in at most a share of the epochs that grokking takes."""
    memorised, grokked = evidence.memorised(arm), evidence.grokked(arm, 0.95)
    word = {0.5: "half", 0.25: "a quarter"}.get(share, f"{share:g}")
    says = f"{arm} memorises in at most {word} of the epochs to test accuracy 0.95"
    return [ratio(says, memorised, grokked, Bounds(at_most=share))]


@for_each
def ends_below(evidence: Evidence, arm: str, variable: str, limit: float) -> Part:
    """The last record of a variable lies below a limit."""
    words = f"{arm} ends with {variable.replace('_', ' ')} below {limit:g}"
    return bounded(words, evidence.final(arm, variable), at_most=np.nextafter(limit, -math.inf))


APART = (
    "norms that lie apart are now a no even where another arm has not grokked; that they agree "
    "better at the grok than at memorising was added, since at every epoch they lie within 1.5 x"
)
"""How :func:`one_norm` was changed, when all runs had been seen."""


@judge
def one_norm(evidence: Evidence, *arms: str) -> list[Part]:
    """The MLP's norms at which these arms grok: near each other, and nearer than before."""
    groks, starts = (
        np.stack([evidence.at(arm, "mlp_norm", when(arm)) for arm in arms])
        for when in (lambda arm: evidence.grokked(arm, 0.95), evidence.memorised)
    )
    apart = _apart(groks)
    return [
        bounded(
            f"largest norm at most 1.5 x the least, over {'; '.join(arms)}",
            apart,
            "norms " + "; ".join(spread(one, ".3g") for one in groks),
            at_most=1.5,
        ),
        Part.of(
            "nearer to each other than at memorising",
            apart / _apart(starts),
            Bounds(at_most=1.0, null=1.0),
            f"largest over least {spread(apart.known, '.3g')}, and "
            f"{spread(_apart(starts).known, '.3g')} at memorising",
        ),
    ]


def _apart(norms: Float[np.ndarray, "arm seed"]) -> Measured:
    """The largest over the least: at least so far apart, whatever an unknown norm would be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of seeds of which nothing is known
        ratio = np.nanmax(norms, axis=0) / np.nanmin(norms, axis=0)
    low = np.nan_to_num(ratio, nan=-math.inf)
    return Measured(low, np.where(np.isnan(norms).any(axis=0), math.inf, low))


def part(says: str, outcomes: Iterable[object], seen: str) -> Part:
    """A part from outcomes of any kind of truth value; None stays undecided."""
    return Part(says, tuple(None if one is None else bool(one) for one in outcomes), seen)


def so_far(evidence: Evidence, arm: str, values: Iterable[float], rising: bool) -> Measured:
    """The most (or the least) that was seen of something: of a run cut short, only a bound.

    Args:
        evidence: the runs.
        arm: whose numbers they are.
        values: for each seed, the greatest value that was seen, or the least.
        rising: whether it is the greatest.
    """
    seen, whole = Measured.of(values), evidence.whole(arm)
    if rising:
        return Measured(seen.low, np.where(whole, seen.high, math.inf))
    return Measured(np.where(whole, seen.low, -math.inf), seen.high)


@judge
def falls_with(evidence: Evidence, word: str, settings: Mapping[str, float]) -> list[Part]:
    """The rank correlation of a setting with the grok epoch is -0.8 or less."""
    says = f"rank correlation of {word} and epoch at most -0.8"
    return [bounded(says, grok_ranks(evidence, settings), at_most=-0.8, null=0.0)]


def grok_ranks(evidence: Evidence, settings: Mapping[str, float]) -> list[float]:
    """For each seed, the rank correlation of a setting with the epoch of test accuracy 0.95.

    Args:
        evidence: the runs.
        settings: a number for each arm; arms that this size has not are left out.
    """
    there = {name: value for name, value in settings.items() if name in evidence.arms}
    epochs = in_order([evidence.grokked(name, 0.95) for name in there])
    return rank_correlations(list(there.values()), epochs)


def in_order(times: Sequence[Times]) -> Float[np.ndarray, "setting seed"]:
    """The epochs of some arms, to be ranked: a censored one is later than all that came.

    All of a seed are ``nan`` where that is not known: where a run without the epoch was cut
    short, or ended before the epoch of another came.
    """
    epochs = np.stack([one.values for one in times])
    latest = np.nan_to_num(epochs).max(axis=0)
    unknown = np.array([[came is None for came in one.reached] for one in times])
    open_ = unknown | np.isnan(epochs) & (np.stack([one.last for one in times]) < latest)
    return np.where(open_.any(axis=0), np.nan, epochs)


def rank_correlations(
    settings: Sequence[float | int] | Float[np.ndarray, "setting seed"],
    epochs: Float[np.ndarray, "setting seed"],
) -> list[float]:
    """For each seed, the rank correlation of a setting with an epoch.

    Args:
        settings: a number for each arm; or, where it was measured, for each arm and seed.
        epochs: when something happened; ``nan`` is censored, and later than all others.

    Returns:
        Spearman's rho; 0 where all epochs are the same, ``nan`` where none has come or a
        setting is not known.
    """
    from scipy.stats import spearmanr

    given = np.asarray(settings, dtype=float).reshape(len(epochs), -1)
    found = []
    for setting, one in zip(np.broadcast_to(given, epochs.shape).T, epochs.T, strict=True):
        ranked = np.nan_to_num(one, nan=np.inf)
        if np.isnan(setting).any() or np.isinf(ranked).all():
            found.append(np.nan)
        elif len(set(ranked)) > 1:
            found.append(float(np.asarray(spearmanr(setting, ranked))[0]))
        else:
            found.append(0.0)
    return found


def spread(values: Iterable[float], text: str = ".2g") -> str:
    """The median of some numbers, with the least and the greatest."""
    numbers = np.array([value for value in values if np.isfinite(value)], dtype=float)
    if not len(numbers):
        return "undefined"
    middle, low, high = (in_digits(f(numbers), text) for f in (np.median, np.min, np.max))
    return middle if low == high else f"{middle} [{low} to {high}]"
