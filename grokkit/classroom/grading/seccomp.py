"""seccomp: a Linux process gives up system calls, as far as a program of its own says.

The program is a list of instructions of the Berkeley Packet Filter, run by the kernel before
each system call: load the call's number, compare, jump, and in the end allow it or make it
fail. See ``man 2 seccomp``. Threads can still be made, as torch needs them; processes,
sockets, signals to others, and ways around this filter cannot.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator

# The numbers of the calls, for the two architectures that teach: x86-64 and 64-bit ARM.
_NUMBERS = {
    "x86_64": (0xC000003E, 317, {
        "socket": 41, "connect": 42, "clone": 56, "fork": 57, "vfork": 58, "execve": 59,
        "kill": 62, "tgkill": 234, "tkill": 200, "ptrace": 101, "setpriority": 141,
        "setrlimit": 160, "prlimit64": 302, "mount": 165, "umount2": 166, "unshare": 272,
        "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "execveat": 322,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425,
        "pidfd_send_signal": 424, "pidfd_getfd": 438, "clone3": 435, "keyctl": 250,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "setsid": 112, "ioprio_set": 251,
    }),
    "aarch64": (0xC00000B7, 277, {
        "socket": 198, "connect": 203, "clone": 220, "execve": 221, "kill": 129,
        "tgkill": 131, "tkill": 130, "ptrace": 117, "setpriority": 140, "setrlimit": 164,
        "prlimit64": 261, "mount": 40, "umount2": 39, "unshare": 97, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "execveat": 281, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425,
        "pidfd_send_signal": 424, "pidfd_getfd": 438, "clone3": 435, "keyctl": 219,
        "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "setsid": 157, "ioprio_set": 30,
    }),
}  # fmt: skip

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they stand in what the program reads
_CLONE_THREAD = 0x00010000
_SET_MODE_FILTER, _ALL_THREADS = 1, 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict(libc: ctypes.CDLL) -> bool:
    """Give up processes, sockets, and signals to others; true if it worked.

    Args:
        libc: the C library; "no new privileges" must be set before.
    """
    known = _NUMBERS.get(platform.machine())
    if known is None:
        return False
    instructions = b"".join(_instructions(known[0], known[2]))
    program = _Program(len(instructions) // 8, instructions)
    done = libc.syscall(
        ctypes.c_long(known[1]),
        ctypes.c_uint(_SET_MODE_FILTER),
        ctypes.c_uint(_ALL_THREADS),
        ctypes.byref(program),
    )
    return done == 0


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Give up what root may do more than others; nothing happens to other users."""
    version_3 = 0x20080522
    header = (ctypes.c_uint32 * 2)(version_3, 0)
    libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _instructions(architecture: int, numbers: dict[str, int]) -> Iterator[bytes]:
    """The program: most calls are allowed, those in ``numbers`` fail, four of them at times."""
    yield _load(_ARCHITECTURE)
    yield _jump(_EQUAL, architecture, 1, 0)
    yield _return(_KILL)
    yield _load(_NUMBER)
    # Calls of another convention on the same machine (x32) have numbers of their own.
    yield _jump(_AT_LEAST, 0x40000000, 0, 1)
    yield _return(_KILL)
    for name, number in numbers.items():
        body = list(_when_called(name))
        yield _jump(_EQUAL, number, 0, len(body))
        yield from body
    yield _return(_ALLOW)


def _when_called(name: str) -> Iterator[bytes]:
    fail = _return(_FAIL | errno.EPERM)
    if name == "clone":  # a thread may be made, a process not
        yield _load(_ARGUMENTS)
        yield _jump(_ANY_BIT, _CLONE_THREAD, 0, 1)
        yield _return(_ALLOW)
        yield fail
    elif name == "clone3":  # its flags lie where no filter sees; the C library then takes clone
        yield _return(_FAIL | errno.ENOSYS)
    elif name in ("kill", "tgkill"):  # itself it may stop
        yield _load(_ARGUMENTS)
        yield _jump(_EQUAL, os.getpid(), 0, 1)
        yield _return(_ALLOW)
        yield fail
    elif name == "prlimit64":  # limits may be read, not set: its third argument is then null
        for half in (0, 4):
            yield _load(_ARGUMENTS + 2 * 8 + half)
            yield _jump(_EQUAL, 0, 1, 0)
            yield fail
        yield _return(_ALLOW)
    else:
        yield fail


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", _LOAD, 0, 0, offset)


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("HBBI", test, if_true, if_false, value)


def _return(verdict: int) -> bytes:
    return struct.pack("HBBI", _RETURN, 0, 0, verdict)
