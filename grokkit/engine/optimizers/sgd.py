"""Stochastic gradient descent with momentum and L2 (Proposition B.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from grokkit.engine.optimizers.base import (
    Optimizer,
    OptimizerSpec,
    check_share,
    register_optimizer,
)
from grokkit.model import Parameters


@register_optimizer("sgd")
@dataclass(frozen=True)
class SGD(OptimizerSpec):
    """Gradient descent: W' = W - eta V', V' = momentum * V + gradient + weight_decay * W.

    Without momentum it is B.1 to the letter: W' = (1 - eta * weight_decay) W - eta *
    gradient, and the clip bounds the gradient's norm. Momentum multiplies the length of
    a steady step, decay included, by 1 / (1 - momentum).

    Attributes:
        momentum: the share of the last step's V that is kept; the usual 0.9 is our choice.
    """

    momentum: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("momentum", self.momentum)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running SGD of a group."""
        return _SGD(group, weights)


class _SGD(Optimizer):
    decoupled: ClassVar[bool] = False

    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.velocity = torch.zeros_like(weights.flat)
        self._kept = self.setting["momentum"].to(weights.flat)

    def state(self) -> dict[str, Tensor]:
        return {"velocity": self.velocity}

    def direction(self, grad: Tensor) -> Tensor:
        return self.velocity.mul_(self._kept).add_(grad)
