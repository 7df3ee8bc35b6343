"""Checkpoints: a group of runs on the disk, from which training goes on bit for bit.

A file (:mod:`grokkit.engine.tensor_file`) has weights, the optimizer's memory and the records so
far as tensors, and everything else (the specs, the epoch, which runs have ended, versions) as
JSON. Whenever the process is killed, the last whole checkpoint is there.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from grokkit.engine.group import GroupTrainer
from grokkit.engine.spec_kinds import Spec, spec_from_dict, start_trainer
from grokkit.engine.tensor_file import TensorFile


class CheckpointError(ValueError):
    """A file from which training cannot go on. The file itself is left as it is."""


FORMAT = 1
HEADER = "grokkit"
_FILE = TensorFile("checkpoint", HEADER, FORMAT, CheckpointError)


def save_checkpoint(trainer: GroupTrainer, path: str | Path) -> Path:
    """Write a group as it stands, whole or not at all.

    Raises:
        OSError: the file cannot be written; an older checkpoint there is intact.
    """
    facts, live = trainer.state()
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in live.items()}
    header = {
        "torch": str(torch.__version__),
        "specs": [spec.to_dict() for spec in trainer.specs],
        "state": facts,
    }
    return _FILE.write(path, header, tensors)


def load_checkpoint(
    path: str | Path,
    device: torch.device | str = "cpu",
    specs: Sequence[Spec] | None = None,
    first: int = 0,
) -> Any:
    """The trainer that was saved; its ``advance`` goes on where it stopped.

    Args:
        path: a file that :func:`save_checkpoint` wrote.
        device: where training goes on. Bit for bit only on the machine that it began on.
        specs: what the caller wants to train; None: whatever the file holds.
        first: the number of the first run, for messages.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is truncated, not a checkpoint, made by a newer grokkit,
            or a checkpoint of other runs; the message is one line.
    """
    path = Path(path)
    header, tensors = _FILE.read(path)
    saved = _specs(path, header)
    if specs is not None:
        _compare(path, saved, specs)
    trainer = start_trainer(saved, device, first)
    for name, fresh in trainer.state()[1].items():
        found = tensors.get(name)
        if found is None or found.shape != fresh.shape or found.dtype != fresh.dtype:
            made = header["grokkit"]
            raise CheckpointError(
                f"{path}: made by grokkit {made}, whose {name!r} differs from this version's"
            )
    trainer.load_state(header["state"], tensors)
    return trainer


def checkpoint_specs(path: str | Path) -> list[Spec]:
    """The runs of a checkpoint.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: as :func:`load_checkpoint`.
    """
    return _specs(Path(path), _FILE.read(path)[0])


class Keeper:
    """Saves a group every so often; handed to a trainer's ``advance`` as ``on_epoch``.

    Args:
        path: the checkpoint.
        minutes: the time between two checkpoints; 0: one after every epoch.
    """

    def __init__(self, path: str | Path, minutes: float = 1.0) -> None:
        self.path = Path(path)
        self.seconds = 60 * minutes
        self._last = time.monotonic()
        self._saved: tuple[int, bool] | None = None

    def __call__(self, trainer: GroupTrainer) -> None:
        """Save the group if it is time to."""
        if time.monotonic() - self._last >= self.seconds:
            self.save(trainer)

    def save(self, trainer: GroupTrainer) -> None:
        """Save the group now, unless it stands where it stood at the last save.

        Raises:
            OSError: the file cannot be written; the last checkpoint is intact.
        """
        # The end of a run is noted without a further epoch.
        now = trainer.epoch, trainer.done
        if now != self._saved:
            # Another sweep in the same folder may have tidied it away.
            self.path.parent.mkdir(parents=True, exist_ok=True)
            save_checkpoint(trainer, self.path)
            self._saved = now
        self._last = time.monotonic()


def _specs(path: Path, header: dict[str, Any]) -> list[Spec]:
    try:
        return [spec_from_dict(one) for one in header["specs"]]
    except (ValueError, TypeError, LookupError) as problem:
        raise CheckpointError(f"{path}: its spec is not known here: {problem}") from problem


def _compare(path: Path, saved: Sequence[Spec], wanted: Sequence[Spec]) -> None:
    """Refuse a checkpoint of other runs, naming a setting that differs."""
    advice = "choose another file, or delete this one to begin anew"
    if len(saved) != len(wanted):
        raise CheckpointError(
            f"{path}: a checkpoint of {len(saved)} runs, not of {len(wanted)}; {advice}"
        )
    for old, new in zip(saved, wanted, strict=True):
        if old == new:
            continue
        was, now = old.settings(), new.settings()
        name = next(name for name in [*now, *was] if was.get(name) != now.get(name))
        raise CheckpointError(
            f"{path}: a checkpoint of another run: {name} is {was.get(name)!r} there, "
            f"{now.get(name)!r} here; {advice}"
        )
