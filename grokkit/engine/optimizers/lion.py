"""Lion: the sign of a running mean (Chen et al. 2023, arXiv 2302.06675)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grokkit.engine.optimizers.base import (
    Optimizer,
    OptimizerSpec,
    check_share,
    register_optimizer,
)
from grokkit.model import Parameters


@register_optimizer("lion")
@dataclass(frozen=True)
class Lion(OptimizerSpec):
    """Every weight moves by eta, up or down: U = sign(beta1 * mean + (1 - beta1) * gradient).

    The mean itself then follows the gradient with beta2. A step is as long as it can be,
    sqrt(parameters), so Lion usually wants a smaller learning rate than AdamW (its
    authors: 3 to 10 times) and a weight decay larger by as much.

    Attributes:
        beta1: the weight of the running mean in the direction, against the new gradient.
        beta2: the decay of the running mean.
    """

    beta1: float = 0.9
    beta2: float = 0.99

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("beta1", self.beta1)
        check_share("beta2", self.beta2)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running Lion of a group."""
        return _Lion(group, weights)


class _Lion(Optimizer):
    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.mean = torch.zeros_like(weights.flat)
        self._new1 = (1 - self.setting["beta1"]).to(weights.flat)
        self._new2 = (1 - self.setting["beta2"]).to(weights.flat)

    def state(self) -> dict[str, Tensor]:
        return {"mean": self.mean}

    def direction(self, grad: Tensor) -> Tensor:
        mixed = self.mean.lerp(grad, self._new1)
        self.mean.lerp_(grad, self._new2)
        # PyTorch's sign of nan is 0: a broken run would stand still and not be seen.
        return torch.where(mixed.isnan(), mixed, mixed.sign())
