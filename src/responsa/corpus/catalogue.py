"""The catalogue: one SQLite file in WAL mode, so that readers never wait for the writer.

Passages belong to versions, and versions are never changed once written: a reader that holds a version
sees the same text however long it reads. Only `live` and `current` of a version move.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

from responsa.errors import LibraryBusy, LibraryTooNew, NotALibrary, StorageError
from responsa.types import Box, Edition, Passage, Version

FILE = "catalogue.sqlite"
_LONGEST = 120  # characters of a path that an error shows
APPLICATION_ID = 0x52534130  # "RSA0": tells a Responsa catalogue from any other SQLite file
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE sources (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL, read_at TEXT NOT NULL);
CREATE TABLE versions (
  id INTEGER PRIMARY KEY, document_id TEXT NOT NULL, digest TEXT NOT NULL, title TEXT NOT NULL,
  valid_from TEXT, valid_to TEXT, added_at TEXT NOT NULL,
  source_id INTEGER REFERENCES sources(id) ON DELETE SET NULL,
  live INTEGER NOT NULL,      -- 1: as its source says today; 0: replaced, kept for citations
  current INTEGER NOT NULL);  -- 1: what is read when no date is given
CREATE UNIQUE INDEX versions_identity ON versions(document_id, digest);
CREATE TABLE holdings (       -- what each source held when it was last read; two may hold the same
  source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
  version_id INTEGER NOT NULL REFERENCES versions(id) ON DELETE CASCADE,
  PRIMARY KEY (source_id, version_id)) WITHOUT ROWID;
CREATE INDEX holdings_version ON holdings(version_id);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL REFERENCES versions(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL, passage_id TEXT NOT NULL, parent_id TEXT, number TEXT NOT NULL,
  title TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, path TEXT NOT NULL,
  page INTEGER, boxes TEXT NOT NULL, flags TEXT NOT NULL);
CREATE UNIQUE INDEX passages_identity ON passages(passage_id, version_id);
CREATE UNIQUE INDEX passages_order ON passages(version_id, ordinal);
CREATE INDEX passages_number ON passages(version_id, number);
CREATE INDEX passages_parent ON passages(version_id, parent_id);
CREATE TABLE answers (
  id INTEGER PRIMARY KEY, asked_at TEXT NOT NULL, question TEXT NOT NULL, as_of TEXT, recipe TEXT NOT NULL,
  text TEXT NOT NULL);
CREATE TABLE citations (
  answer_id INTEGER NOT NULL REFERENCES answers(id) ON DELETE CASCADE, ordinal INTEGER NOT NULL,
  document_id TEXT NOT NULL, passage_id TEXT NOT NULL, number TEXT NOT NULL, version TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, answer_start INTEGER NOT NULL, answer_end INTEGER NOT NULL,
  quote TEXT NOT NULL, PRIMARY KEY (answer_id, ordinal)) WITHOUT ROWID;
"""

_HEAD = b"SQLite format 3\0"
_MEND = "restore it from a copy or add the sources anew"


def current_of(document: str) -> str:
    """SQL that selects the version of a document that is read when no date is given."""
    return (
        f"SELECT w.id FROM versions w WHERE w.document_id = {document} AND w.live = 1"
        " ORDER BY coalesce(w.valid_from, '') DESC, w.id DESC LIMIT 1"
    )


@contextlib.contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system say about the library's folder into our own errors."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_FULL:
            raise StorageError(
                f"{folder}: the disk is full; the library is as it was before: free some space"
            ) from error
        if code is not None and code & 0xFF == sqlite3.SQLITE_READONLY:
            raise StorageError(
                f"{folder}: the library cannot be written: the folder or its files are read-only"
            ) from error
        if code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LibraryBusy(
                f"{folder}: another process is writing to the library; try again when it is done"
            ) from error
        if _is_damage(error, code):
            if _immutable(folder):
                raise StorageError(
                    f"{folder / FILE}: cannot be read ({error}): the library is being changed by another user; try"
                    f" again, and if it stays so, {_MEND}"
                ) from error
            raise StorageError(f"{folder / FILE}: damaged ({error}); {_MEND}") from error
        if code is not None and code & 0xFF == sqlite3.SQLITE_IOERR:
            raise StorageError(
                f"{folder}: the disk does not take or give what it should ({error}); the library is as it was before: "
                "see whether the disk is full"
            ) from error
        if code is not None and code & 0xFF == sqlite3.SQLITE_CANTOPEN:
            raise StorageError(f"{folder / FILE}: cannot be opened ({error})") from error
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(
                f"{folder}: the disk is full; the library is as it was before: free some space"
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EIO):
            raise StorageError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
        raise


def _is_damage(error: sqlite3.DatabaseError, code: int | None) -> bool:
    if code is None:  # Python's own: a text in the file is not UTF-8
        return str(error).startswith("Could not decode")
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or code == sqlite3.SQLITE_IOERR_SHORT_READ


def _immutable(folder: Path) -> bool:
    """Whether the catalogue is opened as a file that nobody changes.

    On read-only media SQLite cannot make the shared-memory file that WAL readers use. Without a pending
    write-ahead log the file is complete in itself and can be read as it is.
    """
    log = folder / (FILE + "-wal")
    return not os.access(folder, os.W_OK) and not (log.exists() and log.stat().st_size)


def refuse_strangers(folder: Path) -> None:
    """NotALibrary where a library cannot be made: a file, or a folder that holds something else."""
    there = is_there(folder)
    if folder.exists() and not folder.is_dir():
        raise NotALibrary(f"{folder}: is a file; a library is a folder")
    if there or not folder.exists():
        return
    strangers = sorted(entry.name for entry in folder.iterdir() if entry.name != ".lock")
    if strangers:
        raise NotALibrary(
            f"{folder}: is not empty and holds no library (found {strangers[0]!r}); name another folder with --library"
        )


