"""The widgets as a learner meets them: shown once, moved by the keyboard, never blank."""

import base64
import re
import time
from collections.abc import Callable

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator

from grokkit.runtime import save_history
from tests.browser.lab import SECONDS, Lab
from tests.viz.placements import placement_history
from tests.viz.sweep import sweep_history

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDGETS = {
    "RoutingPlayground": "widgets.RoutingPlayground()",
    "ConditionPlane": "widgets.ConditionPlane()",
    "RunScrubber": "widgets.RunScrubber()",
    "KLExplorer": 'widgets.KLExplorer(grokkit.load_history("sweep.nc"))',
    "PathwayPicker": 'widgets.PathwayPicker(grokkit.load_history("placements.nc"))',
    "PhaseFinder": "widgets.PhaseFinder()",
    "EmbeddingCircle": "widgets.EmbeddingCircle()",
    "LiveTraining": "first = widgets.LiveTraining()\nfirst",
}
"""Each in a cell of its own, from cell 1 on."""

LIVE = 1 + list(WIDGETS).index("LiveTraining")
SECOND, THREADS, SUM = LIVE + 1, LIVE + 2, LIVE + 3
LAST = [
    "second = widgets.LiveTraining()\nsecond",
    'print(sum("grokkit" in thread.name for thread in threading.enumerate()), "in training")',
    "print(6 * 7)",
]


def open_notebook(lab: Lab, cells: list[str]) -> None:
    """Open a notebook of some cells, and run it from top to bottom."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.server.root / "widgets.ipynb")
    lab.open("widgets.ipynb")
    lab.run_all()
    assert lab.errors() == []


def picture(lab: Lab, cell: int) -> Locator:
    return lab.shown(cell).locator(".grokkit-scene .root")


def until(lab: Lab, what: Callable[[], bool], why: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < deadline, why
        lab.page.wait_for_timeout(50)


def press(lab: Lab, cell: int, button: str) -> None:
    """Press a button as who has no mouse does."""
    target = lab.shown(cell).get_by_role("button", name=button)
    target.focus()
    target.press("Enter")


def says(lab: Lab, cell: int) -> str:
    """The lines above the panels."""
    root = picture(lab, cell)
    return " ".join(root.locator(line).inner_text() for line in (".head", ".below"))


def epoch(lab: Lab, cell: int) -> int:
    found = re.search(r"epoch ([\d,]+) of", says(lab, cell))
    return int(found[1].replace(",", "")) if found else 0


def output(lab: Lab, cell: int) -> str:
    lab.run_cell(cell)
    return "".join(lab.cells()[cell]["outputs"][0]["text"])


def test_the_widgets_are_shown_moved_trained_and_thrown_away(
    lab: Lab, shoot: Callable[[str], None]
):
    save_history(sweep_history(seeds=5), lab.server.root / "sweep.nc")
    save_history(placement_history(), lab.server.root / "placements.nc")
    begin = "import threading\n\nimport grokkit\nfrom grokkit import widgets"
    open_notebook(lab, [begin, *WIDGETS.values(), *LAST])
    shoot("widgets")
    for cell, name in enumerate(WIDGETS, 1):
        # The widget alone: the picture that stands in for it elsewhere is not shown beside it.
        picture(lab, cell).wait_for()
        assert lab.shown(cell).locator("img").count() == 0, name
        (stored,) = lab.cells()[cell]["outputs"]
        assert base64.b64decode(stored["data"]["image/png"]).startswith(b"\x89PNG"), name

        before = picture(lab, cell).inner_html()
        slider = picture(lab, cell).locator("input[type=range]").first
        at = int(slider.input_value())
        slider.focus()
        slider.press("ArrowLeft" if at else "ArrowRight")
        assert abs(int(slider.input_value()) - at) == 1
        until(
            lab,
            lambda old=before, at=cell: picture(lab, at).inner_html() != old,
            f"{name} shows the same picture",
        )
    shoot("widgets-moved")
    assert lab.errors() == []

    # It trains, the kernel answers all the while, and pauses.
    press(lab, LIVE, "Start")
    until(lab, lambda: epoch(lab, LIVE) > 0, "no picture of the training came")
    assert output(lab, SUM) == "42\n"
    earlier = epoch(lab, LIVE)
    until(lab, lambda: epoch(lab, LIVE) > earlier, "the curves do not grow")
    press(lab, LIVE, "Pause")
    lab.wait_until_idle()
    assert "paused" in says(lab, LIVE)
    assert output(lab, THREADS) == "0 in training\n"

    # Two of them at once; each ends with its cell.
    press(lab, LIVE, "Start")
    press(lab, SECOND, "Start")
    paused_at = epoch(lab, LIVE)
    until(lab, lambda: epoch(lab, LIVE) > paused_at, "the first one does not go on")
    until(lab, lambda: epoch(lab, SECOND) > 0, "the second one does not begin")
    shoot("widgets-training")
    assert output(lab, THREADS) == "2 in training\n"
    lab.run_cell(SECOND)
    assert output(lab, THREADS) == "1 in training\n"
    lab.delete_cell(LIVE)
    lab.wait_until_idle()
    assert output(lab, THREADS - 1) == "0 in training\n"
    assert lab.errors() == []


def test_an_error_in_a_callback_is_shown_to_the_learner(lab: Lab, shoot: Callable[[str], None]):
    begin = "from grokkit.widgets import LiveTraining\nlive = LiveTraining()"
    open_notebook(lab, [begin, "live", "live.draw = lambda: 1 / 0"])
    press(lab, 1, "Step")
    box = lab.shown(1).get_by_role("alert")
    box.wait_for()
    assert box.inner_text().startswith("ZeroDivisionError: division by zero")
    # The kernel sends its own report after the words that the widget shows.
    told = "callback: ZeroDivisionError: division by zero"
    until(lab, lambda: told in lab.errors(), "the error was swallowed")
    assert lab.errors() == [told]
    shoot("widgets-error")
