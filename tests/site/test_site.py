"""The course as static pages: whole, by itself, and readable by everybody."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.playground.conftest import PATIENCE, Quiet

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SHOWN = (
    "index.html",
    "contents.html",
    "course/01_sparse_tasks.html",
    "course/evidence/03_the_decoupling_theorem.html",
    "exercises/03_the_decoupling_theorem.html",
    "RESULTS.html",
    "api/theory.html",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    out = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(ROOT / "course" / "site" / "build.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where it is served."""
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def pages(site: Path) -> dict[Path, BeautifulSoup]:
    """Every page of the site, parsed."""
    return {
        path: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in site.rglob("*.html")
    }


def test_every_link_leads_somewhere(site: Path):
    parsed = pages(site)
    anchors = {
        path: {str(tag["id"]) for tag in page.find_all(id=True)} for path, page in parsed.items()
    }
    broken = []
    for path, page in parsed.items():
        for tag in page.find_all(href=True):
            link = urlsplit(str(tag["href"]))
            if link.scheme or link.netloc:
                continue
            target = (path.parent / unquote(link.path)).resolve() if link.path else path
            if target.is_dir():
                target = target / "index.html"
            missing = not target.exists()
            if link.fragment and target in anchors and path.parent.name != "api":
                missing |= unquote(link.fragment) not in anchors[target]
            if missing:
                broken.append(f"{path.relative_to(site)}: {tag['href']}")
    assert broken == []


def test_it_asks_no_other_host_and_is_small(site: Path):
    for path, page in pages(site).items():
        for tag in page.find_all(["script", "link", "img", "iframe", "source"]):
            address = str(tag.get("src") or (tag.name == "link" and tag.get("href")) or "")
            assert not urlsplit(address).netloc, f"{path.relative_to(site)}: {address}"
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 25e6


def test_every_lesson_exercise_and_room_has_a_page(site: Path):
    assert (site / "course" / "glossary.html").exists()
    for folder in ("course", "course/evidence", "exercises"):
        for notebook in (ROOT / folder).glob("[0-9]*.ipynb"):
            assert (site / folder / f"{notebook.stem}.html").exists()
    for room in (ROOT / "grokkit").glob("*/__init__.py"):
        assert (site / "api" / f"{room.parent.name}.html").exists()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_is_accessible_and_fits(browser: Browser, address: str, name: str, scheme: str):
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE)
    elsewhere: list[str] = []
    ours = (address, "data:")
    page.on("request", lambda r: None if r.url.startswith(ours) else elsewhere.append(r.url))
    page.goto(address + name)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    listed = [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in serious]
    assert (elsewhere, listed) == ([], [])
    page.close()


@pytest.mark.browser
def test_search_finds_a_lesson(browser: Browser, address: str):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}search.html?q=starvation")
    page.wait_for_selector("#search-results a")
    assert "tarvation" in page.inner_text("#search-results")
    page.close()
