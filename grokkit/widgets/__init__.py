"""Widgets: the course's pictures with sliders, and a training to watch.

Each is a thin shell of core ipywidgets around a pure function of :mod:`grokkit.viz`: the
state of its controls in, a picture out. They need the ``course`` extra.

=====================  ===================================================================
RoutingPlayground      put mass on positions; see pooled representations meet or part
ConditionPlane         a run on its way through the plane of norm and least mass
RunScrubber            a run at any of its epochs
LiveTraining           choose a run, and watch it being trained
KLExplorer             the runs of one strength of the prior, and the 1/beta law
PhaseFinder            the borders of the phases by eye, and by the rule
PathwayPicker          where a LayerNorm stands, and what its runs did
EmbeddingCircle        the numbers in a plane of their own, as they find their places
=====================  ===================================================================
"""

from grokkit.widgets.base import PictureWidget
from grokkit.widgets.condition_plane import ConditionPlane
from grokkit.widgets.embedding_circle import EmbeddingCircle
from grokkit.widgets.kl_explorer import KLExplorer
from grokkit.widgets.live_training import LiveTraining
from grokkit.widgets.pathway_picker import PathwayPicker
from grokkit.widgets.phase_finder import PhaseFinder
from grokkit.widgets.routing_playground import RoutingPlayground
from grokkit.widgets.run_scrubber import RunScrubber

__all__ = [
    "ConditionPlane",
    "EmbeddingCircle",
    "KLExplorer",
    "LiveTraining",
    "PathwayPicker",
    "PhaseFinder",
    "PictureWidget",
    "RoutingPlayground",
    "RunScrubber",
]
