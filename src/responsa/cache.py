"""What models answered, kept by content: vectors, scores of pairs, chat replies. One SQLite file.

A cache may always be deleted. It never breaks the work: where the file is damaged, cannot be written or is
not ours, that is said once and the work goes on without it. Failures are never stored.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from responsa.errors import InputError
from responsa.text import digest

APPLICATION_ID = 0x52534331  # "RSC1": tells our cache from any other SQLite file
SCHEMA_VERSION = 1
LIMIT = 2 << 30  # bytes; 13,000 passages in 3,072 dimensions are 0.16 GB

_SCHEMA = """
CREATE TABLE entries (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL,
  sum INTEGER NOT NULL,    -- crc32 of the value: SQLite does not notice a flipped bit
  stored INTEGER NOT NULL) -- seconds since 1970, for people who look inside
"""
_CHUNK = 500  # keys in one statement; older builds of SQLite allow 999


def key(kind: str, version: int, fields: Mapping[str, object]) -> str:
    """The name of an answer: sha256 of the canonical JSON of ``[kind, version, fields]``.

    ``fields`` holds everything that changes the answer (model and its settings, text, role, number of the
    repetition) and nothing else (no batch size, time-out or number of threads, and never a secret).
    ``version`` is raised when the code that makes the answer changes what it means.
    """
    return digest([kind, version, dict(fields)])


def pack(numbers: npt.ArrayLike) -> bytes:
    """Numbers as 32-bit floats, little-endian."""
    return np.asarray(numbers, dtype="<f4").tobytes()


def unpack(value: bytes) -> npt.NDArray[np.float32] | None:
    """What `pack` wrote; None for anything that is not a row of finite 32-bit floats."""
    if not value or len(value) % 4:
        return None
    numbers = np.frombuffer(value, dtype="<f4").astype(np.float32)
    return numbers if np.isfinite(numbers).all() else None


def default_path() -> Path:
    """Where the cache lies if nobody says otherwise: ``$XDG_CACHE_HOME`` or ``~/.cache``, read at each call."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:
        raise InputError("there is no home folder for the cache; set XDG_CACHE_HOME to a folder") from error
    return folder / "responsa" / "models.sqlite"


def shared() -> Cache:
    """The cache of this machine: one object for each file, so that what is wrong with it is said once."""
    return _at(default_path())


@lru_cache(maxsize=4)
def _at(path: Path) -> Cache:
    return Cache(path)


def _to_stderr(message: str) -> None:
    print(message, file=sys.stderr)  # noqa: T201


@dataclass
class _State:
    """What a cache has learnt while it ran. ``reading`` and ``writing`` turn False for good."""

    reading: bool = True
    writing: bool = True
    warned: bool = False
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True)
class Cache:
    """Answers by key, in the file ``path``, which is made at the first `put_many`.

    Safe for threads and processes: each call opens the file for itself. When it grows past ``limit`` bytes,
    the oldest answers go. ``warn`` is called at most once, with one line that says what to do.
    """

    path: Path
    limit: int = LIMIT
    warn: Callable[[str], None] = field(default=_to_stderr, repr=False, compare=False)
    _state: _State = field(default_factory=_State, init=False, repr=False, compare=False)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The answers that are there, by key; the others are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        if not wanted or not self._state.reading:
            return found
        with self._forgiving(reading=True), self._open() as db:
            if db is None:
                return found
            for first in range(0, len(wanted), _CHUNK):
                chunk = wanted[first : first + _CHUNK]
                marks = ",".join("?" * len(chunk))
                rows = db.execute(f"SELECT key, value, sum FROM entries WHERE key IN ({marks})", chunk)
                found.update((name, value) for name, value, check in rows if _sound(value, check))
        return found

    def put_many(self, answers: Mapping[str, bytes]) -> None:
        """Store answers, replacing those of the same key; all of them or none."""
        if not answers or not self._state.writing:
            return
        now = int(time.time())
        rows = [(name, value, zlib.crc32(value), now) for name, value in answers.items()]
        with self._forgiving(reading=False), self._create() as db:
            with _transaction(db):
                db.executemany("INSERT OR REPLACE INTO entries (key, value, sum, stored) VALUES (?, ?, ?, ?)", rows)
            if _size(db) > self.limit:
                _shrink(db, self.limit * 9 // 10)  # some air, so that not every write has to make room

    def drop_many(self, keys: Iterable[str]) -> None:
        """Forget answers, such as those that turned out to be of no use; unknown keys are passed over."""
        wanted = [(name,) for name in dict.fromkeys(keys)]
        if wanted and self._state.writing:
            with self._forgiving(reading=False), self._open() as db:
                if db is not None:
                    with _transaction(db):
                        db.executemany("DELETE FROM entries WHERE key = ?", wanted)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """A connection to the file; None where nothing was stored yet."""
        if not self.path.exists():
            yield None
            return
        with contextlib.closing(sqlite3.connect(self.path, timeout=20, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous = NORMAL")
            yield None if _blank(db) else _ours(db)

    @contextlib.contextmanager
    def _create(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file, which is made where there is none; one process makes it."""
        with self._open() as db:
            ready = db is not None
        if not ready:
            self._make()
        with self._open() as db:
            if db is None:  # somebody deleted it this very moment
                raise sqlite3.OperationalError("the file went away")
            yield db

    def _make(self) -> None:
        from filelock import FileLock

        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(f"{self.path}.lock", timeout=20):
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # replies may be confidential
            with contextlib.closing(sqlite3.connect(self.path, timeout=20, isolation_level=None)) as db:
                if not _blank(db):
                    return
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
                db.execute("PRAGMA journal_mode = WAL")
                with _transaction(db):
                    db.execute(_SCHEMA)
                    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextlib.contextmanager
    def _forgiving(self, *, reading: bool) -> Iterator[None]:
        """Go on without the cache after an error: for this call where another process holds the file,
        else for good."""
        try:
            yield
        except (sqlite3.Error, OSError, _NotOurs) as error:
            state, code = self._state, getattr(error, "sqlite_errorcode", None) or 0
            with state.lock:
                if code & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    state.writing = False
                    state.reading = state.reading and not reading and not isinstance(error, _NotOurs)
                warned, state.warned = state.warned, True
            if not warned:
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                self.warn(
                    f"responsa: the cache {self.path} cannot be used ({reason}); going on without it: "
                    "what models answer may be asked, and paid for, again. Delete the file or name another"
                )


class _NotOurs(Exception):
    """The file is no cache of this version."""


def _blank(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def _ours(db: sqlite3.Connection) -> sqlite3.Connection:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise _NotOurs("it is not a cache of Responsa")
    if version != SCHEMA_VERSION:
        raise _NotOurs(f"it was written by another version of Responsa: schema {version}, not {SCHEMA_VERSION}")
    return db


def _sound(value: object, check: object) -> bool:
    return isinstance(value, bytes) and zlib.crc32(value) == check


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _size(db: sqlite3.Connection) -> int:
    """Bytes of the pages in use."""
    pages, free, page = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * page)


def _shrink(db: sqlite3.Connection, size: int) -> int:
    """Drop the oldest entries until the file is no larger than ``size`` or is empty; the number dropped."""
    dropped = 0
    while (used := _size(db)) > size:
        with _transaction(db):
            (count,) = db.execute("SELECT count(*) FROM entries").fetchone()
            share = max(1, count * (used - size) // used)
            gone = db.execute("DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT ?)", (share,))
        if not gone.rowcount:
            break
        dropped += gone.rowcount
    db.executescript("PRAGMA incremental_vacuum")  # gives the free pages back to the disk; execute would give one
    return dropped
