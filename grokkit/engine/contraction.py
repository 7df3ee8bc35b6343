"""Definition 3.2 along a run: is every step of this optimizer a contraction?

    norm(W')_F^2 <= (1 - lambda) norm(W)_F^2 + rho,      lambda = eta * w

with eta the learning rate of the step (warm-up included) and w the weight-decay setting.
Appendix B.2 derives rho = (eta / w) norm(U)_F^2 from a step W' = (1 - lambda) W - eta U. With
the step that was really taken instead of a worst case this is an identity plus a slack
that cannot be negative for decoupled decay and SGD with L2, so what one learns is: how
large the real rho is (the least that would do), and whether it is small beside lambda
norm(W)_F^2, without which nothing shrinks. For an optimizer that lets its adaptive step see the
decay (Adam with L2), U is defined by the same equation, and stays bounded only by what is
measured.

Source: arXiv 2605.15787, Definition 3.2, (1), Propositions B.1 and B.2, (22).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.engine.trainer import Trainer
from grokkit.errors import check_int, refuse
from grokkit.model import MLP_WEIGHTS, of_kinds

if TYPE_CHECKING:
    import xarray as xr


@torch.no_grad()
def step_contraction(
    before: Float[Tensor, "run parameter"],
    after: Float[Tensor, "run parameter"],
    rate: Float[Tensor, " run"],
    weight_decay: Float[Tensor, " run"],
) -> dict[str, Float[Tensor, " run"]]:
    """Lambda, rho and the slack of one step by name, from the weights around it.

    ================  ========================================================================
    norm_before       norm(W)_F
    norm_after        norm(W')_F
    contraction       lambda = eta * w; 0 where there is no decay
    update_norm       norm(U)_F, U = ((1 - lambda) W - W') / eta
    growth            rho by (22), (eta / w) norm(U)_F^2; ``nan`` where there is no decay
    growth_needed     norm(W')^2 - (1 - lambda) norm(W)^2, the least rho that would do; negative
                      where the step itself helps to shrink
    slack             growth - growth_needed: what the inequality has to spare
    floor             norm(U) / w, the norm above which such a step surely shrinks W
    ================  ========================================================================

    Args:
        before: W, a copy: optimizers work in place.
        after: W'.
        rate: eta of this step, above 0.
        weight_decay: w, the setting, 0 or more.

    Raises:
        SettingError: a rate is 0, or rate * weight decay is 1 or more.
    """
    if not bool((rate > 0).all()):
        refuse("rate", rate.tolist(), "learning rates above 0")
    if not bool((weight_decay >= 0).all()):
        refuse("weight_decay", weight_decay.tolist(), "0 or more")
    shrink, eta, w = rate.double() * weight_decay.double(), rate.double(), weight_decay.double()
    if not bool((shrink < 1).all()):
        refuse("rate", rate.tolist(), "a learning rate * weight decay below 1")
    old, new = before.double(), after.double()
    update = ((1 - shrink).unsqueeze(1) * old - new) / eta.unsqueeze(1)
    n0, n1, u = (torch.linalg.vector_norm(x, dim=1) for x in (old, new, update))
    growth = torch.where(w > 0, eta / w * u.square(), torch.nan)
    needed = n1.square() - (1 - shrink) * n0.square()
    return {
        "norm_before": n0,
        "norm_after": n1,
        "contraction": shrink,
        "update_norm": u,
        "growth": growth,
        "growth_needed": needed,
        "slack": growth - needed,
        "floor": u / w,
    }


def measure_contraction(
    trainer: Trainer, epochs: int, names: Sequence[str] = MLP_WEIGHTS
) -> "xr.Dataset":
    """Train for some epochs, and look at each step as Definition 3.2 does.

    It costs a copy of the weights each epoch, so it is not part of ``train``. The trainer
    goes on from where it was, and keeps its records as ever. What the step was is taken from the
    weights around it: an accelerator, a coupled decay and a projection onto a sphere are all
    part of its U.

    Args:
        trainer: the group, full batches.
        epochs: how many epochs to train; it stops earlier where the trainer is done.
        names: the kinds of parameters that W consists of, in all layers; the MLP's by default.

    Returns:
        What :func:`step_contraction` says over (run, epoch); the epoch is that before the step.

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
        epoch, before = trainer.epoch, trainer.weights.flat[:, columns]
        trainer.advance(1)
        if trainer.epoch == epoch:
            break
        rate = trainer.optimizer.rate.squeeze(1)
        steps.append(step_contraction(before, trainer.weights.flat[:, columns], rate, decay))
        at.append(epoch)
    if not steps:
        refuse("trainer", f"at epoch {trainer.epoch}", "a trainer that has epochs left")
    stacked = {name: torch.stack([one[name].cpu() for one in steps], dim=1) for name in steps[0]}
    return xr.Dataset(
        {name: (("run", "epoch"), values.numpy()) for name, values in stacked.items()},
        coords={"epoch": at},
    )
