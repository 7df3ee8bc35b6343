"""Pictures of a History: pure functions, one style.

Each function takes a History and returns a :class:`Picture`, a matplotlib figure that
shows itself when it is the last value of a notebook cell, and says in words what it shows
(:attr:`Picture.alt`). Nothing is global: no pyplot,
no open windows, nothing to close.
"""

from grokkit.viz.claims_map import claims_map
from grokkit.viz.curves import Line, lines, seed_curves
from grokkit.viz.one_run import four_panels, headline, signals_of_a_run
from grokkit.viz.rows import row_figure
from grokkit.viz.style import LOOKS, Look, Picture, png, style
from grokkit.viz.wait_parts import wait_parts

__all__ = [
    "LOOKS",
    "Line",
    "Look",
    "Picture",
    "claims_map",
    "four_panels",
    "headline",
    "lines",
    "png",
    "row_figure",
    "seed_curves",
    "signals_of_a_run",
    "style",
    "wait_parts",
]
