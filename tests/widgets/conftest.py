"""Every widget, and a small training; each is closed in the end."""

import threading
from collections.abc import Callable, Iterator

import pytest

from grokkit.engine import RunSpec
from grokkit.widgets import (
    ConditionPlane,
    EmbeddingCircle,
    KLExplorer,
    LiveTraining,
    PathwayPicker,
    PhaseFinder,
    PictureWidget,
    RoutingPlayground,
    RunScrubber,
)
from tests.viz.placements import placement_history
from tests.viz.sweep import sweep_history

SMALL = RunSpec().with_(
    p=7, train_fraction=0.5, d_model=8, d_mlp=16, epochs=120, record_every=10, learning_rate=0.005
)
"""A run of a second."""

MAKERS: dict[str, Callable[[], PictureWidget]] = {
    "RoutingPlayground": RoutingPlayground,
    "ConditionPlane": ConditionPlane,
    "RunScrubber": RunScrubber,
    "KLExplorer": lambda: KLExplorer(sweep_history()),
    "PathwayPicker": lambda: PathwayPicker(placement_history()),
    "PhaseFinder": PhaseFinder,
    "EmbeddingCircle": EmbeddingCircle,
    "LiveTraining": lambda: LiveTraining(SMALL),
}


@pytest.fixture(scope="module", params=MAKERS)
def widget(request: pytest.FixtureRequest) -> Iterator[PictureWidget]:
    """Each of them in turn; a test leaves it able to show a picture."""
    made = MAKERS[request.param]()
    yield made
    made.close()


@pytest.fixture
def live() -> Iterator[LiveTraining]:
    """A small training, not yet begun."""
    made = LiveTraining(SMALL)
    yield made
    made.close()


@pytest.fixture
def endless() -> Iterator[LiveTraining]:
    """A small training that no machine finishes while it is tested."""
    made = LiveTraining(SMALL.with_(epochs=1_000_000))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """A widget that is closed trains no more."""
    yield
    assert [thread for thread in threading.enumerate() if "grokkit" in thread.name] == []
