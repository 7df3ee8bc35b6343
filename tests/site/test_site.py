"""The course as static pages: whole, by itself, and readable by everybody."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
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
    "results/operators.html",
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


class Tags(HTMLParser):
    """The names on a page, what it links to, and what it loads."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=False)  # the text itself is not asked for
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]):
        of = {name: value or "" for name, value in attrs}
        if "id" in of:
            self.names.add(of["id"])
        if "src" in of or tag == "link":
            self.loads.append(of.get("src", of.get("href", "")))
        if "href" in of:
            self.links.append(of["href"])


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Tags]:
    """Every page of the site, read once."""
    return {path: Tags(path.read_text("utf-8")) for path in site.rglob("*.html")}


def broken(page: Path, link: str, pages: dict[Path, Tags]) -> bool:
    """Whether a page's link leads to no file of the site, or to no place on its page."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    lost = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names
    return not target.exists() or bool(lost)


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Tags]):
    wrong = [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link in page.links + page.loads
        if broken(path, link, pages)
    ]
    assert wrong == []


def test_a_link_to_nothing_is_found(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="a.html#here"><a href="#gone"><img src="b">'
    )
    pages = {tmp_path / "a.html": Tags((tmp_path / "a.html").read_text())}
    ((path, page),) = pages.items()
    assert [broken(path, link, pages) for link in page.links + page.loads] == [False, True, True]


def test_it_asks_no_other_host_and_is_small(site: Path, pages: dict[Path, Tags]):
    for path, page in pages.items():
        for address in page.loads:
            assert not urlsplit(address).netloc, f"{path.relative_to(site)}: {address}"
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 25e6


def test_every_lesson_exercise_and_room_has_a_page(site: Path):
    assert (site / "course" / "glossary.html").exists()
    for folder in ("course", "course/evidence", "exercises"):
        for notebook in (ROOT / folder).glob("[0-9]*.ipynb"):
            assert (site / folder / f"{notebook.stem}.html").exists()
    for room in (ROOT / "grokkit").glob("*/__init__.py"):
        assert (site / "api" / f"{room.parent.name}.html").exists()


def test_the_playground_leads_to_what_was_measured(site: Path, pages: dict[Path, Tags]):
    front = site / "index.html"
    assert "data-site" not in front.read_text("utf-8")
    assert {"FINDINGS.html", "course/05_the_wait.html"} <= set(pages[front].links)


def test_a_notebook_says_where_its_cells_can_be_run(site: Path):
    for folder in ("course", "course/evidence", "exercises"):
        for page in (site / folder).glob("[0-9]*.html"):
            assert "shows the notebook as it was run" in page.read_text("utf-8"), page.name


@pytest.mark.browser
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_is_accessible_and_fits(browser: Browser, address: str, name: str):
    """All rules in light; in dark those about colours, which alone depend on the scheme."""
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    elsewhere: list[str] = []
    ours = (address, "data:")
    page.on("request", lambda r: None if r.url.startswith(ours) else elsewhere.append(r.url))
    page.goto(address + name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    colours = {"runOnly": ["color-contrast", "link-in-text-block"]}
    found += Axe().run(page, options=colours).response["violations"]
    serious = [v for v in found if v["impact"] in ("moderate", "serious", "critical")]
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
