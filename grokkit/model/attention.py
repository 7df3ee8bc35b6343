"""From scores to attention: a point of the simplex over positions."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Scores = Float[Tensor, "run example pos head"]
Attention = Float[Tensor, "run example pos head"]


def attend(scores: Scores, kind: Literal["softmax", "relu"] = "softmax") -> Attention:
    """Attention from scores, over positions.

    ``softmax``: alpha_j = exp(l_j) / sum_i exp(l_i).
    ``relu``: alpha_j = max(l_j, 0) / sum_i max(l_i, 0); where no score of a sequence is
    positive the quotient is undefined, and attention there is uniform, with gradient 0
    (our choice).
    """
    if kind == "softmax":
        return scores.softmax(dim=2)
    positive = scores.relu()
    total = positive.sum(dim=2, keepdim=True)
    alive = total > 0
    # The inner `where` keeps 0/0 out of the backward pass, where it would be 0 * inf.
    share = positive / torch.where(alive, total, torch.ones_like(total))
    return torch.where(alive, share, torch.full_like(share, 1 / scores.shape[2]))
