"""The widgets without a kernel: moved by mouse and by key, drawn at once, readable everywhere."""

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

import grokkit.widgets
from grokkit.widgets.routing_playground import RoutingPlayground
from tests.widgets.makers import MAKERS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MODULE = (Path(grokkit.widgets.__file__).parent / "scene.js").read_text(encoding="utf-8")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A widget</title>
<body style="background:{paper};color:{ink};margin:8px">
<main><h1>A widget</h1><div id="a"></div></main>
<script type="module">{module}
mount(document.getElementById("a"), {scene});
window.ready = true;</script></html>"""

MOVES = """async () => {
  const root = document.querySelector(".grokkit-scene").shadowRoot;
  const slider = root.querySelector("input[type=range]"), spent = [];
  for (let turn = 0; turn < 20; turn++) {
    const started = performance.now();
    slider.value = Math.floor(slider.max * (turn % 2 ? 0.3 : 0.7));
    slider.dispatchEvent(new Event("input"));
    await new Promise(then => requestAnimationFrame(() => setTimeout(then, 0)));
    spent.push(performance.now() - started);
  }
  return spent;
}"""
"""Milliseconds from an input to the frame after its picture, for twenty moves."""


@pytest.fixture(scope="module")
def scenes() -> dict[str, dict[str, Any]]:
    made = {name: make() for name, make in MAKERS.items()}
    scenes = {name: widget.resting_scene() for name, widget in made.items()}
    for widget in made.values():
        widget.close()
    return scenes


@pytest.fixture(params=[n for n in MAKERS if n != "LiveTraining"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def show(page: Page, scene: dict[str, Any], paper: str = "#ffffff") -> None:
    page.set_default_timeout(600_000)
    ink = "#000000" if paper == "#ffffff" else "#ffffff"
    held = json.dumps(scene).replace("<", "\\u003c")
    page.set_content(PAGE.format(paper=paper, ink=ink, module=MODULE, scene=held))
    page.wait_for_function("window.ready")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must end without an error and without any request."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: troubles.append(request.url))
    yield page
    page.close()
    assert troubles == []


def drawn(page: Page) -> str:
    return page.locator(".root").inner_html()


def test_it_is_moved_by_key_and_by_mouse_and_quickly(name: str, scenes: dict, page: Page):
    show(page, scenes[name])
    slider = page.locator("input[type=range]").first
    before = drawn(page)
    at = int(slider.input_value())
    slider.focus()
    slider.press("ArrowLeft" if at else "ArrowRight")
    assert abs(int(slider.input_value()) - at) == 1
    moved = drawn(page)
    assert moved != before
    box = slider.bounding_box()
    assert box is not None
    end = 0.03 if at > int(slider.get_attribute("max") or 0) / 2 else 0.97
    page.mouse.click(box["x"] + end * box["width"], box["y"] + box["height"] / 2)
    assert drawn(page) != moved
    spent = np.array(page.evaluate(MOVES))
    print(f"\n{name}: ms from a move to its picture, median {np.median(spent):.0f} "
          f"({spent.min():.0f} .. {spent.max():.0f})")  # fmt: skip
    assert np.median(spent) < 2000  # no more than that it is no kernel's round trip


@pytest.mark.parametrize("paper", ["#ffffff", "#131416"])
def test_it_fits_a_phone_and_everybody_can_read_it(
    name: str, paper: str, scenes: dict, browser: Browser
):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    show(page, scenes[name], paper)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = Axe().run(page).response["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in serious] == []
    for image in page.locator("svg[role=img]").all():
        assert len((image.get_attribute("aria-label") or "").split()) > 2
    if folder := os.environ.get("GROKKIT_SCREENSHOTS"):
        shade = "dark" if paper != "#ffffff" else "light"
        page.screenshot(path=Path(folder) / f"{name}-{shade}.png", full_page=True)
    page.close()


def test_the_browser_computes_what_python_does(page: Page):
    widget = RoutingPlayground()
    show(page, widget.resting_scene())
    for seed in range(5):
        places = np.random.default_rng(seed).integers(0, 20, 6)
        names = [one["name"] for one in widget.scene["controls"] if one["kind"] == "slider"]
        for slider, place in zip(page.locator("input[type=range]").all(), places, strict=True):
            slider.fill(str(place))
        widget.state = dict(zip(names, map(int, places), strict=True))
        theirs = page.evaluate("document.querySelector('.grokkit-scene').outputs()")
        for key, ours in widget.outputs.items():
            if isinstance(ours, str):
                assert theirs[key] == ours, key
            else:
                np.testing.assert_allclose(theirs[key], ours, rtol=1e-9, atol=1e-12, err_msg=key)


def test_a_border_takes_along_those_it_is_moved_past(scenes: dict, page: Page):
    show(page, scenes["PhaseFinder"])
    first, second, third = page.locator("input[type=range]").all()
    far = str(int(third.input_value()) - 1)
    first.fill(far)
    assert second.input_value() == far < third.input_value()
    third.fill("1")
    assert [one.input_value() for one in (first, second, third)] == ["1"] * 3
    reveal = page.get_by_role("button", name="Show the rule's")
    reveal.press("Enter")
    assert reveal.get_attribute("aria-pressed") == "true"
    assert "you said" in page.locator(".below").inner_text()
    page.get_by_label("run").select_option(index=1)  # another run hides the rule's again
    assert reveal.get_attribute("aria-pressed") == "false"


def test_another_run_keeps_the_epoch_as_near_as_it_can(scenes: dict, page: Page):
    show(page, scenes["RunScrubber"])
    page.locator("input[type=range]").fill("80")
    page.get_by_label("run").select_option(index=3)
    epochs = scenes["RunScrubber"]["controls"][1]["values"]["of"]
    nearest = min(epochs[3], key=lambda epoch: abs(epoch - epochs[0][80]))
    assert page.locator("output").inner_text() == f"{nearest:,}"
    slider = page.locator("input[type=range]")
    for run in (3, 0):  # the last epoch stays the last one, whichever it is
        slider.fill(slider.get_attribute("max") or "")
        page.get_by_label("run").select_option(index=run)
        assert page.locator("output").inner_text() == f"{epochs[run][-1]:,}"


def test_a_slider_keeps_its_length_whatever_its_label_is(scenes: dict, page: Page):
    show(page, scenes["PathwayPicker"])
    slider, widths = page.locator("input[type=range]"), set()
    for place in range(int(slider.get_attribute("max") or 0) + 1):
        slider.fill(str(place))
        box = slider.bounding_box()
        assert box is not None
        widths.add(round(box["width"]))
    assert len(widths) == 1


def test_it_plays_by_itself_and_stops_at_the_end(scenes: dict, page: Page):
    show(page, scenes["EmbeddingCircle"])
    slider = page.locator("input[type=range]")
    page.get_by_role("button", name="Play: epoch").click()  # from the end: from the beginning
    page.wait_for_function(
        "document.querySelector('.grokkit-scene').shadowRoot.querySelector('input').value > 1"
    )
    page.get_by_role("button", name="Play: epoch").wait_for()
    assert slider.input_value() == slider.get_attribute("max")


def test_on_the_site_a_widget_lives_from_what_its_output_holds(
    page: Page, monkeypatch: pytest.MonkeyPatch
):
    where = Path(__file__).parents[2] / "course" / "site" / "build.py"
    monkeypatch.syspath_prepend(where.parent)
    spec = importlib.util.spec_from_file_location("site_build", where)
    assert spec is not None and spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    data, _ = MAKERS["PhaseFinder"]()._repr_mimebundle_()
    cell = {"metadata": {}, "outputs": [{"output_type": "execute_result", "data": data}]}
    assert site.describe_images(cell, "../")
    shown = cell["outputs"][0]["data"]["text/html"]
    assert "PhaseFinder, at rest" in shown  # for who has no script
    page.set_default_timeout(600_000)
    page.set_content(f"<body>{shown}{site.widget_script()}</body>")
    slider = page.locator("input[type=range]").first
    slider.wait_for()
    before = drawn(page)
    slider.press("ArrowRight")
    assert drawn(page) != before
    assert page.locator("img").count() == 0
