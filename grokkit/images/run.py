"""``train_images``: specs in, History out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from grokkit.engine.interrupts import interrupts_counted
from grokkit.errors import refuse
from grokkit.images.history import to_image_history
from grokkit.images.spec import ImageSpec
from grokkit.images.trainer import ImageTrainer
from grokkit.runtime.run import somebody_looks

if TYPE_CHECKING:
    import xarray as xr


def train_images(
    specs: ImageSpec | Sequence[ImageSpec],
    *,
    device: torch.device | str = "cpu",
    progress: bool = True,
    keep: "Callable[[xr.Dataset], object] | None" = None,
) -> "xr.Dataset":
    """Train residual networks on images of glyphs, one after the other.

    Interrupting (Ctrl-C, or stopping the kernel) ends the training after the epoch that is
    under way, a second time at once, and returns what was recorded so far, with
    ``history.attrs["interrupted"] = 1``.

    Args:
        specs: one run, or several.
        device: ``"cpu"``, ``"cuda"``, or a torch device.
        progress: whether to show a progress bar.
        keep: what to do with the History of each run as it ends; for storing it.

    Returns:
        The History, dims (run, epoch).

    Raises:
        SettingError: the specs cannot be trained.
        KeyboardInterrupt: interrupted before there was anything to return.
    """
    from tqdm.auto import tqdm

    specs = [specs] if isinstance(specs, ImageSpec) else list(specs)
    if not specs:
        refuse("specs", specs, "at least one ImageSpec")
    trainers: list[ImageTrainer] = []
    interrupted = False
    total = sum(spec.epochs for spec in specs)
    with (
        interrupts_counted() as interrupts,
        tqdm(total=total, unit="epoch", disable=not (progress and somebody_looks())) as bar,
    ):

        def tell(now: ImageTrainer) -> None:
            bar.update(1)
            if now.epochs[-1] == now.epoch - 1:  # it was just looked at
                bar.set_postfix_str(f"test accuracy {now.records['test_accuracy'][-1]:.2f}")
            if interrupts.count:
                raise KeyboardInterrupt

        try:
            for spec in specs:
                trainers.append(ImageTrainer(spec, device))
                trainers[-1].advance(on_epoch=tell)
                bar.update(spec.epochs - trainers[-1].epoch)
                if keep is not None:
                    keep(to_image_history(trainers[-1:]))
        except KeyboardInterrupt:
            interrupted = True
    trained = [one for one in trainers if one.epochs]
    if not trained:
        raise KeyboardInterrupt
    history = to_image_history(trained)
    history.attrs["interrupted"] = int(interrupted)
    return history
