"""A scene: what a widget shows, as plain data that a browser draws, and its still.

A scene is a dict that JSON can hold, made once from arrays. ``widgets/scene.js`` draws it anew
at every move of a control, without a kernel; :func:`still` draws it once, by matplotlib, for
who has neither. Its keys:

=============  ===========================================================================
controls       dicts: ``name``, ``kind`` (slider, menu, toggle or button), ``label``,
               ``values`` of a slider, ``labels``, ``index`` at which it begins; ``sets``:
               for each index, the indices that other controls take with it
headline       the bold line, and ``below`` the one under it
rows           rows of panels: ``title``, ``x`` and ``y`` (``label``, ``domain``, ``scale``:
               linear, log or epochs, and the ``first`` record), ``marks``, ``says``
data, words    arrays and texts that several parts use
ordered        sliders that take along those which they are moved past
=============  ===========================================================================

Wherever a value may stand, a reference to the controls may: :func:`by`, :func:`at`,
:func:`get`; and in a text a name in braces, of ``words`` or of a control. The marks are line,
dots, bars, dash, area, rule, cursor and words; :data:`KINDS` draws each.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator

from grokkit.viz.alt import number, tell
from grokkit.viz.style import (
    INK,
    LOOKS,
    VARIABLES,
    Picture,
    epoch_axis,
    picture,
    powers_only,
    style,
    titles,
)

Scene = dict[str, Any]
Mark = dict[str, Any]

# --- to make one --------------------------------------------------------------------------


def by(control: str, of: Iterable[Any]) -> dict[str, Any]:
    """The one of several things that belongs to a control's index."""
    return {"by": control, "of": list(of)}


def at(control: str) -> dict[str, str]:
    """The value at which a slider stands."""
    return {"at": control}


def get(name: str, control: str | None = None) -> dict[str, str]:
    """An entry of the scene's ``data``; with a control, the item of it at the control's index."""
    return {"get": name} | ({"i": control} if control else {})


def numbers(values: Any, digits: int = 4) -> Any:
    """An array as nested lists of numbers of a few digits; None where it is not finite."""
    if isinstance(values, np.ndarray | list | tuple) or hasattr(values, "values"):
        return [numbers(one, digits) for one in np.asarray(values, dtype=float).tolist()]
    if not np.isfinite(values):
        return None
    short = float(f"{values:.{digits}g}") if abs(values) < 10**digits else round(float(values))
    return int(short) if short == int(short) else short


def mark(kind: str, **fields: Any) -> Mark:
    """A mark; fields that are None are left out."""
    return {"mark": kind} | {name: one for name, one in fields.items() if one is not None}


def looks(name: str) -> dict[str, Any]:
    """Colour, dashes and width of a quantity or a variable, as fields of a mark."""
    line = LOOKS[name].line if name in LOOKS else VARIABLES[name].line
    kind = line["linestyle"]
    dash = kind[1] if isinstance(kind, tuple) else {"--": (5, 2), ":": (1, 1)}.get(kind)
    pieces = {"dash": [2 * part for part in dash]} if dash else {}
    return {"color": line["color"], "width": line["linewidth"], **pieces}


def curve(name: str, x: Any, y: Any, **change: Any) -> Mark:
    """A variable of a History as a line in its look, with its name in the legend."""
    return mark("line", x=x, y=y, **looks(name) | {"label": VARIABLES[name].label} | change)


def axis(label: str, low: Any, high: Any = None, scale: str = "linear", **more: Any) -> Scene:
    """An axis from one end to the other; ``low`` alone may be a reference to both."""
    domain = low if high is None else [low, high]
    return {"label": label, "domain": domain, "scale": scale, **more}


def epochs_axis(domain: Any, first: Any = None) -> Scene:
    """An axis of epochs: even, or by their logarithm where the first record after 0 is given."""
    if first is None:
        return axis("epoch", domain)
    return axis("epoch (log scale)", domain, scale="epochs", first=first)


def panel(title: Any, x: Scene, y: Scene, marks: Any, **more: Any) -> Scene:
    """A panel; ``more``: ``says`` (it in words), ``height``, ``grow``, ``equal``, ``bare``."""
    return {"title": title, "x": x, "y": y, "marks": marks} | more


