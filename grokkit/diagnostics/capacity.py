"""What the conditions of Theorem 4.3 are made of: how large the MLP is, margins, values.

Source: arXiv 2605.15787, Definition 4.2, (23), (24).
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.diagnostics.features import feature_spectrum
from grokkit.model import MLP_WEIGHTS, ModelSpec, Parameters, Transformer, of_kinds
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
    # By the Gram matrix of the shorter side: many times cheaper than a decomposition of the
    # matrix, and exact enough for the largest value, whose square is the best conditioned.
    return feature_spectrum(matrix)[:, 0].sqrt().to(matrix.dtype)


def logit_margins(
    logits: Float[Tensor, "run example class"], targets: Int[Tensor, "run example"]
) -> Float[Tensor, "run example"]:
    """The right class's logit minus the largest other, of every example."""
    own = targets.unsqueeze(-1)
    others = logits.scatter(-1, own, -torch.inf).amax(dim=-1)
    return logits.gather(-1, own).squeeze(-1) - others


@torch.no_grad()
def value_radius(model: Transformer, weights: Mapping[str, Tensor]) -> Float[Tensor, " run"]:
    """R, the largest norm(v_j) of any slot and head: Delta_emb is at most 2R. Equation (24).

    A gamma with 2R for Delta_emb is smaller, by the factor that the two differ in. ``nan``
    with several layers, whose values are no functions of the slot.
    """
    if model.spec.layers > 1:
        return weights["W_V"].new_full((len(weights["W_V"]),), torch.nan)
    values = model.slot_values(weights, model.embed(weights))
    largest = torch.linalg.vector_norm(values, dim=3).amax(dim=2)
    return largest.where(model.slots.used, 0).amax(dim=1)
