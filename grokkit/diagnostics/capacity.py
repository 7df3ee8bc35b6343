"""How large the MLP is: its norm and its Lipschitz bound (Definition 4.2)."""

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model import MLP_WEIGHTS, ModelSpec, Parameters, of_kinds
from grokkit.model.norm import PLACEMENTS


def mlp_norm(weights: Parameters) -> Float[Tensor, " run"]:
    """norm(theta_MLP)_F, over both matrices and both biases of the MLP of every layer."""
    names = of_kinds(weights, MLP_WEIGHTS)
    squares = [weights[name].flatten(1).square().sum(dim=1) for name in names]
    return torch.stack(squares).sum(dim=0).sqrt()


def lipschitz(spec: ModelSpec, weights: Parameters) -> Float[Tensor, " run"]:
    """L_f, an upper bound on how fast logits change with the pooled representation.

    sigma_max(W_1) sigma_max(W_2) for the classifier, as ReLU is 1-Lipschitz. In the
    residual readout (1 + sigma_max(W_1) sigma_max(W_2)) sigma_max(W_U). Either times the
    readout scale.

    ``inf``, as no bound holds for all arguments, with a norm in the readout (a norm divides
    by the size of what it is given: the smaller that, the steeper the readout) and with
    several layers (attention is a product of what it is given).
    """
    if PLACEMENTS[spec.norm].in_readout or spec.layers > 1:
        return weights["W_1"].new_full((len(weights["W_1"]),), torch.inf)
    mlp = largest_singular_value(weights["W_1"]) * largest_singular_value(weights["W_2"])
    if spec.readout == "residual":
        return spec.readout_scale * ((1 + mlp) * largest_singular_value(weights["W_U"]))
    return spec.readout_scale * mlp


def largest_singular_value(matrix: Float[Tensor, "run rows columns"]) -> Float[Tensor, " run"]:
    """sigma_max of each matrix, its operator norm; ``nan`` where an entry is not finite."""
    # The Gram matrix of the shorter side: many times cheaper than a decomposition of the
    # matrix, and exact enough for the largest value, whose square is the best conditioned.
    tall = matrix if matrix.shape[-2] >= matrix.shape[-1] else matrix.transpose(-1, -2)
    gram = tall.transpose(-1, -2).double() @ tall.double()
    # A decomposition refuses the whole group where one run has diverged; that run's is nan.
    finite = gram.isfinite().flatten(1).all(dim=1)
    gram = torch.where(finite.view(-1, 1, 1), gram, torch.zeros_like(gram))
    largest = torch.linalg.eigvalsh(gram)[..., -1].clamp_min(0).sqrt()
    return torch.where(finite, largest, torch.nan).to(matrix.dtype)
