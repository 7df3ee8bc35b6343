"""Labelled controls that several widgets use; all of them obey the arrow keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from grokkit.viz.one_run import one_run

if TYPE_CHECKING:
    import xarray as xr

WIDTH = "320px"


def label(width: str = "initial") -> dict[str, str]:
    """The style of a label: as wide as its words, or all alike where controls stand in rows."""
    return {"description_width": width}


# Settings by which runs of one History may be told apart.
_TELLING = ("arm", "kl_strength", "weight_decay", "learning_rate", "seed")


def row(*controls: ipywidgets.Widget) -> ipywidgets.HBox:
    """Controls side by side, in several lines where the window is narrow."""
    return ipywidgets.HBox(controls, layout={"flex_flow": "row wrap"})


def run_menu(history: "xr.Dataset", run: int = 0) -> ipywidgets.Dropdown:
    """A menu of the runs of a History; hidden where there is only one.

    Args:
        history: the History.
        run: which of them is chosen first.
    """
    runs = history.sizes.get("run", 1)
    telling = [
        name
        for name in _TELLING
        if runs > 1 and name in history.coords and len(set(history[name].values.tolist())) > 1
    ]

    if "arm" in telling:  # an arm's name says what else is different
        telling = [name for name in telling if name in ("arm", "seed")]

    def words(number: int) -> str:
        values = [(name, history[name].values.tolist()[number]) for name in telling]
        parts = [
            f"{value}" if name == "arm" else f"{_plain(name)} {value:g}" for name, value in values
        ]
        return ", ".join(parts) or f"run {number}"

    return ipywidgets.Dropdown(
        options=[(words(number), number) for number in range(runs)],
        value=run,
        description="run",
        style=label(),
        layout={"width": "auto", "min_width": "170px", "display": "none" if runs == 1 else None},
    )


def chosen(menu: ipywidgets.Dropdown) -> Any:
    """The value of the entry at which a menu stands; it always stands at one."""
    return menu.value


def epoch_slider(
    history: "xr.Dataset", run: int, description: str = "epoch", at: float | int = 0, **looks: Any
) -> ipywidgets.SelectionSlider:
    """A slider over the recorded epochs of a run.

    Args:
        history: the History.
        run: which of its runs.
        description: its label.
        at: the epoch at which it stands, moved to the nearest record.
        looks: its style and layout.
    """
    epochs = one_run(history, run).epoch
    return ipywidgets.SelectionSlider(
        options=[(f"{epoch:,}", epoch) for epoch in epochs.values.tolist()],
        value=int(epochs.sel(epoch=at, method="nearest")),
        description=description,
        **{"style": label("55px"), "layout": {"width": "440px"}} | looks,
    )


def other_epochs(slider: ipywidgets.SelectionSlider, history: "xr.Dataset", run: int) -> None:
    """Give an epoch slider the records of another run, and leave it where it was."""
    epochs = one_run(history, run).epoch
    at = int(epochs.sel(epoch=slider.value, method="nearest"))
    slider.options = [(f"{epoch:,}", epoch) for epoch in epochs.values.tolist()]
    slider.value = at


def player(slider: ipywidgets.SelectionSlider) -> ipywidgets.Play:
    """Buttons that move a slider by themselves, five steps a second, in the browser."""
    # What is linked takes the value of the first.
    play = ipywidgets.Play(
        slider.index, max=len(slider.options) - 1, interval=200, show_repeat=False
    )
    ipywidgets.jslink((play, "value"), (slider, "index"))
    return play


def steps(
    description: str, values: Sequence[float | int], value: float | int, **looks: Any
) -> ipywidgets.SelectionSlider:
    """A slider over some numbers, the first of which it stands at included."""
    allowed = sorted({*map(float, values), float(value)})
    return ipywidgets.SelectionSlider(
        options=[(f"{one:g}", one) for one in allowed],
        value=float(value),
        description=description,
        **{"style": label(), "layout": {"width": WIDTH}} | looks,
    )


def _plain(name: str) -> str:
    return name.replace("kl_strength", "β").replace("_", " ")
