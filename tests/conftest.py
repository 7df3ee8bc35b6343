"""Settings that every test shares: one thread, no windows, no chance."""

import atexit
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import jaxtyping
import matplotlib
import pytest
import torch
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

torch.set_num_threads(1)
jaxtyping.config.update("jaxtyping_disable", True)  # but where a test switches it on
matplotlib.use("Agg")  # not by MPLBACKEND: kernels would inherit it and show no figures

# The same examples on every run and on every machine, and no clock that fails on a busy one.
settings.register_profile("grokkit", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("grokkit")


CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

SHARED = "GROKKIT_TESTS_SHARED"
"""The variable that names a folder for what several workers need: the first makes it."""


def pytest_configure() -> None:
    """A folder for all workers of this session; they inherit the variable."""
    if SHARED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="grokkit-tests-")
        atexit.register(folder.cleanup)
        os.environ[SHARED] = folder.name


COMPUTES = (
    "core",
    "diagnostics",
    "engine",
    "images",
    "model",
    "operators",
    "tasks",
    "theory",
    "tickets",
)
"""Rooms whose functions compute with tensors; the others call these with the same shapes."""

QUICK = 3
"""How many of a test's parameters `make test` tries."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test with many parameters all but a few, spread evenly, are slow.

    And where the slow tests run, a sample of one of them says no more.
    """
    if "not slow" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("sample") is None]
    by_test: defaultdict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            by_test[item.path, item.originalname].append(item)
    for several in by_test.values():
        quick = {round(i * (len(several) - 1) / (QUICK - 1)) for i in range(QUICK)}
        for number, item in enumerate(several):
            if len(several) > QUICK and number not in quick:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Shapes are checked in the quick tests of what computes: it makes small runs twice as slow."""
    computes = item.path.parent.name in COMPUTES
    check = computes and item.get_closest_marker("slow") is None
    jaxtyping.config.update("jaxtyping_disable", not check)
    return (yield)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls as a learner makes them: without the type checks that tests switch on.

    Those would stop a value of the wrong type before grokkit can refuse it by name.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def chromium(playwright: "Playwright") -> "Browser":
    """This machine's Chromium, without a window."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    return playwright.chromium.launch(executable_path=executable, args=list(QUIET))


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Headless Chromium, or a skip where there is none.

    One for all folders: a second Playwright cannot run in the same process.
    """
    from playwright.sync_api import sync_playwright

    if not any(map(shutil.which, CHROMIUM)):
        why = f"no Chromium on the path ({', '.join(CHROMIUM)})"
        if os.environ.get("GROKKIT_REQUIRE_BROWSER"):
            pytest.fail(why)
        pytest.skip(why)
    with sync_playwright() as playwright, chromium(playwright) as browser:
        yield browser
