"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from grokkit.errors import refuse

RECORDED = "recorded:"
"""How the name of a file that comes with the package begins."""

STALE = 600.0
"""The age in seconds at which what a killed process left half written is deleted."""


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


def check_file(field: str, name: str) -> None:
    """Refuse a setting that names a file which is not there."""
    if not locate(name).is_file():
        refuse(field, name, "the name of a file that is there (no such file)")


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write a file so that at every moment the old one or the new one is there, whole.

    The bytes go to a new file beside it and are on the disk before that takes the name:
    a killed process, a full disk or a power cut leaves the old file as it was.

    Raises:
        OSError: the file cannot be written, for example because the disk is full; the
            message names the file and the cause.
    """
    path = Path(path)
    delete_drafts(path.parent, path.name)
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


def delete_drafts(folder: Path, name: str = "*") -> None:
    """Delete the drafts in a folder that killed processes left, once they are old."""
    for draft in folder.glob(f".{name}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - draft.stat().st_mtime > STALE:
                draft.unlink()


def check_folder(field: str, folder: Path, shown: str | None = None) -> None:
    """Refuse a folder that cannot be made or written to, before the work and not after it.

    Args:
        field: the name of the setting.
        folder: it is made if it is not there.
        shown: what the user gave; None: the folder itself.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        refuse(field, shown or str(folder), f"a folder to write to ({problem.strerror})")


@contextlib.contextmanager
def locked(field: str, path: Path) -> Iterator[None]:
    """Keep every other process from a file or a folder that is there during the block.

    The system lets go of the lock when the process ends, however it ends.

    Raises:
        SettingError: another process has it now.
    """
    from filelock import FileLock, Timeout

    inside = path / ".lock" if path.is_dir() else path.with_name(f".{path.name}.lock")
    lock = FileLock(inside)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        refuse(field, str(path), "one that no other process is writing to at this moment")
    except NotImplementedError:  # a disk of the network without locks
        yield
        return
    try:
        yield
    finally:
        inside.unlink(missing_ok=True)
        lock.release()
