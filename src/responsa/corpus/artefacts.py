"""Index files beside the catalogue: built from versions, named by what they were built from, never changed.

An artefact is a folder whose name holds the digest of its inputs. It is written under a temporary name and
renamed when complete, so a process killed at any instant leaves either the whole artefact or none. Nothing
is lost with it: what is missing or damaged is built again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar

from responsa.corpus.catalogue import storage_errors
from responsa.errors import StorageError

MANIFEST = "manifest.json"
_BUILDING = ".building-"
_DISCARDED = ".discarded-"
_STALE = 3600  # seconds without a new file after which a build counts as killed
_ATTEMPTS = 5  # to open an artefact that a writer may delete between building and opening
# What numpy raises for a file of the right size with other bytes in it.
UNREADABLE = (ValueError, TypeError, EOFError, OverflowError, MemoryError, TokenError)

T = TypeVar("T")


@dataclass(frozen=True)
class Artefacts:
    """The folder of artefacts. Where it cannot be written, artefacts live in a temporary folder instead."""

    folder: Path
    _fallback: list[tempfile.TemporaryDirectory[str]] = field(default_factory=list, repr=False)

    def get(
        self,
        name: str,
        versions: Iterable[str],
        build: Callable[[Path], None],
        *,
        view: bool = False,
        sound: Callable[[Path], bool] | None = None,
    ) -> Path:
        """The folder of artefact ``name``; ``build`` fills a new folder where it is missing, cut short or, once whole,
        not ``sound``.

        ``versions`` are the digests of the versions it is made from. ``view`` says that it covers all versions
        in view: of such only the newest are kept. A writer may delete an artefact that it has replaced at any
        time: `opened` then asks again. StorageError where the disk is full.
        """
        target = self.folder / name
        whole = is_whole(target)
        if whole and (sound is None or sound(target)):
            return target
        inputs = {"versions": sorted(versions), "view": view}
        with storage_errors(self.folder.parent):
            try:
                return _write(self.folder, name, inputs, build, replace=whole)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
            return _write(self._temporary(), name, inputs, build)

    def opened(self, get: Callable[[], Sequence[Path]], load: Callable[[Sequence[Path]], T]) -> T:
        """What ``load`` makes of the artefacts that ``get`` returns, got again where a writer has deleted one.

        Artefacts with altered bytes are deleted and built again once. StorageError where they cannot be.
        """
        mended = False
        for _ in range(_ATTEMPTS):
            folders = get()
            try:
                return load(folders)
            except FileNotFoundError:
                continue
            except UNREADABLE as error:
                damaged = [folder for folder in folders if damage(folder)]
                if not damaged:
                    raise
                if mended:
                    raise StorageError(
                        f"{damaged[0]}: the index is damaged and cannot be built again; delete this folder"
                    ) from error
                mended = True
                for folder in damaged:
                    _discard(folder)
        return load(get())

    def _temporary(self) -> Path:
        if not self._fallback:
            self._fallback.append(tempfile.TemporaryDirectory(prefix="responsa-"))
        return Path(self._fallback[0].name)

    def close(self) -> None:
        """Delete the temporary folder, if there is one."""
        while self._fallback:
            self._fallback.pop().cleanup()

    def names(self) -> list[str]:
        """The artefacts that exist, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(entry.name for entry in self.folder.iterdir() if not entry.name.startswith("."))

    def discard_damaged(self) -> list[tuple[str, str]]:
        """Read every artefact through and delete the damaged ones; their names, and what was wrong."""
        found = []
        with storage_errors(self.folder.parent):
            for name in self.names():
                problem = damage(self.folder / name)
                if problem:
                    _delete(self.folder / name)
                    found.append((name, problem))
        return found

    def collect(self, live: set[str], keep: int = 4) -> None:
        """Delete what is no longer needed; only the holder of the write lock calls this.

        That is artefacts of versions that are not live any more, leftovers of killed builds, and, of artefacts
        that cover a view, all but the ``keep`` newest of each kind.
        """
        if not self.folder.is_dir():
            return
        views: dict[str, list[tuple[float, Path]]] = {}
        for entry in self.folder.iterdir():
            if entry.name.startswith((_BUILDING, _DISCARDED)):
                # A reader may be building, too.
                if entry.name.startswith(_DISCARDED) or time.time() - _modified(entry) > _STALE:
                    shutil.rmtree(entry, ignore_errors=True)
                continue
            manifest = about(entry)
            if manifest is None or not live.issuperset(manifest["versions"]):
                _discard(entry)
            elif manifest["view"]:
                views.setdefault(entry.name.partition("-")[0], []).append((_modified(entry), entry))
        for entries in views.values():
            for _, entry in sorted(entries, reverse=True)[keep:]:
                _discard(entry)


def _write(
    folder: Path, name: str, inputs: dict[str, object], build: Callable[[Path], None], replace: bool = False
) -> Path:
    """The artefact, built; with ``replace`` also where there is a whole one, which stays until the new one is."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    if is_whole(target) and not replace:
        return target
    building = folder / f"{_BUILDING}{secrets.token_hex(6)}"
    building.mkdir()
    try:
        _fill(building, build)
        files = {
            path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in sorted(building.iterdir())
        }
        manifest = json.dumps({"files": files, **inputs}, indent=1, sort_keys=True)
        (building / MANIFEST).write_text(manifest, encoding="utf-8")
        if target.exists() and (replace or not is_whole(target)):
            _discard(target)
        try:
            building.rename(target)
        except OSError:
            if not is_whole(target):  # else: another process was faster, with the same content
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return target


def _fill(building: Path, build: Callable[[Path], None]) -> None:
    try:
        build(building)
    except OSError as error:
        if error.errno is None:  # how numpy reports that fewer bytes were written than asked
            raise OSError(errno.ENOSPC, str(error), str(building)) from error
        raise


def _discard(folder: Path) -> None:
    """Delete an artefact where that can be done: another process may have been faster."""
    with contextlib.suppress(OSError):
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete an artefact; moved aside first, so that a process killed in between leaves no half of one."""
    aside = folder.with_name(f"{_DISCARDED}{secrets.token_hex(6)}")
    folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _modified(folder: Path) -> float:
    """When a file was last put into the folder; now, where another process has just moved it."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def is_whole(folder: Path) -> bool:
    """Whether every file of the manifest is there with its size: the cheap check made at each opening."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return all((folder / name).stat().st_size == entry["bytes"] for name, entry in manifest["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def damage(folder: Path) -> str:
    """What is wrong with an artefact, with every byte read; empty where nothing is."""
    if not is_whole(folder):
        return "a file is missing or cut short"
    manifest = json.loads((folder / MANIFEST).read_bytes())
    for name, entry in manifest["files"].items():
        if _sha256(folder / name) != entry["sha256"]:
            return f"{name} has changed since it was written"
    return ""


def about(folder: Path) -> dict[str, Any] | None:
    """An artefact's ``versions`` and whether it covers a ``view``; None where there is no manifest to tell."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return {"versions": list(manifest["versions"]), "view": bool(manifest.get("view"))}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
