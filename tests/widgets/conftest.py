"""Every widget, and a small training; each is closed in the end."""

import threading
from collections.abc import Iterator

import pytest

from grokkit.widgets import LiveTraining, SceneWidget
from tests.widgets.makers import MAKERS, SMALL


@pytest.fixture(scope="module", params=MAKERS)
def widget(request: pytest.FixtureRequest) -> Iterator[SceneWidget]:
    """Each of them in turn; a test leaves its controls where they were."""
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
