"""The core's optimizers for a group of runs, each run with its own settings.

The rules, their settings and both kinds of weight decay are those of
:mod:`grokkit.core.optimizers`, and so are the numbers; all runs take a step at once here, in
place and without asking the device for a value.

Sources: Lion, Chen et al. (2023), arXiv 2302.06675. Muon, K. Jordan et al., "Muon: an
optimizer for hidden layers in neural networks" (2024); its scale ``rms`` is that of J. Liu et
al. (2025), arXiv 2502.16982.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit import core
from grokkit.core.optimizers import NEWTON_SCHULZ
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.model import Layout, Parameters
from grokkit.registry import Registry


@dataclass(frozen=True)
class OptimizerSpec(core.Optimizer, ABC):
    """The settings that all optimizers share (Table G.2)."""

    kind: ClassVar[str]
    shares: ClassVar[tuple[str, ...]] = ()
    """The settings that are decays of running means: from 0 to below 1."""

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate)
        check_number("weight_decay", self.weight_decay)
        check_int("warmup", self.warmup, 0)
        check_number("clip", self.clip, strict=True, finite=False)
        for name in self.shares:
            check_share(name, getattr(self, name))

    @abstractmethod
    def start(self, group: "Sequence[OptimizerSpec]", weights: Parameters) -> "Optimizer":
        """The optimizer of a group of runs, one spec of this kind for each run."""


class Optimizer(ABC):
    """The state of an optimizer, and one step of it.

    ``setting`` holds every numeric setting by name, ``[run, 1]`` in double precision;
    ``count`` the number of this step, from 1, on the device: nothing here asks the device
    for a value, so a step can be queued, or captured, without waiting.
    """

    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        self.weights = weights
        self.decoupled = group[0].decoupled
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
    """Refuse what is no decay of a running mean: a number from 0 to below 1."""
    if check_number(name, value) >= 1:
        refuse(name, value, "a number from 0 to below 1")


optimizers: Registry[OptimizerSpec] = Registry("optimizer")
register_optimizer = optimizers.register


@register_optimizer("adamw")
@dataclass(frozen=True)
class AdamW(OptimizerSpec, core.AdamW):
    """Adam with decoupled weight decay, the paper's optimizer."""

    shares: ClassVar[tuple[str, ...]] = ("beta1", "beta2")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("eps", self.eps, strict=True)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running AdamW of a group."""
        return RunningAdamW(group, weights)


class RunningAdamW(Optimizer):
    """AdamW at work, on the whole buffer or some of its columns; its direction is Adam's."""

    def __init__(
        self,
        group: Sequence[OptimizerSpec],
        weights: Parameters,
        columns: Tensor | slice = slice(None),
    ) -> None:
        super().__init__(group, weights)
        like = weights.flat[:, columns]
        self.beta1, self.beta2 = self.setting["beta1"], self.setting["beta2"]
        self._new1, self._new2 = (1 - self.beta1).to(like), (1 - self.beta2).to(like)
        self._eps = self.setting["eps"].to(like)
        self.mean = torch.zeros_like(like)
        self.square = torch.zeros_like(like)

    def state(self) -> dict[str, Tensor]:
        """Both running means."""
        return {"mean": self.mean, "square": self.square}

    def direction(self, grad: Tensor) -> Tensor:
        """The mean divided by the root of the mean square, each corrected for its start."""
        self.mean.lerp_(grad, self._new1)
        self.square.lerp_(grad * grad, self._new2)
        root = (self.square / (1 - self.beta2**self.count).to(grad)).sqrt_().add_(self._eps)
        return (self.mean / (1 - self.beta1**self.count).to(grad)).div_(root)


@register_optimizer("adam")
@dataclass(frozen=True)
class Adam(AdamW, core.Adam):
    """Adam, with weight_decay * W added to the gradient: an L2 term weight_decay / 2 * |W|^2.

    Where the gradient starves, the decay alone is what Adam sees, and divides by its own
    size: every weight then falls by about eta a step, not by a share of itself. That is no
    contraction in the sense of Definition 3.2: its lambda is not known in advance. The
    weight_decay of AdamW is far too much here: at 1 the decay drowns the loss.

    The clip is of the gradient without the decay.
    """


