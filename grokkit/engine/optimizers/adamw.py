"""AdamW: Adam with decoupled weight decay, the paper's optimizer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grokkit.engine.optimizers.base import (
    Optimizer,
    OptimizerSpec,
    check_share,
    register_optimizer,
)
from grokkit.errors import check_number
from grokkit.model import Parameters


@register_optimizer("adamw")
@dataclass(frozen=True)
class AdamW(OptimizerSpec):
    """Adam with decoupled weight decay, the paper's optimizer.

    Attributes:
        beta1: the decay of the running mean of the gradient.
        beta2: the decay of the running mean of its square.
        eps: added to the root of the latter.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("beta1", self.beta1)
        check_share("beta2", self.beta2)
        check_number("eps", self.eps, strict=True)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running AdamW of a group."""
        return RunningAdamW(group, weights)


class RunningAdamW(Optimizer):
    """AdamW at work; its direction is Adam's."""

    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.moments = Moments(self.setting, weights.flat)

    def state(self) -> dict[str, Tensor]:
        """Both running means."""
        return self.moments.state()

    def direction(self, grad: Tensor) -> Tensor:
        """Adam's direction."""
        return self.moments.direction(grad, self.count)


class Moments:
    """The two running means of Adam, over the whole buffer or some of its columns.

    Args:
        setting: beta1, beta2 and eps of each run, ``[run, 1]``.
        like: a tensor of the shape of the gradients to come, ``[run, column]``.
    """

    def __init__(self, setting: Mapping[str, Tensor], like: Tensor) -> None:
        self.beta1, self.beta2 = setting["beta1"], setting["beta2"]
        self._new1, self._new2 = (1 - self.beta1).to(like), (1 - self.beta2).to(like)
        self._eps = setting["eps"].to(like)
        self.mean = torch.zeros_like(like)
        self.square = torch.zeros_like(like)

    def state(self) -> dict[str, Tensor]:
        """The running means by name."""
        return {"mean": self.mean, "square": self.square}

    def direction(self, grad: Tensor, count: Tensor) -> Tensor:
        """The mean divided by the root of the mean square, each corrected for its start.

        Args:
            grad: the gradient.
            count: the number of this step, from 1, a scalar.
        """
        self.mean.lerp_(grad, self._new1)
        self.square.lerp_(grad * grad, self._new2)
        root = (self.square / (1 - self.beta2**count).to(grad)).sqrt_().add_(self._eps)
        return (self.mean / (1 - self.beta1**count).to(grad)).div_(root)
