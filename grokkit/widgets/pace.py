"""How fast the widgets are: what a watched training loses, and how large and slow scenes are.

It needs no browser: how long a picture takes there is measured by ``tests/browser``.
"""

import time
from dataclasses import dataclass

import numpy as np

from grokkit.engine import RunSpec, Trainer, presets
from grokkit.widgets.base import pack
from grokkit.widgets.live_training import LiveTraining
from grokkit.widgets.one_run import ConditionPlane, PhaseFinder, RunScrubber
from grokkit.widgets.routing_playground import RoutingPlayground

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


def live_pace(spec: RunSpec, seconds: float | int = 5, turns: int = 3) -> Pace:
    """Watch a LiveTraining from the main thread, and train the same without it, in turns.

    Args:
        spec: what is trained; it is not trained to its end.
        seconds: for how long at least each turn lasts.
        turns: how many there are of each kind: what else the machine does meets both.
    """
    spec = spec.with_(epochs=10**6)
    live, trainer = LiveTraining(spec), Trainer([spec])
    live.step()  # whatever is slow only once
    trainer.advance(1)
    drawn: list[float] = []
    live.observe(lambda _: drawn.append(time.perf_counter()), "scene")
    delays, spent = [], {"watched": 0.0, "alone": 0.0}
    for _ in range(turns):
        live.start()
        started, before = time.perf_counter(), len(drawn)
        while time.perf_counter() - started < seconds or len(drawn) < before + 2:
            asleep = time.perf_counter()
            time.sleep(EVERY)
            delays.append(time.perf_counter() - asleep - EVERY)
        live.pause()
        spent["watched"] += time.perf_counter() - started
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            trainer.advance(1)
        spent["alone"] += time.perf_counter() - started
    assert live.history is not None
    epochs, watched = int(live.history.epoch[-1]), spent["watched"]
    live.close()
    return Pace(len(drawn) / watched, epochs / watched, trainer.epoch / spent["alone"],
                np.array(delays))  # fmt: skip


def pace_report(spec: RunSpec | None = None, seconds: float | int = 5) -> str:
    """Both as a table.

    Args:
        spec: what LiveTraining trains; None for the live preset.
        seconds: for how long each of its turns lasts.
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
        started = time.perf_counter()
        widget = made()
        spent, size = time.perf_counter() - started, len(pack(widget.scene)) / 1000
        widget.close()
        label = f"{made.__name__}: ms to make its scene of {size:.0f} kB, packed"
        lines.append(f"{label:<62} {1000 * spent:9.0f}")
    return "\n".join(lines)
