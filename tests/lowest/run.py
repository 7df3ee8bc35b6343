"""The package with the lowest versions that it allows: `make test-lowest`.

Makes a virtual environment in which every dependency of the package has its lower bound from
pyproject.toml, and trains, stores, loads and draws one run there. torch is the exception: it
is the tested version of constraints.txt, since older builds are large and rarely at hand.
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SMOKE = """
import grokkit
from pathlib import Path
spec = grokkit.presets["live"].with_(p=7, epochs=50, prior="kl", kl_strength=1.0)
history = grokkit.train(grokkit.grid(spec, seed=range(2), weight_decay=[0.5, 1]), progress=False)
from grokkit.runtime import save_history
save_history(history, "run.nc")
again = grokkit.load_history("run.nc")
assert again.identical(history), "a stored History is not what was stored"
grokkit.viz.four_panels(again.isel(run=[0])).savefig("run.png")
assert Path("run.png").stat().st_size > 10_000
import numpy, scipy, xarray, matplotlib
print("trained, stored, loaded and drew with", *(f"{m.__name__} {m.__version__}"
      for m in (numpy, scipy, xarray, matplotlib)))
"""


def lowest() -> list[str]:
    """Each dependency at its lower bound, torch at its tested version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in tested if line.startswith("torch==")]
    for text in project["dependencies"]:
        requirement = Requirement(text)
        bounds = [s.version for s in requirement.specifier if s.operator == ">="]
        if len(bounds) != 1:
            raise SystemExit(f"pyproject.toml: {text!r} has no lower bound; every one needs one")
        if requirement.name != "torch":
            pins.append(f"{requirement.name}=={bounds[0]}")
    return pins


def main() -> None:
    """Install and try."""
    with tempfile.TemporaryDirectory() as folder:
        python = (
            Path(folder) / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        )
        venv.create(Path(folder) / "venv", with_pip=True)
        pins = Path(folder) / "lowest.txt"
        pins.write_text("\n".join(lowest()), encoding="utf-8")
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, "-c", str(pins), "-e", str(ROOT)], check=True)
        subprocess.run([str(python), "-c", SMOKE], check=True, cwd=folder)


if __name__ == "__main__":
    main()
