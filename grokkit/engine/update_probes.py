"""How far a step moves each part of the model, beside the gradient that it was given.

AdamW divides a gradient by its own running size, so a starved gradient need not mean a
starved step. These records, made where ``RunSpec.updates`` is on, tell the two apart: for
attention (W_Q, W_K), and with the rest of the network as the control. What was measured: claim
``headlines/steps-go-on`` and lesson 04.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from grokkit.engine.optimizers import Optimizer
from grokkit.model import MLP_WEIGHTS, QK_WEIGHTS, Parameters, of_kinds

PARTS: Mapping[str, tuple[str, ...]] = {
    "attention": QK_WEIGHTS,
    "embedding": ("token_embedding", "position_embedding"),
    "value": ("W_V", "W_O"),
    "readout": (*MLP_WEIGHTS, "W_U"),
}
"""The parts of the model by name, and the kinds of parameters in each."""

MEANING: Mapping[str, str] = {
    f"{part}_{what}": f"Frobenius norm of {of} {', '.join(kinds)}"
    for part, kinds in PARTS.items()
    for what, of in {
        "pull": "the objective's gradient, before clipping, with respect to",
        "move": "the latest step without its decoupled decay, of",
        "size": "the parameters",
    }.items()
}
"""What each record is; ``attention_pull``, ``attention_move``, ``attention_size``, and so on."""


class UpdateProbes:
    """The further instruments of one group of runs."""

    def __init__(self, weights: Parameters, optimizer: Optimizer) -> None:
        self.weights = weights
        self.optimizer = optimizer
        self.columns = {
            part: weights.columns(of_kinds(weights, kinds)) for part, kinds in PARTS.items()
        }
        self.moved = torch.full((weights.runs, len(PARTS)), torch.nan, dtype=weights.flat.dtype).to(
            weights.flat.device
        )

    def before(self) -> None:
        """Note the weights before a step."""
        self._before = self.weights.flat.clone()

    def after(self) -> None:
        """Measure the step that was made since."""
        kept = self._before
        if self.optimizer.decoupled:
            decay = self.optimizer.setting["weight_decay"]
            kept = kept * (1 - self.optimizer.rate * decay).to(kept)
        self.moved.copy_(torch.stack(list(self._norms(self.weights.flat - kept)), dim=1))

    def __call__(self) -> dict[str, Tensor]:
        """One record of every run: name -> ``[run]``."""
        pulls, sizes = self._norms(self.weights.flat_grad), self._norms(self.weights.flat)
        record = {}
        for part, pull, move, size in zip(PARTS, pulls, self.moved.unbind(1), sizes, strict=True):
            record |= {f"{part}_pull": pull, f"{part}_move": move.clone(), f"{part}_size": size}
        return record

    def _norms(self, flat: Tensor) -> list[Tensor]:
        return [torch.linalg.vector_norm(flat[:, own], dim=1) for own in self.columns.values()]
