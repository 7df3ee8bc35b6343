"""Holes: a region of the table of pairs in which nothing is trained on (arXiv 2504.03162).

A random split leaves every test pair among train pairs. A hole does not:

    square   i, j <= 3                      strip   i <= 3

    j . . x . x . . x                       j # # # # . x . x
      x . . x . . x .                         # # # # x . . x
      # # # # . x . .                         # # # # . x x .
      # # # # x . . x                         # # # # x . . .
      # # # # . . x .                         # # # # . x . x
      # # # # . x . x                         # # # # x . x .
                      i                                       i
    # the hole, unseen    x trained on    . unseen, among train pairs

What it tells depends on mirror images. The square is its own mirror image: where the answer
does not depend on the order, still nothing in it is half-answered. Of the strip, only the
corner i, j <= 3 is like that: the mirror image of any other pair (i, j) in it is (j, i),
which lies outside, may be trained on, and has the same label.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.errors import check_choice, check_int, refuse
from grokkit.settings import OMIT_IF_DEFAULT
from grokkit.tasks.split import SplitKind

HoleKind = Literal["none", "square", "strip"]
"""The shapes of a hole."""


@dataclass(frozen=True)
class Hole:
    """The settings of a hole.

    Attributes:
        hole: ``"square"``: i and j up to ``hole_edge``. ``"strip"``: i up to ``hole_edge``.
            ``"none"``: there is no hole.
        hole_edge: the last number inside; None where there is no hole.
    """

    hole: HoleKind = field(default="none", metadata=OMIT_IF_DEFAULT)
    hole_edge: int | None = field(default=None, metadata=OMIT_IF_DEFAULT)

    def check_hole(self, p: int, train_fraction: float, split: SplitKind) -> None:
        """Refuse a hole that makes no sense in a table of p by p pairs.

        Raises:
            SettingError: naming ``hole`` or ``hole_edge``; or ``train_fraction``, where the
                outside is too small: some of it must be trained on, some be left to test.
        """
        check_choice("hole", self.hole, get_args(HoleKind))
        if self.hole == "none":
            if self.hole_edge is not None:
                refuse("hole_edge", self.hole_edge, "None where there is no hole")
            return
        edge = check_int("hole_edge", self.hole_edge, 0, p - 2) + 1
        outside = p * p - edge * (edge if self.hole == "square" else p)
        # Where mirror images stay together, those of a strip are held out with it.
        free = (p - edge) ** 2 if (self.hole, split) == ("strip", "unordered") else outside
        wanted = round(train_fraction * p * p)
        most = min(free, outside - 1)
        if wanted > most:
            where = f"of which {free} may be trained on and one must be left to test"
            allowed = f"at most {most}/{p * p}: {outside} pairs lie outside the hole, {where}"
            refuse("train_fraction", train_fraction, allowed)

    def inside(self, pairs: Int[Tensor, "input operand"]) -> Bool[Tensor, " input"] | None:
        """Which pairs lie in the hole; None where there is none."""
        if self.hole == "none" or self.hole_edge is None:
            return None
        i, j = (pairs <= self.hole_edge).unbind(dim=1)
        return i & j if self.hole == "square" else i
