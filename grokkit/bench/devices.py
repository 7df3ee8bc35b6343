"""Epochs a second on a device, for groups of runs of growing size, against two floors.

The arithmetic floor is the time of the three hidden-to-class products of all runs; the
bandwidth floor is the time to read and write, once each, the arrays that a step keeps.
Both are measured on the same device in the same minute.
"""

import platform
import time
from collections.abc import Callable, Mapping, Sequence

import torch

from grokkit.engine import RunSpec, Trainer, grid


def device_report(
    spec: RunSpec, device: str, sizes: Sequence[int] = (1, 4, 16, 64), seconds: float = 2.0
) -> str:
    """Epochs a second of groups of runs, as a table.

    Args:
        spec: what is trained, with seeds 0, 1, ...
        device: where.
        sizes: how many runs a group has.
        seconds: about how long each size is timed.
    """
    where = torch.device(device)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else platform.processor()
    head = f"{where.type} ({name}), torch {torch.__version__}, {spec.precision}"
    return f"{head}\n{group_table(group_times(spec, device, sizes, seconds))}"


def group_times(
    spec: RunSpec, device: str, sizes: Sequence[int], seconds: float
) -> list[dict[str, float | int]]:
    """What :func:`device_report` says, as a row of numbers for each size."""
    where, rows = torch.device(device), []
    for size in sizes:
        trainer = Trainer(grid(spec.with_(epochs=10**9, stop_after=None), seed=range(size)), where)
        trainer.advance(spec.record_every)
        spent = per_call(lambda: trainer.advance(spec.record_every), where, seconds)  # noqa: B023
        epoch = spent / spec.record_every
        products, copies = floors(trainer, where, seconds / 4)
        rows.append(
            {
                "runs": size,
                "epochs/s": 1 / epoch,
                "run-epochs/s": size / epoch,
                "ms/epoch": epoch * 1e3,
                "x arithmetic floor": epoch / products,
                "x bandwidth floor": epoch / copies,
            }
        )
    return rows


def group_table(rows: Sequence[Mapping[str, float | int]]) -> str:
    """Rows of numbers as a table."""
    lines = ["  ".join(rows[0])] if rows else []
    lines += ["  ".join(f"{value:{len(n)}.4g}" for n, value in row.items()) for row in rows]
    return "\n".join(lines)


def floors(trainer: Trainer, device: torch.device, seconds: float) -> tuple[float, float]:
    """Seconds of a step's products alone, and of touching its arrays once, on a device."""
    spec = trainer.specs[0].model
    runs, examples = trainer.train.targets.shape
    classes = trainer.weights.layout.shapes["W_2"][-1]
    new = {"device": device, "dtype": trainer.weights.flat.dtype}
    hidden = torch.rand(runs, examples, spec.d_mlp, **new)
    matrix = torch.rand(runs, spec.d_mlp, classes, **new)
    gradient = torch.rand(runs, examples, classes, **new)
    other = torch.empty_like(hidden)

    def products() -> None:
        torch.bmm(hidden, matrix)
        torch.bmm(hidden.transpose(1, 2), gradient)
        torch.bmm(gradient, matrix.transpose(1, 2))

    def copies() -> None:
        # hidden, logits, and the gradients of both: each written once and read once.
        other.copy_(hidden)
        other.copy_(hidden)
        gradient.clone()
        gradient.clone()

    return per_call(products, device, seconds), per_call(copies, device, seconds)


def per_call(work: Callable[[], object], device: torch.device, seconds: float) -> float:
    """Wall seconds a call, over about so many seconds, waiting for the device at the end."""

    def run(times: int) -> float:
        _wait(device)
        started = time.perf_counter()
        for _ in range(times):
            work()
        _wait(device)
        return time.perf_counter() - started

    run(1)
    once = max(run(1), 1e-7)
    times = max(1, int(seconds / once))
    return run(times) / times


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
