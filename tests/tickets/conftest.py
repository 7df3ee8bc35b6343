"""What the tests of this room share."""

import jaxtyping
import pytest


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a learner makes them: without the type checks that tests switch on."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
