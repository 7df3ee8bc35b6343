"""Epochs that may not have come: what can be said about a run that was stopped too early.

A run that has not grokked by its last epoch is *censored*. It is never dropped, and never
counted as if it had grokked at that epoch: all that is known is "later than this".
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from grokkit.experiments.estimates import Measured
from grokkit.experiments.outcomes import where


@dataclass(frozen=True, eq=False)
class Times:
    """An epoch for each seed of one arm.

    Attributes:
        values: the epochs; ``nan`` where censored.
        last: the last epoch of each run, which a censored epoch must lie beyond.
        whole: whether each run was trained to the end of its spec; None: all were. One that
            was interrupted, or whose loss was no longer finite, is no evidence that an
            epoch does not come.
    """

    values: Float[np.ndarray, " seed"]
    last: Float[np.ndarray, " seed"]
    whole: Bool[np.ndarray, " seed"] | None = None

    def __str__(self) -> str:
        """The median with its spread, and how many of n; a median that is censored says so."""
        n, come = len(self.values), int(np.isfinite(self.values).sum())
        if not come:
            return f"never in {_span(self.last)} (0/{n})"
        ordered, middle = self._ordered, self.median
        median = f"{middle:,.0f}" if np.isfinite(middle) else f"later than {self.at_least:,.0f}"
        low, high = ordered[0], ordered[-1]
        end = f"{high:,.0f}" if np.isfinite(high) else "never"
        spread = f" [{low:,.0f} to {end}]" if n > 1 else ""
        return f"{median}{spread} ({come}/{n})"

    @property
    def median(self) -> float:
        """The median, infinite where a censored epoch stands in the middle."""
        return _median(self._ordered)

    @property
    def at_least(self) -> float:
        """What the median cannot be below: every censored epoch lies beyond its run's last."""
        beyond = np.nan_to_num(self.last)  # of a wait that never began, nothing is known
        return _median(np.sort(np.where(np.isnan(self.values), beyond, self.values)))

    @property
    def _ordered(self) -> Float[np.ndarray, " seed"]:
        return np.sort(np.where(np.isnan(self.values), np.inf, self.values))

    @property
    def reached(self) -> list[bool | None]:
        """For each seed, whether the epoch came; None: its run was cut short before it could."""
        whole = np.ones(len(self.values), dtype=bool) if self.whole is None else self.whole
        come = np.isfinite(self.values)
        return [True if a else False if b else None for a, b in zip(come, whole, strict=True)]

    def sooner(self, other: "Times", factor: float | int = 1.0) -> list[bool | None]:
        """For each seed, whether this came by ``factor`` times the other's epoch.

        Where one is censored its last epoch decides if it can; where both are, nothing can
        be said: None.

        Args:
            other: the arm it is compared with, of the same seeds.
            factor: below 1 asks for a head start, above 1 allows a delay.
        """
        return (self.measured / other.measured).within(at_most=factor)

    def foretells(self, other: "Times", factor: float | int) -> list[bool | None]:
        """As :meth:`sooner`, but None where the other's epoch did not come.

        What comes before something that never comes has foretold nothing.
        """
        return where(other.reached, self.sooner(other, factor))

    def ratio_within(
        self, other: "Times", low: float | int, high: float | int
    ) -> list[bool | None]:
        """For each seed, whether this epoch over the other's lies between two bounds.

        A censored epoch is beyond its run's last, so a ratio may be known to be too large
        (or too small) without being known.
        """
        return (self.measured / other.measured).within(low, high)

    @property
    def measured(self) -> Measured:
        """The epochs as bounds: a censored one lies beyond its run's last, as far as is known."""
        censored = np.isnan(self.values)
        # Of a wait that never began nothing is known.
        beyond = np.where(np.isnan(self.last), -np.inf, self.last * (1 + 1e-12))
        low = np.where(censored, beyond, self.values)
        return Measured(low, np.where(censored, np.inf, self.values))

    def after(self, start: "Times") -> "Times":
        """The epochs counted from another event of the same runs: a wait."""
        return Times(self.values - start.values, self.last - start.values, self.whole)


def _median(ordered: Float[np.ndarray, " seed"]) -> float:
    """The median where infinities may stand in the middle."""
    n = len(ordered)
    low, high = ordered[(n - 1) // 2], ordered[n // 2]
    return float(low if low == high else (low + high) / 2)


def _span(last: Float[np.ndarray, " seed"]) -> str:
    known = last[np.isfinite(last)]  # a wait that never began has no last epoch
    if not len(known):
        return "any run"
    low, high = known.min(), known.max()
    return f"{high:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
