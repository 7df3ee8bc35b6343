"""``train_into``: one run into a folder of its own, as ``grokkit train`` does it."""

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from grokkit.engine.files import check_folder, locked
from grokkit.engine.interrupts import interrupts_counted
from grokkit.engine.spec_kinds import Spec
from grokkit.errors import refuse
from grokkit.runtime.checkpoint import CheckpointError, checkpoint_specs
from grokkit.runtime.history import any_specs_of, complete, load_history, save_or_rescue
from grokkit.runtime.run import check_device, train

if TYPE_CHECKING:
    import xarray as xr

HISTORY = "run.nc"
CHECKPOINT = "run.safetensors"


def train_into(
    spec: Spec,
    folder: str | Path,
    *,
    force: bool = False,
    device: torch.device | str = "cpu",
    checkpoint_minutes: float = 1.0,
    progress: bool = True,
) -> "xr.Dataset":
    """Train one run and keep its History in a folder, as ``run.nc``.

    While it is trained the folder holds ``run.safetensors``, a checkpoint, from which the same
    call goes on after a crash or an interrupt, bit for bit. It is deleted once the whole run is
    in ``run.nc``.

    Args:
        spec: the run.
        folder: where it goes; made if it is not there, and taken away again if it stays empty.
        force: whether to write over another run, or begin anew over its checkpoint.
        device: as for :func:`grokkit.train`.
        checkpoint_minutes: the minutes between two checkpoints.
        progress: whether to show a progress bar.

    Returns:
        The History; ``attrs["interrupted"]`` is 1 if an interrupt ended it early.

    Raises:
        SettingError: the run cannot be trained, the folder cannot be written to, it holds
            another run, or another process is training into it.
        CheckpointError: the checkpoint there is damaged or of another run.
        OSError: the History cannot be written there; the message says where it is instead.
        KeyboardInterrupt: interrupted before the first record.
    """
    folder = Path(folder)
    check_device(device)
    spec.check()
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    check_folder("out", folder)
    try:
        with interrupts_counted(), locked("out", folder):
            path, checkpoint = folder / HISTORY, folder / CHECKPOINT
            if not force and path.exists() and not _goes_on(path, spec):
                refuse("out", str(folder), f"a folder without {HISTORY}, or force")
            if force and checkpoint.exists() and not _is_of(checkpoint, spec):
                checkpoint.unlink()
            history = train(
                spec,
                device=device,
                checkpoint=checkpoint,
                checkpoint_minutes=checkpoint_minutes,
                progress=progress,
            )
            save_or_rescue(history, path)
            if all(complete(history)):
                checkpoint.unlink(missing_ok=True)
            return history
    finally:
        for path in made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def _goes_on(path: Path, spec: Spec) -> bool:
    """Whether a History is the beginning of this run, which was interrupted."""
    try:
        history = load_history(path)
        return any_specs_of(history) == [spec] and not all(complete(history))
    except ValueError:
        return False


def _is_of(checkpoint: Path, spec: Spec) -> bool:
    try:
        return checkpoint_specs(checkpoint) == [spec]
    except CheckpointError:
        return False
