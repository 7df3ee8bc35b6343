"""Pictures of a History: pure functions, one style.

Each function takes a History and returns a :class:`Picture`, a matplotlib figure that
shows itself when it is the last value of a notebook cell, and says in words what it shows
(:attr:`Picture.alt`). Nothing is global: no pyplot,
no open windows, nothing to close.
"""

from grokkit.viz.attention import attention_bars, mass_bars
from grokkit.viz.beta_sweep import beta_picture, find_sweep
from grokkit.viz.claims_map import claims_map
from grokkit.viz.curves import Line, lines, seed_curves
from grokkit.viz.embedding_circle import embedding_circle
from grokkit.viz.interactive import condition_plane, live_curves, phases_by_hand, run_at_epoch
from grokkit.viz.one_run import four_panels, headline, signals_of_a_run
from grokkit.viz.pathways import find_placements, placement_picture
from grokkit.viz.routing import Routing, routing_plane
from grokkit.viz.rows import row_figure
from grokkit.viz.style import LOOKS, Look, Picture, png, style
from grokkit.viz.wait_parts import wait_parts

__all__ = [
    "LOOKS",
    "Line",
    "Look",
    "Picture",
    "Routing",
    "attention_bars",
    "beta_picture",
    "claims_map",
    "condition_plane",
    "embedding_circle",
    "find_placements",
    "find_sweep",
    "four_panels",
    "headline",
    "lines",
    "live_curves",
    "mass_bars",
    "phases_by_hand",
    "placement_picture",
    "png",
    "routing_plane",
    "row_figure",
    "run_at_epoch",
    "seed_curves",
    "signals_of_a_run",
    "style",
    "wait_parts",
]