@register_optimizer("sgd")
@dataclass(frozen=True)
class SGD(OptimizerSpec, core.SGD):
    """Gradient descent: W' = W - eta V', V' = momentum * V + gradient + weight_decay * W.

    Without momentum it is B.1 to the letter, and the clip bounds the gradient's norm. Momentum
    multiplies the length of a steady step, decay included, by 1 / (1 - momentum).

    Attributes:
        momentum: the share of the last step's V that is kept; the usual 0.9 is our choice.
    """

    shares: ClassVar[tuple[str, ...]] = ("momentum",)

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running SGD of a group."""
        return _SGD(group, weights)


class _SGD(Optimizer):
    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        super().__init__(group, weights)
        self.velocity = torch.zeros_like(weights.flat)
        self._kept = self.setting["momentum"].to(weights.flat)

    def state(self) -> dict[str, Tensor]:
        return {"velocity": self.velocity}

    def direction(self, grad: Tensor) -> Tensor:
        return self.velocity.mul_(self._kept).add_(grad)


@register_optimizer("lion")
@dataclass(frozen=True)
class Lion(OptimizerSpec, core.Lion):
    """Every weight moves by eta, up or down: U = sign(beta1 * mean + (1 - beta1) * gradient).

    The mean itself then follows the gradient with beta2. A step is as long as it can be,
    sqrt(parameters), so Lion usually wants a smaller learning rate than AdamW (its
    authors: 3 to 10 times) and a weight decay larger by as much.
    """

    shares: ClassVar[tuple[str, ...]] = ("beta1", "beta2")

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


@register_optimizer("muon")
@dataclass(frozen=True)
class Muon(AdamW, core.Muon):
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

    shares: ClassVar[tuple[str, ...]] = ("beta1", "beta2", "momentum")

    update_scale: Literal["rms", "spectral"] = "rms"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("update_scale", self.update_scale, ("rms", "spectral"))
        for name in ("nesterov", "muon_readout"):
            if not isinstance(getattr(self, name), bool):
                refuse(name, getattr(self, name), "True, False")

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running Muon of a group."""
        return _Muon(group, weights)


def hidden_matrices(layout: Layout, readout: bool = False) -> tuple[str, ...]:
    """The parameters that Muon orthogonalises, in the order of the buffer."""
    last = "W_U" if "W_U" in layout.shapes else "W_2"
    matrices = [name for name in layout.shapes if name.startswith("W_")]
    return tuple(name for name in matrices if readout or name != last)


def orthogonalise(
    matrix: Float[Tensor, "run row column"], eps: Float[Tensor, "run 1"] | float = 1e-8
) -> Float[Tensor, "run row column"]:
    """Newton and Schulz's iteration, as the core has it, for each run.

    In the precision of the matrix; the usual implementation rounds to bfloat16.
    """
    norm = torch.linalg.matrix_norm(matrix)
    least = torch.as_tensor(eps, dtype=norm.dtype, device=norm.device).view(-1)
    x = matrix / torch.maximum(norm, least).view(-1, 1, 1)
    tall = matrix.shape[1] > matrix.shape[2]
    x = x.transpose(1, 2) if tall else x
    for a, b, c in NEWTON_SCHULZ:
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class _Muon(RunningAdamW):
    def __init__(self, group: Sequence[OptimizerSpec], weights: Parameters) -> None:
        spec = group[0]
        assert isinstance(spec, Muon)
        names = hidden_matrices(weights.layout, spec.muon_readout)
        # The places of all other parameters, which AdamW trains.
        self.others = weights.columns([name for name in weights if name not in names])
        super().__init__(group, weights, self.others)
        self.nesterov = spec.nesterov
        self.scales = {name: spec.scale(*weights.layout.shapes[name]) for name in names}
        self.velocity = {name: torch.zeros_like(weights.gradient[name]) for name in names}
        self._kept = self.setting["momentum"].to(weights.flat).unsqueeze(2)
        self._new = (1 - self.setting["momentum"]).to(weights.flat).unsqueeze(2)

    def state(self) -> dict[str, Tensor]:
        means = {f"velocity_{name}": value for name, value in self.velocity.items()}
        return means | super().state()

    def direction(self, grad: Tensor) -> Tensor:
        direction = torch.empty_like(grad)
        direction[:, self.others] = super().direction(grad[:, self.others])
        for name, place, shape in self.weights.layout.slices():
            if name in self.velocity:
                newest, mean = grad[:, place].unflatten(1, shape), self.velocity[name]
                mean.lerp_(newest, self._new)
                ahead = newest.lerp(mean, self._kept) if self.nesterov else mean
                step = orthogonalise(ahead, self.setting["eps"]).mul_(self.scales[name])
                direction[:, place] = step.flatten(1)
        return direction
