"""What the system lets a student's process do: POSIX limits, and on Linux much less.

=============  ====================================================  =====================
kept from it   by                                                    where
=============  ====================================================  =====================
time, memory   ``setrlimit``; the supervisor's clock                 Linux, macOS
large files    ``setrlimit``; the supervisor counts the folder       Linux, macOS
processes      seccomp; elsewhere ``setrlimit``                      Linux, macOS
network        seccomp: no socket can be made                        Linux
others' files  Landlock: libraries can be read, its own folder used  Linux 5.13 and newer
=============  ====================================================  =====================

On Windows there are no such limits, and nothing is graded. :func:`lock_down` says what it
could take away, so that ``grokkit grade`` can say what it could not.
"""

import contextlib
import ctypes
import os
import platform
import site
import sys
import sysconfig
from pathlib import Path

from grokkit.classroom.grading import landlock, seccomp

try:
    import resource
except ImportError:  # Windows
    resource = None

EVERYTHING = ("time", "memory", "file size", "processes", "network", "others' files")
"""All that can be kept from a student's process."""

_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG, _SIGKILL = 38, 1, 9


def available() -> bool:
    """Whether this system has limits at all."""
    return resource is not None


def limit(seconds: int, memory_mb: int, file_mb: int) -> list[str]:
    """Bound what this process may use; for good, as the hard limits are set too.

    Args:
        seconds: of processor time.
        memory_mb: of address space, libraries included.
        file_mb: the size of one file.

    Returns:
        What is bounded now.
    """
    assert resource is not None
    _set(resource.RLIMIT_CPU, seconds, 2)  # first a signal that tells why, then the end
    _set(resource.RLIMIT_FSIZE, file_mb * 2**20)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NOFILE, 256)
    bounded = ["time", "file size"]
    with contextlib.suppress(ValueError, OSError):  # macOS refuses
        _set(resource.RLIMIT_AS, memory_mb * 2**20)
        bounded.insert(1, "memory")
    return bounded


def lock_down(folder: Path, seconds: int, memory_mb: int, file_mb: int) -> list[str]:
    """Take away from this process what a student's notebook does not need.

    To be called while there is only one thread, before anything of the student's runs.

    Args:
        folder: the only place where it may write.
        seconds: see :func:`limit`.
        memory_mb: see :func:`limit`.
        file_mb: see :func:`limit`.

    Returns:
        Which of :data:`EVERYTHING` was taken away.
    """
    assert resource is not None
    taken = limit(seconds, memory_mb, file_mb)
    if platform.system() == "Linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)  # end with the judge's supervisor
        seccomp.drop_capabilities(libc)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if landlock.restrict(libc, readable(), [folder]):
            taken.append("others' files")
        if seccomp.restrict(libc):
            taken += ["processes", "network"]
    if "processes" not in taken and os.getuid() != 0:
        _set(resource.RLIMIT_NPROC, 0)
        taken.append("processes")
    return [name for name in EVERYTHING if name in taken]


def readable() -> list[Path]:
    """What a notebook must read to run: Python, its libraries, grokkit, fonts, a few devices."""
    package = Path(__file__).parents[2]
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [
        sys.prefix + "/lib",
        sys.prefix + "/share",
        sys.prefix + "/etc",
        sys.base_prefix + "/lib",
    ]
    paths += site.getsitepackages()
    paths += ["/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/lib", "/lib64", "/etc"]
    paths += ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"]
    paths += ["/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system"]
    found = [Path(path) for path in paths if os.path.exists(path)]
    return [*found, package, Path(sys.executable), Path(sys.executable).resolve()]


def _set(which: int, value: int, grace: int = 0) -> None:
    assert resource is not None
    _, hard = resource.getrlimit(which)
    allowed = [value, value + grace]
    if hard != resource.RLIM_INFINITY:
        allowed = [min(value, hard), min(value + grace, hard)]
    resource.setrlimit(which, (allowed[0], allowed[1]))
