"""Definition 3.2 on the real trajectory: is a step of this optimizer a contraction?

    norm(W')_F^2 <= (1 - lambda) norm(W)_F^2 + rho,      lambda = eta * w

with eta the learning rate of the step (warm-up included) and w the weight-decay setting.
Appendix B.2 derives rho = (eta / w) norm(U)_F^2 from a step W' = (1 - lambda) W - eta U. With
the step that was really taken instead of a worst case this is an identity plus a slack
that cannot be negative for decoupled decay and SGD with L2, so what one learns is: how
large the real rho is (the least that would do), and whether it is small beside lambda
norm(W)_F^2, without which nothing shrinks.

For an optimizer that lets its adaptive step see the decay (Adam with L2), U is defined by
the same equation, and stays bounded only by what is measured.

Source: arXiv 2605.15787, Definition 3.2, (1), Propositions B.1 and B.2, (22).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.diagnostics._arrays import to_numpy, to_tensor
from grokkit.errors import refuse


@dataclass(frozen=True, eq=False)
class Contraction:
    """One step of every run, as Definition 3.2 sees it.

    Attributes:
        norm_before: norm(W)_F.
        norm_after: norm(W')_F.
        contraction: lambda = eta * w; 0 where there is no decay.
        update_norm: norm(U)_F, U = ((1 - lambda) W - W') / eta.
        growth: rho by (22), (eta / w) norm(U)_F^2; ``nan`` where there is no decay.
        growth_needed: norm(W')^2 - (1 - lambda) norm(W)^2, the least rho that would do; it is
            negative where the step itself helps to shrink.
        slack: growth - growth_needed: what the inequality has to spare.
        floor: norm(U) / w, the norm above which such a step surely shrinks W.
    """

    norm_before: Float[Tensor, " run"]
    norm_after: Float[Tensor, " run"]
    contraction: Float[Tensor, " run"]
    update_norm: Float[Tensor, " run"]
    growth: Float[Tensor, " run"]
    growth_needed: Float[Tensor, " run"]
    slack: Float[Tensor, " run"]
    floor: Float[Tensor, " run"]


@torch.no_grad()
def step_contraction(
    before: Float[Tensor, "run parameter"],
    after: Float[Tensor, "run parameter"],
    rate: Float[Tensor, " run"],
    weight_decay: Float[Tensor, " run"],
    columns: Int[Tensor, " column"] | None = None,
) -> Contraction:
    """Lambda, rho and the slack of one step, from the weights around it.

    Args:
        before: the flat weights before the step (a copy: optimizers work in place).
        after: the flat weights after it.
        rate: eta of this step, above 0.
        weight_decay: w, the setting, 0 or more.
        columns: which parameters W is, such as ``weights.columns(MLP_WEIGHTS)``; None for
            all of them.
    """
    from grokkit import theory

    _check(rate, weight_decay)
    if columns is not None:
        before, after = before[:, columns], after[:, columns]
    shrink = (rate.double() * weight_decay.double()).unsqueeze(1)
    update = ((1 - shrink) * before.double() - after.double()) / rate.double().unsqueeze(1)
    n0, n1, u = (torch.linalg.vector_norm(x.double(), dim=1) for x in (before, after, update))
    lr, w = to_numpy(rate), to_numpy(weight_decay)
    # The theory refuses a run without decay, or one that has diverged.
    decays = (w > 0) & np.isfinite(to_numpy(u))
    growth, floor = np.full(len(w), np.nan), np.where(w > 0, np.nan, np.inf)
    growth[decays] = theory.norm_growth(lr[decays], w[decays], to_numpy(u)[decays])
    floor[decays] = theory.norm_floor(to_numpy(u)[decays], w[decays])
    rho = to_tensor(growth, n0)
    needed = n1.square() - (1 - shrink.squeeze(1)) * n0.square()
    return Contraction(
        norm_before=n0,
        norm_after=n1,
        contraction=shrink.squeeze(1),
        update_norm=u,
        growth=rho,
        growth_needed=needed,
        slack=rho - needed,
        floor=to_tensor(floor, n0),
    )


def _check(rate: Float[Tensor, " run"], weight_decay: Float[Tensor, " run"]) -> None:
    if not bool((rate > 0).all()):
        refuse("rate", rate.tolist(), "learning rates above 0")
    if not bool((weight_decay >= 0).all()):
        refuse("weight_decay", weight_decay.tolist(), "0 or more")
    if not bool((rate * weight_decay < 1).all()):
        refuse("rate", rate.tolist(), "a learning rate * weight decay below 1")