def create(folder: Path) -> None:
    """A new, empty catalogue."""
    with storage_errors(folder), contextlib.closing(sqlite3.connect(folder / FILE, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        # One transaction: a process killed in here leaves no half-made schema.
        db.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )


def is_there(folder: Path) -> bool:
    """Whether the folder has the file of a catalogue. StorageError for what can be no folder."""
    try:
        return (folder / FILE).is_file()
    except OSError as error:
        raise _no_folder(folder, error) from error


def make_folder(folder: Path) -> None:
    """Make the folder of a library, and those above it. StorageError where there can be none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError, NotADirectoryError) as error:
        raise _no_folder(folder, error) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL):
            raise _no_folder(folder, error) from error
        raise


def _no_folder(folder: Path, error: OSError) -> StorageError:
    shown = str(folder) if len(str(folder)) <= _LONGEST else f"{str(folder)[:_LONGEST]}..."
    return StorageError(f"{shown}: cannot be a library ({error.strerror}); name another folder with --library DIR")


def exists(folder: Path) -> bool:
    """Whether the folder has a catalogue with a finished schema."""
    if not is_there(folder):
        return False
    with storage_errors(folder), contextlib.closing(_open(folder, writable=False)) as db:
        return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def connect(folder: Path, *, writable: bool) -> sqlite3.Connection:
    """A connection to an existing catalogue, its kind and schema version checked."""
    if not is_there(folder):
        raise NotALibrary(
            f"{folder}: no library here; name one with --library DIR, "
            f"or make it with: responsa --library {folder} add SOURCE"
        )
    with storage_errors(folder):
        db = _open(folder, writable=writable)
        try:
            _check_kind(db, folder)
        except BaseException:
            db.close()
            raise
        return db


def _open(folder: Path, *, writable: bool) -> sqlite3.Connection:
    uri = (folder / FILE).resolve().as_uri()
    if not writable:
        uri += "?mode=ro&immutable=1" if _immutable(folder) else "?mode=ro"
    with (folder / FILE).open("rb") as file:
        head = file.read(len(_HEAD))
    if head not in (_HEAD, b""):  # a very short file SQLite would take for an empty one, and overwrite
        raise StorageError(f"{folder / FILE}: damaged (not a database); {_MEND}")
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10, check_same_thread=False)
    db.execute("PRAGMA foreign_keys = ON")
    if writable:
        db.execute("PRAGMA synchronous = FULL")
    return db


def _check_kind(db: sqlite3.Connection, folder: Path) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise NotALibrary(f"{folder / FILE}: not a Responsa catalogue (application id {application:#x})")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise LibraryTooNew(
            f"{folder}: written by a later Responsa (schema {version}, this one reads {SCHEMA_VERSION}); "
            "upgrade Responsa"
        )


# Rows to values and back.

PASSAGE_COLUMNS = (
    "p.passage_id, v.document_id, p.number, p.text, p.title, p.parent_id, p.path, p.kind, p.page, p.boxes, p.flags"
)
PassageRow = tuple[str, str, str, str, str, str | None, str, str, int | None, str, str]
VERSION_COLUMNS = "v.document_id, v.digest, v.title, v.valid_from, v.valid_to"


def passage_of(row: PassageRow) -> Passage:
    """The passage in a row of `PASSAGE_COLUMNS`."""
    passage_id, document_id, number, text, title, parent_id, path, kind, page, boxes, flags = row
    return Passage(
        passage_id, document_id, number, text, title, parent_id,
        tuple(json.loads(path)) if path != "[]" else (),
        kind,  # type: ignore[arg-type]
        page,
        tuple(Box(*box) for box in json.loads(boxes)) if boxes != "[]" else (),
        tuple(json.loads(flags)) if flags != "[]" else (),
    )  # fmt: skip


def version_of(row: tuple[str, str, str, str | None, str | None]) -> Version:
    """The version in a row of `VERSION_COLUMNS`."""
    document_id, digest, title, valid_from, valid_to = row
    return Version(document_id, digest, title, _date(valid_from), _date(valid_to))


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def insert_passages(db: sqlite3.Connection, version_id: int, passages: Iterable[Passage]) -> None:
    """The passages of a new version, in reading order."""
    db.executemany(
        "INSERT INTO passages"
        " (version_id, ordinal, passage_id, parent_id, number, title, kind, text, path, page, boxes, flags)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                version_id, ordinal, passage.id, passage.parent_id, passage.number, passage.title, passage.kind,
                passage.text, _compact(list(passage.path)), passage.page,
                _compact([[box.page, box.x0, box.y0, box.x1, box.y1] for box in passage.boxes]),
                _compact(list(passage.flags)),
            )
            for ordinal, passage in enumerate(passages)
        ),
    )  # fmt: skip


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else "[]"


def canonical(edition: Edition) -> list[object]:
    """What an edition's digest is taken over: everything that is stored, in reading order."""
    return [
        edition.document_id, edition.title, edition.valid_from and edition.valid_from.isoformat(),
        edition.valid_to and edition.valid_to.isoformat(),
        [
            [p.id, p.number, p.text, p.title, p.parent_id, list(p.path), p.kind, p.page,
             [[b.page, b.x0, b.y0, b.x1, b.y1] for b in p.boxes], list(p.flags)]
            for p in edition.passages
        ],
    ]  # fmt: skip
