"""How many runs of a kind fit on a device at once."""

import torch

from grokkit.engine.spec import RunSpec

SHARE = 0.8
"""The share of a GPU's free memory that is planned with."""


def bytes_per_run(spec: RunSpec) -> int:
    """About how much memory one more run of a group takes.

    Counted are the arrays with a row for every example: hidden layer, logits, their
    gradients and a temporary of each in training, the hidden layer and logits of the test
    sets in a record, the reads of attention with the value of each, which a record compares
    with the pooled one; and six copies of the parameters.

    Args:
        spec: one of the runs.
    """
    data = spec.task.build(spec.seed)
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
