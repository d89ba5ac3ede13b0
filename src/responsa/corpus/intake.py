"""Taking files into the catalogue: what is new, what has changed, what stays, what is refused."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from responsa.corpus import catalogue, cellar
from responsa.corpus.limits import Limits
from responsa.corpus.listing import Found, absolute, printable, storable, vanished
from responsa.corpus.readers.notices import notices
from responsa.corpus.readers.pdf_passages import SCANNED
from responsa.corpus.sandbox import Sandbox
from responsa.errors import InputError, ReadError
from responsa.text import digest
from responsa.types import Edition, Source

Status = Literal["added", "changed", "unchanged", "refused"]


@dataclass(frozen=True)
class FileReport:
    """What became of one file. ``reason`` says why it was refused, ``notices`` what to know of one that was read."""

    path: str
    status: Status
    documents: tuple[str, ...] = ()
    passages: int = 0
    reason: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class AddReport:
    """What became of every file found.

    ``skipped`` are files in a folder that no reader knows, links to folders and other libraries, ``missing``
    are sources of the library that have vanished from the folders given (their documents stay until removed),
    ``interrupted`` says that Ctrl-C ended the reading before the last file, or the indexing.
    """

    files: tuple[FileReport, ...]
    skipped: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def changed_anything(self) -> bool:
        """Whether the catalogue has new content."""
        return any(file.status in ("added", "changed") for file in self.files)

    @property
    def refused(self) -> tuple[FileReport, ...]:
        """The files that could not be taken in."""
        return tuple(file for file in self.files if file.status == "refused")


def take(
    db: sqlite3.Connection,
    found: Found,
    progress: Callable[[int, int, str], None] | None,
    limits: Limits | None = None,
) -> AddReport:
    """Read the files into an open transaction, each within the limits."""
    reports: list[FileReport] = []
    interrupted = False
    try:
        with Sandbox(limits) as sandbox:
            files = [*((path, None) for path in found.files), *((each.path, each) for each in found.fetched)]
            for position, (path, fetched) in enumerate(files):
                if progress:
                    progress(position, len(files), path.name)
                reports.append(_take_file(db, path, sandbox, fetched))
    except KeyboardInterrupt:
        interrupted = True
    reports += [FileReport(name, "refused", reason=reason) for name, reason in found.refused]
    return AddReport(tuple(reports), found.skipped, _missing(db, found), interrupted)


def _take_file(
    db: sqlite3.Connection, path: Path, sandbox: Sandbox, fetched: cellar.Fetched | None = None
) -> FileReport:
    """One file, wholly or not at all: a savepoint undoes what a refusal or Ctrl-C leaves half done."""
    db.execute("SAVEPOINT file")
    try:
        report = _read_file(db, path, sandbox, fetched)
    except InputError as error:
        report = FileReport(_name(path, fetched), "refused", reason=_without_path(str(error), path))
        db.execute("ROLLBACK TO file")
    except BaseException:
        if db.in_transaction:  # a full disk ends it
            db.execute("ROLLBACK TO file")
            db.execute("RELEASE file")
        raise
    db.execute("RELEASE file")
    return report


def _name(path: Path, fetched: cellar.Fetched | None) -> str:
    return fetched.wanted.name if fetched else printable(path)


def _read_file(db: sqlite3.Connection, path: Path, sandbox: Sandbox, fetched: cellar.Fetched | None) -> FileReport:
    name = _name(path, fetched)
    if fetched is None and name != str(path):
        raise ReadError(f"{path}: its name is not valid Unicode; rename it")
    known = db.execute("SELECT id, size, mtime_ns, sha256 FROM sources WHERE path = ?", (name,)).fetchone()
    again = known is not None and bool(sandbox.limits.ocr) and _has_scans(db, known[0])
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            raise ReadError(f"{path}: is no regular file; give a file or a folder")
        if known and not again and known[1:3] == (status.st_size, status.st_mtime_ns):
            return FileReport(name, "unchanged")
        sandbox.check_size(path, status.st_size)
        with path.open("rb") as file:
            source = Source(name, status.st_size, status.st_mtime_ns, hashlib.file_digest(file, "sha256").hexdigest())
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ReadError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if known and not again and known[3] == source.sha256:
        db.execute("UPDATE sources SET mtime_ns = ? WHERE id = ?", (source.mtime_ns, known[0]))
        return FileReport(name, "unchanged")
    editions = cellar.read(fetched, sandbox.read) if fetched else sandbox.read(path)
    source_id = _record_source(db, source)
    db.execute("DELETE FROM holdings WHERE source_id = ?", (source_id,))
    digests = [digest(catalogue.canonical(edition)) for edition in editions]
    # First everything that makes room, so that a passage can move from one document of a file to another.
    _retire_dropped(db, source_id, [edition.document_id for edition in editions])
    for edition, version_digest in zip(editions, digests, strict=True):
        _refuse_rival(db, edition, version_digest, source_id, path)
        _retire_former(db, edition, version_digest, source_id)
    for edition, version_digest in zip(editions, digests, strict=True):
        _refuse_foreign_ids(db, edition, path)
        _store(db, edition, version_digest, source_id)
    return FileReport(
        name,
        "changed" if known else "added",
        tuple(edition.document_id for edition in editions),
        sum(len(edition.passages) for edition in editions),
        notices=(*notices(editions), *_copies(db, source, [edition.document_id for edition in editions])),
    )


def _copies(db: sqlite3.Connection, source: Source, documents: Sequence[str]) -> list[str]:
    """What to say of another file with the same bytes that is in the library as another document."""
    rows = db.execute(
        "SELECT DISTINCT s.path, v.document_id FROM sources s JOIN holdings h ON h.source_id = s.id"
        " JOIN versions v ON v.id = h.version_id WHERE s.sha256 = ? AND s.path <> ? ORDER BY s.path",
        (source.sha256, source.path),
    ).fetchall()
    return [
        f"is a copy of {path}: its text is in the library twice, as {' and '.join(documents)} and as {other};"
        " responsa remove takes one out"
        for path, other in rows
        if other not in documents and not vanished(path)
    ]


def _has_scans(db: sqlite3.Connection, source_id: int) -> bool:
    """Whether what is held of a source has pages that are pictures, whose words were not recognised yet."""
    row = db.execute(
        "SELECT 1 FROM passages p JOIN holdings h ON h.version_id = p.version_id, json_each(p.flags) f"
        " WHERE h.source_id = ? AND p.kind = 'figure' AND f.value = ? LIMIT 1",
        (source_id, SCANNED),
    ).fetchone()
    return row is not None


def _record_source(db: sqlite3.Connection, source: Source) -> int:
    row = db.execute(
        "INSERT INTO sources (path, size, mtime_ns, sha256, read_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET"
        " size = excluded.size, mtime_ns = excluded.mtime_ns, sha256 = excluded.sha256, read_at = excluded.read_at"
        " RETURNING id",
        (source.path, source.size, source.mtime_ns, source.sha256, _now()),
    ).fetchone()
    return int(row[0])


def _retire_dropped(db: sqlite3.Connection, source_id: int, kept: Sequence[str]) -> None:
    """What the file no longer holds, and no other file: documents gone from it, with their history."""
    gone = "source_id = ? AND document_id NOT IN (SELECT value FROM json_each(?))"
    parameters = (source_id, json.dumps(kept))
    db.execute(
        "UPDATE versions SET source_id ="
        " coalesce((SELECT h.source_id FROM holdings h WHERE h.version_id = versions.id), source_id) WHERE " + gone,
        parameters,
    )
    rows = db.execute(f"SELECT DISTINCT document_id FROM versions WHERE live = 1 AND {gone}", parameters).fetchall()
    db.execute(f"UPDATE versions SET live = 0 WHERE {gone}", parameters)
    for (document_id,) in rows:
        mark_current(db, document_id)


def _refuse_rival(db: sqlite3.Connection, edition: Edition, version_digest: str, source_id: int, path: Path) -> None:
    """Two files that still exist may not both claim the same document as of the same date with different text.

    A file that has vanished gives way: it was renamed, or its successor has come.
    """
    rivals = db.execute(
        "SELECT s.id, s.path, v.id, v.digest FROM versions v"
        " JOIN holdings h ON h.version_id = v.id JOIN sources s ON s.id = h.source_id"
        " WHERE v.document_id = ? AND v.valid_from IS ? AND s.id <> ? ORDER BY s.path",
        (edition.document_id, _iso(edition.valid_from), source_id),
    ).fetchall()
    for rival_id, rival, version_id, rival_digest in rivals:
        if vanished(rival):
            db.execute("DELETE FROM holdings WHERE source_id = ? AND version_id = ?", (rival_id, version_id))
            _forget_content(db, [rival_id])  # should it come back, it is read again
        elif rival_digest != version_digest:
            raise ReadError(
                f"{path}: document {edition.document_id!r} with valid_from {edition.valid_from or 'not given'} is"
                f" already in the library from {rival}; give one of them another document id or valid_from, or remove"
                " the other first"
            )


def _retire_former(db: sqlite3.Connection, edition: Edition, version_digest: str, source_id: int) -> None:
    """What the edition replaces: other text of the same date, and what its file gave a later date by mistake.

    A version with an earlier ``valid_from`` stays: a file overwritten by the next edition leaves the former
    one as history.
    """
    valid_from = _iso(edition.valid_from)
    db.execute(
        "UPDATE versions SET live = 0 WHERE document_id = ? AND digest <> ? AND (valid_from IS ? OR source_id = ?"
        " AND valid_from > coalesce(?, '') AND id NOT IN (SELECT version_id FROM holdings))",
        (edition.document_id, version_digest, valid_from, source_id, valid_from),
    )


def _store(db: sqlite3.Connection, edition: Edition, version_digest: str, source_id: int) -> None:
    """A version for the edition, unless it is there already; then it is live again."""
    inserted = db.execute(
        "INSERT INTO versions (document_id, digest, title, valid_from, valid_to, added_at, source_id, live, current)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0) ON CONFLICT (document_id, digest) DO NOTHING RETURNING id",
        (
            edition.document_id, version_digest, edition.title, _iso(edition.valid_from),
            _iso(edition.valid_to), _now(), source_id,
        ),
    ).fetchone()  # fmt: skip
    if inserted:
        catalogue.insert_passages(db, inserted[0], edition.passages)
    else:
        db.execute(
            "UPDATE versions SET live = 1, source_id = ? WHERE document_id = ? AND digest = ?",
            (source_id, edition.document_id, version_digest),
        )
    db.execute(
        "INSERT INTO holdings SELECT ?, id FROM versions WHERE document_id = ? AND digest = ?",
        (source_id, edition.document_id, version_digest),
    )
    mark_current(db, edition.document_id)


def _refuse_foreign_ids(db: sqlite3.Connection, edition: Edition, path: Path) -> None:
    """A passage id may belong to one document only."""
    wanted = {passage.id for passage in edition.passages}
    if not db.execute("SELECT 1 FROM versions WHERE document_id <> ? LIMIT 1", (edition.document_id,)).fetchone():
        return
    for passage_id in wanted:
        other = db.execute(
            "SELECT v.document_id FROM passages p JOIN versions v ON v.id = p.version_id"
            " WHERE p.passage_id = ? AND v.live = 1 AND v.document_id <> ? LIMIT 1",
            (passage_id, edition.document_id),
        ).fetchone()
        if other:
            raise ReadError(
                f"{path}: passage id {passage_id!r} of document {edition.document_id!r} is already that of a passage"
                f" of document {other[0]!r}; ids must be unique in a library"
            )


def mark_current(db: sqlite3.Connection, document_id: str) -> None:
    """Of a document's live versions, the one with the latest ``valid_from`` (then the last added) is current."""
    db.execute("UPDATE versions SET current = 0 WHERE document_id = ?", (document_id,))
    db.execute(f"UPDATE versions SET current = 1 WHERE id = ({catalogue.current_of('?')})", (document_id,))


