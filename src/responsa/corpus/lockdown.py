"""A process gives up what it does not need to read a file: the network, writing, other programs, other files.

Three layers, each as far as the system has it; none needs to be root:

- resource limits (POSIX): memory, no file may grow, no core dump, few descriptors;
- Landlock (Linux 5.13): files can be read only below the given folders, nothing can be written; no TCP (6.7);
- a system call filter (Linux on x86-64 and ARM64): no sockets of any kind, no other programs or processes, no signals
  to others, no writing, no changes of file names, no tracing.

What this does not do: hide the process list or the memory's content from a parser that was taken over, or stop it from
giving a wrong answer; `responsa.corpus.wire` checks the form of answers, nobody can check their truth. On systems
other than Linux only the resource limits are left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from responsa.corpus.limits import MIB, Limits

_NO_NEW_PRIVILEGES, _DEATH_SIGNAL, _SECCOMP, _FILTER = 38, 1, 22, 2
_KILL = 9
_ALLOW, _DENY = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO | EPERM
_MISSING = 0x00050026  # SECCOMP_RET_ERRNO | ENOSYS, so that libraries fall back to the older call
_LOAD, _EQUAL, _FROM, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_THREAD = 0x10000  # CLONE_THREAD
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_DESCRIPTORS = 64

# System calls by number, on x86-64 and on ARM64.
_REFUSED = {
    "x86_64": (
        41, 42, 43, 44, 46, 49, 50, 53, 288, 307,  # sockets
        57, 58, 59, 322, 109, 112,  # fork, vfork, execve, execveat; leaving the process group or session
        101, 310, 311, 200, 129, 297, 424, 434, 438,  # ptrace, other processes' memory, signals, pidfd
        76, 77, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 132, 133, 188, 189, 190, 235,  # files: by path
        258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 285, 316, 452,  # files: at a folder
        155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432,  # mounts and name spaces
        248, 249, 250, 298, 319, 321, 323, 425, 426, 427,  # keys, perf, memfd, bpf, userfaultfd, io_uring
    ),
    "aarch64": (
        198, 199, 200, 201, 202, 203, 206, 211, 242, 269,
        221, 281, 154, 157,
        117, 270, 271, 130, 138, 240, 424, 434, 438,
        33, 34, 35, 36, 37, 38, 45, 46, 47, 52, 53, 54, 55, 276, 5, 6, 7, 88, 452,
        39, 40, 41, 51, 97, 268, 428, 429, 430, 431, 432,
        217, 218, 219, 241, 279, 280, 282, 425, 426, 427,
    ),
}  # fmt: skip
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_OPEN = {"x86_64": ((2, 1), (257, 2)), "aarch64": ((56, 2),)}  # the call, and which argument has the flags
_SIGNALS = {"x86_64": (62, 234), "aarch64": (129, 131)}  # kill, tgkill: allowed to the process itself
_NEWER = (435, 437)  # clone3, openat2: their arguments lie in memory, where a filter cannot look


def limit(limits: Limits) -> bool:
    """Bound memory, output and descriptors of this process. False where the system knows no such limits."""
    try:
        import resource
    except ImportError:
        return False
    for name, value in (
        ("RLIMIT_AS", limits.memory * MIB),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NOFILE", _DESCRIPTORS),
    ):
        kind = getattr(resource, name)
        _, most = resource.getrlimit(kind)
        bound = value if most == resource.RLIM_INFINITY else min(value, most)
        with contextlib.suppress(OSError, ValueError):  # macOS takes no RLIMIT_AS
            resource.setrlimit(kind, (bound, bound))
    return True


def limit_time(seconds: float) -> None:
    """So many more seconds of processor time, then the process is ended: for the case that nobody watches it."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    bound = int(used.ru_utime + used.ru_stime + seconds) + 2
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (bound if most < 0 else min(bound, most), most))


def end_with_parent() -> None:
    """From now on this process is ended when the one that started it ends (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, _KILL, 0, 0, 0)


def lock(readable: Iterable[Path]) -> tuple[str, ...]:
    """Give up the rest for good. Returns the names of the layers that hold: "landlock", "seccomp"."""
    if not sys.platform.startswith("linux"):
        return ()
    end_with_parent()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return ()
    held = []
    if _landlock(libc, readable):
        held.append("landlock")
    if _seccomp(libc):
        held.append("seccomp")
    return tuple(held)


# Landlock

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
_READ = 0b1100  # files and folders
_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}  # by version of the interface; 5 and later: all 16 rights


def _landlock(libc: ctypes.CDLL, readable: Iterable[Path]) -> bool:
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return False
    rights = struct.pack("=QQQ", _FILES.get(version, 0xFFFF), 0b11, 0b11)  # files; TCP; abstract sockets and signals
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(_CREATE, rights, size, 0)
    if ruleset < 0:
        return False
    try:
        for folder in readable:
            try:
                place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            libc.syscall(_ADD, ruleset, 1, struct.pack("=Qi", _READ if folder.is_dir() else 0b100, place), 0)
            os.close(place)
        return bool(libc.syscall(_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


# Filter of system calls

_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000


def _seccomp(libc: ctypes.CDLL) -> bool:
    machine = platform.machine()
    if machine not in _REFUSED or sys.byteorder != "little":
        return False
    code = ctypes.create_string_buffer(_program(machine, os.getpid()))
    length = (len(code) - 1) // 8
    program = struct.pack("HxxxxxxP", length, ctypes.addressof(code))
    return bool(libc.prctl(_SECCOMP, _FILTER, program, 0, 0) == 0)


def _program(machine: str, own: int) -> bytes:
    """The filter as instructions of classic BPF: what is not refused is allowed."""
    code = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _step(_RETURN, _DENY),
        _step(_LOAD, _NUMBER_AT),
        _step(_FROM, _X32, 0, 1),
        _step(_RETURN, _DENY),
    ]
    for number in _NEWER:
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _MISSING)]
    for number in _REFUSED[machine]:
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _DENY)]
    for number, argument in _OPEN[machine]:
        code += _when(number, argument, _step(_ANY_BIT, _WRITES, 0, 1), _DENY, _ALLOW)
    code += _when(_CLONE[machine], 0, _step(_ANY_BIT, _THREAD, 0, 1), _ALLOW, _DENY)
    for number in _SIGNALS[machine]:
        code += _when(number, 0, _step(_EQUAL, own, 0, 1), _ALLOW, _DENY)
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _when(number: int, argument: int, test: bytes, then: int, otherwise: int) -> list[bytes]:
    """For one call: what is returned where the test of an argument holds, and where it does not."""
    return [
        _step(_EQUAL, number, 0, 4),
        _step(_LOAD, _ARGUMENTS_AT + 8 * argument),
        test,
        _step(_RETURN, then),
        _step(_RETURN, otherwise),
    ]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
