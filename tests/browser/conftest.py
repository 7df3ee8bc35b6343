"""JupyterLab, started once for all the tests of this folder."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.lab import Lab, Server, serve

COURSE = Path(__file__).parents[2] / "course"


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab on a folder that holds a copy of the course."""
    root = tmp_path_factory.mktemp("learner")
    shutil.copytree(COURSE, root / "course", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with serve(root, tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture
def lab(browser: Browser, server: Server) -> Iterator[Lab]:
    """A learner before an empty window."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    lab = Lab(page, server)
    yield lab
    if lab.opened:
        lab.close()
    page.close()


@pytest.fixture
def shoot(lab: Lab):
    """Save a picture under a name, where the environment names a folder for them."""

    def shoot(name: str) -> None:
        if folder := os.environ.get("GROKKIT_SCREENSHOTS"):
            lab.screenshot(Path(folder) / f"{name}.png")

    return shoot
