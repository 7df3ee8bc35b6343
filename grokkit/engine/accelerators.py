"""Rival accelerators: what others do to the gradient to make grokking come sooner.

An accelerator changes each run's gradient in place, before it is clipped and before the
optimizer sees it, so that any of them goes with any optimizer. The default is none.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from grokkit.engine.optimizers import check_share, numbers
from grokkit.errors import check_number
from grokkit.model import Parameters
from grokkit.registry import Registry


class AcceleratorSpec(ABC):
    """The base of every accelerator's settings.

    One of your own is a frozen dataclass that inherits from this class and is decorated
    with :func:`register_accelerator`. Its numeric fields may differ between the runs of a
    group; nothing else may.
    """

    kind: ClassVar[str]

    @abstractmethod
    def start(
        self, group: "Sequence[AcceleratorSpec]", weights: Parameters
    ) -> "Accelerator | None":
        """The accelerator of a group, one spec of this kind for each run; None: none."""


class Accelerator(ABC):
    """An accelerator at work."""

    def __init__(self, group: Sequence[AcceleratorSpec], weights: Parameters) -> None:
        self.weights = weights
        self.setting = numbers(group, weights)

    def state(self) -> dict[str, Tensor]:
        """Everything that a resumed run needs, by name: the tensors themselves."""
        return {}

    @abstractmethod
    def __call__(self) -> None:
        """Change the gradient in place; called once before each optimizer step."""


accelerators: Registry[AcceleratorSpec] = Registry("accelerator")
register_accelerator = accelerators.register


@register_accelerator("none")
@dataclass(frozen=True)
class NoAccelerator(AcceleratorSpec):
    """The gradient stays as it is."""

    def start(self, group: Sequence[AcceleratorSpec], weights: Parameters) -> None:
        """None."""
        return None


@register_accelerator("grokfast")
@dataclass(frozen=True)
class Grokfast(AcceleratorSpec):
    """Grokfast-EMA: the slow part of the gradient, amplified (arXiv 2405.20233).

    mean' = filter_decay * mean + (1 - filter_decay) * gradient, from the first gradient
    on, and the optimizer sees gradient + filter_gain * mean'. The defaults are those of
    its authors for modular addition.

    Attributes:
        filter_decay: the decay of the running mean, a low-pass filter.
        filter_gain: how many times the mean is added to the gradient; 0: not at all.
    """

    filter_decay: float = 0.98
    filter_gain: float = 2.0

    def __post_init__(self) -> None:
        check_share("filter_decay", self.filter_decay)
        check_number("filter_gain", self.filter_gain)

    def start(self, group: Sequence[AcceleratorSpec], weights: Parameters) -> Accelerator:
        """The running filter of a group."""
        return _Grokfast(group, weights)


class _Grokfast(Accelerator):
    def __init__(self, group: Sequence[AcceleratorSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.mean = torch.zeros_like(weights.flat)
        # Whether there was a gradient before this one, on the device.
        self.begun = torch.zeros_like(weights.flat[:, :1])
        self._new = (1 - self.setting["filter_decay"]).to(weights.flat)
        self._gain = self.setting["filter_gain"].to(weights.flat)

    def state(self) -> dict[str, Tensor]:
        return {"mean": self.mean, "begun": self.begun}

    @torch.no_grad()
    def __call__(self) -> None:
        grad = self.weights.flat_grad
        self.mean.lerp_(grad, torch.where(self.begun > 0, self._new, 1.0))
        self.begun.fill_(1)
        grad.addcmul_(self.mean, self._gain)


@register_accelerator("orthogonal")
@dataclass(frozen=True)
class OrthogonalGradient(AcceleratorSpec):
    """Only the part of the gradient that does not make weights longer (arXiv 2501.04697).

    For each parameter w with gradient g: g - (w . g / w . w) w, stretched to the length
    of g. Without it the loss of a memorised set falls by scaling logits up. Nothing is
    taken away where w is 0, and nothing is left where g is parallel to w.
    """

    def start(self, group: Sequence[AcceleratorSpec], weights: Parameters) -> Accelerator:
        """The projection for a group."""
        return _OrthogonalGradient(group, weights)


class _OrthogonalGradient(Accelerator):
    @torch.no_grad()
    def __call__(self) -> None:
        weights = self.weights
        # What is left of a parallel gradient is rounding error: not a direction.
        least = 4 * torch.finfo(weights.flat.dtype).eps
        tiny = torch.finfo(weights.flat.dtype).tiny
        for _, place, _ in weights.layout.slices():
            w, g = weights.flat[:, place], weights.flat_grad[:, place]
            share = (w * g).sum(1, keepdim=True) / (w * w).sum(1, keepdim=True).clamp_min(tiny)
            across = g - share * w
            length, left = (torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (g, across))
            g.copy_(across * torch.where(left > least * length, length / left, 0.0))
