"""What holds of all: made of the core alone, never blank, labelled, loud when they fail."""

import ast
import base64
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
from PIL import Image

import grokkit.widgets
from grokkit.widgets import LiveTraining, PictureWidget, RoutingPlayground

PACKAGE = Path(grokkit.widgets.__file__).parent
CORE = ("@jupyter-widgets/base", "@jupyter-widgets/controls", "@jupyter-widgets/output")


def tree(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    """A widget and all that belongs to it: children, layouts, styles."""
    yield widget
    for name in widget.keys:
        value = getattr(widget, name)
        for part in value if isinstance(value, tuple | list) else [value]:
            if isinstance(part, ipywidgets.Widget):
                yield from tree(part)


def move(control: Any) -> None:
    """Move a control to the end from which it is furthest."""
    if isinstance(control, ipywidgets.ToggleButton):
        control.value = not control.value
    elif isinstance(control, ipywidgets.FloatSlider | ipywidgets.IntSlider):
        middle = (control.min + control.max) / 2
        control.value = control.max if control.value < middle else control.min
    else:
        control.index = len(control.options) - 1 if 2 * control.index < len(control.options) else 0


def controls(widget: PictureWidget) -> list[Any]:
    """What a learner can set."""
    kinds = (
        ipywidgets.FloatSlider,
        ipywidgets.IntSlider,
        ipywidgets.SelectionSlider,
        ipywidgets.Dropdown,
        ipywidgets.ToggleButton,
    )
    return [part for part in tree(widget) if isinstance(part, kinds)]


# --- made of the core alone ---------------------------------------------------------------


def test_it_is_made_of_core_ipywidgets_8_alone(widget: PictureWidget):
    for part in tree(widget):
        assert part._model_module in CORE, part
        assert part._view_module in CORE, part
        assert str(part._model_module_version).startswith(("1.", "2.")), part


def test_no_module_of_the_room_imports_anything_that_a_front_end_would_have_to_install():
    allowed = {*sys.stdlib_module_names, "IPython", "grokkit", "ipywidgets", "numpy", "xarray"}
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.split(".")[0] for name in names} <= allowed, path.name


# --- a picture, here and where no kernel runs ---------------------------------------------


def test_its_cell_leaves_the_widget_and_a_picture_of_its_first_values(widget: PictureWidget):
    bundle = widget._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert bundle["text/plain"] == f"{type(widget).__name__}: run this cell to use it"
    data = base64.b64decode(bundle["image/png"])
    assert len(data) < 40_000
    with Image.open(io.BytesIO(data)) as image:
        # As wide as a notebook is, at 100 dots an inch.
        assert image.format == "PNG" and 850 <= image.width <= 1000


def test_a_training_leaves_a_recorded_run_not_empty_axes():
    live = LiveTraining()
    bundle = live._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) != bytes(live.image.value)
    live.seed.value = 1  # which is not recorded
    assert live.static_picture() == bytes(live.image.value)
    live.close()


def test_its_headline_can_be_heard(widget: PictureWidget):
    assert "role='status'" in widget.words.value or isinstance(widget, LiveTraining)
    assert len(widget.words.value) > 60


# --- controls -----------------------------------------------------------------------------


def test_every_control_is_labelled_and_moves_the_picture(widget: PictureWidget):
    found = controls(widget)
    assert any(
        isinstance(part, ipywidgets.SelectionSlider | ipywidgets.FloatSlider) for part in found
    )
    for control in reversed(found):  # the task last: some tasks have no distractors to choose
        assert control.description
        before = widget.static_picture()
        move(control)
        assert widget.static_picture() != before, control.description
        assert widget.message.value == ""


def test_every_button_is_told_apart_in_words(widget: PictureWidget):
    for part in tree(widget):
        if isinstance(part, ipywidgets.Button | ipywidgets.ToggleButton):
            assert part.description and part.tooltip


# --- errors -------------------------------------------------------------------------------


def test_an_error_in_a_callback_is_shown_and_raised(
    widget: PictureWidget, monkeypatch: pytest.MonkeyPatch
):
    def broken() -> None:
        raise RuntimeError("a <planted> error")

    slider = next(part for part in controls(widget) if "Slider" in type(part).__name__)
    monkeypatch.setattr(widget, "picture", broken)
    with pytest.raises(RuntimeError, match="planted"):
        move(slider)
    assert "RuntimeError: a &lt;planted&gt; error" in widget.message.value
    assert "in broken" in widget.message.value  # where it came from
    assert widget.message.layout.display is None

    monkeypatch.undo()
    widget.redraw()
    assert widget.message.value == ""
    assert widget.message.layout.display == "none"


def test_a_refused_setting_is_shown_as_one_line(monkeypatch: pytest.MonkeyPatch):
    from grokkit.errors import SettingError, refuse

    widget = RoutingPlayground()
    monkeypatch.setattr(widget, "picture", lambda: refuse("gamma", 2.0, "at most 1"))
    with pytest.raises(SettingError):
        widget.redraw()
    assert ">gamma: got 2.0; allowed: at most 1<" in widget.message.value
    widget.close()
