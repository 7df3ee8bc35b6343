"""The package with the lowest versions that it allows: `make test-lowest`.

Every dependency of the package is installed at its lower bound from pyproject.toml into a
folder of its own, which comes before this environment, and one run is trained, stored, loaded
and drawn there. torch is the exception, and so is what the dependencies themselves depend on:
those are this environment's, since another torch is gigabytes. (But for pandas: the newest
refuses the lowest NumPy.)
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
OLDER = ("pandas<3", "pytz")
SMOKE = """
import importlib.metadata, sys
import grokkit
from packaging.version import Version
from pathlib import Path
for pin in sys.argv[1:]:
    name, version = pin.split("==")
    assert Version(importlib.metadata.version(name)) == Version(version), pin
spec = grokkit.presets["live"].with_(p=7, epochs=50, prior="kl", kl_strength=1.0)
history = grokkit.train(grokkit.grid(spec, seed=range(2), weight_decay=[0.5, 1]), progress=False)
from grokkit.runtime import save_history
save_history(history, "run.nc")
again = grokkit.load_history("run.nc")
assert again.identical(history), "a stored History is not what was stored"
grokkit.viz.four_panels(again.isel(run=[0])).savefig("run.png")
assert Path("run.png").stat().st_size > 10_000
from grokkit import theory
import numpy
theory.kl_flow(numpy.zeros(3), numpy.array([1.0, 0, 0]), 1.0, numpy.array([0.0, 1.0]))
"""


def pins() -> list[str]:
    """Each dependency but torch at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for text in project["dependencies"]:
        requirement = Requirement(text)
        bounds = [s.version for s in requirement.specifier if s.operator == ">="]
        assert len(bounds) == 1, f"pyproject.toml: {text!r} has no lower bound"
        if requirement.name != "torch":
            found.append(f"{requirement.name}=={bounds[0]}")
    return found


@pytest.mark.slow
def test_a_run_is_trained_stored_and_drawn_with_the_lowest_versions(tmp_path):
    wanted, folder = pins(), tmp_path / "lowest"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:"]
    install += ["--no-compile", "--disable-pip-version-check"]  # compiled is what is imported
    # The versions that were tested are a constraint of `make`, and not of this.
    clean = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    done = subprocess.run(
        [*install, "--target", str(folder), *wanted, *OLDER],
        env=clean,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", SMOKE, *wanted],
        cwd=tmp_path,
        env={**clean, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
