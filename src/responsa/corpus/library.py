"""A library on disk: what was added, from where, in which versions.

library/
  catalogue.sqlite     documents, versions, passages, saved answers
  artefacts/           indexes, each built from versions and named by their digests
  .lock                held by the one process that writes
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from filelock import FileLock, Timeout

from responsa.corpus import catalogue, cellar, intake, listing
from responsa.corpus.artefacts import Artefacts
from responsa.corpus.limits import Limits
from responsa.corpus.view import Corpus, open_view
from responsa.errors import LibraryBusy, LibraryError, NotFound, suggestion
from responsa.types import Version

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class DocumentState:
    """One version of a document as the catalogue lists it. ``current`` is what is read when no date is given."""

    version: Version
    source: str
    passages: int
    current: bool
    live: bool


@dataclass(frozen=True)
class Library:
    """An open library. Reading needs no lock; `add` and `remove` hold the write lock."""

    folder: Path
    db: sqlite3.Connection = field(repr=False)
    artefacts: Artefacts = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> Library:
        """Open for reading. NotALibrary where there is none."""
        return cls(folder, catalogue.connect(folder, writable=False), Artefacts(folder / "artefacts"))

    def close(self) -> None:
        """Close the catalogue; corpora opened from it end too."""
        self.db.close()
        self.artefacts.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def corpus(self, as_of: date | None = None) -> Corpus:
        """What is in force at a date; without one, the newest version of each document."""
        with catalogue.storage_errors(self.folder):
            return open_view(self.db, self.artefacts, as_of)

    def version(self, digest_prefix: str) -> Corpus:
        """A corpus of one version, also of one that has been replaced, named by the first characters of its digest.

        NotFound where there is none of that digest, or several.
        """
        query = f"SELECT v.id, {catalogue.VERSION_COLUMNS} FROM versions v WHERE substr(digest, 1, ?) = ? ORDER BY v.id"
        with catalogue.storage_errors(self.folder):
            rows = self.db.execute(query, (len(digest_prefix), digest_prefix)).fetchall() if digest_prefix else []
        if not rows:
            raise NotFound(f"no version {digest_prefix!r} in {self.folder}; responsa documents lists them")
        if len(rows) > 1:
            several = ", ".join(f"{row[2][: len(digest_prefix) + 8]} of {row[1]}" for row in rows[:5])
            raise NotFound(f"version {digest_prefix!r} may be one of several: {several}; give more of its characters")
        version = catalogue.version_of(rows[0][1:])
        return Corpus(self.db, (rows[0][0],), (version,), (), self.artefacts)

    def documents(self) -> list[DocumentState]:
        """Every version of every document, by document id, then the earliest first."""
        query = (
            f"SELECT {catalogue.VERSION_COLUMNS}, coalesce(s.path, ''), v.current, v.live,"
            " (SELECT count(*) FROM passages p WHERE p.version_id = v.id)"
            " FROM versions v LEFT JOIN sources s ON s.id = v.source_id"
            " ORDER BY v.document_id, coalesce(v.valid_from, ''), v.id"
        )
        with catalogue.storage_errors(self.folder):
            return [
                DocumentState(catalogue.version_of(row[:5]), row[5], row[8], bool(row[6]), bool(row[7]))
                for row in self.db.execute(query)
            ]

    def document_id(self, name: str) -> str:
        """The id of the document with that id or short name: ``CRR`` of "CRR — Regulation (EU) No 575/2013". The name
        itself where no document, or more than one, has it."""
        with catalogue.storage_errors(self.folder):
            titles = dict(self.db.execute("SELECT document_id, title FROM versions ORDER BY id"))
        short = [each for each, title in titles.items() if title.partition(" — ")[0].casefold() == name.casefold()]
        return short[0] if name not in titles and len(short) == 1 else name


@contextlib.contextmanager
def writer(folder: Path, wait: float = 10.0, waiting: Callable[[], None] | None = None) -> Iterator[sqlite3.Connection]:
    """The write lock and one transaction: committed at the end, or nothing of it happens.

    A second writer waits up to ``wait`` seconds (``waiting`` is called once before), then LibraryBusy.
    """
    with catalogue.storage_errors(folder):
        catalogue.refuse_strangers(folder)
        catalogue.make_folder(folder)
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if waiting:
                waiting()
            try:
                lock.acquire(timeout=wait)
            except Timeout:
                raise LibraryBusy(
                    f"{folder}: another process is adding to the library; waited {wait:.0f} seconds: try again later"
                ) from None
        try:
            if not catalogue.exists(folder):
                catalogue.create(folder)
            with contextlib.closing(catalogue.connect(folder, writable=True)) as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
        finally:
            lock.release()


def add(
    folder: Path,
    sources: Sequence[Path],
    prepare: Callable[[Corpus], None],
    progress: Progress | None = None,
    waiting: Callable[[], None] | None = None,
    limits: Limits | None = None,
    offline: bool = False,
) -> intake.AddReport:
    """Read files, folders of files and acts (``celex:...``, fetched first) into the library, made where there is none.

    ``prepare`` builds the indexes for the new state before it becomes visible. Files that cannot be read or
    cost more than the ``limits`` are refused one by one and listed in the report; the others go in. Ctrl-C
    stops after the file at hand: what was read until then is kept. While the indexes are built, it leaves them
    to the next search. ``offline``, acts are taken from the cache. NotFound where none of the files given exists,
    and no library either.
    """
    found = _found(folder, sources, cellar.Cellar(limits or Limits(), offline, progress))
    _refuse_nothing(folder, found)
    artefacts = Artefacts(folder / "artefacts")
    changed = True
    try:
        with writer(folder, waiting=waiting) as db:
            report = intake.take(db, found, progress, limits)
            changed = report.changed_anything
            if changed:
                try:
                    prepare(open_view(db, artefacts, None))
                except KeyboardInterrupt:
                    report = replace(report, interrupted=True)
    finally:
        if changed:
            _tidy(folder, artefacts)
    return report


def _refuse_nothing(folder: Path, found: listing.Found) -> None:
    """NotFound where there is no library yet and none of the files given exists: a slip must not make an empty one."""
    if catalogue.exists(folder) or found.fetched or found.refused or found.folders or not found.files:
        return
    if not any(os.path.lexists(path) for path in found.files):
        missing = ", ".join(listing.printable(path) for path in found.files)
        raise NotFound(f"{missing}: no such file or folder; nothing was added and no library made in {folder}")


def _found(folder: Path, sources: Sequence[Path], store: cellar.Cellar) -> listing.Found:
    acts = [str(source) for source in sources if cellar.is_source(str(source))]
    files = [source for source in sources if not cellar.is_source(str(source))]
    found = listing.expand(files, folder) if files or not acts else listing.Found((), (), ())
    if not acts:
        return found
    fetched, failed = store.acts(acts)
    refused = [(listing.storable(name), reason) for name, reason in failed]
    return replace(found, fetched=tuple(fetched), refused=(*found.refused, *refused))


def remove(folder: Path, name: str, prepare: Callable[[Corpus], None]) -> tuple[str, ...]:
    """Take out a document, all versions of it, or what a source holds and no other does.

    ``name`` is a document id or the path of a source. Returns the ids of the documents concerned. NotFound, with
    a suggestion, where there is none.
    """
    catalogue.connect(folder, writable=False).close()
    artefacts = Artefacts(folder / "artefacts")
    try:
        with writer(folder) as db:
            removed = intake.remove(db, name)
            if not removed:
                known = [row[0] for row in db.execute("SELECT DISTINCT document_id FROM versions")]
                raise NotFound(f"no document or source {name!r} in {folder}{suggestion(name, known)}")
            prepare(open_view(db, artefacts, None))
    finally:
        _tidy(folder, artefacts)
    return removed


def _tidy(folder: Path, artefacts: Artefacts) -> None:
    """Delete artefacts that the committed state does not need, unless the next writer is already at work.

    Also after a failure, which may have been a full disk: what was built for a state that never came is in the way.
    """
    with (
        contextlib.suppress(LibraryError, OSError, Timeout),
        Library.open(folder) as library,
        FileLock(folder / ".lock", timeout=0),
    ):
        artefacts.collect({row[0] for row in library.db.execute("SELECT digest FROM versions WHERE live = 1")})
