"""The files that are meant by the paths given: folders are walked, what cannot be looked at never stops the rest."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from responsa.corpus import catalogue, cellar, readers
from responsa.errors import InputError


@dataclass(frozen=True)
class Found:
    """Files to read, in order; what is left out; the folders given; what is refused, with the reason; and what was
    fetched to be read after the files."""

    files: tuple[Path, ...]
    skipped: tuple[str, ...]
    folders: tuple[Path, ...]
    refused: tuple[tuple[str, str], ...] = ()
    fetched: tuple[cellar.Fetched, ...] = ()


def expand(sources: Sequence[Path], library: Path | None = None) -> Found:
    """The files below the given paths: folders are walked in name order, hidden entries left out.

    So are the folder of the ``library`` that is added to, other libraries, links to folders, and links to files that do
    not lie below the folder given. A path that cannot be looked at counts as a file: it is refused when it is read.
    """
    if not sources:
        raise InputError("nothing to add: name at least one file or folder")
    files: dict[Path, None] = {}
    skipped: list[str] = []
    folders: list[Path] = []
    refused: dict[str, str] = {}
    for source in sources:
        path = absolute(source)
        if not _is_folder(path):
            files[path] = None
            continue
        folders.append(path)
        for entry in sorted(_below(path, library)):
            if entry.kind == "refused":
                refused[printable(entry.path)] = entry.reason
            elif entry.kind == "file" and entry.path.suffix.lower() in readers.SUFFIXES:
                files[entry.path] = None
            else:
                skipped.append(printable(entry.path))
    return Found(tuple(files), tuple(skipped), tuple(folders), tuple(refused.items()))


class _Entry(NamedTuple):
    path: Path
    kind: Literal["file", "skipped", "refused"]
    reason: str = ""


def _below(top: Path, library: Path | None) -> Iterator[_Entry]:
    errors: list[OSError] = []
    for name, folders, files in os.walk(top, onerror=errors.append):
        here = Path(name)
        if catalogue.FILE in files:
            folders.clear()
            if here == top:
                yield _Entry(here, "refused", "is a library, not rules; give the files that it was made from")
            elif not _is_same(here, library):
                yield _Entry(here, "skipped")
            continue
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        for folder in list(folders):
            if _is_link(here / folder):
                folders.remove(folder)
                yield _Entry(here / folder, "skipped")
        for file in files:
            if not file.startswith((".", "~$")):  # Word keeps "~$name.docx" beside an open file
                yield _Entry(here / file, "skipped" if _leads_out(here / file, top) else "file")
    for error in errors:
        reason = f"the folder cannot be read: {error.strerror}; check its permissions"
        yield _Entry(Path(error.filename), "refused", reason)


def _is_link(folder: Path) -> bool:
    try:
        return folder.is_symlink()
    except OSError:  # it cannot be walked either, which is reported then
        return False


def _leads_out(file: Path, top: Path) -> bool:
    """Whether a file is a link to one that does not lie below the folder given."""
    try:
        return file.is_symlink() and not file.resolve().is_relative_to(top.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links in a circle; reading tells what is wrong
        return False


def _is_same(folder: Path, library: Path | None) -> bool:
    try:
        return library is not None and folder.samefile(library)
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False


def vanished(path: str) -> bool:
    """Whether there is no such file. One that cannot be looked at may still be there, and so is what was fetched."""
    if cellar.is_source(path):
        return False
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def absolute(path: Path) -> Path:
    """The path from the root, without ``..``: one file has one name, however it was given."""
    return Path(os.path.normpath(path.absolute()))


def printable(path: Path) -> str:
    """The path as text that can be stored and printed: bytes of it that are not UTF-8 are escaped."""
    return storable(str(path))


def storable(name: str) -> str:
    """The same for any text from the command line."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
