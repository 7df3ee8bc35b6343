"""The playground on a server of its own, in headless Chromium."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page

from tests.playground.exported import PLAYGROUND

PATIENCE = 600_000  # milliseconds: a loaded machine makes nothing fail


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def serve() -> Iterator[str]:
    """The page on a server of its own; yields its address."""
    handler = functools.partial(Quiet, directory=str(PLAYGROUND))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the page is served."""
    with serve() as address:
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The open page; it must end without an error and without a request to another host."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    host = address.rsplit("/", 1)[0]
    page.on(
        "request", lambda r: None if r.url.startswith((host, "data:")) else troubles.append(r.url)
    )
    page.goto(address)
    page.wait_for_function("globalThis.playground?.records.length > 0")
    yield page
    page.close()
    assert troubles == []
