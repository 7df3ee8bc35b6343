"""What keeps a process that runs untrusted code from everything but computing.

With ``--walls=bubblewrap`` both processes of a notebook live in a sandbox made by ``bwrap``: they
see Python, its libraries and grokkit, read-only, one small folder in memory, no network, and no
process but their own; they are not root. The student's process does not see the checks. With
``--walls=basic`` only the limits of the system hold. :func:`enclose` and :func:`bound` set those
in both cases.

====================  =============================================  ==========  ======
kept from a process   by                                             bubblewrap  basic
====================  =============================================  ==========  ======
time                  ``RLIMIT_CPU``; the supervisor's clock         yes         yes
memory                ``RLIMIT_AS`` (not on macOS); a cgroup where   yes         yes
                      ``systemd-run`` gives one
other programs        ``RLIMIT_NPROC``                               yes         yes
disk                  a file system in memory, of bounded size       yes         a file
other files           only libraries are mounted                     yes         no
network               a network of its own, empty                    yes         no
expected answers      they are not mounted                           yes         no
====================  =============================================  ==========  ======
"""

import contextlib
import os
import shutil
import site
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grokkit.errors import check_int

try:
    import resource
except ImportError:  # Windows
    resource = None

Kind = Literal["bubblewrap", "basic"]

PACKAGE = Path(__file__).parents[2]
"""The folder of grokkit."""

NOBODY = 65534

# What libraries of the system need, beside Python's own folders.
_SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/lib", "/lib64", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"),
)

# Isolated from the environment and the working folder; only the folder of grokkit is added.
_START = (
    "import sys; here, role = sys.argv[1:3]\n"
    "if here not in sys.path: sys.path.insert(0, here)\n"
    "from importlib import import_module\n"
    "import_module(f'grokkit.classroom.grading.{role}').main(sys.argv[3:])"
)


@dataclass(frozen=True)
class Limits:
    """What one notebook may use.

    Attributes:
        seconds: of processor time, so that a busy machine costs nobody points. Time in which
            it only waits is bounded too, by ``patience``.
        memory_mb: memory, of which Python and torch take about 800.
        disk_mb: what it may write.

    Raises:
        SettingError: one of them is too little to run anything.
    """

    seconds: int = 60
    memory_mb: int = 2000
    disk_mb: int = 100

    def __post_init__(self) -> None:
        check_int("seconds", self.seconds, 5)
        check_int("memory_mb", self.memory_mb, 1200)
        check_int("disk_mb", self.disk_mb, 1)

    @property
    def patience(self) -> int:
        """How long it may take by the clock, in seconds."""
        return 60 + 4 * self.seconds


