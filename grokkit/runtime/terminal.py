"""What a person sees of a training: a progress bar, and single lines beside it."""

import os
import sys


def progress_visible() -> bool:
    """Whether a progress bar would be seen: in a notebook or on a terminal, not in a log."""
    if os.environ.get("TQDM_DISABLE", "") not in ("", "0"):
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether the progress bar is a widget of a notebook."""
    from tqdm.auto import tqdm

    return any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)


def report(line: str) -> None:
    """Print a line, above the progress bar if there is one; nothing where there is no stdout."""
    from tqdm.auto import tqdm

    if sys.stdout is not None:
        tqdm.write(line)