def slider(name: str, label: str, values: Any, index: int = 0, **more: Any) -> Scene:
    """A slider over some values."""
    return {"name": name, "kind": "slider", "label": label, "values": values, "index": index} | more


def menu(name: str, label: str, labels: Any, index: int = 0, **more: Any) -> Scene:
    """A menu of some texts."""
    return {"name": name, "kind": "menu", "label": label, "labels": labels, "index": index} | more


# --- to read one --------------------------------------------------------------------------


class Reader:
    """What a scene says in one state of its controls: ``reader`` of scene.js in Python.

    Args:
        scene: the scene.
        state: the index of each control that was moved.
        outputs: what the scene's ``compute`` comes to, where it has one.
    """

    def __init__(
        self,
        scene: Scene,
        state: Mapping[str, int] | None = None,
        outputs: Mapping[str, Any] | None = None,
    ) -> None:
        self.scene, self.state, self.outputs = scene, state or {}, outputs or {}
        self.controls: dict[str, Any] = {one["name"]: one for one in scene["controls"]}

    def index(self, name: str) -> int:
        """Where a control stands."""
        start: int = self.controls[name].get("index", 0)
        return self.state.get(name, start)

    def value(self, name: str) -> Any:
        """The value at which a slider stands."""
        return self._item(self.pick(self.controls[name]["values"]), name)

    def label(self, name: str) -> str:
        """How a control calls the place where it stands."""
        control = self.controls[name]
        if "labels" in control:
            return self._item(self.pick(control["labels"]), name)
        return number(self.value(name))

    def pick(self, ref: Any) -> Any:
        """What a reference stands for."""
        if isinstance(ref, str):
            return re.sub(r"\{(\w+)\}", lambda found: self._word(found[1]), ref)
        if not isinstance(ref, dict):
            return ref
        if "by" in ref:
            return self.pick(self._item(ref["of"], ref["by"]))
        if "at" in ref:
            return self.value(ref["at"])
        if "out" in ref:
            return self.outputs[ref["out"]]
        if "get" in ref:
            every = self.pick(self.scene["data"][ref["get"]])
            return self.pick(self._item(every, ref["i"])) if "i" in ref else every
        return ref

    def _item(self, every: Sequence[Any], name: str) -> Any:
        return every[min(self.index(name), len(every) - 1)]

    def _word(self, name: str) -> str:
        if name in self.scene.get("words", {}):
            return str(self.pick(self.scene["words"][name]))
        if name in self.controls:
            return self.label(name)
        one = self.outputs.get(name, f"{{{name}}}")
        return f"{one:.2f}" if isinstance(one, float) else str(one)


# --- to draw one, standing still ----------------------------------------------------------


