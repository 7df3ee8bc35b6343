"""``grokkit bench``."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from grokkit.cli.options import parse
from grokkit.errors import check_int


@dataclasses.dataclass(frozen=True)
class Bench:
    """Time grokkit against a textbook loop and against the least that must be computed.

    The contenders take turns in this process; what counts is the ratio within a turn.

    Attributes:
        p: the modulus of the modular addition that is trained.
        train_fraction: the fraction of pairs that is trained on.
        rounds: how many turns each contender gets.
        memory: measure the peak memory of a run too, in a process of its own.
        sweeps: time ten runs on one core and on two, and a hundred runs against ten.
        widgets: measure the pictures a second of a live training, and how long the kernel is
            kept waiting; needs the course extra.
        csv: write every turn of every contender to this file.
        markdown: write the report to this file, as BENCHMARKS.md is.
        device: cpu, or cuda for epochs a second on a GPU.
    """

    p: int = 113
    train_fraction: float = 0.3
    rounds: int = 7
    memory: bool = True
    sweeps: bool = False
    widgets: bool = False
    csv: Path | None = None
    markdown: Path | None = None
    device: str = "cpu"


def main(argv: Sequence[str]) -> int:
    """Measure, and print the table."""
    options = parse(Bench, argv, "grokkit bench")
    check_int("rounds", options.rounds, 1)

    from grokkit import bench
    from grokkit.cli.train import check_device
    from grokkit.engine import RunSpec

    check_device(options.device)
    spec = RunSpec().with_(p=options.p, train_fraction=options.train_fraction)
    if options.device != "cpu":
        print(bench.device_report(spec, options.device))
        return 0
    measured = bench.measure(spec, rounds=options.rounds)
    parts = [bench.report(measured, bench.peak_memory(spec) if options.memory else None)]
    if options.sweeps:
        parts.append(bench.sweep_report(spec.with_(p=43, train_fraction=0.5, epochs=6000)))
    if options.widgets:
        from grokkit.widgets import pace

        parts.append(pace.pace_report())
    print("\n\n".join(parts))
    if options.csv is not None:
        print(f"wrote {bench.write_csv(measured, options.csv)}")
    if options.markdown is not None:
        command = " ".join(["grokkit bench", *argv])
        print(f"wrote {bench.write_markdown(parts, command, options.markdown)}")
    return 0