def command(
    role: str, words: Sequence[str], kind: Kind, limits: Limits, folder: str, cgroup: bool
) -> tuple[list[str], dict[str, str]]:
    """How one of the two processes is started: a command line, and its environment.

    Args:
        role: ``"student"`` or ``"judge"``.
        words: what it is told on its command line.
        kind: which walls stand around it.
        limits: what it may use.
        folder: the only one in which it may write; made by bubblewrap.
        cgroup: whether ``systemd-run`` is to bound its memory as well.
    """
    numbers = (limits.seconds, limits.memory_mb, limits.disk_mb)
    start = [sys.executable, "-I", "-X", "utf8", "-c", _START, str(PACKAGE.parent), role, *words]
    start += map(str, numbers)
    own = dict(_environment(folder))
    if kind == "basic":
        return start, own
    sandbox = ["bwrap", *_bubblewrap(role, limits.disk_mb, folder), "--clearenv"]
    for name, value in own.items():
        sandbox += ["--setenv", name, value]
    if cgroup:
        total = f"MemoryMax={limits.memory_mb + limits.disk_mb}M"
        user = [] if os.getuid() == 0 else ["--user"]
        scope = ["systemd-run", *user, "--scope", "--quiet", "--collect", "-p", total]
        sandbox = [*scope, "-p", "MemorySwapMax=0", "-p", "TasksMax=64", "--", *sandbox]
    # Process 1 of the sandbox is bwrap itself, and its environment can be read in there.
    needed = ("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    return [*sandbox, "--", *start], {k: v for k, v in os.environ.items() if k in needed}


def _environment(folder: str) -> Iterator[tuple[str, str]]:
    """A process inherits nothing of the teacher's."""
    yield "PATH", "/usr/bin:/bin"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        yield name, "1"
    for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        yield name, folder
    yield from {"LANG": "C.UTF-8", "TQDM_DISABLE": "1", "MPLBACKEND": "Agg"}.items()
    yield "PYTHONDONTWRITEBYTECODE", "1"


def _bubblewrap(role: str, disk_mb: int, folder: str) -> Iterator[str]:
    """The options of ``bwrap``."""
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
    if os.getuid() == 0:
        # Root needs no user namespace. Only by these it can become nobody; see confine().
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
        yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    else:
        yield from ("--unshare-all", "--uid", str(NOBODY), "--gid", str(NOBODY))
    # First, as Python itself may live below that folder.
    yield from ("--perms", "1777", "--size", str(disk_mb * 2**20), "--tmpfs", folder)
    prefixes = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    user_site = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    for path in (*_SYSTEM, *sorted(prefixes), *user_site, str(PACKAGE)):
        for parent in reversed(Path(path).parents[:-1]):  # of which bubblewrap makes secret ones
            yield from ("--perms", "0755", "--dir", str(parent))
        yield from ("--ro-bind-try", path, path)
    if role == "student":
        classroom = PACKAGE / "classroom"
        for name in ("checks", "exercises"):
            yield from ("--tmpfs", str(classroom / name))
        learner, stub = "checks/learner.py", classroom / "grading" / "withheld.py"
        yield from ("--ro-bind", str(classroom / learner), str(classroom / learner))
        yield from ("--ro-bind", str(stub), str(classroom / "checks" / "__init__.py"))
        for name in ("checks", "exercises"):
            yield from ("--remount-ro", str(classroom / name))
    yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    yield from ("--remount-ro", "/", "--chdir", folder)


def why_not(kind: Kind) -> str:
    """Why these walls cannot stand here, as far as that is known without trying; else nothing."""
    if resource is None:
        return "this system has no limits for a process"
    if kind == "bubblewrap" and sys.platform != "linux":
        return "bubblewrap needs Linux"
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed (no `bwrap` found)"
    return ""


def enclose(memory_mb: int, file_mb: int) -> None:
    """Bound the memory and files of this process for good, and be nobody instead of root.

    To be called, with :func:`bound`, before anything of the student's is read.

    Args:
        memory_mb: of address space, libraries included.
        file_mb: the size of one file.
    """
    assert resource is not None
    with contextlib.suppress(OSError):  # if the machine runs short of memory, this one ends
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    _bound(resource.RLIMIT_FSIZE, file_mb * 2**20)
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_NOFILE, 128)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses
        _bound(resource.RLIMIT_AS, memory_mb * 2**20)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        for path in (os.__file__, __file__):
            if not os.access(path, os.R_OK):
                raise PermissionError(f"root becomes nobody, who cannot read {path}")


def bound(seconds: int) -> None:
    """Bound the processor time of this process, and let it start no other and no thread."""
    assert resource is not None
    _bound(resource.RLIMIT_CPU, seconds, 2)  # first a signal that tells why, then the end
    _bound(resource.RLIMIT_NPROC, 0)


OPEN_IN_BASIC = (
    *("it can change grokkit", "it has a network", "it sees other files", "it sees the checks"),
)
"""What the basic walls do not stop; see :func:`holes`."""


def holes() -> list[str]:
    """What this process can do though nothing should let it; tried, not supposed."""
    found = []
    if os.getuid() == 0:
        found.append("it is root")
    if os.access(__file__, os.W_OK):
        found.append("it can change grokkit")
    if {name for _, name in socket.if_nameindex()} - {"lo"}:
        found.append("it has a network")
    if Path("/etc/passwd").exists():
        found.append("it sees other files")
    if (PACKAGE / "classroom" / "checks" / "outcome.py").exists():
        found.append("it sees the checks")
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            os._exit(0)
        found.append("it can start processes")
    return found


def _bound(which: int, value: int, grace: int = 0) -> None:
    assert resource is not None
    _, hard = resource.getrlimit(which)
    most = [value, value + grace]
    if hard != resource.RLIM_INFINITY:
        most = [min(value, hard), min(value + grace, hard)]
    resource.setrlimit(which, (most[0], most[1]))
