"""Measurements as a table for people and as CSV for machines."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grokkit.bench.contenders import CONTENDERS
from grokkit.bench.measure import Measurement

HEADLINES = (
    ("textbook / ours", "textbook", "ours"),
    ("careful / ours", "careful", "ours"),
    ("ours / floor", "ours", "floor"),
    ("autograd / hand-written step", "autograd", "step"),
)
"""The ratios that are reported: a title, the slow one, the fast one."""


def report(measured: Measurement, memory: float | None = None) -> str:
    """The measurement as a table, and its headline ratios with their spread."""
    spec, times = measured.spec, measured.milliseconds
    rounds = len(next(iter(times.values())))
    what = ", ".join(
        f"{name} {value}"
        for name, value in spec.settings().items()
        if name in ("task", "p", "train_fraction", "d_model", "d_mlp", "heads")
    )
    lines = [
        f"CPU ms an epoch, one thread, {rounds} rounds in turn: median (min .. max)",
        what,
        measured.machine,
        "",
    ]
    for name, values in times.items():
        label = CONTENDERS[name][0].format(every=spec.record_every)
        spread = f"({values.min():.2f} .. {values.max():.2f})"
        lines.append(f"{label:<62} {np.median(values):9.2f}  {spread}")
    lines.append("")
    for title, slow, fast in HEADLINES:
        ratio = measured.ratio(slow, fast)
        spread = f"({ratio.min():.2f} .. {ratio.max():.2f})"
        lines.append(f"{title:<62} {np.median(ratio):9.2f}x {spread}")
    share = measured.ratio("probes", "ours") / spec.record_every
    lines.append(f"{'share of a run spent on records':<62} {np.median(share):9.1%}")
    if memory is not None:
        lines.append(f"{'peak memory of a run, torch loaded':<62} {memory:9.0f} MB")
    return "\n".join(lines)


def write_csv(measured: Measurement, path: str | Path) -> Path:
    """Every round of every contender: contender, round, CPU milliseconds an epoch."""
    path = Path(path)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["contender", "round", "cpu_ms_per_epoch"])
        for name, values in measured.milliseconds.items():
            writer.writerows((name, turn, f"{value:.4f}") for turn, value in enumerate(values))
    return path


def write_markdown(parts: Sequence[str], command: str, path: str | Path) -> Path:
    """Reports as a page that says which command made it."""
    path = Path(path)
    blocks = "\n\n".join(f"```\n{part}\n```" for part in parts)
    path.write_text(
        "# Benchmarks\n\n"
        f"Written by `{command}`; not by hand. Ratios within one run are what counts: the\n"
        "milliseconds are those of one machine on one day. `make gpu` judges a GPU; there has\n"
        "been none to run it on yet.\n\n"
        f"{blocks}\n",
        encoding="utf-8",
    )
    return path
