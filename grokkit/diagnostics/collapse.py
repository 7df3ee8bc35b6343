"""Softmax collapse: where the usual float32 formula says 0 and the truth does not.

The usual cross-entropy, log sum_c exp(z_c) - z_y, is exactly 0 as soon as the other classes
together are lost beside the right one: in float32 from a margin of about 17. grokkit trains on
a formula that does not round this away (:mod:`grokkit.core.loss`), so here it only counts what
a training with the usual one would have lost.

Source: the phenomenon is described in arXiv 2501.04697, "Grokking at the Edge of Numerical
Stability"; the count is ours.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


@torch.no_grad()
def softmax_collapse(
    logits: Float[Tensor, "run example class"],
    targets: Int[Tensor, "run example"],
    loss: Float[Tensor, "run example"],
) -> Int[Tensor, " run"]:
    """The number of examples whose usual float32 cross-entropy is 0, and the exact one not.

    Args:
        logits: class scores, as the network gives them.
        targets: the right class of each example.
        loss: the exact cross-entropy of each example.
    """
    flat = logits.float().flatten(0, 1)
    usual = functional.cross_entropy(flat, targets.flatten(), reduction="none").view_as(targets)
    return ((loss > 0) & (usual == 0)).sum(dim=1)
