"""What one training step hands on, whichever way it was computed."""

from dataclasses import dataclass, fields, replace
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.model.attention import Attention, Scores


@dataclass(frozen=True, eq=False)
class StepOutput:
    """The train set as the model saw it in one step.

    Attributes:
        loss: the cross-entropy of every example, nats, without any prior.
        logits: the class scores.
        attention: alpha.
        score_gradient: dCE/dl of every example's own cross-entropy, the quantity of
            Lemma 5.1, without any prior; None where it was not asked for.
        log_attention: log alpha; None where it was not asked for.
    """

    loss: Float[Tensor, "run example"]
    logits: Float[Tensor, "run example class"]
    attention: Attention
    score_gradient: Scores | None
    log_attention: Attention | None

    def take(self, rows: Int[Tensor, "run row"]) -> "StepOutput":
        """Some examples of each run, each run's own."""
        run = torch.arange(len(rows), device=rows.device).unsqueeze(1)
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        taken = {name: x[run, rows] for name, x in parts.items() if x is not None}
        return replace(self, **taken)


@runtime_checkable
class Step(Protocol):
    """Computes the objective's gradient into the weights' ``flat_grad``."""

    def __call__(self, epoch: int, record: bool = False) -> StepOutput:
        """Run one step.

        Args:
            epoch: the number of whole epochs that came before, for schedules.
            record: whether the score gradient and log alpha are kept too.
        """
        ...

    def take(self, rows: Int[Tensor, "run row"]) -> "Step":
        """The same step on some examples of each run, such as a minibatch.

        Args:
            rows: which examples, each run's own.
        """
        ...
