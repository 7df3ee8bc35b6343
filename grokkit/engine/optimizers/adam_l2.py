"""Adam with L2: the decay goes through the running means, as if it were part of the loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from grokkit.engine.optimizers.adamw import AdamW, RunningAdamW
from grokkit.engine.optimizers.base import Optimizer, OptimizerSpec, register_optimizer
from grokkit.model import Parameters


@register_optimizer("adam")
@dataclass(frozen=True)
class Adam(AdamW):
    """Adam, with weight_decay * W added to the gradient: an L2 term weight_decay / 2 * |W|^2.

    Where the gradient starves, the decay alone is what Adam sees, and divides by its own
    size: every weight then falls by about eta a step, not by a share of itself. That is no
    contraction in the sense of Definition 3.2: its lambda is not known in advance. The
    weight_decay of AdamW is far too much here: at 1 the decay drowns the loss.

    The clip is of the gradient without the decay.
    """

    def start(self, group: Sequence[OptimizerSpec], weights: Parameters) -> Optimizer:
        """The running Adam of a group."""
        return _Adam(group, weights)


class _Adam(RunningAdamW):
    decoupled: ClassVar[bool] = False
