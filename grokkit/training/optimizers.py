"""Optimizers for a group of runs, each run with its own settings.

Every optimizer here has the shape of Definition 3.2 and Appendix B.2: decay first, apart
from the gradient, then a step of bounded size,

    W' = (1 - eta * weight_decay) W - eta * U,      eta = learning_rate * min(1, t / warmup)

and an optimizer is its rule for the direction U. The gradient is clipped beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor

from grokkit.errors import check_int, check_number, refuse
from grokkit.model import Parameters
from grokkit.registry import Registry


@dataclass(frozen=True)
class OptimizerSpec:
    """The settings that all optimizers share (Table G.2).

    Attributes:
        learning_rate: eta, after the warm-up. The paper does not give it; 1e-3 is ours.
        weight_decay: the decay setting; a step shrinks weights by eta * weight_decay.
        warmup: the number of steps over which eta rises linearly to its value; 0: none.
        clip: the largest Frobenius norm of a run's whole gradient; ``inf``: no clipping.
    """

    kind: ClassVar[str]

    learning_rate: float = 1e-3
    weight_decay: float = 1.0
    warmup: int = 10
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_number("weight_decay", self.weight_decay)
        check_int("warmup", self.warmup, 0)
        check_number("clip", self.clip, strict=True, finite=False)

    def start(self, group: "Sequence[OptimizerSpec]", weights: Parameters) -> "Optimizer":
        """The optimizer of a group of runs, one spec of this kind for each run."""
        raise NotImplementedError


class Optimizer:
    """The state of an optimizer, and one step of it.

    ``setting`` holds every numeric setting by name, ``[run, 1]`` in double precision.

    Args:
        group: the settings of each run, all of one kind.
        weights: what is trained; its ``flat_grad`` is read at every step.
    """

    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        self.weights = weights
        self.steps = 0
        # In double precision throughout: 1 - 0.999 in float32 is off by 1e-5. What acts on
        # the weights is rounded once, at the end.
        self.setting: dict[str, Tensor] = {
            field.name: torch.tensor(
                [[getattr(spec, field.name)] for spec in group],
                dtype=torch.float64,
                device=weights.flat.device,
            )
            for field in fields(group[0])
            if is_number(getattr(group[0], field.name))
        }
        self.clips = any(spec.clip < float("inf") for spec in group)

    def direction(self, grad: Tensor) -> Tensor:
        """U, the step before it is scaled by the learning rate: ``[run, parameter]``."""
        raise NotImplementedError

    def state(self) -> dict[str, Tensor]:
        """Everything but ``steps`` that a resumed run needs, by name.

        The tensors themselves: a checkpoint is read into them.
        """
        raise NotImplementedError

    @torch.no_grad()
    def step(self) -> None:
        """Change the weights in place by one step."""
        self.steps += 1
        grad, setting = self.weights.flat_grad, self.setting
        if self.clips:
            norm = torch.linalg.vector_norm(grad, dim=1, keepdim=True)
            grad.mul_((setting["clip"] / (norm + 1e-6)).clamp_(max=1).to(grad))
        warm = (self.steps / setting["warmup"]).clamp_(max=1)
        rate = setting["learning_rate"] * warm
        direction = self.direction(grad)
        shrink = 1 - rate * setting["weight_decay"]
        self.weights.flat.mul_(shrink.to(grad)).sub_(rate.to(grad) * direction)


def is_number(value: object) -> bool:
    """Whether a setting may differ between the runs of a group: a number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


optimizers: Registry[OptimizerSpec] = Registry("optimizer")
register_optimizer = optimizers.register


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
        for name in ("beta1", "beta2"):
            if check_number(name, getattr(self, name)) >= 1:
                refuse(name, getattr(self, name), "a number from 0 to below 1")
        check_number("eps", self.eps, strict=True)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running AdamW of a group."""
        return _AdamW(group, weights)


class _AdamW(Optimizer):
    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.mean = torch.zeros_like(weights.flat)
        self.square = torch.zeros_like(weights.flat)

    def state(self) -> dict[str, Tensor]:
        return {"mean": self.mean, "square": self.square}

    def direction(self, grad: Tensor) -> Tensor:
        b1, b2 = self.setting["beta1"], self.setting["beta2"]
        self.mean.lerp_(grad, (1 - b1).to(grad))
        self.square.lerp_(grad * grad, (1 - b2).to(grad))
        root = (self.square / (1 - b2**self.steps).to(grad)).sqrt_()
        root.add_(self.setting["eps"].to(grad))
        return (self.mean / (1 - b1**self.steps).to(grad)).div_(root)
