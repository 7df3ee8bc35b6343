"""A job: one group of runs, in a form that another process or machine can take up.

Whoever trains a job (this process, a worker beside it, a machine of a cluster) calls
:func:`train_job`. Between processes of ours jobs and results are pickled; files never are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The trainer of transformers is registered by its module.
import grokkit.engine.trainer  # noqa: F401
from grokkit.engine.group import GroupTrainer
from grokkit.engine.spec_kinds import Spec, start_trainer
from grokkit.errors import SettingError
from grokkit.runtime.checkpoint import Keeper, load_checkpoint
from grokkit.runtime.history import history_parts


class JobFailed(RuntimeError):
    """Why a job came to nothing, in one line, where no exception of its own can say so."""


def reason(problem: BaseException) -> str:
    """An exception in one line."""
    line = " ".join(str(problem).split()) or "no message"
    plain = isinstance(problem, SettingError | JobFailed)
    return line if plain else f"{type(problem).__name__}: {line}"


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

    specs: tuple[Spec, ...]
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


def train_job(
    job: Job,
    on_record: Callable[[int, float], None] | None = None,
    on_epoch: Callable[[], None] | None = None,
) -> tuple[dict[str, Any] | None, bool]:
    """Train a job here, from its checkpoint if there is one.

    Args:
        job: what to train.
        on_record: called after each record with the epoch and the mean test accuracy.
        on_epoch: called after each epoch; it may raise KeyboardInterrupt to stop.

    Returns:
        The parts of the History so far (:func:`grokkit.runtime.history.history_parts`), None
        without a single record; whether an interrupt came.

    Raises:
        SettingError: the specs cannot be trained.
        CheckpointError: the checkpoint cannot be used.
        OSError: the checkpoint cannot be written.
    """
    keeper = None if job.checkpoint is None else Keeper(job.checkpoint, job.minutes)
    if job.checkpoint is not None and job.checkpoint.exists():
        trainer = load_checkpoint(job.checkpoint, job.device, job.specs, job.first)
    else:
        trainer = start_trainer(job.specs, job.device, job.first)

    def after_record(now: GroupTrainer) -> None:
        if on_record is not None:
            on_record(now.epoch, now.records.values["test_accuracy"][-1].mean().item())

    def after_epoch(now: GroupTrainer) -> None:
        if keeper is not None:
            keeper(now)
        if on_epoch is not None:
            on_epoch()

    interrupted = False
    try:
        trainer.advance(on_record=after_record, on_epoch=after_epoch)
    except KeyboardInterrupt:
        interrupted = True
    if keeper is not None and trainer.epoch:
        try:
            keeper.save(trainer)
        except OSError:
            # Of a run that has come to its end nothing is lost without a last checkpoint.
            if not trainer.done:
                raise
    return history_parts(trainer) if trainer.records.epochs else None, interrupted
