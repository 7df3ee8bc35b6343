"""What may stand in for a penalty's gradient: is it its direction that helps?

AdamW divides a gradient by its own size. So any live gradient on the attention parameters
may end their freeze, whatever it means, and a speed-up by a prior says something about
structure only beside these two:

    noise       fresh Gaussian noise at every step: no direction at all. Adam's running
                mean averages it away.
    shuffled    the penalty's own gradient, every entry with a sign that was drawn once for
                the run: a direction that lasts, with every magnitude right, and no meaning.
                About half of the entries climb the penalty.

That the signs stay for the whole run is our choice: drawn anew at each step they would
be a second kind of noise.

Each stand-in has a reach. The penalty itself moves W_Q, W_K and the embeddings; a control
that is like for like must move all of these (``noise-all``, ``shuffled-all``), or the penalty
must be kept to W_Q and W_K (``true-qk``, the embeddings detached) when it is compared with
``noise`` and ``shuffled``, which act on W_Q and W_K alone. Every stand-in has, tensor by
tensor, the norm of the gradient that it stands for. What was found: claims
``controls/content`` and ``controls/content-of-attention-weights``.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.model import QK_WEIGHTS, of_kinds

PenaltyGradient = Literal["true", "noise", "shuffled", "true-qk", "noise-all", "shuffled-all"]

REACH: Mapping[str, tuple[str, ...] | None] = {
    "true-qk": QK_WEIGHTS,
    "noise": QK_WEIGHTS,
    "shuffled": QK_WEIGHTS,
    "noise-all": None,
    "shuffled-all": None,
}
"""The kinds of parameters that a stand-in acts on; None: all that the penalty moves."""


class Control:
    """Stands in for the penalty's gradient in a group of runs.

    Random numbers come from a stream of the run's seed and, for noise, the epoch (and the
    step within it): a run does not depend on its group, and a resumed run needs no state.

    Args:
        kind: a key of :data:`REACH`.
        seeds: the seed of each run.
    """

    def __init__(self, kind: PenaltyGradient, seeds: Sequence[int]) -> None:
        self.kind = kind.split("-")[0]
        self.reach = REACH[kind]
        self.seeds = list(seeds)
        self._signs: dict[str, Tensor] = {}
        # For minibatches, and shared by them: the epoch, and how many steps it has had.
        self._steps = [-1, 0]
        self._part = False

    def take(self) -> "Control":
        """The stand-in in one minibatch: of the several steps of an epoch, the next."""
        taken = copy.copy(self)
        taken._part = True
        return taken

    def names(self, weights: Iterable[str]) -> tuple[str, ...]:
        """Those of these parameters that the stand-in may act on."""
        return tuple(weights) if self.reach is None else of_kinds(weights, self.reach)

    def __call__(self, gradient: Mapping[str, Tensor], epoch: int) -> dict[str, Tensor]:
        """The stand-in for each of these gradients."""
        if self.kind == "true":
            return dict(gradient)
        if self.kind == "shuffled":
            if not self._signs:
                drawn = self._draw(gradient, "signs")
                self._signs = {name: noise.sign() for name, noise in drawn.items()}
            return {name: value * self._signs[name] for name, value in gradient.items()}
        drawn = self._draw(gradient, f"noise/{self._step(epoch)}")
        return {
            name: drawn[name] * (_norm(value) / _norm(drawn[name]))
            for name, value in gradient.items()
        }

    def _step(self, epoch: int) -> str:
        """The name of this step: the epoch, and for a minibatch its number within it."""
        if not self._part:
            return f"{epoch}"
        if self._steps[0] != epoch:
            self._steps[:] = [epoch, 0]
        self._steps[1] += 1
        return f"{epoch}/{self._steps[1]}"

    def _draw(self, like: Mapping[str, Tensor], purpose: str) -> dict[str, Tensor]:
        """Gaussian numbers of these shapes, each run's from its own seed."""
        rows: dict[str, list[Tensor]] = {name: [] for name in like}
        for seed in self.seeds:
            stream = generator(seed, purpose)
            for name, value in like.items():
                rows[name].append(torch.randn(value.shape[1:], generator=stream))
        return {name: torch.stack(drawn).to(like[name]) for name, drawn in rows.items()}


def _norm(value: Tensor) -> Tensor:
    """The Frobenius norm of each run's part, shaped to be multiplied with it."""
    return torch.linalg.vector_norm(value, dim=tuple(range(1, value.dim())), keepdim=True)
