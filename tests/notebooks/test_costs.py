"""What lessons cost is measured, kept, shown, and bounded."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom import costs, notebooks
from grokkit.classroom.costs import Cost
from tests.notebooks import kernel_costs

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "course"

linux = pytest.mark.skipif(sys.platform != "linux", reason="costs are read from /proc")

# --- measured -----------------------------------------------------------------------------

BURN = """\
import time
held = bytearray(80_000_000)
held[::1000] = b"x" * 80_000  # touched, so that it is resident
del held
while time.process_time() < 0.5:
    pass
print("ready", flush=True)
input()
"""


@linux
def test_a_process_is_charged_its_time_and_its_peak_but_not_that_of_its_parent():
    large = bytearray(os.urandom(1000)) * 400_000  # ours: at least 400 MB
    with subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout and child.stdout.readline() == "ready\n"
        cost = costs.of_process(child.pid)
        child.communicate("\n")
    assert len(large) == 400_000_000
    assert cost is not None
    assert 0.4 < cost.seconds < 5
    assert 80 < cost.megabytes < 200
    assert costs.of_process(child.pid) is None


@linux
def test_a_process_that_has_ended_unnoticed_costs_nothing_that_could_be_told():
    child = subprocess.Popen([sys.executable, "-c", ""])
    while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert costs.of_process(child.pid) is None
    child.wait()


# --- rounded and kept ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "before", "kept"),
    [
        (Cost(11.2, 401), None, Cost(20, 500)),
        (Cost(20, 500), None, Cost(20, 500)),
        (Cost(0, 0), None, Cost(10, 100)),
        (Cost(9.9, 399), Cost(20, 500), Cost(20, 500)),  # by chance it was a little less
        (Cost(5.1, 351), Cost(20, 500), Cost(20, 500)),
        (Cost(4.9, 349), Cost(20, 500), Cost(10, 400)),  # it has become cheaper
        (Cost(20.1, 501), Cost(20, 500), Cost(30, 600)),  # never more than it says
    ],
)
def test_costs_are_rounded_up_and_stay_where_the_difference_is_small(measured, before, kept):
    assert measured.rounded(before) == kept
    assert measured.rounded(kept) == kept


def test_costs_are_kept_by_lesson_and_dropped_with_it(tmp_path: Path):
    assert costs.kept(tmp_path) == {}
    for name in ("02_b", "01_a"):
        (tmp_path / f"{name}.py").write_text("")
        costs.keep(tmp_path / f"{name}.py", Cost(12, 340))
    assert costs.kept(tmp_path) == {"01_a": Cost(20, 400), "02_b": Cost(20, 400)}
    assert (tmp_path / "costs.json").read_text() == (
        '{\n"01_a": {"seconds": 20, "megabytes": 400},\n'
        '"02_b": {"seconds": 20, "megabytes": 400}\n}\n'
    )
    (tmp_path / "01_a.py").unlink()
    costs.keep(tmp_path / "02_b.py", Cost(12, 340))
    assert list(costs.kept(tmp_path)) == ["02_b"]


# --- shown --------------------------------------------------------------------------------


def test_places_in_a_text_are_filled():
    known = {"01_a": Cost(20, 400), "02_b": Cost(50, 300)}
    text = "{{time 01}} {{memory 02}}, all: {{time all}}, {{memory all}}; {{time 03}} {{other}}"
    assert costs.fill(text, known) == "20 s 300 MB, all: 2 minutes, 400 MB; not measured {{other}}"


INDEX = "# %% [markdown]\n# | 01 | {{time 01}} | {{memory 01}} |\n\n# %%\nprint('kept')\n"


@pytest.mark.slow
@linux
def test_a_build_measures_a_lesson_and_the_index_shows_it(tmp_path: Path):
    (tmp_path / "00_index.py").write_text(INDEX)
    (tmp_path / "01_lesson.py").write_text("# %%\n1 + 1\n")
    index, lesson = tmp_path / "00_index.ipynb", tmp_path / "01_lesson.ipynb"

    notebooks.build(tmp_path, ["00"])
    assert "not measured" in index.read_text()
    assert notebooks.build(tmp_path, ["01"]) == [lesson, index]
    (cost,) = [cost for name, cost in costs.kept(tmp_path).items() if name == "01_lesson"]
    assert 10 <= cost.seconds <= 30 and 100 <= cost.megabytes <= 300
    cells = nbformat.read(index, as_version=4).cells
    assert cells[0].source == f"| 01 | {cost.seconds} s | {cost.megabytes} MB |"
    assert cells[1].outputs[0].text == "kept\n"
    assert notebooks.check(tmp_path) == []

    assert notebooks.build(tmp_path, ["01"]) == [lesson]  # nothing new to show
    (tmp_path / "costs.json").write_text('{"01_lesson": {"seconds": 50, "megabytes": 100}}')
    (line,) = notebooks.check(tmp_path)
    assert line.startswith("00_index.ipynb: cell 1 line 1 is `| 01 | ")


# --- bounded ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "each", "together"),
    [
        (COURSE, kernel_costs.LESSON_SECONDS, kernel_costs.COURSE_SECONDS),
        (
            COURSE / notebooks.EVIDENCE,
            kernel_costs.EVIDENCE_SECONDS,
            kernel_costs.ALL_EVIDENCE_SECONDS,
        ),
    ],
    ids=["course", "evidence"],
)
def test_every_notebook_has_its_cost_within_what_it_may_and_all_together_too(
    folder: Path, each: int, together: int
):
    known = costs.kept(folder)
    for name, cost in known.items():
        print(f"{name:<40}{cost.seconds:>6} s{cost.megabytes:>6} MB")
    assert set(known) == {path.stem for path in notebooks.sources(folder) if path.parent == folder}
    for name, cost in known.items():
        assert cost.seconds <= each, f"{name} takes too long"
        assert cost.megabytes <= kernel_costs.LESSON_MEGABYTES, f"{name} needs too much memory"
    counted = [cost.seconds for name, cost in known.items() if name not in kernel_costs.ELECTIVES]
    assert sum(counted) <= together


def test_the_index_shows_the_cost_of_every_lesson():
    text = (COURSE / "00_index.py").read_text()
    for path in sorted(COURSE.glob("[0-9]*.py"))[1:]:
        assert f"| {{{{time {path.stem[:2]}}}}} | {{{{memory {path.stem[:2]}}}}} |" in text


def report(cell: str, duration: float, *cost: float) -> pytest.TestReport:
    """A cell's, as a worker of xdist sends it."""
    properties = [(kernel_costs.COST, list(cost))] if cost else []
    made = pytest.TestReport(
        cell, ("", 0, ""), {}, "passed", None, "call", [], duration, user_properties=properties
    )
    return pytest.TestReport._from_json(json.loads(json.dumps(made._to_json())))


