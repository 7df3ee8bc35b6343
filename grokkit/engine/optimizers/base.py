"""What all optimizers share: settings, clipping, warm-up, decay, and the step.

An optimizer is its rule for the direction U. The frame makes one of two steps of it, with
eta = learning_rate * min(1, t / warmup):

    decoupled (B.2):   W' = (1 - eta * weight_decay) W - eta * U(gradient)
    L2 (B.1):          W' = W - eta * U(gradient + weight_decay * W)

The gradient is clipped beforehand. Both are what Definition 3.2 calls norm-contractive as
long as U is bounded; :mod:`grokkit.theory.contraction` has the bounds.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.errors import check_int, check_number, refuse
from grokkit.model import Parameters
from grokkit.registry import Registry


@dataclass(frozen=True)
class OptimizerSpec(ABC):
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

    @abstractmethod
    def start(self, group: "Sequence[OptimizerSpec]", weights: Parameters) -> "Optimizer":
        """The optimizer of a group of runs, one spec of this kind for each run."""


class Optimizer(ABC):
    """The state of an optimizer, and one step of it.

    ``setting`` holds every numeric setting by name, ``[run, 1]`` in double precision;
    ``count`` the number of this step, from 1, on the device: nothing here asks the device
    for a value, so a step can be queued, or captured, without waiting.

    Args:
        group: the settings of each run, all of one kind.
        weights: what is trained; its ``flat_grad`` is read at every step.
    """

    decoupled: ClassVar[bool] = True
    """Whether the decay acts on the weights themselves, apart from the direction."""

    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        self.weights = weights
        self.setting: Mapping[str, Tensor] = numbers(group, weights)
        self.count = torch.zeros((), dtype=torch.float64, device=weights.flat.device)
        self.clips = any(spec.clip < float("inf") for spec in group)
        self._decay = self.setting["weight_decay"].to(weights.flat)

    @property
    def steps(self) -> int:
        """How many steps were taken; asks the device."""
        return int(self.count)

    @steps.setter
    def steps(self, steps: int) -> None:
        self.count.fill_(steps)

    @property
    def rate(self) -> Float[Tensor, "run 1"]:
        """Eta of the latest step, warm-up included."""
        warm = (self.count / self.setting["warmup"]).clamp_(max=1)
        return self.setting["learning_rate"] * warm

    @abstractmethod
    def direction(self, grad: Tensor) -> Tensor:
        """U, the step before it is scaled by the learning rate: ``[run, parameter]``."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Everything but ``steps`` that a resumed run needs, by name.

        The tensors themselves: a checkpoint is read into them.
        """

    @torch.no_grad()
    def step(self) -> None:
        """Change the weights in place by one step."""
        self.count.add_(1)
        weights, grad = self.weights.flat, self.weights.flat_grad
        if self.clips:
            norm = torch.linalg.vector_norm(grad, dim=1, keepdim=True)
            grad.mul_((self.setting["clip"] / (norm + 1e-6)).clamp_(max=1).to(grad))
        rate = self.rate
        if self.decoupled:
            direction = self.direction(grad)
            weights.mul_((1 - rate * self.setting["weight_decay"]).to(grad))
        else:
            direction = self.direction(grad.addcmul_(weights, self._decay))
        weights.sub_(rate.to(grad) * direction)


def numbers(group: Sequence[Any], weights: Parameters) -> dict[str, Tensor]:
    """Every numeric setting of a group by name, ``[run, 1]``.

    In double precision throughout: 1 - 0.999 in float32 is off by 1e-5. What acts on the
    weights is rounded once, at the end.

    Args:
        group: the settings of each run, dataclasses of one kind.
        weights: whose device the numbers go to.
    """
    return {
        field.name: torch.tensor(
            [[getattr(spec, field.name)] for spec in group],
            dtype=torch.float64,
            device=weights.flat.device,
        )
        for field in fields(group[0])
        if is_number(getattr(group[0], field.name))
    }


def is_number(value: object) -> bool:
    """Whether a setting may differ between the runs of a group: a number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_share(name: str, value: object) -> None:
    """Refuse what is no decay of a running mean: a number from 0 to below 1.

    Raises:
        SettingError: the value is none.
    """
    if check_number(name, value) >= 1:
        refuse(name, value, "a number from 0 to below 1")


optimizers: Registry[OptimizerSpec] = Registry("optimizer")
register_optimizer = optimizers.register
