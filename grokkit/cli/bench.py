"""``grokkit bench``."""

from pathlib import Path

from grokkit.cli.options import check_writable
from grokkit.errors import check_int


def bench(
    *,
    p: int = 113,
    train_fraction: float = 0.3,
    rounds: int = 7,
    memory: bool = True,
    sweeps: bool = False,
    widgets: bool = False,
    csv: Path | None = None,
    markdown: Path | None = None,
    device: str = "cpu",
) -> int:
    """Time grokkit against a textbook loop and against the least that must be computed.

    The contenders take turns in this process; what counts is the ratio within a turn.

    Args:
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
    check_int("rounds", rounds, 1)
    check_writable("csv", csv)
    check_writable("markdown", markdown)
    from grokkit import bench
    from grokkit.engine import RunSpec
    from grokkit.runtime.run import check_device

    check_device(device)
    spec = RunSpec().with_(p=p, train_fraction=train_fraction)
    if device != "cpu":
        print(bench.device_report(spec, device))
        return 0
    measured = bench.measure(spec, rounds=rounds)
    parts = [bench.report(measured, bench.peak_memory(spec) if memory else None)]
    if sweeps:
        parts.append(bench.sweep_report(spec.with_(p=43, train_fraction=0.5, epochs=6000)))
    if widgets:
        from grokkit.widgets import pace

        parts.append(pace.pace_report())
    print("\n\n".join(parts))
    if csv is not None:
        print(f"wrote {bench.write_csv(measured, csv)}")
    if markdown is not None:
        flags = {"--no-memory": not memory, "--sweeps": sweeps, "--widgets": widgets}
        command = " ".join(
            [f"grokkit bench --p {p} --train-fraction {train_fraction} --rounds {rounds}"]
            + [flag for flag, given in flags.items() if given]
            + [f"--markdown {markdown.name}"]
        )
        print(f"wrote {bench.write_markdown(parts, command, markdown)}")
    return 0
