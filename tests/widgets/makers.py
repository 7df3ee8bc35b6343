"""How to make each widget, small; and a small training."""

from collections.abc import Callable

from grokkit.engine import RunSpec
from grokkit.widgets import (
    ConditionPlane,
    EmbeddingCircle,
    KLExplorer,
    LiveTraining,
    PathwayPicker,
    PhaseFinder,
    RoutingPlayground,
    RunScrubber,
    SceneWidget,
)
from tests.viz.placements import placement_history
from tests.viz.small import small_path
from tests.viz.sweep import sweep_history

SMALL = RunSpec().with_(
    p=7, train_fraction=0.5, d_model=8, d_mlp=16, epochs=120, record_every=10, learning_rate=0.005
)
"""A run of a second."""

MAKERS: dict[str, Callable[[], SceneWidget]] = {
    "RoutingPlayground": RoutingPlayground,
    "ConditionPlane": ConditionPlane,
    "RunScrubber": RunScrubber,
    "KLExplorer": lambda: KLExplorer(sweep_history()),
    "PathwayPicker": lambda: PathwayPicker(placement_history()),
    "PhaseFinder": PhaseFinder,
    "EmbeddingCircle": lambda: EmbeddingCircle({"circle": small_path(), "other": small_path(k=5)}),
    "LiveTraining": lambda: LiveTraining(SMALL),
}
