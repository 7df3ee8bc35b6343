"""Chapter 5. Optimizers: who makes the norm fall while the network waits (Definition 3.2).

An optimizer is *norm-contractive* if |W'|^2 <= (1 - lambda) |W|^2 + rho, rho a constant. A
decoupled step is so, with lambda = eta * weight_decay, as long as its direction U is bounded. Of
the L2 steps, that of SGD is so as long as G is bounded; that of Adam is not:

    decoupled (B.2)    W' = (1 - eta weight_decay) W - eta U(G)
    L2 (B.1)           W' = W - eta U(G + weight_decay W)

Before either step, the gradient G of all weights together is clipped to a norm, and in the first
steps eta rises linearly from 0. The rules differ in U:

    AdamW    running mean of G / root of the running mean of G^2       decoupled
    Adam     the same                                                  L2
    SGD      V' = momentum V + (G + weight_decay W), and U = V'        L2
    Lion     the sign of a running mean, mixed with G                  decoupled
    Muon     of hidden matrices: a running mean whose singular values  decoupled
             are all brought near 1; of the rest: as AdamW

The paper's account of the wait: once the gradient has starved (chapter 4) only the decay is left of
a decoupled step, and the norm falls by the factor 1 - lambda a step. That ends the wait, for a
memorising MLP needs its norm: it tells examples apart that attention has mixed with distractors.
Below r_max (Definition 4.2) it no longer can. The train loss rises, its gradient is back, and what
it now teaches is attention, since on the informative tokens alone a smaller norm is enough.

But AdamW divides G by its own size, so U shrinks far less than G. Chapter 5 measures what that
changes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from grokkit.core.common import check_choice
from grokkit.core.model import Transformer

State = dict[str, Tensor]
"""What a rule remembers of one array of weights, by name. Empty before the first step."""


@dataclass(frozen=True)
class Optimizer:
    """The settings that all rules share.

    Attributes:
        learning_rate: eta, after the warm-up. The paper does not give it; 1e-3 is ours.
        weight_decay: the decay setting. Lambda is learning_rate * weight_decay, not this alone.
        warmup: the number of steps over which eta rises; 0: none.
        clip: the largest norm of the whole gradient; ``inf``: no clipping.
    """

    decoupled: ClassVar[bool] = True
    """Whether the decay acts on W itself (B.2), or is added to the gradient (B.1)."""

    learning_rate: float = 1e-3
    weight_decay: float = 1.0
    warmup: int = 10
    clip: float = 1.0

    def direction(self, G: Tensor, state: State, t: int, role: str) -> Tensor:
        """U, of the shape of G.

        Args:
            G: the gradient of one array of weights.
            state: what the rule remembers of this array; it is changed.
            t: the number of this step, from 1.
            role: what the array is, see :func:`role_of`.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class AdamW(Optimizer):
    """Adam with decoupled weight decay, the paper's optimizer.

    Attributes:
        beta1: the decay of the running mean of G.
        beta2: the decay of the running mean of G^2.
        eps: added to the root of the latter.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def direction(self, G: Tensor, state: State, t: int, role: str) -> Tensor:
        """The mean over the root of the mean square, each corrected for having begun at 0."""
        mean = follow(state, "mean", G, self.beta1) / (1 - self.beta1**t)
        square = follow(state, "square", G * G, self.beta2) / (1 - self.beta2**t)
        return mean / (square.sqrt() + self.eps)


@dataclass(frozen=True)
class Adam(AdamW):
    """Adam with L2: weight_decay W is divided by the root too, so this is no contraction."""

    decoupled: ClassVar[bool] = False


@dataclass(frozen=True)
class SGD(Optimizer):
    """Gradient descent with L2. Without momentum it is B.1 to the letter."""

    decoupled: ClassVar[bool] = False
    momentum: float = 0.9

    def direction(self, G: Tensor, state: State, t: int, role: str) -> Tensor:
        """V, the sum of past gradients, each weighing momentum times as much as the next."""
        state["sum"] = self.momentum * state.get("sum", torch.zeros_like(G)) + G
        return state["sum"]


@dataclass(frozen=True)
class Lion(Optimizer):
    """Every weight moves by eta, up or down (arXiv 2302.06675).

    Attributes:
        beta1: the weight of the running mean against the new gradient in the direction.
        beta2: the decay of the running mean.
    """

    beta1: float = 0.9
    beta2: float = 0.99

    def direction(self, G: Tensor, state: State, t: int, role: str) -> Tensor:
        """The sign of beta1 * mean + (1 - beta1) * G."""
        old = state.get("mean", torch.zeros_like(G))
        follow(state, "mean", G, self.beta2)
        return old.lerp(G, 1 - self.beta1).sign()


@dataclass(frozen=True)
class Muon(AdamW):
    """Momentum with all singular values near 1, for the hidden matrices; AdamW for the rest.

    Attributes:
        momentum: the decay of the running mean of a hidden matrix's gradient.
        nesterov: whether the newest gradient is mixed into that mean once more.
        update_scale: how long a hidden matrix's step is. ``rms``: its entries are as large as
            AdamW's usually are; ``spectral``: the original rule, for a learning rate near 0.02.
        muon_readout: whether the matrix that makes the logits counts as hidden.
    """

    momentum: float = 0.95
    nesterov: bool = True
    update_scale: str = "rms"
    muon_readout: bool = False

    def __post_init__(self) -> None:
        check_choice("update_scale", self.update_scale, ("rms", "spectral"))

    def direction(self, G: Tensor, state: State, t: int, role: str) -> Tensor:
        """The orthogonalised mean times its scale, or AdamW's direction."""
        if role != "hidden" and not (role == "readout" and self.muon_readout):
            return super().direction(G, state, t, role)
        mean = follow(state, "mean", G, self.momentum)
        ahead = G.lerp(mean, self.momentum) if self.nesterov else mean
        return self.scale(*G.shape) * orthogonalise(ahead, self.eps)

    def scale(self, inputs: int, outputs: int) -> float:
        """How long the step of a hidden matrix is, whose singular values are near 1."""
        if self.update_scale == "rms":
            return 0.2 * math.sqrt(max(inputs, outputs))
        return math.sqrt(max(1.0, outputs / inputs))


