"""Epochs between two records as one CUDA graph.

At these sizes a GPU spends more time on being told what to do than on doing it. A graph is
told once and then replayed. What is captured must not look at a value, and no number that
changes from epoch to epoch may come from Python: the epoch is counted on the device.
"""

from collections.abc import Callable

import torch

WARM_UP = 3
"""Epochs that are trained as usual before one is captured, so that all memory is there."""


def capture(work: Callable[[], object], device: torch.device) -> Callable[[], object]:
    """Something that does ``work`` again each time it is called.

    On a GPU a CUDA graph of it; elsewhere ``work`` itself. Capturing does not run it.

    Args:
        work: queues operations on the device, and looks at none of their results.
        device: where it works.
    """
    if device.type != "cuda":
        return work
    torch.cuda.synchronize(device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay
