"""The shortcut probe: does the network know its train set by the length of a vector?

y is what the MLP is given, the pooled representation or the stream after attention. A
network can memorise by the norm of y, telling examples apart that point the same way. So
take the norms away, y / norm(y), forward only, and look at the train loss: the more it
rises, the more was read from the norms.

Everything after y stays as it is, **the variant's own LayerNorm included**. One that acts on y
itself takes the norm away in any case: the MLP is then given the same vector, and what
the probe still changes is the residual path beside it. (The paper's code drops the
LayerNorm while it probes, and so shows other networks than those that were trained.)

Source: arXiv 2602.06702, SR-train.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.errors import refuse
from grokkit.model import cross_entropy

Readout = Callable[[Tensor], Tensor]
"""From y [run example embed] to logits [run example class]: the rest of the network."""


@torch.no_grad()
def shortcut_loss(
    y: Float[Tensor, "run example embed"],
    readout: Readout,
    targets: Int[Tensor, "run example"],
) -> Float[Tensor, " run"]:
    """The mean loss with y / norm(y) for y, in nats; a y of 0 stays 0.

    Beside it belongs the loss as it is, that of ``readout(y)``.

    Args:
        y: the input of the MLP at every example; of the train set, for SR-train.
        readout: the rest of the network, with its own LayerNorm; a residual path that
            carries y past the MLP starts from the same y.
        targets: the right class of each example.
    """
    norm = torch.linalg.vector_norm(y, dim=2, keepdim=True)
    logits = readout(y / torch.where(norm > 0, norm, 1))
    if logits.dim() != 3 or logits.shape[:2] != y.shape[:2]:
        refuse("readout", tuple(logits.shape), f"logits of shape {tuple(y.shape[:2])} + (class,)")
    return cross_entropy(logits.double(), targets).mean(dim=1)
