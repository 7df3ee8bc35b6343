"""A job: one group of runs, in a form that another process or machine can take up.

Whoever trains a job (this process, a worker beside it, a machine of a cluster) calls
:func:`train_job`. What travels is JSON one way and a netCDF file the other.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from grokkit.engine.spec import FAMILIES, RunSpec
from grokkit.engine.trainer import Trainer
from grokkit.runtime.checkpoint import Keeper, load_checkpoint
from grokkit.runtime.outcome import Outcome

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Job:
    """A group of runs that is trained as one.

    Attributes:
        specs: the runs.
        first: the number of the first one, for messages.
        device: where they are trained.
        checkpoint: the file to save to and to go on from; None: no checkpoints.
        minutes: the time between two checkpoints.
    """

    specs: tuple[RunSpec, ...]
    first: int = 0
    device: str = "cpu"
    checkpoint: Path | None = None
    minutes: float = 1.0

    @property
    def name(self) -> str:
        """What a message calls it: ``run 3 (seed 1)``, or ``runs 3-7``."""
        if len(self.specs) == 1:
            return f"run {self.first} (seed {self.specs[0].seed})"
        return f"runs {self.first}-{self.first + len(self.specs) - 1}"

    @property
    def epochs(self) -> int:
        """The epochs of all its runs together, if none stops early."""
        return sum(spec.epochs for spec in self.specs)

    def to_dict(self) -> dict[str, Any]:
        """The job as plain values, with the modules that define its kinds."""
        return {
            "specs": [spec.to_dict() for spec in self.specs],
            "first": self.first,
            "device": self.device,
            "checkpoint": None if self.checkpoint is None else str(self.checkpoint),
            "minutes": self.minutes,
            "imports": sorted(_modules(self.specs)),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Job":
        """The job that :meth:`to_dict` described, its kinds registered."""
        for module in plain["imports"]:
            importlib.import_module(module)
        checkpoint = plain["checkpoint"]
        return cls(
            tuple(RunSpec.from_dict(spec) for spec in plain["specs"]),
            plain["first"],
            plain["device"],
            None if checkpoint is None else Path(checkpoint),
            plain["minutes"],
        )


@runtime_checkable
class Watch(Protocol):
    """Who is told how the jobs fare."""

    def progress(self, job: Job, epoch: int, accuracy: float) -> None:
        """A job has come to this epoch, with this mean test accuracy."""

    def finished(self, job: Job, history: "xr.Dataset") -> None:
        """A job has ended, or was interrupted after at least one record."""

    def failed(self, job: Job, why: str) -> None:
        """A job has come to nothing; why, in one line."""


@runtime_checkable
class Executor(Protocol):
    """Trains jobs somewhere."""

    def run(self, jobs: Sequence[Job], watch: Watch) -> bool:
        """Train all jobs; returns whether an interrupt (Ctrl-C) ended that early."""
        ...


def train_job(
    job: Job,
    on_record: Callable[[Trainer], None] | None = None,
    on_epoch: Callable[[Trainer], None] | None = None,
) -> tuple[Outcome | None, bool]:
    """Train a job here, from its checkpoint if there is one.

    Args:
        job: what to train.
        on_record: called after each record.
        on_epoch: called after each epoch; it may raise KeyboardInterrupt to stop.

    Returns:
        What came of it so far, None without a single record; whether an interrupt came.

    Raises:
        SettingError: the specs cannot be trained.
        CheckpointError: the checkpoint cannot be used.
        OSError: the checkpoint cannot be written.
    """
    keeper = None
    if job.checkpoint is not None:
        job.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        keeper = Keeper(job.checkpoint, job.minutes)
    if job.checkpoint is not None and job.checkpoint.exists():
        trainer = load_checkpoint(job.checkpoint, job.device, job.specs, job.first)
    else:
        trainer = Trainer(job.specs, job.device, job.first)

    def after_epoch(now: Trainer) -> None:
        if keeper is not None:
            keeper(now)
        if on_epoch is not None:
            on_epoch(now)

    interrupted = False
    try:
        trainer.advance(on_record=on_record, on_epoch=after_epoch)
    except KeyboardInterrupt:
        interrupted = True
    if keeper is not None:
        try:
            keeper.save(trainer)
        except OSError:
            # Of a run that has come to its end nothing is lost without a last checkpoint.
            if not trainer.done:
                raise
    return Outcome.of(trainer) if trainer.records.epochs else None, interrupted


def stays_here(specs: Sequence[RunSpec]) -> str | None:
    """Why these specs cannot be trained by another process, in words; None if they can.

    A kind that was registered in a notebook or a script exists in this process only.
    """
    for module, kind in _modules(specs).items():
        if module == "__main__" or importlib.util.find_spec(module) is None:
            return f"{kind!r} is defined in {module}, which no other process can import"
    return None


def _modules(specs: Sequence[RunSpec]) -> dict[str, str]:
    """The modules outside grokkit that define kinds, each with one such kind."""
    return {
        type(part).__module__: part.kind
        for spec in specs
        for part in (getattr(spec, family) for family in FAMILIES)
        if not type(part).__module__.startswith("grokkit.")
    }
