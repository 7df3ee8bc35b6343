"""What was found for each seed: yes, no, or None, not known; Kleene's logic, seed by seed."""

from collections.abc import Iterable


def negated(outcomes: Iterable[bool | None]) -> list[bool | None]:
    """Yes for no, and no for yes; what is not known stays so."""
    return [None if one is None else not one for one in outcomes]


def both(one: Iterable[object], other: Iterable[object]) -> list[bool | None]:
    """Whether both are true: no where either is not, whatever is known of the other."""
    pairs = [
        {None if a is None else bool(a) for a in pair} for pair in zip(one, other, strict=True)
    ]
    return [False if False in pair else None if None in pair else True for pair in pairs]


def where(known: Iterable[object], outcomes: Iterable[bool | None]) -> list[bool | None]:
    """The outcomes of the seeds for which something is true; None for the others."""
    return [one if there else None for there, one in zip(known, outcomes, strict=True)]