def test_the_table_sums_up_each_notebook_and_folder_and_says_what_takes_too_long():
    table = kernel_costs.Table()
    for cell in (
        report("course/01_a.ipynb::Cell 0", 2.0),  # the kernel is started
        report("course/01_a.ipynb::Cell 0", 3.0, 4.0, 300.0),
        report("course/02_b.ipynb::Cell 0", 9.0, 61.0, 400.0),
        report("course/01_a.ipynb::Cell 1", 1.0, 5.5, 350.0),
        report("exercises/01_a.ipynb::Cell 0", 1.0, 1.0, 200.0),
        report("tests/test_a.py::test_it", 1.0),
    ):
        table.add(cell)
    assert [line.split() for line in table.lines()] == [
        ["notebook", "wall", "s", "CPU", "s", "peak", "MB"],
        ["course/01_a.ipynb", "6.0", "5.5", "350"],
        ["course/02_b.ipynb", "9.0", "61.0", "400"],
        ["all", "of", "course", "15.0", "66.5", "400"],
        ["exercises/01_a.ipynb", "1.0", "1.0", "200"],
    ]
    assert table.too_long() == ["course/02_b.ipynb is over its 60 s: 61 s of CPU time"]
    table.add(report("course/03_c.ipynb::Cell 0", 1.0, 420.0, 1.0))
    assert table.too_long()[-1] == "the course is over its 480 s: 486 s of CPU time"
    assert kernel_costs.Table().lines() == []


LIMITS = """\
pytest_plugins = ["tests.notebooks.kernel_costs"]

def pytest_sessionstart():
    from tests.notebooks import kernel_costs
    kernel_costs.LESSON_MEGABYTES, kernel_costs.LESSON_SECONDS = 200, 0.1
"""


@linux
@pytest.mark.slow
def test_nbval_prints_the_costs_and_fails_the_cell_that_takes_too_much_memory(tmp_path: Path):
    cells = ["1 + 1", "held = b'x' * 300_000_000", "del held"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    for cell in notebook.cells:
        cell.metadata["tags"] = ["nbval-ignore-output"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    (tmp_path / "conftest.py").write_text(LIMITS)
    plugins = ["-p", "nbval.plugin", "-p", "no:cacheprovider"]
    options = ["--nbval", "-q", "-rA", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *options, "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    out = done.stdout
    assert "1 failed, 2 passed" in out, out
    assert "Cell 1: took the kernel to " in out and "MB; allowed: 200 MB" in out
    *_, seconds, megabytes = next(
        line.split() for line in out.splitlines() if line.startswith("lesson.ipynb ")
    )
    assert 0.1 < float(seconds) < 60 and 300 < float(megabytes) < 600
    assert "lesson.ipynb is over its 0.1 s: " in out
