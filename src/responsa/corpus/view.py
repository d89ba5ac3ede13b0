"""What a library holds as of a date: passages by id, in reading order, with their tree."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from responsa.corpus.artefacts import Artefacts
from responsa.corpus.catalogue import PASSAGE_COLUMNS, VERSION_COLUMNS, passage_of, storage_errors, version_of
from responsa.errors import NotFound
from responsa.text import digest, normalise
from responsa.types import Passage, Version

_JOIN = f"SELECT {PASSAGE_COLUMNS} FROM passages p JOIN versions v ON v.id = p.version_id WHERE "
_IN_VIEW = "p.version_id IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True)
class Corpus(Mapping[str, Passage]):
    """A read-only mapping from passage id to `Passage` over one version of each document, as of a date where one was
    given.

    Iterates in reading order, documents by when the version in view was first added: a changed document comes
    after the others. Versions never change, so what is read here stays the same while another process adds; only
    `remove` takes a document away. StorageError where the catalogue is damaged.
    """

    _db: sqlite3.Connection = field(repr=False)
    _rows: tuple[int, ...] = field(repr=False)
    versions: tuple[Version, ...]
    approximate: tuple[str, ...]
    artefacts: Artefacts = field(repr=False)
    as_of: date | None = field(default=None, repr=False, compare=False)

    @cached_property
    def digest(self) -> str:
        """Names the content: the same versions give the same digest, in whatever order they were added."""
        return digest(sorted(version.digest for version in self.versions))

    @cached_property
    def _view(self) -> str:
        return json.dumps(self._rows)

    def __len__(self) -> int:
        ((number,),) = self._rows_of(f"SELECT count(*) FROM passages p WHERE {_IN_VIEW}", self._view)
        return int(number)

    def __iter__(self) -> Iterator[str]:
        query = f"SELECT p.passage_id FROM passages p WHERE {_IN_VIEW} ORDER BY p.version_id, p.ordinal"
        with storage_errors(self.artefacts.folder.parent):
            for row in self._db.execute(query, (self._view,)):
                yield row[0]

    def __getitem__(self, passage_id: str) -> Passage:
        try:
            return self.read([passage_id])[passage_id]
        except NotFound as error:
            raise KeyError(passage_id) from error

    def read(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Many passages at once, in the order of ``ids``.

        NotFound for one that is not in view: another process removed its document since it was found.
        """
        wanted = list(ids)
        rows = self._select(
            f"p.passage_id IN (SELECT value FROM json_each(?)) AND {_IN_VIEW}", json.dumps(wanted), self._view
        )
        found = {passage.id: passage for passage in rows}
        gone = [passage_id for passage_id in wanted if passage_id not in found]
        if gone:
            raise NotFound(f"passage {gone[0]!r} is not in the library, or was removed just now; ask again")
        return {passage_id: found[passage_id] for passage_id in wanted}

    def passages(self, version: Version) -> Iterator[Passage]:
        """The passages of one version in reading order, headings included."""
        row = self._rows[self.versions.index(version)]
        return iter(self._select("p.version_id = ? ORDER BY p.ordinal", row))

    def version(self, document_id: str) -> Version | None:
        """The version of a document that is in view."""
        return self._by_document.get(document_id)

    @cached_property
    def _by_document(self) -> dict[str, Version]:
        return {version.document_id: version for version in self.versions}

    def find(self, document_id: str, number: str) -> tuple[Passage, ...]:
        """The passages of a document that carry a printed number, in reading order: possibly several.

        The number is compared exactly first, then without invisible characters and surplus blanks.
        """
        rows = [
            row for row, version in zip(self._rows, self.versions, strict=True) if version.document_id == document_id
        ]
        exact = self._select(
            "p.version_id IN (SELECT value FROM json_each(?)) AND p.number = ? ORDER BY p.ordinal",
            json.dumps(rows),
            number,
        )
        if exact or not rows:
            return tuple(exact)
        wanted = normalise(number)
        everything = self._select(
            "p.version_id IN (SELECT value FROM json_each(?)) ORDER BY p.ordinal", json.dumps(rows)
        )
        return tuple(passage for passage in everything if normalise(passage.number) == wanted)

    def children(self, passage_id: str) -> tuple[Passage, ...]:
        """The passages directly below, in reading order."""
        return tuple(
            self._select(f"p.parent_id = ? AND {_IN_VIEW} ORDER BY p.version_id, p.ordinal", passage_id, self._view)
        )

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """The position of each passage in the reading order of its document."""
        query = (
            "SELECT p.passage_id, p.ordinal FROM passages p"
            f" WHERE p.passage_id IN (SELECT value FROM json_each(?)) AND {_IN_VIEW}"
        )
        return dict(self._rows_of(query, json.dumps(list(ids)), self._view))

    def _select(self, where: str, *parameters: object) -> list[Passage]:
        return self._rows_of(_JOIN + where, *parameters, make=passage_of)

    def _rows_of(self, query: str, *parameters: object, make: Callable[[Any], Any] = tuple) -> list[Any]:
        with storage_errors(self.artefacts.folder.parent):
            return [make(row) for row in self._db.execute(query, parameters)]


def open_view(db: sqlite3.Connection, artefacts: Artefacts, as_of: date | None) -> Corpus:
    """The corpus of a date: of each document the latest version with ``valid_from`` at or before it.

    A version without ``valid_from`` is in force from the beginning. Where the version chosen had ended
    before the date, the document is listed as ``approximate``: the library has a gap there. Without a
    date the newest version of each document is in view, and ``approximate`` lists those of which it is not
    in force today: it begins later or has ended.
    """
    rows = in_force(db, as_of)
    versions = tuple(version_of(row[1:]) for row in rows)
    day = as_of or date.today()
    approximate = tuple(
        version.document_id
        for version in versions
        if (version.valid_from or day) > day or (version.valid_to or day) < day
    )
    return Corpus(db, tuple(row[0] for row in rows), versions, approximate, artefacts, as_of)


def in_force(db: sqlite3.Connection, as_of: date | None) -> list[tuple[Any, ...]]:
    """The versions that `open_view` chooses: their ids and `VERSION_COLUMNS`, in the order added."""
    query = f"SELECT v.id, {VERSION_COLUMNS} FROM versions v WHERE v.live = 1"
    if as_of is None:
        return db.execute(query + " AND v.current = 1 ORDER BY v.id").fetchall()
    latest: dict[str, tuple[Any, ...]] = {}
    started = " AND coalesce(v.valid_from, '') <= ? ORDER BY coalesce(v.valid_from, ''), v.id"
    for row in db.execute(query + started, (as_of.isoformat(),)):
        latest[row[1]] = row
    return sorted(latest.values(), key=lambda row: row[0])
