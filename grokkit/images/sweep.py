"""Runs on images that are stored as they end, and skipped where they are done."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from grokkit.errors import refuse
from grokkit.images.run import train_images
from grokkit.images.spec import ImageSpec
from grokkit.runtime.history import join
from grokkit.runtime.store import RunStore

if TYPE_CHECKING:
    import xarray as xr


def sweep_images(
    specs: Sequence[ImageSpec],
    folder: str | Path,
    *,
    device: torch.device | str = "cpu",
    progress: bool = True,
) -> "xr.Dataset":
    """Train runs into a folder and return their History, in the order of the specs.

    As :func:`grokkit.runtime.sweep`, but one run after the other and without checkpoints:
    a run that was under way when the sweep was stopped is not in the History, and begins
    anew with the next call. Several processes may fill one folder, each with runs of its own.

    Args:
        specs: the runs.
        folder: a folder for :class:`grokkit.runtime.RunStore`.
        device: where they are trained.
        progress: whether to show a progress bar.

    Raises:
        SettingError: the specs cannot be trained.
        OSError: a run cannot be written; what is there is intact.
        KeyboardInterrupt: interrupted before a run had ended.
    """
    if not specs:
        refuse("specs", specs, "at least one ImageSpec")
    store, interrupted = RunStore(folder), 0
    missing = [spec for spec in dict.fromkeys(specs) if spec not in store]
    if missing:
        new = train_images(missing, device=device, progress=progress, keep=store.put)
        interrupted = new.attrs["interrupted"]
    done = [history for spec in specs if (history := store.get(spec)) is not None]
    if not done:
        raise KeyboardInterrupt
    history = join(done)
    history.attrs["interrupted"] = interrupted
    return history
