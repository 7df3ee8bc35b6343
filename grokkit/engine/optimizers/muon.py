"""Muon: momentum with its singular values brought near 1, for the hidden matrices.

Source: K. Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024);
the scale ``rms`` is that of J. Liu et al. (2025), arXiv 2502.16982.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.engine.optimizers.adamw import AdamW, Moments
from grokkit.engine.optimizers.base import (
    Optimizer,
    OptimizerSpec,
    check_share,
    register_optimizer,
)
from grokkit.errors import check_choice, refuse
from grokkit.model import Layout, Parameters

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""a, b, c of the quintic that each iteration applies to every singular value (Jordan)."""

ITERATIONS = 5
"""How often the quintic is applied; a singular value of 0.01 then comes to about 1."""


@register_optimizer("muon")
@dataclass(frozen=True)
class Muon(AdamW):
    """Muon on the hidden matrices, AdamW on all else, both with the same learning rate.

    Hidden matrices are those that map one internal space to another, of every layer: W_Q,
    W_K, W_V, W_O, W_1 and, in the residual readout, W_2. Embeddings are tables, not maps: a
    step touches the rows that were looked up. Biases and gains are no matrices. The matrix
    that makes the logits (W_2 of the classifier, W_U after the residual readout) has a row
    or column for each class; Muon's authors leave it to AdamW, and so do we unless told
    otherwise.

    Attributes:
        beta1: AdamW's part: the decay of the running mean of the gradient.
        beta2: AdamW's part: the decay of the running mean of its square.
        eps: AdamW's part: added to the root of the latter. Muon's part: the least
            Frobenius norm that a matrix is divided by.
        momentum: the decay of the running mean of a hidden matrix's gradient.
        nesterov: whether the newest gradient is mixed into that mean once more.
        update_scale: how long a hidden matrix's step is. ``rms``: 0.2 sqrt(larger side),
            so that its entries are as large as AdamW's usually are and one learning rate
            serves both (the default); ``spectral``: sqrt(outputs / inputs) where that is
            above 1, the original rule, which expects a learning rate near 0.02.
        muon_readout: whether the matrix that makes the logits is a hidden matrix, too.
    """

    momentum: float = 0.95
    nesterov: bool = True
    update_scale: Literal["rms", "spectral"] = "rms"
    muon_readout: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("momentum", self.momentum)
        check_choice("update_scale", self.update_scale, ("rms", "spectral"))
        for name in ("nesterov", "muon_readout"):
            if not isinstance(getattr(self, name), bool):
                refuse(name, getattr(self, name), "True, False")

    def scale(self, inputs: int, outputs: int) -> float:
        """What a step of singular values near 1 is multiplied by, for a matrix of a size."""
        if self.update_scale == "rms":
            return 0.2 * math.sqrt(max(inputs, outputs))
        return math.sqrt(max(1.0, outputs / inputs))

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running Muon of a group."""
        return _Muon(group, weights)


def hidden_matrices(layout: Layout, readout: bool = False) -> tuple[str, ...]:
    """The parameters that Muon orthogonalises, in the order of the buffer.

    Args:
        layout: all parameters of a model.
        readout: whether the matrix that makes the logits counts, too.
    """
    last = "W_U" if "W_U" in layout.shapes else "W_2"
    matrices = [name for name in layout.shapes if name.startswith("W_")]
    return tuple(name for name in matrices if readout or name != last)


def orthogonalise(
    matrix: Float[Tensor, "run row column"], eps: Float[Tensor, "run 1"] | float = 1e-8
) -> Float[Tensor, "run row column"]:
    """Newton and Schulz's iteration: U S V^T becomes about U V^T.

    Singular values end between 0.68 and 1.21 unless they are below about 0.004 of the norm.
    In the precision of the matrix; the usual implementation rounds to bfloat16.

    Args:
        matrix: one for each run; it is not changed.
        eps: the least Frobenius norm that a matrix is divided by.
    """
    a, b, c = COEFFICIENTS
    norm = torch.linalg.matrix_norm(matrix)
    least = torch.as_tensor(eps, dtype=norm.dtype, device=norm.device).view(-1)
    x = matrix / torch.maximum(norm, least).view(-1, 1, 1)
    tall = matrix.shape[1] > matrix.shape[2]
    x = x.transpose(1, 2) if tall else x
    for _ in range(ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class _Muon(Optimizer):
    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        spec = group[0]
        assert isinstance(spec, Muon)
        names = hidden_matrices(weights.layout, spec.muon_readout)
        self.nesterov = spec.nesterov
        self.scales = {name: spec.scale(*weights.layout.shapes[name]) for name in names}
        self.velocity = {name: torch.zeros_like(weights.gradient[name]) for name in names}
        # The places of all other parameters, which AdamW trains.
        self.others = weights.columns([name for name in weights if name not in names])
        self.moments = Moments(self.setting, weights.flat[:, self.others])
        self._kept = self.setting["momentum"].to(weights.flat).unsqueeze(2)
        self._new = (1 - self.setting["momentum"]).to(weights.flat).unsqueeze(2)

    def state(self) -> dict[str, Tensor]:
        means = {f"velocity_{name}": value for name, value in self.velocity.items()}
        return means | self.moments.state()

    def direction(self, grad: Tensor) -> Tensor:
        direction = torch.empty_like(grad)
        direction[:, self.others] = self.moments.direction(grad[:, self.others], self.count)
        for name, place, shape in self.weights.layout.slices():
            if name in self.velocity:
                newest, mean = grad[:, place].unflatten(1, shape), self.velocity[name]
                mean.lerp_(newest, self._new)
                ahead = newest.lerp(mean, self._kept) if self.nesterov else mean
                step = orthogonalise(ahead, self.setting["eps"]).mul_(self.scales[name])
                direction[:, place] = step.flatten(1)
        return direction
