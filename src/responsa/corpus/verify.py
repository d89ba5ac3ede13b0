"""Does everything on disk agree: catalogue, digests, indexes, sources, saved citations?"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from responsa.corpus import answers, artefacts, catalogue
from responsa.corpus.library import Library
from responsa.text import digest
from responsa.types import Edition


@dataclass(frozen=True)
class Finding:
    """One thing checked. ``failed`` needs mending; ``note`` is worth knowing and fails nothing."""

    what: Literal["catalogue", "version", "index", "source", "citation"]
    subject: str
    state: Literal["ok", "note", "failed"]
    detail: str = ""


def verify(library: Library) -> Iterator[Finding]:
    """Check the whole library, reading every byte of it; findings as they are made."""
    with catalogue.storage_errors(library.folder):
        yield from _catalogue(library.db)
        yield from _versions(library)
        yield from _indexes(library)
        yield from _sources(library.db)
        yield from _citations(library.db)


def _catalogue(db: sqlite3.Connection) -> Iterator[Finding]:
    problems = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    problems += [
        f"{row[0]} row {row[1]} refers to a missing {row[2]}" for row in db.execute("PRAGMA foreign_key_check")
    ]
    doubled = db.execute("SELECT document_id FROM versions WHERE current = 1 GROUP BY document_id HAVING count(*) > 1")
    problems += [f"document {row[0]!r} has two current versions" for row in doubled]
    yield Finding("catalogue", catalogue.FILE, "failed" if problems else "ok", "; ".join(problems[:5]))


def _versions(library: Library) -> Iterator[Finding]:
    rows = library.db.execute(f"SELECT v.id, {catalogue.VERSION_COLUMNS} FROM versions v ORDER BY v.document_id, v.id")
    for row in rows.fetchall():
        version = catalogue.version_of(row[1:])
        passages = library.db.execute(
            f"SELECT {catalogue.PASSAGE_COLUMNS} FROM passages p JOIN versions v ON v.id = p.version_id"
            " WHERE v.id = ? ORDER BY p.ordinal",
            (row[0],),
        )
        edition = Edition(
            version.document_id, version.title, tuple(catalogue.passage_of(passage) for passage in passages),
            version.valid_from, version.valid_to,
        )  # fmt: skip
        same = digest(catalogue.canonical(edition)) == version.digest
        subject = f"{version.document_id} {version.digest[:12]}"
        yield Finding(
            "version", subject, "ok" if same else "failed", "" if same else "the stored text is not the one added"
        )


def _indexes(library: Library) -> Iterator[Finding]:
    for name in library.artefacts.names():
        folder = library.artefacts.folder / name
        problem = artefacts.damage(folder)
        if problem and not folder.exists():  # replaced by a writer in the meantime
            continue
        detail = f"{problem}; it is built again at the next search if you delete {folder}"
        yield Finding("index", name, "failed" if problem else "ok", detail if problem else "")


def _sources(db: sqlite3.Connection) -> Iterator[Finding]:
    for path, sha256 in db.execute("SELECT path, sha256 FROM sources ORDER BY path").fetchall():
        try:
            with Path(path).open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == sha256
            detail = "" if same else "has changed since it was read; add it again"
        except OSError as error:
            detail = f"cannot be read any more ({error.strerror})"
        yield Finding("source", path, "note" if detail else "ok", detail)


def _citations(db: sqlite3.Connection) -> Iterator[Finding]:
    for check in answers.check(db):
        subject = f"answer {check.answer}: {check.document_id}, {check.number or check.passage_id}"
        state: Literal["ok", "failed"] = "ok" if check.state == "holds" else "failed"
        yield Finding("citation", subject, state, "" if check.state == "holds" else f"{check.state}: {check.reason}")
