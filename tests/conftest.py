"""Settings that every test shares: one thread, no windows, no chance."""

from collections import defaultdict

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


QUICK = 8
"""How many of a test's parameters `make test` tries."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with many parameters all but a few, spread evenly, are slow."""
    by_test: defaultdict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            by_test[item.path, item.originalname].append(item)
    for several in by_test.values():
        quick = {round(i * (len(several) - 1) / (QUICK - 1)) for i in range(QUICK)}
        for number, item in enumerate(several):
            if len(several) > QUICK and number not in quick:
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a learner makes them: without the type checks that tests switch on.

    Those would stop a value of the wrong type before grokkit can refuse it by name.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
