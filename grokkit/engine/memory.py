"""How much memory a run takes, and how many fit on a device at once."""

import os
from pathlib import Path

import torch

from grokkit.engine.spec import RunSpec
from grokkit.errors import refuse
from grokkit.tasks import TaskData

SHARE = 0.8
"""The share of a GPU's free memory that is planned with."""


def bytes_per_run(spec: RunSpec, data: TaskData | None = None) -> int:
    """About how much memory one more run of a group takes.

    Counted are the arrays with a row for every example: hidden layer, logits, their
    gradients and a temporary of each in training, the hidden layer and logits of the test
    sets in a record, the reads of attention with the value of each, which a record compares
    with the pooled one; and six copies of the parameters.
    """
    data = data or spec.task.build(spec.seed)
    model = spec.model
    width = 3 * model.d_mlp + 4 * data.n_classes
    # For each read: a score, its attention and gradients, and four 8-byte indices.
    reads = data.max_length * model.heads * (4 + 8)
    values = data.max_length * model.heads * model.d_model
    test = max(len(data.test), *(len(one) for one in data.extra.values()), 0)
    rows = len(data.train) * (width + reads + values)
    rows += test * (2 * model.d_mlp + 3 * data.n_classes + reads)
    matrices = model.d_model * (4 * model.d_model + data.n_tokens + data.max_length + model.d_mlp)
    parameters = matrices + model.d_mlp * max(data.n_classes, model.d_model)
    size = 8 if spec.precision == "float64" else 4
    return size * (rows + 6 * parameters)


def runs_that_fit(spec: RunSpec, device: torch.device) -> int:
    """How many runs like this one a group on the device may have, at least 1.

    Args:
        spec: one of the runs.
        device: a GPU; a CPU takes one run at a time, since batching gains nothing there.
    """
    if device.type != "cuda":
        return 1
    free, _ = torch.cuda.mem_get_info(device)
    return max(1, int(SHARE * free / bytes_per_run(spec)))


def check_memory(spec: RunSpec, data: TaskData, runs: int, device: torch.device) -> None:
    """Refuse a group that is larger than the memory of the machine or the GPU.

    Args:
        spec: one of the runs.
        data: its data.
        runs: how many they are.
        device: where they are to be trained.
    """
    there = total_memory(device)
    needed = runs * bytes_per_run(spec, data)
    if there is not None and needed > there:
        sizes = f"{len(data.train)} train and {len(data.test)} test examples"
        what = f"about {_gib(needed)} for {runs} x {sizes} of {data.n_classes} classes"
        allowed = f"at most {_gib(there)}, all there is; p, train_fraction, draws and d_mlp count"
        refuse("memory", what, allowed)


def total_memory(device: torch.device) -> int | None:
    """The bytes of the GPU, or those that this process may use; None where nobody says."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(there, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such limit
        return there


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
