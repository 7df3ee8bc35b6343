"""grokkit: watch a Transformer memorise, and then understand.

The package behind the course. Its face is small: describe a run, train it, look at its
history::

    import grokkit
    history = grokkit.train(grokkit.presets["live"])

The rooms of the house (``grokkit.tasks``, ``grokkit.model``, ...) mirror the chapters.
Everything is imported at first use, so ``import grokkit`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grokkit import (  # noqa: F401
        bench,
        classroom,
        core,
        diagnostics,
        engine,
        experiments,
        images,
        model,
        operators,
        runs,
        runtime,
        tasks,
        theory,
        tickets,
        viz,
        widgets,
    )
    from grokkit.engine import RunSpec, grid, presets
    from grokkit.runtime import load_history, train

__version__ = "0.1.0"

__all__ = ["RunSpec", "__version__", "grid", "load_history", "presets", "train"]

# Where each name of the face lives.
_FACE = {
    "RunSpec": "grokkit.engine",
    "grid": "grokkit.engine",
    "load_history": "grokkit.runtime",
    "presets": "grokkit.engine",
    "train": "grokkit.runtime",
}
_ROOMS = (
    "bench",
    "classroom",
    "core",
    "diagnostics",
    "engine",
    "experiments",
    "images",
    "model",
    "operators",
    "runs",
    "runtime",
    "tasks",
    "theory",
    "tickets",
    "viz",
    "widgets",
)


def __getattr__(name: str) -> object:
    if name in _FACE:
        return getattr(import_module(_FACE[name]), name)
    if name in _ROOMS:
        return import_module(f"grokkit.{name}")
    raise AttributeError(f"module 'grokkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_FACE, *_ROOMS})
