"""Writing files so that a reader never finds half of one, and reading those that a user names."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from responsa.errors import InputError, StorageError

# Streams of the process by their names: opened anew they would be truncated where they are redirected to a file.
_STREAM = re.compile(r"/(?:dev|proc/self)/fd/([12])")
_STREAMS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}


def read_text(path: Path) -> str:
    """The UTF-8 text of a file, without a byte order mark. InputError where it cannot be read or is no such text."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error


def read_json_lines(path: Path) -> Iterator[tuple[str, object]]:
    """(place, value) of each line that is not blank; the place, file and line, is for errors. InputError as from
    `read_text`, and for a line that is not JSON."""
    for number, line in enumerate(read_text(path).split("\n"), 1):  # not splitlines: JSON may hold U+2028 and its like
        if line.strip():
            place = f"{path}: line {number}"
            yield place, parse_json(line, place)


def parse_json(text: str, place: str) -> object:
    """The value of a JSON text. InputError, with the place, where it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
        raise InputError(f"{place}: not valid JSON: {error}") from error
    return value


def write_json(value: object, path: Path) -> None:
    """JSON, indented, ending in a newline."""
    write_text(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n", path)


def write_text(text: str, path: Path) -> None:
    """UTF-8 text to a temporary file beside ``path``, forced to disk, then moved there in one step.

    An existing file is replaced or left whole, and its mode is kept; of a symbolic link the target is replaced.
    ``-`` is standard output; that, a pipe and a device are written to directly. StorageError where the disk refuses.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        check_target(path)
        raise InputError(f"{path}: cannot be written: {text[error.start]!r} is not a character") from error
    write_bytes(data, path)


def write_bytes(data: bytes, path: Path) -> None:
    """Bytes, in the way of `write_text`."""
    check_target(path)
    try:
        if _stream(path) or _is_channel(path):
            _pour(data, path)
        else:
            _replace(data, Path(os.path.realpath(path)))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; free some space or choose another folder"
        ) from error


def check_target(path: Path, inputs: Iterable[Path] = ()) -> None:
    """InputError where ``path`` is no place for a file, or is one of ``inputs``; called before long work too."""
    if _stream(path):
        return
    try:
        mode = _mode(path)
        folder = Path(os.path.realpath(path)).parent.is_dir()
    except OSError as error:  # the name is too long, or a folder above may not be read
        raise InputError(f"{path}: cannot be written: {error.strerror}; choose another path") from error
    if mode is not None and not (stat.S_ISREG(mode) or _is_channel(path)):
        raise InputError(f"{path} is not a file; give the path of the file to write")
    if not folder:
        raise InputError(f"{path}: there is no folder {str(path.parent)!r}; create it first")
    for each in inputs:
        with contextlib.suppress(OSError):
            if path.samefile(each):
                raise InputError(f"{path}: is {each} itself, which is read; name another file to write")


def check_targets(paths: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """`check_target` of each path that is given; InputError too where two are the same file."""
    read, seen = [path for path in inputs if path], dict[str, Path]()
    for path in filter(None, paths):
        check_target(path, read)
        place = os.path.realpath(path)
        if place in seen and not (_stream(path) or _is_channel(path)):
            raise InputError(f"{path}: is named for two results; name a file for each")
        seen[place] = path


def _stream(path: Path) -> int:
    """The number of the standard stream that the path names; 0 for any other path."""
    match = _STREAM.fullmatch(str(path))
    return int(match[1]) if match else _STREAMS.get(str(path), 0)


def _mode(path: Path) -> int | None:
    """Kind and permissions of what is at the path, links followed; None where there is nothing."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_channel(path: Path) -> bool:
    mode = _mode(path)
    return mode is not None and (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode))


def _pour(data: bytes, path: Path) -> None:
    stream = {1: sys.stdout, 2: sys.stderr}.get(_stream(path))
    if stream:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    else:
        with path.open("wb") as file:
            file.write(data)


def _replace(data: bytes, path: Path) -> None:
    mode = _mode(path)
    temporary = path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}"
    try:
        with temporary.open("xb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
