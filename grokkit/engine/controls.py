"""Controls: what is held fixed so that an effect can be told from its shadow.

A structural prior also changes norms, and norms alone can make a network grok. Two
controls of the paper (Figure 2, Appendix G.3) take that way out: one holds the norm of the
MLP, the other shrinks W_Q and W_K as much as one likes without telling them where to look.
A ticket's mask holds which weights there are at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grokkit.errors import check_number, refuse
from grokkit.model import MLP_WEIGHTS, QK_WEIGHTS, Parameters, of_kinds


@dataclass(frozen=True)
class Controls:
    """What is held fixed; by default nothing is.

    Attributes:
        mlp_radius: norm-matching: after every step the MLP's parameters, theta_MLP, are
            scaled to this Frobenius norm, so that only their direction is trained. None:
            they are left alone.
        qk_penalty: targeted L2: this times |W_Q|^2 + |W_K|^2 is added to the loss. The
            paper's control has 0.5; 0 is none.
        ticket: a file that :func:`grokkit.tickets.save_ticket` wrote: the run begins under
            its mask, with its initial weights if it has any, and pruned weights stay 0. A
            run is known by the file's name, not by what is in it. None: no mask.
    """

    mlp_radius: float | None = None
    qk_penalty: float = 0.0
    ticket: str | None = None

    def __post_init__(self) -> None:
        if self.mlp_radius is not None:
            check_number("mlp_radius", self.mlp_radius, strict=True)
        check_number("qk_penalty", self.qk_penalty)
        if self.ticket is not None and not (isinstance(self.ticket, str) and self.ticket):
            refuse("ticket", self.ticket, "the name of a ticket's file, or None")


class QKPenalty:
    """The gradient of the targeted L2, added to that of the loss."""

    def __init__(self, group: Sequence[Controls], weights: Parameters) -> None:
        self.weights = weights
        self.slope = 2 * _per_run([one.qk_penalty for one in group], weights).view(-1, 1, 1)

    @torch.no_grad()
    def __call__(self) -> None:
        """Add 2 * qk_penalty * W to the gradients of W_Q and W_K."""
        for name in of_kinds(self.weights, QK_WEIGHTS):
            self.weights.gradient[name].addcmul_(self.slope, self.weights[name])


class MLPSphere:
    """Norm-matching: the MLP's parameters kept on a sphere."""

    def __init__(self, radii: Sequence[float], weights: Parameters) -> None:
        self.weights = weights
        self.radius = _per_run(radii, weights)
        names = of_kinds(weights, MLP_WEIGHTS)
        self.places = [place for name, place, _ in weights.layout.slices() if name in names]

    @torch.no_grad()
    def __call__(self) -> None:
        """Scale theta_MLP of each run to its radius; weights that are all 0 stay so."""
        parts = [self.weights.flat[:, place] for place in self.places]
        norms = [torch.linalg.vector_norm(part, dim=1, keepdim=True) for part in parts]
        norm = torch.linalg.vector_norm(torch.cat(norms, dim=1), dim=1, keepdim=True)
        scale = self.radius / norm.clamp_min(torch.finfo(norm.dtype).tiny)
        for part in parts:
            part.mul_(scale)


def _per_run(values: Sequence[float], weights: Parameters) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).view(-1, 1).to(weights.flat)
