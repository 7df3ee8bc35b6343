"""A look at the learner's machine, before the first lesson."""

import importlib
import os
import platform
import sys
import time
from importlib.metadata import version

NEEDED = ("torch", "numpy", "xarray", "matplotlib", "anywidget", "jupyterlab")


def check_installation() -> None:
    """Print what is installed, and how fast a small run is here.

    Raises:
        ModuleNotFoundError: something the course needs is not installed; the message says
            which, and how to install it.
    """
    print(f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} cores")
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as problem:
            line = f'{name} is missing; install it: {sys.executable} -m pip install -e ".[course]"'
            raise ModuleNotFoundError(line) from problem
        print(f"{name} {version(name)}")

    from grokkit.engine import presets
    from grokkit.runtime import train

    spec = presets["live"].with_(epochs=100)
    started = time.perf_counter()
    train(spec, progress=False)
    rate = spec.epochs / (time.perf_counter() - started)
    whole = presets["live"].epochs / rate
    print(f"{rate:.0f} epochs a second: the widget of lesson 01 trains for {whole:.0f} s here")
    print("All is well.")
