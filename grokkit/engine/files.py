"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
import time
from importlib.resources import files
from pathlib import Path

from grokkit.errors import refuse

RECORDED = "recorded:"
"""How the name of a file that comes with the package begins."""

STALE = 3600.0
"""The age in seconds at which what a killed process left half written is swept up."""


def locate(name: str | Path) -> Path:
    """Where a file is.

    A spec names the files it needs, and must mean the same on every machine: so a name such
    as ``recorded:sources/source.safetensors`` stands for a file in the package's own folder
    ``grokkit/runs``. Every other name is a path.

    Raises:
        SettingError: the name after ``recorded:`` leads out of that folder.
    """
    text = str(name)
    if not text.startswith(RECORDED):
        return Path(name)
    folder = Path(str(files("grokkit"))) / "runs"
    path = folder / text.removeprefix(RECORDED)
    if not path.resolve().is_relative_to(folder.resolve()):
        refuse("file", text, f"{RECORDED}NAME with a NAME in {folder}")
    return path


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write a file so that at every moment the old one or the new one is there, whole.

    The bytes go to a new file beside it and are on the disk before that takes the name:
    a killed process, a full disk or a power cut leaves the old file as it was.

    Args:
        path: the file to write or to replace.
        data: what it shall hold.

    Raises:
        OSError: the file cannot be written, for example because the disk is full; the
            message names the file and the cause.
    """
    path = Path(path)
    _sweep_up(path)
    # A name of its own: two processes that write the same file must not share a draft.
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(partial, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as problem:
        kept = "what was there is intact" if path.exists() else "nothing was left behind"
        cause = problem.strerror or type(problem).__name__
        raise OSError(problem.errno, f"{path}: could not be written ({cause}); {kept}") from problem
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return path


def _sync_folder(folder: Path) -> None:
    """Put the new name itself on the disk, where the system knows how."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep_up(path: Path) -> None:
    """Delete the drafts of this file that a killed process left, once they are old."""
    for draft in path.parent.glob(f".{path.name}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - draft.stat().st_mtime > STALE:
                draft.unlink()
