"""Run as a process of its own: adds to copies of a library and dies at every write step in turn.

crash_child.py steps OLD SOURCE SCRATCH EVERY   for each step n (every EVERY-th): copy OLD to SCRATCH/n, fork,
                                                die at step n of adding SOURCE; prints the number of steps
crash_child.py limited LIMIT LIBRARY SOURCE     add where no file may grow beyond LIMIT bytes
crash_child.py unprivileged COMMAND...          run a command without root's right to ignore permissions
crash_child.py slowly LIBRARY SOURCE            add, saying each file on stdout before it is read
crash_child.py search LIBRARY WORD TIMES        search again and again, a JSON list of ids a line
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from helpers import PREPARE, add
from helpers import search as best
from responsa.corpus import library
from responsa.errors import ResponsaError

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


class Fuse:
    """Kills the process, before or after the step itself, at the n-th step; without n it only counts."""

    def __init__(self, n: int | None) -> None:
        self.n = n
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.n:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable) -> Callable:
        def wrapped(*arguments, **options):
            self.step()
            try:
                return function(*arguments, **options)
            finally:
                self.step()

        return wrapped

    def insert(self) -> None:
        """Put the fuse around everything that writes."""
        fuse = self

        class Connection(sqlite3.Connection):
            execute = fuse.around(sqlite3.Connection.execute)
            executemany = fuse.around(sqlite3.Connection.executemany)
            executescript = fuse.around(sqlite3.Connection.executescript)
            close = fuse.around(sqlite3.Connection.close)

        connect = sqlite3.connect
        sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options | {"factory": Connection})
        for owner, name in (
            (np, "save"), (shutil, "rmtree"), (os, "open"), (os, "unlink"), (os, "rmdir"),
            (Path, "rename"), (Path, "open"), (Path, "mkdir"), (Path, "write_text"),
        ):  # fmt: skip
            setattr(owner, name, self.around(getattr(owner, name)))


def steps(old: Path, source: Path, scratch: Path, every: int) -> None:
    total = _at(None, old, source, scratch)
    for n in range(1, total + 1, every):
        _at(n, old, source, scratch)
    say(total)


def _at(n: int | None, old: Path, source: Path, scratch: Path) -> int:
    """Add in a forked process that dies at step ``n``; without ``n``, return how many steps there are."""
    folder = scratch / f"step-{n or 0:04}"
    if old.exists():
        shutil.copytree(old, folder)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        fuse = Fuse(n)
        fuse.insert()
        add(folder, source)
        os.write(writing, str(fuse.steps).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    said = os.read(reading, 20)
    os.close(reading)
    if n is None:
        assert status == 0
        return int(said)
    assert os.WIFSIGNALED(status) or said, f"step {n}: {status}"
    return 0


def limited(limit: int, folder: Path, source: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        add(folder, source)
    except ResponsaError as error:
        sys.exit(f"{type(error).__name__}: {error}")


def unprivileged(command: list[str]) -> None:
    system = ctypes.CDLL(None)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if os.geteuid() == 0 and system.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            sys.exit("cannot give up the right to ignore permissions")
    os.execv(command[0], command)


def slowly(folder: Path, source: Path) -> None:

    library.add(folder, [source], PREPARE, lambda _done, _total, name: say(name))


def search(folder: Path, word: str, times: int) -> None:
    say("ready")
    for _ in range(times):
        say(json.dumps(best(folder, word)))


def say(text: object) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["steps", old, source, scratch, every]:
            steps(Path(old), Path(source), Path(scratch), int(every))
        case ["limited", limit, folder, source]:
            limited(int(limit), Path(folder), Path(source))
        case ["unprivileged", *command]:
            unprivileged(command)
        case ["slowly", folder, source]:
            slowly(Path(folder), Path(source))
        case ["search", folder, word, times]:
            search(Path(folder), word, int(times))
