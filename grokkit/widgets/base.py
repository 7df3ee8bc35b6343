"""What every widget is: a scene that the browser draws, and a still for who has no browser."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from grokkit.errors import refuse
from grokkit.viz.scene import Reader, Scene, still
from grokkit.viz.style import Picture, png

SCENE = "application/vnd.grokkit.scene"
"""Under this name a notebook keeps a scene, packed by :func:`pack`: pages without a kernel have
their widgets from it. Front ends that do not know the name show the still."""


class SceneWidget(anywidget.AnyWidget):
    """A scene in the browser, where its controls are moved and its panels drawn.

    The scene holds whatever the controls can show, so a move asks no kernel. Python is told
    of it (:attr:`state`), and can move a control itself.

    Attributes:
        scene: the scene.
        state: the index of each control that was moved.
        message: an error that the browser shows above the panels; empty where there is none.
    """

    _esm = Path(__file__).with_name("scene.js")
    scene = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode("").tag(sync=True)

    def __init__(self, **scene: Any) -> None:
        super().__init__(scene=scene)

    @property
    def read(self) -> Reader:
        """What the scene says in the state of its controls."""
        return Reader(self.scene, self.state)

    @property
    def headline(self) -> str:
        """The two lines above the panels."""
        return f"{self.read.pick(self.scene['headline'])}; {self.read.pick(self.scene['below'])}"

    def move(self, **places: Any) -> None:
        """Set controls by name: a slider to one of its values, a menu to one of its texts.

        Raises:
            SettingError: there is no such control, or it has no such value.
        """
        state = dict(self.state)
        for name, value in places.items():
            if name not in self.read.controls:
                refuse("control", name, ", ".join(self.read.controls))
            control = self.read.controls[name]
            choices = Reader(self.scene, state).pick(control.get("values", control.get("labels")))
            if value not in choices and "labels" in control:
                choices = Reader(self.scene, state).pick(control["labels"])
            if value not in choices:
                shown = [*choices[:6], "...", choices[-1]] if len(choices) > 8 else choices
                refuse(name, value, ", ".join(map(str, shown)))
            state[name] = list(choices).index(value)
        self.state = state

    def picture(self) -> Picture:
        """The still: the scene in the present state, drawn by matplotlib."""
        return still(self.scene, self.state)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        # A front end shows the first that it can: the widget, or the picture.
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        figure = self.picture()
        picture = base64.b64encode(png(figure)).decode("ascii")
        words = f"{type(self).__name__}, at rest: run this cell to use it. {figure.alt}"
        more = {"image/png": picture, "text/plain": words, SCENE: pack(self.resting_scene())}
        return data | more, metadata | {"image/png": {"alt": words}}

    def resting_scene(self) -> Scene:
        """What a page without a kernel shows: the scene, its controls where they are now."""
        controls = [
            one | {"index": self.state[one["name"]]} if one["name"] in self.state else one
            for one in self.scene["controls"]
        ]
        return self.scene | {"controls": controls}


def pack(scene: Scene) -> str:
    """A scene as a short text: JSON, deflated, in base 64."""
    text = json.dumps(scene, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")
