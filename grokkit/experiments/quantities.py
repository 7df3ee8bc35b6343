"""What is measured of the runs of an arm, as a number for each seed; and what is asked of it.

The rows that were written after the estimates ask for these; each is a function from the
evidence to :class:`grokkit.experiments.estimates.Measured`. Their judges go by the interval of
the median: :func:`lies` for any number, :func:`compare` and :func:`takes` for two epochs.
"""

import math

import numpy as np

from grokkit.engine import RunSpec
from grokkit.experiments.claims import Bounds
from grokkit.experiments.estimates import Measured
from grokkit.experiments.evidence import Evidence
from grokkit.experiments.judges import Epochs, Judge, Quantity, asks, compared, spread
from grokkit.experiments.times import Times

RIGHT = 1 / 2
"""Attention is right when every informative token of every train example has at least this
share of what the oracle gives it."""


def grok(arm: str, accuracy: float = 0.95) -> Epochs:
    """When a run reaches a test accuracy."""
    return lambda evidence: evidence.grokked(arm, accuracy)


def found(arm: str) -> Epochs:
    """From when on attention is right, and stays so until the grok or the end of the run.

    By the least mass: the first record from which on ``min_informative_mass`` is at least
    :data:`RIGHT` / k, where k is the number of informative tokens.
    """

    def epochs(evidence: Evidence) -> Times:
        whole, values = evidence.grokked(arm, 0.95), []
        runs = zip(evidence.runs(arm), evidence.arms[arm], whole.values, strict=True)
        for one, spec, grokked in runs:
            assert isinstance(spec, RunSpec)
            k = int(spec.task.build(spec.seed).train.informative[0].sum())
            until = one if np.isnan(grokked) else one.sel(epoch=slice(None, grokked))
            low = np.flatnonzero(until.min_informative_mass.values < RIGHT / k)
            first = int(low[-1]) + 1 if len(low) else 0
            values.append([*until.epoch.values.astype(float), np.nan][first])
        return Times(np.array(values), whole.last, whole.whole)

    return epochs


def added(arm: str) -> Epochs:
    """The second part of the wait: from when attention is right to the grok."""
    return lambda evidence: grok(arm)(evidence).after(found(arm)(evidence))


def wait(arm: str) -> Epochs:
    """From memorising to the grok."""
    return lambda evidence: grok(arm)(evidence).after(evidence.memorised(arm))


def ratio(mine: Epochs, its: Epochs) -> Quantity:
    """One epoch over another of the same seed."""
    return lambda evidence: mine(evidence).measured / its(evidence).measured


def exponent(slow: Epochs, fast: Epochs, factor: float) -> Quantity:
    """The power of a setting with which an epoch varies, from two values of the setting.

    Args:
        slow: the epochs at the smaller value.
        fast: the epochs at the larger one.
        factor: the larger value over the smaller.
    """
    both = ratio(slow, fast)
    return lambda evidence: -both(evidence).map(lambda one: np.log(one) / np.log(factor))


def at_end(arm: str, variable: str) -> Quantity:
    """The last record of a variable."""
    return lambda evidence: Measured.of(evidence.final(arm, variable))


def at_grok(arm: str, variable: str) -> Quantity:
    """A variable at the epoch of test accuracy 0.95; not known where it never came."""
    return lambda evidence: Measured.of(evidence.at(arm, variable, evidence.grokked(arm, 0.95)))


def gap(arm: str, other: str, variable: str) -> Quantity:
    """How much more of a variable one arm has at its end than another of the same seed."""
    return lambda evidence: Measured.of(
        evidence.final(arm, variable) - evidence.final(other, variable)
    )


def change(arm: str, variable: str) -> Quantity:
    """A variable at the grok (or at the end) over what it was at memorising."""

    def quantity(evidence: Evidence) -> Measured:
        start = evidence.at(arm, variable, evidence.memorised(arm))
        end = evidence.at(arm, variable, evidence.grokked(arm, 0.95))
        last = evidence.final(arm, variable)
        return Measured.of(np.where(np.isnan(end), last, end) / start)

    return quantity


def fall(arm: str, variable: str) -> Quantity:
    """The peak of a variable until memorising over its least from there to the grok."""

    def quantity(evidence: Evidence) -> Measured:
        values = []
        starts, ends = evidence.memorised(arm).values, evidence.grokked(arm, 0.95).values
        for one, start, end in zip(evidence.runs(arm), starts, ends, strict=True):
            plateau = (one.epoch >= start) & ~(one.epoch > end)
            peak = one[variable].where(one.epoch <= start).max()
            values.append(float(peak / one[variable].where(plateau).min()))
        return Measured.of(values)

    return quantity


def over(mine: Quantity, its: Quantity) -> Quantity:
    """One number over another of the same seed."""
    return lambda evidence: mine(evidence) / its(evidence)


def lies(
    quantity: Quantity,
    says: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    null: float | None = None,
    digits: str = ".2g",
    between: str = "between {:g} and {:g}",
) -> Judge:
    """A number between two bounds, by the interval of its median.

    Args:
        quantity: the number.
        says: what is asked; ``{}`` in it stands for the bounds, as in "at least 0.9".
        at_least: the lower bound.
        at_most: the upper one.
        null: the value that means no effect.
        digits: the format of the numbers that were seen.
        between: how two bounds are told.
    """
    if math.isinf(at_least):
        words = f"at most {at_most:g}"
    elif math.isinf(at_most):
        words = f"at least {at_least:g}"
    else:
        words = between.format(at_least, at_most)
    bounds = Bounds(at_least, at_most, null, rule="interval")
    return asks(says.format(words), quantity, bounds, lambda e: spread(quantity(e).known, digits))


def compare(
    mine: Epochs,
    its: Epochs,
    says: str,
    at_least: float = 0.0,
    at_most: float = math.inf,
) -> Judge:
    """The ratio of two epochs of the same seed, by the interval of its median."""
    bounds = Bounds(at_least, at_most, null=1.0, rule="interval")
    return compared(mine, its, says, bounds)


def takes(
    arm: str,
    other: str,
    at_least: float = 0.0,
    at_most: float = math.inf,
    accuracy: float = 0.95,
) -> Judge:
    """One arm groks in a share of the epochs that another takes, between two bounds."""
    if not at_least:
        share = f"at most {at_most:.3g}"
    elif math.isinf(at_most):
        share = f"at least {at_least:.3g}"
    else:
        share = f"{at_least:.2g} to {at_most:.2g}"
    says = f"{arm} takes {share} x the epochs of {other}, to {accuracy:g}"
    return compare(grok(arm, accuracy), grok(other, accuracy), says, at_least, at_most)
