"""Pictures of a History: pure functions, one style.

Each function takes a History and returns a :class:`Picture`, a matplotlib figure that
shows itself when it is the last value of a notebook cell. Nothing is global: no pyplot,
no open windows, nothing to close.
"""

from grokkit.viz.attention import attention_bars, mass_bars
from grokkit.viz.run_panels import four_panels, headline
from grokkit.viz.seeds import seed_curves
from grokkit.viz.style import LOOKS, Look, Picture, png, style

__all__ = [
    "LOOKS",
    "Look",
    "Picture",
    "attention_bars",
    "four_panels",
    "headline",
    "mass_bars",
    "png",
    "seed_curves",
    "style",
]
