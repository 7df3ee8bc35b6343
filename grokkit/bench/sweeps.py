"""What many runs cost: on two cores against one, and a hundred against ten."""

import time
from dataclasses import dataclass

from grokkit.engine import RunSpec, grid
from grokkit.runtime import train


@dataclass(frozen=True)
class SweepCost:
    """Wall seconds of the same runs.

    Attributes:
        runs: how many runs.
        workers: in how many processes.
        seconds: what they took together, start-up included.
    """

    runs: int
    workers: int
    seconds: float

    @property
    def per_run(self) -> float:
        """Seconds a run."""
        return self.seconds / self.runs


def sweep_cost(spec: RunSpec, runs: int, workers: int) -> SweepCost:
    """Train some seeds of a spec, and time it.

    Args:
        spec: what is trained, with seeds 0, 1, ...
        runs: how many seeds.
        workers: in how many worker processes; 1: in this one.
    """
    specs = grid(spec, seed=range(runs))
    started = time.perf_counter()
    train(specs, workers=workers, progress=False)
    return SweepCost(runs, workers, time.perf_counter() - started)


def sweep_report(spec: RunSpec, workers: int = 2) -> str:
    """Ten runs on one core and on several, and a hundred runs against ten, as text.

    Args:
        spec: a run of a few seconds.
        workers: how many worker processes are compared with one.
    """
    one = sweep_cost(spec, 10, 1)
    some = sweep_cost(spec, 10, workers)
    short = spec.with_(epochs=max(1, spec.epochs // 10))
    ten = sweep_cost(short, 10, 1)
    hundred = sweep_cost(short, 100, 1)
    return "\n".join(
        [
            f"10 runs of {spec.epochs} epochs, wall seconds: "
            f"1 process {one.seconds:.1f}, {workers} processes {some.seconds:.1f}",
            f"{f'speed-up of {workers} processes':<62} {one.seconds / some.seconds:9.2f}x",
            f"{'seconds a run, 100 runs / 10 runs':<62} {hundred.per_run / ten.per_run:9.2f}x",
        ]
    )
