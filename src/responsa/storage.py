"""Writing files so that a reader never finds half of one."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path

from responsa.errors import InputError, StorageError


def write_json(value: object, path: Path) -> None:
    """JSON, indented, ending in a newline."""
    write_text(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n", path)


def write_text(text: str, path: Path) -> None:
    """UTF-8 text to a temporary file beside ``path``, forced to disk, then moved there in one step.

    An existing file is replaced or left whole. StorageError where the disk refuses.
    """
    check_target(path)
    temporary = path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}"
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: cannot be written: {text[error.start]!r} is not a character") from error
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; free some space or choose another folder"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def check_target(path: Path) -> None:
    """InputError where ``path`` is no place for a file; called before long work too."""
    try:
        taken, folder = path.exists() and not path.is_file(), path.parent.is_dir()
    except OSError as error:  # the name is too long, or a folder above may not be read
        raise InputError(f"{path}: cannot be written: {error.strerror}; choose another path") from error
    if taken:
        raise InputError(f"{path} is not a file; give the path of the file to write")
    if not folder:
        raise InputError(f"{path}: there is no folder {str(path.parent)!r}; create it first")
