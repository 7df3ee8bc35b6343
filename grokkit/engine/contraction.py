"""Definition 3.2 along a run: is every step of this optimizer a contraction?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from grokkit.diagnostics.contraction import step_contraction
from grokkit.engine.trainer import Trainer
from grokkit.errors import check_int, refuse
from grokkit.model import MLP_WEIGHTS, of_kinds

if TYPE_CHECKING:
    import xarray as xr


def measure_contraction(
    trainer: Trainer, epochs: int, names: Sequence[str] = MLP_WEIGHTS
) -> "xr.Dataset":
    """Train for some epochs, and look at each step as Definition 3.2 does.

    It costs a copy of the weights each epoch, so it is not part of ``train``. The trainer
    goes on from where it was, and keeps its records as ever::

        trainer = Trainer([RunSpec()])
        seen = measure_contraction(trainer, 500)
        seen.contraction, seen.growth, seen.slack      # lambda, rho and what is to spare

    What the step was is taken from the weights around it: an accelerator, a coupled decay
    and a projection onto a sphere are all part of its U.

    Args:
        trainer: the group, full batches.
        epochs: how many epochs to train; it stops earlier where the trainer is done.
        names: the kinds of parameters that W consists of, in all layers; the MLP's by default.

    Returns:
        The fields of :class:`grokkit.diagnostics.contraction.Contraction` over (run,
        epoch); the epoch is that before the step.

    Raises:
        SettingError: the group has minibatches, a learning rate is 0, or learning rate *
            weight decay is 1 or more.
    """
    import xarray as xr

    check_int("epochs", epochs, 1)
    if trainer.batches is not None:
        refuse("batch_size", trainer.batches.size, "None: an epoch must be one step")
    columns = trainer.weights.columns(of_kinds(trainer.weights, names))
    decay = trainer.optimizer.setting["weight_decay"].squeeze(1)
    steps, at = [], []
    for _ in range(epochs):
        epoch, before = trainer.epoch, trainer.weights.flat.clone()
        trainer.advance(1)
        if trainer.epoch == epoch:
            break
        rate = trainer.optimizer.rate.squeeze(1)
        seen = step_contraction(before, trainer.weights.flat, rate, decay, columns)
        steps.append({name: value.cpu() for name, value in vars(seen).items()})
        at.append(epoch)
    if not steps:
        refuse("trainer", f"at epoch {trainer.epoch}", "a trainer that has epochs left")
    return xr.Dataset(
        {
            name: (("run", "epoch"), torch.stack([one[name] for one in steps], dim=1).numpy())
            for name in steps[0]
        },
        coords={"epoch": at},
    )
