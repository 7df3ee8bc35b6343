"""Epochs between two records as one CUDA graph.

At these sizes a GPU spends more time on being told what to do than on doing it. A graph is
told once and then replayed. What is captured must not look at a value, and no number that
changes from epoch to epoch may come from Python: the epoch is counted on the device.
"""

from collections.abc import Callable

import torch

CAPTURED = {"cuda"}
"""The kinds of device on which epochs are captured."""

WARM_UP = 3
"""Epochs that are trained as usual before one is captured, so that all memory is there."""


class Replay:
    """An epoch that is captured once and then replayed."""

    def __init__(self, device: torch.device, steady: bool) -> None:
        self.device = device
        self.possible = steady and device.type in CAPTURED
        self.warm = 0
        self.replay: Callable[[], object] | None = None

    def __call__(self, epoch: Callable[[], object]) -> bool:
        """Replay an epoch and say so; or say that it has to be trained as usual.

        Args:
            epoch: one epoch's work; it queues operations and looks at none of their results.
                Not kept: a trainer that its own replay held on to would stay on the device
                until Python next looks for cycles.
        """
        if not self.possible or self.warm < WARM_UP:
            self.warm += 1
            return False
        if self.replay is None:
            self.replay = capture(epoch, self.device)
        self.replay()
        return True


def capture(work: Callable[[], object], device: torch.device) -> Callable[[], object]:
    """A CUDA graph of ``work``, to be called. Capturing does not run it."""
    # A stream of this very device: by itself torch captures on the current one.
    with torch.cuda.device(device):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
            work()
    return graph.replay
