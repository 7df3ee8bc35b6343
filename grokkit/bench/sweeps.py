"""What many runs cost: on two cores against one, and a hundred against ten."""

import time

from grokkit.engine import RunSpec, grid
from grokkit.runtime import train


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
