"""``train``: specs in, History out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from grokkit.training.history import join, to_history
from grokkit.training.interrupts import interrupts_held
from grokkit.training.spec import RunSpec
from grokkit.training.trainer import Trainer, group_key

if TYPE_CHECKING:
    import xarray as xr


def train(
    specs: RunSpec | Sequence[RunSpec],
    *,
    device: torch.device | str = "cpu",
    progress: bool = True,
) -> "xr.Dataset":
    """Train one run or several and return their History.

    On a CPU runs are trained one after the other, each with one thread; on a GPU those
    that can be are trained together along the run axis. Interrupting (Ctrl-C, or stopping
    the kernel) returns what was trained so far, with ``history.attrs["interrupted"] = 1``.

    Args:
        specs: one spec, or several such as :func:`grokkit.grid` makes.
        device: ``"cpu"``, ``"cuda"``, or a torch device.
        progress: whether to show a progress bar.

    Raises:
        SettingError: the specs cannot be trained.
    """
    from tqdm.auto import tqdm

    specs = [specs] if isinstance(specs, RunSpec) else list(specs)
    histories = []
    interrupted = False
    total = sum(spec.epochs for spec in specs)
    with tqdm(total=total, unit="epoch", disable=None if progress else True) as bar:
        first = 0
        try:
            for group in groups(specs, torch.device(device)):
                trainer = Trainer(group, device, first)
                first += len(group)
                try:
                    trainer.advance(on_record=lambda now: _show(bar, now))
                finally:
                    with interrupts_held():
                        if trainer.records.epochs:
                            histories.append(to_history(trainer))
                for message in trainer.records.messages.values():
                    if "not finite" in message:
                        tqdm.write(message)
        except KeyboardInterrupt:
            interrupted = True
    if not histories:
        raise KeyboardInterrupt
    history = join(histories)
    history.attrs["interrupted"] = int(interrupted)
    return history


def groups(specs: Sequence[RunSpec], device: torch.device) -> list[list[RunSpec]]:
    """The groups that are trained together: single runs on a CPU, whole sets on a GPU.

    The runs keep their order on a CPU; on a GPU, runs of one group come together.
    """
    if device.type == "cpu":
        return [[spec] for spec in specs]
    by_key: dict[tuple[object, ...], list[RunSpec]] = {}
    for spec in specs:
        by_key.setdefault(group_key(spec), []).append(spec)
    return list(by_key.values())


def _show(bar: "object", trainer: Trainer) -> None:
    """Move the bar to where the group is, and say how it stands."""
    done = trainer.epoch - getattr(trainer, "_shown", 0)
    trainer._shown = trainer.epoch  # type: ignore[attr-defined]
    accuracy = trainer.records.values["test_accuracy"][-1].mean().item()
    bar.set_postfix_str(f"test accuracy {accuracy:.2f}", refresh=False)  # type: ignore[attr-defined]
    bar.update(done * len(trainer.specs))  # type: ignore[attr-defined]
