"""Landlock: a Linux process gives up all files but those it names (Linux 5.13, any user).

Rules hold for a file hierarchy, for the process and all that come after it, and cannot be
taken back. See ``man 7 landlock``; the numbers are those of ``linux/landlock.h``.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_TRUNCATE = 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_USE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

# How many kinds of access to files each version of Landlock knows; the last goes on.
_KINDS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict(libc: ctypes.CDLL, readable: Sequence[Path], usable: Sequence[Path]) -> bool:
    """Give up every file but these; true if it worked.

    Args:
        libc: the C library; "no new privileges" must be set before.
        readable: files and folders that can still be read.
        usable: folders in which files can be made, written and removed as well.
    """
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    if version < 1:
        return False
    handled = (1 << _KINDS.get(version, 16)) - 1
    # Version 4 knows the network, 6 signals and abstract sockets; an older one a shorter struct.
    rules = _Ruleset(handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for paths, allowed in ((readable, _READ), (usable, _USE)):
            for path in paths:
                _allow(libc, ruleset, path, allowed & handled)
        for device in (Path("/dev/null"), Path("/dev/zero")):
            _allow(libc, ruleset, device, (_READ_FILE | _WRITE_FILE) & handled)
        return libc.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, allowed: int) -> None:
    if not path.exists():
        return
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(allowed if path.is_dir() else allowed & _OF_A_FILE, opened)
        libc.syscall(
            _ADD,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(opened)
