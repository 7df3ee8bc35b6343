"""nbval, with which the lessons are tested, fails on an error in a callback."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]

BEGIN = """\
from grokkit.widgets import LiveTraining
from tests.widgets.makers import SMALL

live = LiveTraining(SMALL.with_(epochs=1_000_000))
"""

PLANT = "LiveTraining.draw = lambda self: 1 / 0\n"

# What a learner does, as the kernel comes to know of it.
ACTS = {
    "a slider is moved by code": "live.move(seed=(live.read.value('seed') + 1) % 10)",
    "a slider is moved in the browser": (
        "state = {'seed': (live.read.index('seed') + 1) % 10}\n"
        "data = {'method': 'update', 'state': {'state': state}}\n"
        "live._handle_msg({'content': {'data': data}, 'buffers': []})"
    ),
    "a button is pressed": "data = {'method': 'custom', 'content': {'press': 'step'}}\n"
    "live._handle_msg({'content': {'data': data}, 'buffers': []})",
    "the thread draws": "live.start()\nlive.wait(1)\nlive.pause()",
}


@pytest.mark.slow
def test_a_planted_error_fails_the_cell_in_which_its_callback_runs(tmp_path: Path):
    """All acts in one notebook, first as they are and then with the error planted."""
    cells = [BEGIN, *ACTS.values(), PLANT, *ACTS.values()]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    for cell in notebook.cells:
        cell.metadata["tags"] = ["nbval-ignore-output"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    options = ["--nbval", "-q", "-rA", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    lines = done.stdout.splitlines()
    passed = {line.split("::")[-1] for line in lines if line.startswith("PASSED")}
    failed = {line.split("::")[-1].split(" - ")[0] for line in lines if line.startswith("FAILED")}
    harmless = len(ACTS) + 2
    assert passed == {f"Cell {number}" for number in range(harmless)}, done.stdout
    assert failed == {f"Cell {number}" for number in range(harmless, len(cells))}, done.stdout
    assert done.stdout.count("ZeroDivisionError") >= len(ACTS)
