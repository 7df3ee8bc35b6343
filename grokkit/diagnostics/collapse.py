"""Softmax collapse: where the usual float32 formula says 0 and the truth does not.

The usual cross-entropy, log sum_c exp(z_c) - z_y, is exactly 0 as soon as the other classes
together are lost beside the right one: in float32 from a margin of about 17. From there
on an example teaches nothing at its right class, whatever it still could. grokkit trains
on a formula that does not round this away (:mod:`grokkit.core.loss`), so here it only
counts what a training with the usual one would have lost.

Source: the phenomenon is described in arXiv 2501.04697, "Grokking at the Edge of Numerical
Stability"; the count is ours.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from grokkit.core.loss import loss_and_gradient
from grokkit.errors import refuse


@dataclass(frozen=True, eq=False)
class Collapse:
    """The number of examples that the usual formula has lost, for each run.

    Attributes:
        loss: the cross-entropy is exactly 0, the exact one is not.
        target_gradient: softmax - onehot is exactly 0 at the right class, the exact one is
            not.
        whole_gradient: it is exactly 0 at every class: no gradient at all is left.
    """

    loss: Int[Tensor, " run"]
    target_gradient: Int[Tensor, " run"]
    whole_gradient: Int[Tensor, " run"]


@torch.no_grad()
def softmax_collapse(
    logits: Float[Tensor, "run example class"],
    targets: Int[Tensor, "run example"],
    precision: torch.dtype = torch.float32,
    loss: Float[Tensor, "run example"] | None = None,
) -> Collapse:
    """Count the examples that are lost to the usual formula in some precision.

    Args:
        logits: class scores, as the network gives them.
        targets: the right class of each example.
        precision: the precision in which the usual formula is evaluated.
        loss: the exact cross-entropy of each example, where it is at hand; None to compute
            it here, in double precision.
    """
    if not precision.is_floating_point:
        refuse("precision", precision, "a floating-point type, such as torch.float32")
    if loss is None:
        loss, _ = loss_and_gradient(logits.double(), targets.unsqueeze(-1))
    rounded, own = logits.to(precision), targets.unsqueeze(-1)
    flat = functional.cross_entropy(rounded.flatten(0, 1), targets.flatten(), reduction="none")
    usual = flat.view_as(targets)
    # exp(-margin) of every other class is 0, or lost beside 1: softmax_y - 1 is exactly 0.
    share = rounded.softmax(dim=-1)
    no_target = share.gather(-1, own).squeeze(-1) == 1
    no_other = (share.scatter(-1, own, 0) == 0).all(dim=-1)
    alive = loss > 0
    return Collapse(*((alive & lost).sum(dim=1) for lost in (usual == 0, no_target, no_other)))
