"""How many runs of a kind fit on a device at once."""

import os
from collections.abc import Sequence

import torch

from grokkit.engine.spec import RunSpec
from grokkit.errors import refuse
from grokkit.tasks import TaskData

SHARE = 0.8
"""The share of a GPU's free memory that is planned with."""


def check_memory(specs: Sequence[RunSpec], data: TaskData, device: torch.device) -> None:
    """Refuse a group that is sure not to fit, before its arrays are made.

    Args:
        specs: the runs of the group.
        data: the data of the first of them.
        device: where they are trained.

    Raises:
        SettingError: it needs more memory than the device has; the message names the setting
            that makes it so large, and says how much is needed and how much is there.
    """
    if device.type == "cuda":
        there = torch.cuda.get_device_properties(device).total_memory
    else:
        there = machine_memory()
    model = specs[0].model
    need, weights = (len(specs) * size for size in _bytes(specs[0], data))
    if there is None or need <= there:
        return
    settings = specs[0].settings()
    field = "d_model" if model.d_model >= model.d_mlp else "d_mlp"
    if weights < need / 2:
        field = next((name for name in ("p", "bits", "symbols") if name in settings), "task")
    allowed = f"what fits {there / 2**30:.1f} GiB; this needs about {need / 2**30:.1f} GiB"
    refuse(field, settings[field], allowed)


def machine_memory() -> int | None:
    """The memory of this machine in bytes, where the system says."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def bytes_per_run(spec: RunSpec) -> int:
    """About how much memory one more run of a group takes.

    Counted are the arrays with a row for every example: hidden layer, logits, their
    gradients and a temporary of each in training, the hidden layer and logits of the test
    sets in a record, the reads of attention with the value of each, which a record compares
    with the pooled one; and six copies of the parameters.

    Args:
        spec: one of the runs.
    """
    return _bytes(spec, spec.task.build(spec.seed))[0]


def _bytes(spec: RunSpec, data: TaskData) -> tuple[int, int]:
    """The memory of a run, and how much of it is for its parameters."""
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
    return size * (rows + 6 * parameters), size * 6 * parameters


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
