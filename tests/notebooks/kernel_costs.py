"""A pytest plugin: what each notebook that nbval runs costs, as a table at the end.

A cell that takes its kernel above the memory that a lesson may have fails. Time is only
reported, loudly where it is too long: a busy machine must not fail a test. Where the system
does not tell what a process costs, nothing is printed.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell, NbCellError

LESSON_SECONDS, LESSON_MEGABYTES, COURSE_SECONDS = 60, 1200, 8 * 60
"""What one lesson, and the whole course without its electives, may cost."""

ELECTIVES = ("14_random_targets",)
"""Lessons that the others do not build on."""

EVIDENCE_SECONDS, ALL_EVIDENCE_SECONDS = 2 * LESSON_SECONDS, 12 * 60
"""The same of the notebooks of evidence, which only those run who doubt."""

COST, TABLE = "cost of the kernel", pytest.StashKey["Table"]()


class Table:
    """The costs of notebooks, gathered from the reports of their cells."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.costs: dict[str, tuple[float, float]] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Take in the report of a cell; of a test that is none there is nothing to take."""
        name = report.nodeid.partition("::")[0]
        if not name.endswith(".ipynb"):
            return
        self.wall[name] = self.wall.get(name, 0.0) + report.duration
        for key, value in report.user_properties:
            if key == COST:  # both only grow while a kernel lives
                seconds, megabytes = value  # type: ignore[misc]
                before = self.costs.get(name, (0.0, 0.0))
                self.costs[name] = (max(before[0], seconds), max(before[1], megabytes))

    def lines(self) -> list[str]:
        """A line for each notebook, and one for each folder that holds several."""
        if not self.costs:
            return []
        width = max(map(len, self.costs)) + 4
        head = f"{'notebook':<{width}}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}"
        folders: dict[str, list[str]] = {}
        for name in sorted(self.costs):
            folders.setdefault(name.rpartition("/")[0], []).append(name)
        lines = [head]
        for folder, names in folders.items():
            lines += [self._line(name, [name], width) for name in names]
            if len(names) > 1:
                lines.append(self._line(f"all of {folder}", names, width))
        return lines

    def _line(self, title: str, names: list[str], width: int) -> str:
        wall = sum(self.wall[name] for name in names)
        seconds = sum(self.costs[name][0] for name in names)
        megabytes = max(self.costs[name][1] for name in names)
        return f"{title:<{width}}{wall:>8.1f}{seconds:>8.1f}{megabytes:>9.0f}"

    def too_long(self) -> list[str]:
        """A line for each notebook, and for the course, that takes longer than it may."""
        from grokkit.classroom.notebooks import EVIDENCE

        lines = []
        for name, (seconds, _) in sorted(self.costs.items()):
            limit = EVIDENCE_SECONDS if EVIDENCE in Path(name).parts else LESSON_SECONDS
            if seconds > limit:
                lines.append(f"{name} is over its {limit} s: {seconds:.0f} s of CPU time")
        course = sum(
            cost[0]
            for name, cost in self.costs.items()
            if Path(name).parent == Path("course") and Path(name).stem not in ELECTIVES
        )
        if course > COURSE_SECONDS:
            lines.append(f"the course is over its {COURSE_SECONDS} s: {course:.0f} s of CPU time")
        return lines


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TABLE] = Table()
    config.pluginmanager.register(_Gatherer(config.stash[TABLE]))


class _Gatherer:
    """Hears the reports of this process, and of its workers where it has any."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.table.add(report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    if not isinstance(item, IPyNbCell):
        return (yield)
    # Not at the top: pytest first has to put jaxtyping's hook before the imports of grokkit.
    from grokkit.classroom import costs

    notebook = item.parent
    manager = getattr(notebook.kernel, "km", None)
    pid = getattr(getattr(manager, "provisioner", None), "pid", None)
    before = costs.of_process(pid) if pid else None
    try:
        result = yield
    finally:
        after = costs.of_process(pid) if pid else None
        if after is not None:
            item.user_properties.append((COST, [after.seconds, after.megabytes]))
    if after is not None and before is not None:
        limit = LESSON_MEGABYTES
        if before.megabytes <= limit < after.megabytes:  # the cells after it are not to blame
            message = f"took the kernel to {after.megabytes:.0f} MB; allowed: {limit} MB"
            raise NbCellError(item.cell_num, message, item.cell.source)
    return result


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    table = config.stash[TABLE]
    if not (lines := table.lines()):
        return
    terminalreporter.section("what the notebooks cost")
    for line in lines:
        terminalreporter.line(line)
    for line in table.too_long():
        terminalreporter.line(line, red=True, bold=True)
