"""How fast the playground trains in headless Chromium on this machine.

``python -m tests.playground.pace`` opens the page, starts the default run, and prints the seconds
to the first record, the epochs a second by the page's own counter, and when 95 % were right.
"""

import time

from playwright.sync_api import sync_playwright

from tests.conftest import chromium
from tests.playground.conftest import serve

SECONDS = 12


def main() -> None:
    """Print what the page shows every other second."""
    with serve() as address, sync_playwright() as playwright, chromium(playwright) as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        opened = time.perf_counter()
        page.goto(address)
        page.wait_for_function("globalThis.playground?.records.length > 0")
        print(f"first record after {time.perf_counter() - opened:.2f} s")
        started = time.perf_counter()
        page.get_by_role("button", name="Start", exact=True).press("Enter")
        while time.perf_counter() - started < SECONDS:
            time.sleep(2)
            right = page.evaluate("playground.records.at(-1).testAccuracy")
            after = time.perf_counter() - started
            print(
                f"{after:4.1f} s: {page.inner_text('#pace')}, {right:.0%} of the test pairs right"
            )
        print(page.inner_text("#status"))


if __name__ == "__main__":
    main()
