"""What the tests of this room share."""

import jaxtyping
import pytest


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a learner makes them: without the type checks that tests switch on.

    Those would stop a value of the wrong type before grokkit can refuse it by name.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