def remove(db: sqlite3.Connection, name: str) -> tuple[str, ...]:
    """Delete what ``name`` stands for: a document with all its versions, or what the source of that path holds.

    What another source holds too stays, and so does a document's history that came from another one of its
    sources. Returns the ids of the documents that have lost a version or a source.
    """
    documents = set()
    if db.execute("SELECT 1 FROM versions WHERE document_id = ?", (storable(name),)).fetchone():
        documents.add(storable(name))
        _remove_document(db, storable(name))
    place = cellar.source_name(name) if cellar.is_source(name) else printable(absolute(Path(name)))
    source = db.execute("SELECT id FROM sources WHERE path = ?", (storable(place),)).fetchone()
    if source:
        documents.update(_remove_held(db, source[0]))
    db.execute(
        "DELETE FROM sources WHERE id NOT IN (SELECT source_id FROM holdings"
        " UNION SELECT source_id FROM versions WHERE source_id IS NOT NULL)"
    )
    return tuple(sorted(documents))


def _remove_document(db: sqlite3.Connection, document_id: str) -> None:
    held = "SELECT h.source_id FROM holdings h JOIN versions v ON v.id = h.version_id WHERE v.document_id = ?"
    _forget_content(db, [row[0] for row in db.execute(held, (document_id,))])
    db.execute("DELETE FROM versions WHERE document_id = ?", (document_id,))


