"""SIGKILL at any moment costs nothing but the time since the last checkpoint."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grokkit.runtime import load_history, train
from tests.engine.small import same
from tests.runtime.killed import LONG

ROOT = Path(__file__).parents[2]
KILLS = 6


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks its victims")
def test_a_run_that_is_killed_again_and_again_equals_one_that_never_was(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.killed", str(tmp_path), str(KILLS)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    epochs = [int(epoch) for epoch, _ in lines]
    assert len(epochs) == KILLS and epochs == sorted(epochs), "progress is never lost"
    assert sum(how == "killed" for _, how in lines) >= 3, "most victims were at work"
    assert len(set(epochs)) >= 3
    assert same(load_history(tmp_path / "run.nc"), train(LONG))
