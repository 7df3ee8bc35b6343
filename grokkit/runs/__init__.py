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

from grokkit.engine import RunSpec, grid, presets
from grokkit.engine.files import write_whole
from grokkit.errors import refuse
from grokkit.runtime import load_history, save_history, thin, train
from grokkit.runtime.history import to_bytes

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["LIMIT", "RECIPES", "folder", "keep", "load", "names", "path", "record"]

RECIPES: dict[str, Callable[[], list[RunSpec]]] = {
    "classroom": lambda: grid(presets["classroom"], weight_streams=["one"], seed=range(5)),
    "live": lambda: [presets["live"]],
}
"""What each recording is a recording of."""

LIMIT = 600_000
"""The largest size of a recording in bytes."""


def folder() -> Path:
    """The folder of the recordings, and of the weights and tickets that come with them."""
    return Path(str(files("grokkit.runs")))


def names() -> list[str]:
    """The recordings that are there."""
    return sorted(file.stem for file in folder().glob("*.nc"))


def path(name: str) -> Path:
    """Where a recording is kept.

    Raises:
        SettingError: there is no recording of that name.
    """
    known = sorted({*names(), *RECIPES})
    if name not in known:
        refuse("name", name, ", ".join(known))
    return folder() / f"{name}.nc"


def keep(name: str, history: "xr.Dataset") -> Path:
    """Write a recording into the package.

    Args:
        name: what to call it.
        history: thinned already.

    Raises:
        ValueError: it would be larger than :data:`LIMIT`; nothing is written.
        OSError: it cannot be written.
    """
    data = to_bytes(history)
    if len(data) > LIMIT:
        raise ValueError(f"recording {name}: {len(data)} bytes; at most {LIMIT}")
    return write_whole(folder() / f"{name}.nc", data)


def load(name: str) -> "xr.Dataset":
    """The History of a recording.

    Raises:
        SettingError: there is no recording of that name.
        ValueError: the file is damaged.
    """
    return load_history(path(name))


def record(name: str, *, progress: bool = True, into: str | Path | None = None) -> Path:
    """Train a recording's specs again and write its file.

    Args:
        name: which recording.
        progress: whether to show a progress bar.
        into: the folder to write it to; by default over the package's own file.

    Raises:
        SettingError: there is no recording of that name.
        ValueError: the recording came out larger than :data:`LIMIT`.
    """
    path(name)  # refuses a name that is not known, before anything is trained
    history = thin(train(RECIPES[name](), progress=progress))
    return keep(name, history) if into is None else save_history(history, Path(into) / f"{name}.nc")
