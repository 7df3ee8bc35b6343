"""The harness itself, on a small notebook: what it reports is what a learner would see."""

from collections.abc import Callable

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SLIDER = """\
import io
import ipywidgets as widgets
from matplotlib.figure import Figure

def picture(n):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(range(n + 1))
    buffer = io.BytesIO()
    figure.savefig(buffer)
    return buffer.getvalue()

slider = widgets.IntSlider(3, 0, 10, description="n")
image = widgets.Image(value=picture(3))
def redraw(change):
    image.value = picture(change["new"])
slider.observe(redraw, "value")
widgets.VBox([slider, image])
"""


@pytest.fixture
def small(lab: Lab) -> Lab:
    """The small notebook, open."""
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# A small notebook"),
            new_code_cell("guess = None"),
            new_code_cell("print('guess:', guess)"),
            new_code_cell(SLIDER),
            new_code_cell("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 3]);"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, lab.server.root / "small.ipynb")
    lab.open("small.ipynb")
    return lab


def test_a_notebook_runs_answers_are_typed_and_a_slider_redraws(
    small: Lab, shoot: Callable[[str], None]
):
    small.run_all()
    assert small.errors() == []
    assert small.cells()[2]["outputs"][0]["text"] == "guess: None\n"
    assert "image/png" in small.cells()[4]["outputs"][0]["data"]

    small.set_cell(small.find_cell("guess = None"), "guess = 7")
    small.run_cell(1)
    small.run_cell(2)
    assert small.cells()[2]["outputs"][0]["text"] == "guess: 7\n"

    picture = small.page.locator(".jp-OutputArea-output .widget-image")
    before = picture.get_attribute("src")
    assert small.move_slider(small.sliders().first, 2) == "5"
    assert picture.get_attribute("src") != before
    shoot("harness")


def test_an_error_and_the_cells_after_it_are_reported(small: Lab):
    small.set_cell(2, "1 / 0")
    small.run_all()
    assert small.errors() == [
        "cell 2: ZeroDivisionError: division by zero",
        "cell 3: never run",
        "cell 4: never run",
    ]


def test_an_error_in_a_slider_is_reported(small: Lab):
    small.set_cell(3, SLIDER.replace('picture(change["new"])', "picture(None)"))
    small.run_all()
    assert small.errors() == []
    small.move_slider(small.sliders().first, 1)
    (line,) = small.errors()
    assert line.startswith("callback: TypeError")
