"""Pictures of a History: pure functions, one style.

Each function takes a History and returns a :class:`Picture`, a matplotlib figure that
shows itself when it is the last value of a notebook cell. Nothing is global: no pyplot,
no open windows, nothing to close.
"""

from grokkit.viz.attention import attention_bars, mass_bars
from grokkit.viz.beta_sweep import beta_picture, find_sweep
from grokkit.viz.chart import Line, lines
from grokkit.viz.condition_plane import condition_plane
from grokkit.viz.embedding_circle import embedding_circle
from grokkit.viz.live import live_curves
from grokkit.viz.pathways import find_placements, placement_picture
from grokkit.viz.phase_finder import phases_by_hand
from grokkit.viz.routing import Routing, routing_plane
from grokkit.viz.rows import row_figure
from grokkit.viz.run_panels import four_panels, headline
from grokkit.viz.scrubber import run_at_epoch
from grokkit.viz.seeds import seed_curves
from grokkit.viz.style import LOOKS, Look, Picture, png, style
from grokkit.viz.three_accounts import signals_of_a_run

__all__ = [
    "LOOKS",
    "Line",
    "Look",
    "Picture",
    "Routing",
    "attention_bars",
    "beta_picture",
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
]
