"""What holds of all: plain data that fits a notebook, labelled, and a still with its words."""

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest

from grokkit.errors import SettingError
from grokkit.viz.scene import KINDS, Reader, by, get, numbers
from grokkit.widgets import LiveTraining, SceneWidget
from grokkit.widgets.base import SCENE


def states(widget: SceneWidget) -> list[dict[str, int]]:
    """Every control at its ends, the others where they begin."""
    found: list[dict[str, int]] = [{}]
    for control in widget.scene["controls"]:
        choices = widget.read.pick(control.get("values", control.get("labels", [])))
        found += [{control["name"]: at} for at in {0, len(choices) - 1} if choices]
    return found


def marks(read: Reader) -> list[dict[str, Any]]:
    """All marks of a scene in one state, with every reference resolved."""
    panels = [panel for row in read.scene["rows"] for panel in row]
    found = [one for panel in panels for one in map(read.pick, read.pick(panel["marks"])) if one]
    return [{name: read.pick(value) for name, value in one.items()} for one in found]


def test_a_scene_is_json_and_fits_into_a_notebook(widget: SceneWidget):
    text = json.dumps(widget.scene, allow_nan=False)
    assert json.loads(text) == json.loads(json.dumps(widget.scene))
    assert len(text) < 250_000


def test_every_state_can_be_shown_and_nothing_in_it_is_left_open(widget: SceneWidget):
    live = isinstance(widget, LiveTraining)
    for state in states(widget):
        outputs = getattr(widget, "outputs", None)
        read = Reader(widget.scene, state, outputs)
        headline = read.pick(widget.scene["headline"]) + read.pick(widget.scene["below"])
        assert "{" not in headline and "nan" not in headline
        found = marks(read)
        assert found or live
        for one in found:
            assert one["mark"] in KINDS
            if one["mark"] in ("line", "dots", "bars"):
                assert np.shape(one["x"]) == np.shape(one["y"]), (state, one["mark"])


def test_every_control_is_named_and_changes_what_is_shown(widget: SceneWidget):
    if isinstance(widget, LiveTraining):
        return  # its curves are those of the run; test_live_training moves its controls
    outputs = getattr(widget, "outputs", None)
    shown = [
        json.dumps([marks(Reader(widget.scene, state, outputs)), state
                    if outputs else 0])
        for state in states(widget)
    ]  # fmt: skip
    for control in widget.scene["controls"]:
        assert control["label"]
    assert len(set(shown)) >= max(2, len(widget.scene["controls"]))


def test_a_notebook_keeps_the_still_its_words_and_the_scene(widget: SceneWidget):
    data, metadata = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"]
    assert len(data["text/plain"].split()) > 20
    scene = json.loads(zlib.decompress(base64.b64decode(data[SCENE])))
    assert [one["name"] for one in scene["controls"]] == list(widget.read.controls)
    assert len(data[SCENE]) < 100_000


def test_a_control_that_is_not_there_or_cannot_stand_there_is_refused(widget: SceneWidget):
    with pytest.raises(SettingError, match="control: got 'nonsense'; allowed: "):
        widget.move(nonsense=1)
    name = next(n for n, one in widget.read.controls.items() if one["kind"] != "button")
    with pytest.raises(SettingError, match=f"{name}: got -77"):
        widget.move(**{name: -77})


# --- references ---------------------------------------------------------------------------


def test_references_are_resolved_at_the_index_of_their_control():
    scene = {
        "controls": [
            {"name": "a", "kind": "slider", "label": "a", "values": [10, 2000]},
            {"name": "b", "kind": "menu", "label": "b", "labels": ["x", "y"], "index": 1},
        ],
        "data": {"rows": by("b", [[1, 2], [3, 4]])},
        "words": {"which": by("a", ["first", "second {b}"])},
    }
    read = Reader(scene, {"a": 1})
    assert read.pick("{a}: {which}, {unknown}") == "2,000: second y, {unknown}"
    assert read.pick(get("rows")) == [3, 4]
    assert read.pick(get("rows", "a")) == 4
    assert read.value("a") == 2000


def test_numbers_are_short_and_what_is_not_finite_is_none():
    assert numbers(np.array([[0.123456, np.nan], [123456.7, 2.0]])) == [[0.1235, None], [123457, 2]]
