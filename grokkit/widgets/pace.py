"""How fast the widgets are: pictures a second, and how long the kernel is kept waiting.

It needs no browser: what a front end adds (a picture of 20 kB on its way, and its decoding)
goes on beside the kernel.
"""

import time
from dataclasses import dataclass

import numpy as np

from grokkit.engine import RunSpec, Trainer, presets
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.condition_plane import ConditionPlane
from grokkit.widgets.live_training import LiveTraining
from grokkit.widgets.phase_finder import PhaseFinder
from grokkit.widgets.routing_playground import RoutingPlayground
from grokkit.widgets.run_scrubber import RunScrubber

EVERY = 0.1
"""Seconds from one look of the main thread to the next: each costs the training a little."""


@dataclass(frozen=True)
class Pace:
    """A LiveTraining at work.

    Attributes:
        pictures: new pictures a second.
        epochs: epochs a second, pictures included.
        epochs_alone: epochs a second of the same training without pictures.
        delays: by how many seconds the main thread, which serves cells and sliders, came
            too late, each time that it wanted to do something.
    """

    pictures: float
    epochs: float
    epochs_alone: float
    delays: np.ndarray


def live_pace(spec: RunSpec, seconds: float | int = 5) -> Pace:
    """Watch a LiveTraining from the main thread for a while.

    Args:
        spec: what is trained; it is not trained to its end.
        seconds: for how long at least, once with pictures and once without.
    """
    live = LiveTraining(spec.with_(epochs=10**6))
    live.step()  # whatever is slow only once
    drawn: list[float] = []
    live.image.observe(lambda _: drawn.append(time.perf_counter()), "value")
    delays = []
    live.start()
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(drawn) < 3:
        asleep = time.perf_counter()
        time.sleep(EVERY)
        delays.append(time.perf_counter() - asleep - EVERY)
    took, pictures = time.perf_counter() - started, len(drawn)
    live.pause()
    assert live.history is not None
    epochs = int(live.history.epoch[-1])
    live.close()
    trainer = Trainer([spec.with_(epochs=10**6)])
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        trainer.advance(1)
    alone = trainer.epoch / (time.perf_counter() - started)
    return Pace(pictures / took, epochs / took, alone, np.array(delays))


def redraw_milliseconds(widget: PictureWidget, times: int) -> np.ndarray:
    """How long a widget takes from a moved slider to its new picture, several times."""
    spent = []
    for _ in range(times + 1):
        started = time.perf_counter()
        widget.redraw()
        spent.append(1000 * (time.perf_counter() - started))
    return np.array(spent[1:])  # the first finds its fonts


def pace_report(spec: RunSpec | None = None, seconds: float | int = 5, times: int = 7) -> str:
    """Both as a table.

    Args:
        spec: what LiveTraining trains; None for the live preset.
        seconds: for how long it is watched.
        times: how often each of the others is drawn.
    """
    pace = live_pace(presets["live"] if spec is None else spec, seconds)
    waits = 1000 * pace.delays
    lines = [
        "Widgets, wall time; nothing else should run meanwhile",
        f"{'LiveTraining: pictures a second':<62} {pace.pictures:9.1f}",
        f"{'  epochs a second':<62} {pace.epochs:9.0f}",
        f"{'  without any picture':<62} {pace.epochs_alone:9.0f}",
        f"{'  ms that the kernel waits for its turn: median (longest)':<62} "
        f"{np.median(waits):9.1f}  ({waits.max():.0f})",
    ]
    for made in (RoutingPlayground, ConditionPlane, RunScrubber, PhaseFinder):
        widget = made()
        spent, size = redraw_milliseconds(widget, times), len(widget.static_picture()) / 1000
        widget.close()
        label = f"{made.__name__}: ms a picture of {size:.0f} kB, median (min .. max)"
        spread = f"({spent.min():.0f} .. {spent.max():.0f})"
        lines.append(f"{label:<62} {np.median(spent):9.0f}  {spread}")
    return "\n".join(lines)