def _remove_held(db: sqlite3.Connection, source_id: int) -> list[str]:
    """Drop what a source holds; returns the ids of the documents."""
    holders = "SELECT h.source_id FROM holdings h JOIN versions o ON o.id = h.version_id"
    rows = db.execute(
        "SELECT v.id, v.document_id FROM versions v JOIN holdings h ON h.version_id = v.id WHERE h.source_id = ?",
        (source_id,),
    ).fetchall()
    documents = sorted({document_id for _, document_id in rows})
    db.execute("DELETE FROM holdings WHERE source_id = ?", (source_id,))
    _forget_content(db, [source_id])
    for document_id in documents:
        db.execute(
            "DELETE FROM versions WHERE document_id = ? AND id NOT IN (SELECT version_id FROM holdings)"
            " AND (id IN (SELECT value FROM json_each(?)) OR source_id IS NULL OR source_id NOT IN"
            f" ({holders} WHERE o.document_id = ?))",
            (document_id, json.dumps([version_id for version_id, _ in rows]), document_id),
        )
        db.execute(
            "UPDATE versions SET source_id = (SELECT h.source_id FROM holdings h WHERE h.version_id = versions.id)"
            " WHERE document_id = ? AND source_id = ?",
            (document_id, source_id),
        )
        mark_current(db, document_id)
    return documents


def _forget_content(db: sqlite3.Connection, source_ids: Sequence[int]) -> None:
    """What the sources hold is not all in the library any more: they are read again when they are added again."""
    db.execute(
        "UPDATE sources SET size = -1, mtime_ns = 0, sha256 = '' WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(source_ids)),),
    )


def _missing(db: sqlite3.Connection, found: Found) -> tuple[str, ...]:
    missing = []
    holding = "SELECT DISTINCT s.path FROM sources s JOIN holdings h ON h.source_id = s.id ORDER BY s.path"
    for (path,) in db.execute(holding):
        if any(Path(path).is_relative_to(folder) for folder in found.folders) and vanished(path):
            missing.append(path)
    return tuple(missing)


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _without_path(message: str, path: Path) -> str:
    return message.removeprefix(f"{path}: ")
