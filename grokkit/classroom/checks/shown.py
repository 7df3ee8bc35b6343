"""Hints and solutions, as a notebook shows them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Hints:
    """The hints given so far.

    Attributes:
        exercise: its name.
        given: the hints, the latest last.
        total: how many there are.
    """

    exercise: str
    given: Sequence[str]
    total: int

    def __repr__(self) -> str:
        lines = [f"Hint {i} of {self.total}: {hint}" for i, hint in enumerate(self.given, 1)]
        if len(self.given) == self.total:
            lines.append("That was the last one.")
        return "\n".join(lines)

    def _repr_markdown_(self) -> str:
        return "\n\n".join(repr(self).splitlines())


@dataclass(frozen=True)
class Solution:
    """A solution, or why it is not shown.

    Attributes:
        exercise: its name.
        markdown: its code and text; empty if it is not shown.
        refusal: why it is not shown, a sentence.
    """

    exercise: str
    markdown: str = ""
    refusal: str = ""

    def __repr__(self) -> str:
        return self.refusal or self.markdown

    def _repr_markdown_(self) -> str:
        return repr(self)