def still(
    scene: Scene,
    state: Mapping[str, int] | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> Picture:
    """The picture of a scene in one state of its controls.

    Args:
        scene: the scene.
        state: the index of each control that was moved.
        outputs: what its ``compute`` comes to, where it has one.

    Returns:
        A picture 9.7 inches wide at 100 dots each.
    """
    read = Reader(scene, state, outputs)
    rows = [[_Panel(panel, read) for panel in row] for row in scene["rows"]]
    heights = [max(panel.height for panel in row) for row in rows]
    with style():
        figure = picture(WIDTH, HEAD + sum(heights), "none")
        top = HEAD
        for row, height in zip(rows, heights, strict=True):
            left, whole = 0.0, sum(panel.grow for panel in row)
            for panel in row:
                width = WIDTH * panel.grow / whole
                panel.draw(figure, left, top, width)
                left += width
            top += height
        titles(figure, read.pick(scene["headline"]), read.pick(scene["below"]))
    return figure


WIDTH, HEAD = 9.7, 0.55
"""Of a still, and of the two lines above its panels, in inches."""

ABOVE, LEFT, RIGHT, BELOW, LINE = 0.28, 0.62, 0.26, 0.45, 0.19
"""Room around the axes of a panel, and for a line of its legend, in inches."""


class _Panel:
    """One panel of a still, laid out in inches: quicker than matplotlib finds a layout."""

    def __init__(self, panel: Scene, read: Reader) -> None:
        self.panel, self.read = panel, read
        self.grow = panel.get("grow", 1)
        marks = [one for one in map(read.pick, read.pick(panel["marks"])) if one]
        self.marks = [{name: read.pick(value) for name, value in one.items()} for one in marks]
        self.labels = list(dict.fromkeys(one["label"] for one in self.marks if one.get("label")))
        self.size = panel.get("height", 220) / 100
        self.below = 0.12 if panel.get("bare") or not panel["x"]["label"] else BELOW
        self.height = ABOVE + self.size + self.below + LINE * ((len(self.labels) + 1) // 2)

    def draw(self, figure: Picture, left: float, top: float, width: float) -> None:
        """Draw it at a place that is given in inches from the upper left."""
        left_edge = 0.1 if self.panel.get("bare") else LEFT
        inner = width - left_edge - RIGHT
        high = figure.get_figheight()
        x, y = (left + left_edge) / WIDTH, 1 - (top + ABOVE + self.size) / high
        ax = figure.add_axes((x, y, inner / WIDTH, self.size / high))
        self._axes(ax, inner)
        for one in self.marks:
            KINDS[one["mark"]](ax, self._cut(one))
        handles, labels = ax.get_legend_handles_labels()
        if labels:
            named = dict(zip(labels, handles, strict=True))
            anchor = ((left + 0.1) / WIDTH, y - self.below / high)
            ax.legend(named.values(), named, loc="upper left", bbox_to_anchor=anchor, ncols=2,
                      bbox_transform=figure.transFigure, frameon=False, fontsize=8,
                      borderaxespad=0, labelspacing=0.3, columnspacing=1)  # fmt: skip
        if "says" in self.panel:
            tell(ax, self.read.pick(self.panel["says"]))

    def _cut(self, one: Mark) -> Mark:
        """A mark up to the place of a control, where it is one that grows."""
        if "upto" not in one:
            return one
        end = self.read.index(one["upto"]) + 1
        return one | {"x": one["x"][:end], "y": one["y"][:end]}

    def _axes(self, ax: Axes, inches: float) -> None:
        panel, pick = self.panel, self.read.pick
        for name, way in (("x", panel["x"]), ("y", panel["y"])):
            low, high = pick(way["domain"])
            if way["scale"] == "epochs":
                epoch_axis(ax, pick(way["first"]), high, "log")
                if inches < 3.6:
                    powers_only(ax)
            elif way["scale"] == "log":
                ax.set(**{f"{name}scale": "log"})
            else:
                locator = MaxNLocator(5, steps=[1, 2, 5, 10])
                getattr(ax, f"{name}axis").set_major_locator(locator)
                getattr(ax, f"{name}axis").set_major_formatter("{x:,.6g}")
            ax.set(**{f"{name}lim": (low, high), f"{name}label": pick(way["label"])})
            if (ticks := pick(way.get("ticks"))) is not None:
                ax.set(**{f"{name}ticks": [v for v, _ in ticks]})
                ax.set(**{f"{name}ticklabels": [words for _, words in ticks]})
        title = pick(panel.get("title", ""))
        ax.set_title(title, size=min(11, 11 * 11.5 * inches / max(len(title), 1)))
        if panel.get("equal"):
            ax.set_aspect("equal", adjustable="box", anchor="NW")
        if panel.get("bare"):
            ax.axis("off")


def _stroke(fields: Mark) -> dict[str, Any]:
    dash = fields.get("dash")
    width = fields.get("width", 1.6)
    return {
        "color": fields.get("color", INK),
        "linewidth": width,
        "linestyle": (0, [part / width for part in dash]) if dash else "-",
        "alpha": fields.get("opacity"),
    }


def around(n: int, frequency: int) -> list[int]:
    """The places of a walk as they follow each other round a circle, home again in the end."""
    places = sorted(range(n), key=lambda place: (frequency * place % n, place))
    return [*places, places[0]]


def _floats(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


def _line(ax: Axes, mark: Mark) -> None:
    x, y = _floats(mark["x"]), _floats(mark["y"])
    if "round" in mark:
        places = around(len(x), mark["round"])
        x, y = x[places], y[places]
    ax.plot(x, y, label=mark.get("label"), **_stroke(mark))


def _dots(ax: Axes, mark: Mark) -> None:
    looks = {"marker": mark.get("shape", "o"), "markersize": 1.5 * mark.get("size", 4)}
    color = mark.get("color", INK)
    looks |= {"markerfacecolor": mark.get("fill", color), "alpha": mark.get("opacity")}
    looks |= {"markeredgecolor": mark.get("edge", color), "color": color, "linestyle": ""}
    x, y = (np.atleast_1d(_floats(mark[name])) for name in ("x", "y"))
    ax.plot(x, y, label=mark.get("label"), **looks)


def _bars(ax: Axes, mark: Mark) -> None:
    color = mark["color"]
    looks = {"color": mark.get("fill", color), "edgecolor": color, "label": mark.get("label")}
    draw, size = (ax.barh, "height") if mark.get("across") else (ax.bar, "width")
    draw(mark["x"], mark["y"], **{size: mark["width"]}, linewidth=1.4, **looks)


def _dash(ax: Axes, mark: Mark) -> None:
    x, half = _floats(mark["x"]), mark["half"]
    looks: dict[str, Any] = _stroke(mark) | {"label": mark.get("label")}
    ax.hlines(mark["y"], x - half, x + half, **looks)


def _area(ax: Axes, mark: Mark) -> None:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    edges = {"x0": left, "x1": right, "y0": low, "y1": high}
    x0, x1, y0, y1 = (end if mark.get(name) is None else mark[name] for name, end in edges.items())
    if x1 <= x0:
        return
    looks = {"color": mark["color"], "alpha": mark.get("opacity"), "linewidth": 0}
    ax.fill_between([x0, x1], y0, y1, **looks)
    if words := mark.get("text"):
        to_axes = ax.transData + ax.transAxes.inverted()
        ends = [to_axes.transform((x, y0))[0] for x in (x0, x1)]
        words = words if ends[1] - ends[0] > 0.0115 * len(words) else words[0]
        if ends[1] - ends[0] > 0.02:
            place = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "center"}
            middle = to_axes.inverted().transform((sum(ends) / 2, 0))[0]
            ax.text(middle, ((y0 + y1) / 2 - low) / (high - low), words, size=8.5, **place)


def _rule(ax: Axes, mark: Mark) -> None:
    looks: dict[str, Any] = _stroke(mark) | {"label": mark.get("label")}
    if mark.get("x") is not None:
        ax.axvline(mark["x"], **looks)
    elif mark.get("y") is not None:
        ax.axhline(mark["y"], **looks)


def _cursor(ax: Axes, mark: Mark) -> None:
    ax.axvspan(mark["x"], ax.get_xlim()[1], color="white", alpha=0.65, zorder=3, linewidth=0)
    ax.axvline(mark["x"], color=INK, linewidth=1.5, zorder=4)


def _words(ax: Axes, mark: Mark) -> None:
    xs, ys, text = (one if isinstance(one, list) else [one] for one in
                    (mark["x"], mark["y"], mark["text"]))  # fmt: skip
    sides = {"start": "left", "middle": "center", "end": "right"}
    dark = to_hex(mark.get("box", "white")) != "#ffffff"
    color = "white" if dark else mark.get("color", INK)
    edge, pad = (INK, 0.3) if "box" in mark else ("none", 0.1)
    frame = {"boxstyle": f"round,pad={pad}", "facecolor": mark.get("box", "white"),
             "edgecolor": edge, "alpha": None if "box" in mark else 0.7}  # fmt: skip
    dx, dy = mark.get("shift", (0, 0))
    for x, y, words in zip(xs, ys, text, strict=True):
        if x is not None and y is not None:
            ax.annotate(
                words, (x, y), (dx, -dy), textcoords="offset points", bbox=frame, color=color,
                ha=sides[mark.get("anchor", "middle")], va="center", size=8, zorder=5,
            )  # fmt: skip


KINDS: Mapping[str, Callable[[Axes, Mark], None]] = {
    "line": _line,
    "dots": _dots,
    "bars": _bars,
    "dash": _dash,
    "area": _area,
    "rule": _rule,
    "cursor": _cursor,
    "words": _words,
}
"""How each mark is drawn by matplotlib; scene.js draws the same."""
