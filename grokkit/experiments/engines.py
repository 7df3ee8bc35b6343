"""What the runs of an experiment cost; it follows from the kind of their specs."""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grokkit.engine import RunSpec, Spec, Trainer
from grokkit.engine.spec_kinds import start_trainer
from grokkit.errors import refuse
from grokkit.images import ImageSpec, seconds_per_epoch
from grokkit.operators import ContestSpec
from grokkit.operators import seconds_per_epoch as seconds_per_round
from grokkit.runtime.history import to_history

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Engine:
    """What an experiment asks of that which trains its runs.

    Attributes:
        like: a spec whose epochs cost as much, the same for all runs of that cost.
        seconds: what an epoch of a spec takes on one core of this machine, measured now.
    """

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


def begin(spec: Spec, epochs: int) -> "xr.Dataset":
    """The History of the first epochs of a run, trained in this process on a CPU."""
    trainer = start_trainer([spec])  # a shorter spec might be refused, or end its prior sooner
    trainer.advance(epochs)
    return to_history(trainer)


def _seconds(spec: RunSpec, epochs: int = 5) -> float:
    trainer = Trainer([dataclasses.replace(spec, epochs=3 * epochs, record_every=epochs)])
    trainer.advance(epochs)  # the first ones pay for what is set up once
    start = time.perf_counter()
    trainer.advance(epochs)
    return (time.perf_counter() - start) / epochs


ENGINES = {
    # Seeds, strengths and rates do not change what an epoch costs.
    RunSpec: Engine(
        lambda spec: RunSpec(task=spec.task, model=spec.model, batch_size=spec.batch_size), _seconds
    ),
    ImageSpec: Engine(
        lambda spec: spec.with_(seed=0, weight_decay=0.0, split="pair"), seconds_per_epoch
    ),
    ContestSpec: Engine(lambda spec: spec.with_(seed=0, name="heat", noise=1.0), seconds_per_round),
}
"""What trains the runs of each kind of spec."""
