"""Recorded runs: trained once over seeds, kept small, loaded by name.

>>> from grokkit import runs
>>> history = runs.load("classroom")        # five seeds of the classroom preset

A recording is the History of some specs, thinned to about 100 log-spaced records and
rounded to 10 bits, with the specs, versions, device and seconds that made it. Nobody has
to believe it: ``grokkit runs record NAME`` makes it again from the same specs.
"""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from grokkit.errors import refuse
from grokkit.training import RunSpec, grid, load_history, presets, save_history, thin, train

if TYPE_CHECKING:
    import xarray as xr

RECIPES: dict[str, Callable[[], list[RunSpec]]] = {
    "classroom": lambda: grid(presets["classroom"], seed=range(5)),
}
"""What each recording is a recording of."""

LIMIT = 600_000
"""The largest size of a recording in bytes."""


def path(name: str) -> Path:
    """Where a recording is kept.

    Raises:
        SettingError: there is no recording of that name.
    """
    if name not in RECIPES:
        refuse("name", name, ", ".join(sorted(RECIPES)))
    return Path(str(files("grokkit.runs"))) / f"{name}.nc"


def load(name: str) -> "xr.Dataset":
    """The History of a recording.

    Raises:
        SettingError: there is no recording of that name.
        ValueError: the file is damaged.
    """
    return load_history(path(name))


def record(name: str, *, progress: bool = True, folder: str | Path | None = None) -> Path:
    """Train a recording's specs again and write its file.

    Args:
        name: which recording.
        progress: whether to show a progress bar.
        folder: where to write it; by default over the package's own file.

    Raises:
        SettingError: there is no recording of that name.
        ValueError: the recording came out larger than :data:`LIMIT`.
    """
    target = path(name) if folder is None else Path(folder) / path(name).name
    history = train(RECIPES[name](), progress=progress)
    save_history(thin(history), target)
    if target.stat().st_size > LIMIT:
        raise ValueError(f"{target}: {target.stat().st_size} bytes; at most {LIMIT}")
    return target
