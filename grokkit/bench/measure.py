"""Contenders timed in turn, the memory of one run, and what many runs cost together."""

import platform
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch

from grokkit.bench.contenders import CONTENDERS
from grokkit.engine import RunSpec, grid
from grokkit.engine.precision import one_thread
from grokkit.runtime import train


@dataclass(frozen=True)
class Measurement:
    """CPU milliseconds an epoch of every contender, round by round.

    Attributes:
        spec: what was run.
        milliseconds: contender -> one number for each round.
        machine: the processor, and the versions.
    """

    spec: RunSpec
    milliseconds: dict[str, np.ndarray]
    machine: str

    def ratio(self, slow: str, fast: str) -> np.ndarray:
        """How many times as long ``slow`` took as ``fast``, in each round."""
        return self.milliseconds[slow] / self.milliseconds[fast]


def measure(spec: RunSpec, rounds: int = 7) -> Measurement:
    """Time contenders in turn, A B C A B C ..., in one thread.

    CPU time, not wall time: what other programs do disturbs it less. Each contender runs
    one uncounted warm-up turn.

    Args:
        spec: the run that all of them do.
        rounds: how many turns each of them gets; a turn is one stretch between two records, so
            that every turn has its record.
    """
    epochs = spec.record_every
    with one_thread(torch.device("cpu")):
        work = {name: make(spec) for name, (_, make) in CONTENDERS.items()}
        times: dict[str, list[float]] = {name: [] for name in work}
        for turn in range(rounds + 1):
            for name, train_for in work.items():
                started = time.process_time()
                train_for(epochs)
                spent = (time.process_time() - started) / epochs * 1000
                if turn:
                    times[name].append(spent)
    return Measurement(spec, {name: np.array(values) for name, values in times.items()}, machine())


def machine() -> str:
    """The processor and the versions, in one line."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            found = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
        processor = found[0].strip() if found else processor
    except OSError:
        pass
    return f"{processor}, torch {torch.__version__}, Python {platform.python_version()}"


_CHILD = """
import resource, sys
from grokkit.engine import RunSpec, Trainer
Trainer([RunSpec.from_json(sys.argv[1])]).advance(int(sys.argv[2]))
try:
    # getrusage would count what the parent had in use when it started this process.
    status = open("/proc/self/status", encoding="ascii").read().split()
    print(int(status[status.index("VmHWM:") + 1]) * 1024)
except OSError:
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


def peak_memory(spec: RunSpec, epochs: int = 50) -> float:
    """The peak resident memory in MB of a fresh process that trains this run for a while.

    Needs Linux or macOS.
    """
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, spec.to_json(), str(epochs)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) / 1e6


def sweep_seconds(spec: RunSpec, runs: int, workers: int) -> float:
    """Wall seconds of some seeds of a spec together, start-up included.

    Args:
        spec: what is trained, with seeds 0, 1, ...
        runs: how many seeds.
        workers: in how many worker processes; 1: in this one.
    """
    specs = grid(spec, seed=range(runs))
    started = time.perf_counter()
    train(specs, workers=workers, progress=False)
    return time.perf_counter() - started


def sweep_report(spec: RunSpec, workers: int = 2) -> str:
    """Ten runs on one core and on several, and a hundred runs against ten, as text."""
    one, some = (sweep_seconds(spec, 10, count) for count in (1, workers))
    short = spec.with_(epochs=max(1, spec.epochs // 10))
    ten, hundred = (sweep_seconds(short, runs, 1) / runs for runs in (10, 100))
    return "\n".join(
        [
            f"10 runs of {spec.epochs} epochs, wall seconds: "
            f"1 process {one:.1f}, {workers} processes {some:.1f}",
            f"{f'speed-up of {workers} processes':<62} {one / some:9.2f}x",
            f"{'seconds a run, 100 runs / 10 runs':<62} {hundred / ten:9.2f}x",
        ]
    )
