"""What trains the runs of an experiment; it follows from the kind of their specs."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokkit.engine import RunSpec, Spec, Trainer
from grokkit.errors import refuse
from grokkit.images import (
    ImageSpec,
    ImageTrainer,
    seconds_per_epoch,
    sweep_images,
    to_image_history,
)
from grokkit.runtime import sweep
from grokkit.runtime.history import to_history

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Engine:
    """What an experiment asks of that which trains its runs.

    Attributes:
        sweep: trains those runs that a folder does not hold yet, and returns the History of
            all; called as :func:`grokkit.runtime.sweep` is.
        begin: the History of the first epochs of a run, trained in this process on a CPU.
        like: a spec whose epochs cost as much, the same for all runs of that cost.
        seconds: what an epoch of a spec takes on one core of this machine, measured now.
    """

    sweep: "Callable[..., xr.Dataset]"
    begin: "Callable[[Any, int], xr.Dataset]"
    like: Callable[[Any], Spec]
    seconds: Callable[[Any], float]


def engine_of(spec: Spec) -> Engine:
    """What trains runs of this kind.

    Raises:
        SettingError: nothing here does.
    """
    for kind, engine in ENGINES.items():
        if isinstance(spec, kind):
            return engine
    refuse("spec", type(spec).__name__, ", ".join(kind.__name__ for kind in ENGINES))


# --- transformers -------------------------------------------------------------------------


def _begin(spec: RunSpec, epochs: int) -> "xr.Dataset":
    trainer = Trainer([spec])  # a shorter spec might be refused, or end its prior sooner
    trainer.advance(epochs)
    return to_history(trainer)


def _like(spec: RunSpec) -> RunSpec:
    # Seeds, strengths and rates do not change what an epoch costs.
    return RunSpec(task=spec.task, model=spec.model, batch_size=spec.batch_size)


def _seconds(spec: RunSpec, epochs: int = 5) -> float:
    trainer = Trainer([dataclasses.replace(spec, epochs=3 * epochs, record_every=epochs)])
    trainer.advance(epochs)  # the first ones pay for what is set up once
    start = time.perf_counter()
    trainer.advance(epochs)
    return (time.perf_counter() - start) / epochs


# --- residual networks on images ----------------------------------------------------------


def _sweep_images(
    specs: Sequence[ImageSpec],
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    **rest: Any,
) -> "xr.Dataset":
    if workers not in (None, 1):
        refuse("workers", workers, "1 for images, whose runs are trained one after the other")
    if scheduler is not None:
        refuse("scheduler", scheduler, "none for images, which are trained on this machine")
    return sweep_images(specs, folder, **rest)


def _begin_images(spec: ImageSpec, epochs: int) -> "xr.Dataset":
    trainer = ImageTrainer(spec)
    trainer.advance(epochs)
    return to_image_history([trainer])


def _like_images(spec: ImageSpec) -> ImageSpec:
    return spec.with_(seed=0, weight_decay=0.0, split="pair")


ENGINES = {
    RunSpec: Engine(sweep, _begin, _like, _seconds),
    ImageSpec: Engine(_sweep_images, _begin_images, _like_images, seconds_per_epoch),
}
"""What trains the runs of each kind of spec."""
