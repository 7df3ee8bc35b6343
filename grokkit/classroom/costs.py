"""What a lesson costs to run: seconds of one core, and the most memory its kernel held.

:func:`grokkit.classroom.notebooks.build` measures each lesson that it executes and keeps the
figures in ``costs.json`` beside the lessons; the course's index shows them. They are rounded
up, and kept as they were where a new measurement differs by no more than chance would have it,
so that building a lesson again changes nothing without a reason.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "costs.json"
"""Where a folder of lessons keeps their costs."""

STEPS = (10, 100)
"""What seconds and megabytes are rounded up to whole multiples of."""

_PLACE = re.compile(r"\{\{(time|memory) (\w+)\}\}")


@dataclass(frozen=True)
class Cost:
    """What a notebook costs.

    Attributes:
        seconds: CPU seconds of its kernel, in user and system mode, and of the kernel's
            children that have ended. Waiting is not counted, so a busy machine adds little.
        megabytes: the peak of the kernel's resident memory, in 10^6 bytes.
    """

    seconds: int | float
    megabytes: int | float

    def rounded(self, before: "Cost | None" = None) -> "Cost":
        """In whole :data:`STEPS`, upwards.

        Args:
            before: the rounded cost of an earlier run. Each of its figures stays where this
                cost is not above it, and not more than one and a half steps below.
        """
        figures = []
        for name, step in zip(("seconds", "megabytes"), STEPS, strict=True):
            value = getattr(self, name)
            old = -math.inf if before is None else getattr(before, name)
            stays = old - 1.5 * step <= value <= old
            figures.append(old if stays else max(1, math.ceil(value / step)) * step)
        return Cost(*figures)


def of_process(pid: int) -> Cost | None:
    """What a process has cost so far; None if it is gone, or the system is not Linux.

    The memory is the ``VmHWM`` of /proc. ``getrusage`` would not do: its peak outlives exec,
    so that a kernel would begin with the peak of whoever started it.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if peak is None:  # it has ended, and nobody has asked after it
        return None
    # The second field is the name in brackets, which may hold anything; 14 to 17 are the times.
    ticks = stat.rpartition(")")[2].split()[11:15]
    return Cost(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(peak[1]) * 1024 / 1e6)


def kept(folder: Path) -> dict[str, Cost]:
    """The costs of the lessons in a folder, by the names of their sources; empty if none."""
    path = folder / FILE
    if not path.exists():
        return {}
    return {name: Cost(**cost) for name, cost in json.loads(path.read_text("utf-8")).items()}


def keep(source: Path, cost: Cost) -> None:
    """Keep what a lesson was measured to cost; lessons that are no longer there are dropped."""
    folder = source.parent
    costs = {name: one for name, one in kept(folder).items() if (folder / f"{name}.py").exists()}
    costs[source.stem] = cost.rounded(costs.get(source.stem))
    lines = [f'"{name}": {json.dumps(asdict(costs[name]))}' for name in sorted(costs)]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (folder / FILE).write_text(text, encoding="utf-8", newline="\n")


def has_places(text: str) -> bool:
    """Whether :func:`fill` would change a text."""
    return _PLACE.search(text) is not None


def fill(text: str, costs: Mapping[str, Cost]) -> str:
    """Put costs into their places in a text.

    ``{{time 01}}`` and ``{{memory 01}}`` are those of the lesson that begins with 01;
    ``{{time all}}`` is the sum over all lessons and ``{{memory all}}`` the most of any.
    """

    def figure(place: re.Match[str]) -> str:
        what, which = place.groups()
        found = [cost for name, cost in costs.items() if which in (name[:2], "all")]
        if not found:
            return "not measured"
        if what == "memory":
            return f"{max(cost.megabytes for cost in found):.0f} MB"
        seconds = sum(cost.seconds for cost in found)
        return f"{seconds:.0f} s" if which != "all" else f"{math.ceil(seconds / 60)} minutes"

    return _PLACE.sub(figure, text)
