"""Reads files that nobody vouches for in a process of their own, so that a bad file costs that file only.

A process is started when first needed (`worker`); it reads each file in a copy of itself that is locked in
(`lockdown`) and may cost what `limits` say. Answers come back as JSON, never as objects, and are checked (`wire`): a
file that takes its reader over can lie about its own content, no more.

Plain text and JSON are read here where they are small: their readers are Python without a native library, take time
in proportion to the file and make nothing larger of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from responsa.corpus import pictures, readers, wire
from responsa.corpus.limits import MIB, Limits
from responsa.corpus.worker import HEAD, MOST_ANSWER, drawing, frame
from responsa.errors import LibraryError, ReadError
from responsa.types import Edition

PLAIN = frozenset({".txt", ".md", ".markdown", ".json", ".jsonl"})
_SMALL = 2 * MIB  # up to here plain files are read in this process; the worst of them take a few seconds
_START = 60.0  # seconds for the process to start
_PIECE = 1 << 18

T = TypeVar("T")


class Sandbox:
    """Reads files one by one within ``limits``; to be closed. ``command`` starts the process that reads."""

    def __init__(self, limits: Limits | None = None, command: Sequence[str] | None = None) -> None:
        self.limits = limits or Limits()
        settings = json.dumps(asdict(self.limits))
        self._command = command or (sys.executable, "-P", "-s", "-m", "responsa.corpus.worker", settings)
        self._process: subprocess.Popen[bytes] | None = None
        self.layers: tuple[str, ...] = ()
        """What the process has locked itself in with: "limits", "landlock", "seccomp"."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next file starts another."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def read(self, path: Path) -> tuple[Edition, ...]:
        """The documents in a file. `ReadError` where it cannot be used or costs more than is allowed."""
        suffix = path.suffix.lower()
        if suffix not in readers.SUFFIXES:
            return readers.read(path)  # refuses it
        content = self.content(path)
        if suffix in PLAIN and len(content) <= _SMALL:
            return readers.read_bytes(content, str(path))
        return self._read_apart(os.fsencode(path), content, path, b"E", wire.loads)

    def draw(self, content: bytes, path: Path, sought: pictures.Sought) -> tuple[pictures.Picture, ...]:
        """Pages of a PDF drawn, with the places of texts on them. ``content`` is that of the file at ``path``, as
        `content` gives it.

        `ReadError` where it is no PDF, cannot be opened or costs more than is allowed.
        """
        return self._read_apart(drawing(sought), content, path, b"P", partial(pictures.loads, sought=sought))

    def check_size(self, path: Path, size: int) -> None:
        """`ReadError` for a file of more bytes than are allowed."""
        if size > self.limits.size * MIB:
            raise ReadError(f"{path}: is larger than {self.limits.size} MiB; split it, or allow more with --max-size")

    def content(self, path: Path) -> bytes:
        """What the file holds, never more than the limit, however much it claims or grows to."""
        try:
            with path.open("rb") as file:
                self.check_size(path, os.fstat(file.fileno()).st_size)
                content = file.read(self.limits.size * MIB + 1)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path itself
            reason = getattr(error, "strerror", None) or error
            raise ReadError(f"{path}: cannot be read: {reason}; check the path and its permissions") from error
        self.check_size(path, len(content))
        return content

    def _read_apart(self, head: bytes, content: bytes, path: Path, kind: bytes, loads: Callable[[bytes], T]) -> T:
        if self._process is None:
            self._start()
        try:
            answer = self._exchange(frame(head) + frame(content), self.limits.seconds)
        except TimeoutError:
            self.close()
            raise ReadError(
                f"{path}: was not read within {self.limits.seconds:g} seconds and given up; split it, or allow more"
                " with --max-seconds"
            ) from None
        except EOFError:
            raise ReadError(_ended(path, self._end())) from None
        except ValueError as error:
            self.close()
            raise ReadError(f"{path}: its reader gave an answer that cannot be used ({error}); leave it out") from None
        except BaseException:  # Ctrl-C: what comes next would be the answer to this file
            self.close()
            raise
        return self._understood(answer, path, kind, loads)

    def _understood(self, answer: bytes, path: Path, wanted: bytes, loads: Callable[[bytes], T]) -> T:
        kind, body = answer[:1], answer[1:]
        if kind == wanted:
            try:
                return loads(body)
            except ValueError as error:
                self.close()
                raise ReadError(
                    f"{path}: its reader gave an answer that cannot be used ({error}); leave it out"
                ) from None
        said = body[:4000].decode("utf-8", "replace")
        if kind == b"R":
            plain = "".join(sign if sign.isprintable() else " " for sign in said)
            raise ReadError(f"{path}: {plain.removeprefix(f'{path}: ')}")
        if kind == b"X":
            raise ReadError(_ended(path, int(said) if said.removeprefix("-").isdecimal() else 0))
        if kind == b"M":
            raise ReadError(
                f"{path}: needs more than {self.limits.memory} MiB of memory to be read; split it, or allow more with"
                " --max-memory"
            )
        raise ReadError(f"{path}: its reader failed ({ascii(said)[1:-1]}); the file is damaged, or a report is welcome")

    # The process

    def _start(self) -> None:
        self.close()
        environment = {
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
            **{name: os.environ[name] for name in ("TESSDATA_PREFIX",) if os.environ.get(name)},
        }
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [*self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=environment,
                start_new_session=True,  # Ctrl-C is for us; we end it
            )
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
            ready = json.loads(self._exchange(b"", _START))
            self.layers = tuple(map(str, ready["ready"]))
        except (OSError, EOFError, TimeoutError, ValueError, TypeError, KeyError) as error:
            self.close()
            raise LibraryError(
                f"the process that reads files did not start ({type(error).__name__}: {error}); check that"
                f" {self._command[0]} can be run and has enough memory (--max-memory)"
            ) from error

    def _exchange(self, request: bytes, seconds: float) -> bytes:
        """Send, and take one frame. TimeoutError, EOFError when the process ends, ValueError for nonsense."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        left, taken = memoryview(request), bytearray()
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            if left:
                ready.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                events = ready.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    raise TimeoutError
                for key, _ in events:
                    if key.fileobj is process.stdin:
                        left = left[_written(process.stdin.fileno(), left) :]
                        if not left:
                            ready.unregister(process.stdin)
                        continue
                    piece = os.read(process.stdout.fileno(), _PIECE)
                    if not piece:
                        raise EOFError
                    taken += piece
                    length = HEAD.unpack_from(taken)[0] if len(taken) >= HEAD.size else 0
                    if length > MOST_ANSWER + HEAD.size or (length and len(taken) > length + HEAD.size):
                        raise ValueError("too long")
                    if length and len(taken) == length + HEAD.size:
                        return bytes(memoryview(taken)[HEAD.size :])

    def _end(self) -> int:
        """The exit status of the process, or the signal that ended it as a negative number."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = 0
        self.close()
        return code


def _ended(path: Path, code: int) -> str:
    how = f"ended without an answer (exit status {code})"
    if code < 0:
        try:
            how = f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            how = f"was ended by signal {-code}"
    return f"{path}: its reader {how}; the file is damaged or made to do harm: leave it out"


def _written(descriptor: int, content: memoryview) -> int:
    try:
        return os.write(descriptor, content[:_PIECE])
    except BrokenPipeError:
        raise EOFError from None
