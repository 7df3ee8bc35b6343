"""What was found for each seed: yes, no, or None, not known."""

from collections.abc import Iterable


def negated(outcomes: Iterable[bool | None]) -> list[bool | None]:
    """Yes for no, and no for yes; what is not known stays so."""
    return [None if one is None else not one for one in outcomes]


def where(known: Iterable[object], outcomes: Iterable[bool | None]) -> list[bool | None]:
    """The outcomes of the seeds for which something is true; None for the others."""
    return [one if there else None for there, one in zip(known, outcomes, strict=True)]
