"""Widgets: the course's pictures with sliders, and a training to watch.

Each hands a scene to the browser: plain data that holds whatever its controls can show. One
ES module, ``scene.js``, draws it there (anywidget brings it to JupyterLab, Notebook 7, VS Code
and Colab), so a slider moves its picture at once, and on a page without a kernel, too. They
need the ``course`` extra.

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

from grokkit.widgets.base import SceneWidget
from grokkit.widgets.embedding_circle import EmbeddingCircle
from grokkit.widgets.kl_explorer import KLExplorer
from grokkit.widgets.live_training import LiveTraining
from grokkit.widgets.one_run import ConditionPlane, PhaseFinder, RunScrubber
from grokkit.widgets.pathway_picker import PathwayPicker
from grokkit.widgets.routing_playground import RoutingPlayground

__all__ = [
    "ConditionPlane",
    "EmbeddingCircle",
    "KLExplorer",
    "LiveTraining",
    "PathwayPicker",
    "PhaseFinder",
    "RoutingPlayground",
    "RunScrubber",
    "SceneWidget",
]
