"""Does everything on disk agree: catalogue, digests, indexes, sources, saved citations?"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from responsa.corpus import answers, artefacts, catalogue, cellar
from responsa.corpus.library import Library
from responsa.text import digest
from responsa.types import Edition, Version


@dataclass(frozen=True)
class Finding:
    """One thing checked. ``failed`` needs mending; ``note`` is worth knowing and fails nothing.

    That rules have changed since they were cited is no damage: a note.
    """

    what: Literal["catalogue", "version", "index", "source", "citation"]
    subject: str
    state: Literal["ok", "note", "failed"]
    detail: str = ""


def verify(library: Library) -> Iterator[Finding]:
    """Check the whole library, reading every byte of it; findings as they are made."""
    with catalogue.storage_errors(library.folder):
        yield from _catalogue(library.db)
        altered: set[str] = set()
        yield from _versions(library, altered)
        yield from _indexes(library, altered)
        yield from _sources(library.db)
        yield from _citations(library.db)


def _catalogue(db: sqlite3.Connection) -> Iterator[Finding]:
    problems = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    problems += [
        f"{row[0]} row {row[1]} refers to a missing {row[2]}" for row in db.execute("PRAGMA foreign_key_check")
    ]
    doubled = db.execute("SELECT document_id FROM versions WHERE current = 1 GROUP BY document_id HAVING count(*) > 1")
    problems += [f"document {row[0]!r} has two current versions" for row in doubled]
    problems += [problem for query, problem in _RULES for problem in _broken(db, query, problem)]
    yield Finding("catalogue", catalogue.FILE, "failed" if problems else "ok", "; ".join(problems[:5]))


# Each selects what is wrong: an id or two, which the sentence names.
_RULES = (
    (
        "SELECT DISTINCT v.document_id FROM versions v"
        " WHERE (SELECT count(*) FROM versions d WHERE d.document_id = v.document_id AND d.current = 1) < 2"
        f" AND v.current <> (v.id IS ({catalogue.current_of('v.document_id')})) ORDER BY v.document_id",
        "of document {!r} not the newest version is marked as current",
    ),
    (
        "SELECT v.document_id FROM versions v WHERE v.current = 1"
        f" AND v.id IS ({catalogue.current_of('v.document_id')}) AND v.id NOT IN (SELECT version_id FROM holdings)"
        " ORDER BY v.document_id",
        "the current version of document {!r} is held by no source",
    ),
    (
        "SELECT p.passage_id, min(v.document_id), max(v.document_id) FROM passages p JOIN versions v"
        " ON v.id = p.version_id WHERE v.live = 1 GROUP BY p.passage_id HAVING min(v.document_id) < max(v.document_id)",
        "passage id {!r} is that of a passage of document {!r} and of {!r}",
    ),
)


def _broken(db: sqlite3.Connection, query: str, problem: str) -> list[str]:
    return [problem.format(*row) for row in db.execute(query)]


def _versions(library: Library, altered: set[str]) -> Iterator[Finding]:
    """Puts into ``altered`` the digests that do not hold."""
    rows = library.db.execute(f"SELECT v.id, {catalogue.VERSION_COLUMNS} FROM versions v ORDER BY v.document_id, v.id")
    for row in rows.fetchall():
        version = catalogue.version_of(row[1:])
        passages = library.db.execute(
            f"SELECT {catalogue.PASSAGE_COLUMNS} FROM passages p JOIN versions v ON v.id = p.version_id"
            " WHERE v.id = ? ORDER BY p.ordinal",
            (row[0],),
        )
        problem = _version_problem(version, passages.fetchall())
        if problem:
            altered.add(version.digest)
        subject = f"{version.document_id} {version.digest[:12]}"
        yield Finding("version", subject, "failed" if problem else "ok", problem)


def _version_problem(version: Version, rows: list[catalogue.PassageRow]) -> str:
    if not rows:
        return "it has no passages; add its source again"
    try:
        passages = tuple(catalogue.passage_of(row) for row in rows)
    except (ValueError, TypeError):  # what should be JSON is not
        passages = ()
    edition = Edition(version.document_id, version.title, passages, version.valid_from, version.valid_to)
    return "" if digest(catalogue.canonical(edition)) == version.digest else "the stored text is not the one added"


def _indexes(library: Library, altered: set[str]) -> Iterator[Finding]:
    for name in library.artefacts.names():
        folder = library.artefacts.folder / name
        problem = artefacts.damage(folder)
        if problem and not folder.exists():  # replaced by a writer in the meantime
            continue
        problem = problem or _index_problem(library.db, folder, altered)
        detail = f"{problem}; it is built again at the next search if you delete {folder}"
        yield Finding("index", name, "failed" if problem else "ok", detail if problem else "")


def _index_problem(db: sqlite3.Connection, folder: Path, altered: set[str]) -> str:
    """Whether an index holds the passages of its versions, or the documents where it is of those. Where a version is
    ``altered``, none can tell."""
    about = artefacts.about(folder)
    if about is None or altered.intersection(about["versions"]) or not (folder / "ids_end.npy").exists():
        return ""
    expected = []
    for version in about["versions"]:
        documents = db.execute("SELECT document_id FROM versions WHERE digest = ?", (version,)).fetchall()
        if not documents:
            return ""  # removed since: the index goes with it
        if folder.name.startswith("documents-"):
            expected += [document_id for (document_id,) in documents]
            continue
        rows = db.execute(
            "SELECT p.passage_id, p.kind, p.text FROM passages p JOIN versions v ON v.id = p.version_id"
            " WHERE v.digest = ?",
            (version,),
        )
        linked = folder.name.startswith("links-")  # headings are searched, but nothing is retrieved by citing them
        expected += [name for name, kind, text in rows if text.strip() and not (linked and kind == "heading")]
    try:
        return "" if sorted(_ids(folder)) == sorted(expected) else "it is not of the passages of its versions"
    except FileNotFoundError:  # replaced by a writer in the meantime
        return ""


def _ids(folder: Path) -> list[str]:
    """The passage ids of an index, which `responsa.retrieval.postings.write_strings` wrote."""
    import numpy as np

    ends = np.load(folder / "ids_end.npy").tolist()
    data = np.load(folder / "ids.npy").tobytes()
    return [data[start:end].decode() for start, end in itertools.pairwise([0, *ends])]


def _sources(db: sqlite3.Connection) -> Iterator[Finding]:
    for path, sha256 in db.execute("SELECT path, sha256 FROM sources ORDER BY path").fetchall():
        if not sha256:
            yield Finding("source", path, "note", "a document of it was removed; adding it again brings that back")
            continue
        copy = cellar.copy_of(path, sha256) if cellar.is_source(path) else Path(path)
        if copy is None:
            yield Finding("source", path, "note", "is in the cache no more; adding it again fetches it")
            continue
        try:
            with copy.open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == sha256
            detail = "" if same else "has changed since it was read; add it again"
        except OSError as error:
            detail = f"cannot be read any more ({error.strerror})"
        yield Finding("source", path, "note" if detail else "ok", detail)


_STATES: Mapping[answers.State, Literal["ok", "note", "failed"]] = MappingProxyType(
    {"holds": "ok", "superseded": "note", "broken": "failed"}
)


def _citations(db: sqlite3.Connection) -> Iterator[Finding]:
    for check in answers.check(db):
        subject = f"answer {check.answer}: {check.document_id}, {check.number or check.passage_id}"
        yield Finding(
            "citation", subject, _STATES[check.state], f"{check.state}: {check.reason}" if check.reason else ""
        )
