"""Settings that every test shares: one thread, no windows, no chance."""

import jaxtyping
import matplotlib
import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)
matplotlib.use("Agg")  # not by MPLBACKEND: kernels would inherit it and show no figures

# The same examples on every run and on every machine, and no clock that fails on a busy one.
settings.register_profile("grokkit", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("grokkit")


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a learner makes them: without the type checks that tests switch on.

    Those would stop a value of the wrong type before grokkit can refuse it by name.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
