"""Judge a card in one command: ``python -m grokkit.bench.gpu --out DIR``, or ``make gpu``.

Parts run one after the other, each writes NAME.txt and NAME.json into the folder as soon as it
has ended, and none begins once the time is up: what a stop leaves is whole.
``--device cpu --quick`` runs every part on small numbers.
"""

import argparse
import dataclasses
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grokkit.bench.devices import group_table, group_times, per_call
from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.engine import RunSpec, Trainer, grid, presets
from grokkit.engine.files import write_whole
from grokkit.engine.optimizers import optimizers
from grokkit.engine.priors import priors
from grokkit.errors import SettingError
from grokkit.runtime.history import to_history

CLOSE = 1e-9
"""The largest difference of float64 weights, of the largest weight, after 50 steps."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What every part is told.

    Attributes:
        device: the card that is judged.
        quick: whether small numbers are enough.
        until: when to stop, by ``time.monotonic``.
    """

    device: torch.device
    quick: bool
    until: float

    @property
    def spec(self) -> RunSpec:
        """The run of the equality parts: the live preset, or a tiny one."""
        live = presets["live"].with_(stop_after=0)
        small = {"p": 11, "d_model": 16, "d_mlp": 32, "epochs": 100, "record_every": 5}
        return live.with_(**small) if self.quick else live

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()


Found = tuple[str, Any]
"""What a part found: text, and plain values."""


