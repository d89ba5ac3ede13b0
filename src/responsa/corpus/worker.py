"""The process that reads untrusted files: ``python -m responsa.corpus.worker LIMITS``, started by `sandbox` alone.

It takes frames on standard input, a name and then the content of a file of that name, and answers each pair with one
frame on standard output. In the place of a name there may be an order for pictures of pages (`drawing`). It looks at no
content itself: for each file it makes a copy of itself (a fork, a few milliseconds, with the libraries loaded), which
locks itself in, reads this one file, answers and ends. So a file that takes its reader over cannot touch what is said
of another. What a frame is says `frame`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO, NoReturn

from responsa.corpus import lockdown, pictures, readers, wire
from responsa.corpus.limits import MIB, Limits, allowed
from responsa.errors import InputError, ReadError

HEAD = struct.Struct(">Q")
MOST_ANSWER = 1024 * MIB
# What readers import when they need it: loaded before the process locks itself in.
_LIBRARIES = ("lxml.etree", "pypdfium2")
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts", "/dev/null", "/dev/urandom")


def frame(content: bytes) -> bytes:
    """The length in eight bytes, most significant first, and the content."""
    return HEAD.pack(len(content)) + content


def drawing(sought: pictures.Sought) -> bytes:
    """The order for pictures of a PDF's pages. It begins with NUL, as no name of a file does."""
    return b"\0" + json.dumps(sorted((page, list(texts)) for page, texts in sought.items())).encode()


def main() -> None:
    """Serve until the input ends."""
    source, answers = _own_pipes()
    limits = Limits(**json.loads(sys.argv[1]))
    for name in (*_LIBRARIES, *(("tesserocr",) if limits.ocr else ())):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    readers.load()
    lockdown.end_with_parent()
    allowed.set(limits)
    gc.freeze()  # so that the copies share what is there

    def apart(job: Callable[[tuple[str, ...]], bytes]) -> None:
        content = frame(_apart(job, limits, (source.fileno(), answers.fileno())))
        answers.write(content)
        answers.flush()

    apart(lambda layers: json.dumps({"ready": layers}).encode())
    while (said := _take(source)) is not None and (content := _take(source)) is not None:
        apart(partial(_answer, content, said.decode("utf-8", "replace")))


def _apart(job: Callable[[tuple[str, ...]], bytes], limits: Limits, not_for_it: tuple[int, ...]) -> bytes:
    """What a job gives, done by a copy of this process that is locked in and then ends.

    ``X`` and the exit status, or the signal as a negative number, where it ends without an answer.
    """
    result, own = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for descriptor in (result, *not_for_it):
                os.close(descriptor)
            left = memoryview(job(_locked(limits)))
            while left:
                left = left[os.write(own, left) :]
            status = 0
        finally:
            os._exit(status)
    os.close(own)
    with os.fdopen(result, "rb") as file:
        content = file.read(MOST_ANSWER + 1)
    if len(content) > MOST_ANSWER:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return content if code == 0 and content else b"X%d" % code


def _locked(limits: Limits) -> tuple[str, ...]:
    """Lock this process in; returns the names of the layers that hold."""
    bounded = lockdown.limit(limits)
    lockdown.limit_time(limits.seconds)
    return (*(("limits",) if bounded else ()), *lockdown.lock(_readable()))


def _answer(content: bytes, name: str, _: tuple[str, ...]) -> bytes:
    """``E`` and the editions, ``P`` and the pictures, ``R`` and why it was refused, ``M`` for no memory, ``F`` and what
    failed."""
    try:
        if name.startswith("\0"):
            return b"P" + pictures.dumps(_pictures(content, dict(json.loads(name[1:]))))
        return b"E" + wire.dumps(readers.read_bytes(content, name))
    except InputError as error:
        return b"R" + str(error).encode("utf-8", "backslashreplace")
    except MemoryError:
        return b"M"
    except Exception as error:  # whatever a library makes of a damaged file, it costs this file only
        return b"F" + f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace")[:1000]


def _pictures(content: bytes, sought: pictures.Sought) -> Iterable[pictures.Picture]:
    from responsa.corpus.readers import pdf_pictures

    def fail(problem: str) -> NoReturn:
        raise ReadError(problem)

    return pdf_pictures.pictures(content, sought, fail)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes for this module alone: what libraries print goes nowhere."""
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    return source, answers


def _readable() -> list[Path]:
    """Where the interpreter and its libraries lie: data files of libraries are read when they are needed."""
    packages = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    own = Path(__file__).resolve().parents[1]
    languages = os.environ.get("TESSDATA_PREFIX", "")
    places = [*_SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix, *packages, str(own), languages]
    return [Path(place) for place in dict.fromkeys(places) if place and place != "/"]


def _take(source: BinaryIO) -> bytes | None:
    head = source.read(HEAD.size)
    return source.read(HEAD.unpack(head)[0]) if len(head) == HEAD.size else None


if __name__ == "__main__":
    main()