def follow(state: State, name: str, value: Tensor, decay: float) -> Tensor:
    """Move a running mean towards a value, by 1 - decay of the way; returns the mean."""
    state[name] = state.get(name, torch.zeros_like(value)).lerp(value, 1 - decay)
    return state[name]


NEWTON_SCHULZ = 5 * ((3.4445, -4.7750, 2.0315),)
"""a, b, c of each of five steps of :func:`orthogonalise` (Jordan)."""


def orthogonalise(matrix: Tensor, eps: float = 1e-8) -> Tensor:
    """Newton and Schulz's iteration: U S V^T becomes about U V^T, ``[row, column]``.

    Five times X' = a X + (b A + c A^2) X with A = X X^T. Each step applies a s + b s^3 + c s^5 to
    every singular value s; they end between 0.68 and 1.21, unless they began near 0.
    """
    X = matrix / torch.linalg.matrix_norm(matrix).clamp_min(eps)
    X = X.T if matrix.shape[0] > matrix.shape[1] else X
    for a, b, c in NEWTON_SCHULZ:
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    return X.T if matrix.shape[0] > matrix.shape[1] else X


def role_of(name: str, net: Transformer) -> str:
    """``readout``: the matrix that makes the logits; ``hidden``: other matrices; else ``""``."""
    readout = "W_2" if net.settings.readout == "classifier" else "W_U"
    if name == readout:
        return "readout"
    return "hidden" if name.startswith("W_") else ""


class Stepper:
    """An optimizer at work on one network.

    Args:
        settings: the rule and its numbers.
        net: the network; the gradient of its weights is read at every step.
    """

    def __init__(self, settings: Optimizer, net: Transformer) -> None:
        self.settings = settings
        self.net = net
        self.steps = 0
        self.states: Mapping[str, State] = {name: {} for name, _ in net.named_parameters()}

    @torch.no_grad()
    def step(self) -> None:
        """Change the weights in place by one step."""
        settings = self.settings
        self.steps += 1
        warm = min(1.0, self.steps / settings.warmup) if settings.warmup else 1.0
        eta, decay = settings.learning_rate * warm, settings.weight_decay
        shrink = min(1.0, settings.clip / (gradient_norm(self.net).item() + 1e-6))
        for name, W in self.net.named_parameters():
            assert W.grad is not None
            G = shrink * W.grad
            if not settings.decoupled:
                G = G + decay * W
            U = settings.direction(G, self.states[name], self.steps, role_of(name, self.net))
            if settings.decoupled:
                W *= 1 - eta * decay
            W -= eta * U


def gradient_norm(net: Transformer) -> Tensor:
    """The Frobenius norm of the whole gradient, a scalar."""
    norms = [W.grad.norm() for W in net.parameters() if W.grad is not None]
    return torch.stack(norms).norm()