def environment(task: Task) -> Found:
    """The machine and the versions."""
    cuda = task.device.type == "cuda"
    found: dict[str, Any] = {
        "device": torch.cuda.get_device_name(task.device) if cuda else platform.processor(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cuda": torch.version.cuda,
    }
    if cuda:
        one = torch.cuda.get_device_properties(task.device)
        found |= {"GiB": one.total_memory / 2**30, "capability": f"{one.major}.{one.minor}"}
    return told(found), found


def equality(task: Task) -> Found:
    """Whether float64 weights equal the CPU's after 50 steps, for each optimizer and prior."""
    steps = 10 if task.quick else 50
    base = task.spec.with_(precision="float64", kl_strength=0.5, epochs=10**6)
    own = {"entropy": "entropy_strength", "sparsity": "sparsity_strength"}
    cases = {kind: base.with_(optimizer=optimizers[kind]()) for kind in optimizers}
    cases |= {
        kind: base.with_(prior=priors[kind](), **{own.get(kind, "kl_strength"): 0.5})
        for kind in priors
        if kind != "teacher"  # needs a file of a teacher
    }
    cases |= {
        "minibatches": base.with_(batch_size=20),
        "relu attention": base.with_(attention="relu", kl_strength=0.0),
        "residual readout": base.with_(readout="residual"),
    }
    apart = {
        name: _apart(grid(spec, seed=range(2)), task.device, steps) for name, spec in cases.items()
    }
    words = {True: "equal", False: "NOT EQUAL"}
    lines = [f"{name:18} {value:.1e}  {words[value <= CLOSE]}" for name, value in apart.items()]
    head = f"float64 weights after {steps} steps: largest difference from the CPU (<= {CLOSE:g})"
    return "\n".join([head, *lines]), {"apart": apart, "equal": max(apart.values()) <= CLOSE}


def epochs(task: Task) -> Found:
    """The epochs of memorising and grokking, float32, against the CPU's."""
    specs = grid(task.spec, seed=range(2 if task.quick else 10))
    there, here = Trainer(specs, task.device), [Trainer([spec]) for spec in specs]
    there.advance()
    for trainer in here:
        trainer.advance()
    rows = [_reached(there, run) + _reached(one, 0) for run, one in enumerate(here)]
    lines = [f"{run:4d}  " + "  ".join(f"{e!s:>9}" for e in row) for run, row in enumerate(rows)]
    head = "seed  memorised    grokked  on the CPU    grokked"
    same = sum(row[:2] == row[2:] for row in rows)
    lines.append(f"equal: {same} of {len(rows)} seeds, at a record every {task.spec.record_every}")
    return "\n".join([head, *lines]), rows


def precisions(task: Task) -> Found:
    """What TF32 and bfloat16 cost in exactness: losses against float64 on the same device."""
    steps = 10 if task.quick else 50
    found: dict[str, Any] = {}
    losses: dict[str, Tensor] = {}
    for precision in ("float64", "float32", "tf32", "bf16"):
        spec = task.spec.with_(precision=precision, epochs=10**6, record_every=1)
        try:
            trainer = Trainer([spec], task.device)
            trainer.advance(steps)
        except SettingError as refused:
            found[precision] = str(refused)
            continue
        losses[precision] = torch.stack(trainer.records.values["train_loss"]).double().cpu()
        off = (losses[precision] / losses["float64"] - 1).abs().max().item()
        seconds = per_call(lambda: trainer.advance(1), task.device, 0.2)  # noqa: B023
        found[precision] = {"largest relative error of the loss": off, "ms a step": seconds * 1e3}
    return told(found), found


def capture(task: Task) -> Found:
    """Epochs a second, with and without a captured CUDA graph."""
    found = {}
    for size in (1, 4) if task.quick else (1, 10, 100):
        for on in (True, False):
            spec = task.spec.with_(epochs=10**9, record_every=1000, stop_after=None)
            trainer = Trainer(grid(spec, seed=range(size)), task.device)
            trainer._replay.possible = on and trainer._replay.possible
            trainer.advance(5)
            work = lambda: trainer.advance(10)  # noqa: B023, E731
            found[f"{size} runs, {'captured' if on else 'not captured'}"] = 10 / per_call(
                work, task.device, 0.1 if task.quick else 1.0
            )
    return told(found), found


def groups(task: Task) -> Found:
    """Groups of 1 to 256 runs at p 113 against the two floors."""
    sizes = (1, 2) if task.quick else (1, 4, 16, 64, 256)
    spec = task.spec if task.quick else RunSpec()
    rows = []
    for size in sizes:
        try:
            rows += group_times(spec, str(task.device), [size], 0.05 if task.quick else 2.0)
        except torch.OutOfMemoryError:
            break
    return group_table(rows), rows


def profile(task: Task) -> Found:
    """Which operations of 20 epochs of ten runs take the time."""
    from torch.profiler import ProfilerActivity, profile

    trainer = Trainer(grid(task.spec.with_(epochs=10**9), seed=range(10)), task.device)
    trainer._replay.possible = False  # a captured graph hides its operations
    trainer.advance(5)
    cuda = task.device.type == "cuda"
    kinds = [ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * cuda]
    with profile(activities=kinds) as seen:
        trainer.advance(20)
    order = "self_cuda_time_total" if cuda else "self_cpu_time_total"
    table = seen.key_averages().table(sort_by=order, row_limit=20, max_name_column_width=40)
    return table, {"sorted by": order}


PARTS: Mapping[str, Callable[[Task], Found]] = {
    "1-environment": environment,
    "2-equality": equality,
    "3-epochs": epochs,
    "4-precisions": precisions,
    "5-capture": capture,
    "6-groups": groups,
    "7-profile": profile,
}
"""The parts in their order."""


def main(argv: list[str] | None = None) -> int:
    """Run the parts; 1 if one of them failed or the device does not equal the CPU."""
    parser = argparse.ArgumentParser(prog="python -m grokkit.bench.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder for what is found")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, ... or cpu")
    parser.add_argument("--quick", action="store_true", help="small numbers: is it alive?")
    parser.add_argument("--minutes", type=float, default=8.0, help="begin no part after this")
    given = parser.parse_args(argv)
    device = torch.device(given.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print(f"device: got {given.device!r}; allowed: cpu, for there is no card", file=sys.stderr)
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    task = Task(device, given.quick, time.monotonic() + 60 * given.minutes)
    good = True
    for name, part in PARTS.items():
        if task.left < 0:
            print(f"{name}: the time is up")
            continue
        started = time.monotonic()
        try:
            text, data = part(task)
        except Exception:  # the other parts may still say something
            text, data, good = traceback.format_exc(), {"failed": True}, False
        seconds = time.monotonic() - started
        about = (part.__doc__ or name).strip()
        print(f"== {name} ({seconds:.1f} s): {about}\n{text}\n", flush=True)
        write_whole(given.out / f"{name}.txt", f"{about}\n\n{text}\n".encode())
        plain = {"part": name, "seconds": seconds, "found": data}
        write_whole(given.out / f"{name}.json", json.dumps(plain, indent=1, default=str).encode())
        good = good and not (name == "2-equality" and not data.get("equal"))
    return int(not good)


def told(found: Mapping[str, Any]) -> str:
    """Values by name, a line each."""
    return "\n".join(
        f"{name}: {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in found.items()
    )


def _apart(specs: list[RunSpec], device: torch.device, steps: int) -> float:
    """The largest difference of the weights from the CPU's, of the largest weight."""
    there, here = Trainer(specs, device), Trainer(specs)
    for trainer in (there, here):
        trainer.advance(steps)
    ours, theirs = there.weights.flat.detach().cpu(), here.weights.flat.detach()
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


def _reached(trainer: Trainer, run: int) -> tuple[int | None, ...]:
    """The epochs at which a run's train and test accuracy first reached 0.99."""
    history = to_history(trainer).isel(run=run)
    return tuple(
        None if (epoch := of(history)).isnull() else int(epoch)
        for of in (memorise_epoch, grok_epoch)
    )


if __name__ == "__main__":
    sys.exit(main())
