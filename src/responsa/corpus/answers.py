"""Saved answers: every citation can be read again, and is compared with what the law says now."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from responsa.corpus.view import in_force
from responsa.corpus.wording import Piece, words
from responsa.errors import NotFound
from responsa.types import Answer

State = Literal["holds", "superseded", "broken"]


@dataclass(frozen=True)
class CitationCheck:
    """What became of a saved citation.

    ``holds``: the cited text stands in the version cited and in the one in force: now, or on the day that the
    question was asked for. ``superseded``: it stands in the version cited, but the version in force says
    something else or has lost the clause.
    ``broken``: the version cited is gone or its text is another one. ``words`` are those of a clause that is worded
    differently, marked by whether the version cited or the one in force has them.
    """

    answer: int
    passage_id: str
    document_id: str
    number: str
    state: State
    reason: str = ""
    words: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class SavedAnswer:
    """An answer as it was saved. ``asked_at`` is in UTC, as ISO 8601 text; ``as_of`` the day it was asked for."""

    number: int
    asked_at: str
    question: str
    as_of: date | None
    recipe: str
    text: str


def save(db: sqlite3.Connection, answer: Answer, recipe: str, as_of: date | None = None) -> int:
    """Store an answer with its citations and the text they cite; returns its number.

    ``as_of`` is the day it was asked for: what is in force later does not supersede it.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = db.execute(
        "INSERT INTO answers (asked_at, question, as_of, recipe, text) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (now, answer.query.text, as_of and as_of.isoformat(), recipe, answer.text),
    ).fetchone()
    citations = [citation for sentence in answer.sentences for citation in sentence.citations]
    for ordinal, citation in enumerate(citations):
        cited = db.execute(
            "SELECT v.document_id, p.number, p.text FROM passages p JOIN versions v ON v.id = p.version_id"
            " WHERE p.passage_id = ? AND v.digest = ?",
            (citation.passage_id, citation.version),
        ).fetchone()
        document_id, number, text = cited or ("", "", "")
        db.execute(
            "INSERT INTO citations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row[0], ordinal, document_id, citation.passage_id, number, citation.version, citation.start,
                citation.end, citation.answer_start, citation.answer_end, text[citation.start : citation.end],
            ),
        )  # fmt: skip
    return int(row[0])


def saved(db: sqlite3.Connection) -> list[SavedAnswer]:
    """Every saved answer, the first saved first."""
    rows = db.execute("SELECT id, asked_at, question, as_of, recipe, text FROM answers ORDER BY id").fetchall()
    return [
        SavedAnswer(number, asked_at, question, date.fromisoformat(as_of) if as_of else None, recipe, text)
        for number, asked_at, question, as_of, recipe, text in rows
    ]


def remove(db: sqlite3.Connection, number: int) -> None:
    """Delete a saved answer with its citations. NotFound where there is none of that number."""
    # As text, which SQLite compares as a number, too: the number given may be larger than it can store.
    if not db.execute("DELETE FROM answers WHERE id = ? RETURNING id", (str(number),)).fetchall():
        known = ", ".join(str(row[0]) for row in db.execute("SELECT id FROM answers ORDER BY id")) or "none"
        raise NotFound(f"no saved answer {number}; saved are: {known}")


def citing(db: sqlite3.Connection, document_id: str) -> int:
    """How many saved answers cite a document, in whichever version."""
    query = "SELECT count(DISTINCT answer_id) FROM citations WHERE document_id = ?"
    return int(db.execute(query, (document_id,)).fetchone()[0])


def check(db: sqlite3.Connection) -> Iterator[CitationCheck]:
    """Every saved citation, by answer and place in it, read again."""
    rows = db.execute(
        'SELECT c.answer_id, c.passage_id, c.document_id, c.number, c.version, c.start, c."end", c.quote, a.as_of'
        " FROM citations c JOIN answers a ON a.id = c.answer_id ORDER BY c.answer_id, c.ordinal"
    ).fetchall()
    days = {row[-1]: date.fromisoformat(row[-1]) if row[-1] else None for row in rows}
    law = {as_of: {row[1]: row[0] for row in in_force(db, day)} for as_of, day in days.items()}
    for answer, passage_id, document_id, number, version, start, end, quote, as_of in rows:
        cited = _text(db, passage_id, "v.document_id = ? AND v.digest = ?", document_id, version)
        current = _text(db, passage_id, "v.id = ?", law[as_of].get(document_id))
        state, reason = _state(cited, current, start, end, quote)
        marked: tuple[Piece, ...] = ()
        if state == "superseded" and cited is not None and current is not None:
            marked = words(cited, current)
        elif state == "superseded" and (moved := _elsewhere(db, cited, law[as_of].get(document_id))):
            reason = f"the version in force has these words as {moved}"
        yield CitationCheck(answer, passage_id, document_id, number, state, reason, marked)


def _text(db: sqlite3.Connection, passage_id: str, where: str, *values: object) -> str | None:
    query = f"SELECT p.text FROM passages p JOIN versions v ON v.id = p.version_id WHERE p.passage_id = ? AND {where}"
    row = db.execute(query, (passage_id, *values)).fetchone()
    return row[0] if row else None


def _elsewhere(db: sqlite3.Connection, text: str | None, version: int | None) -> str | None:
    """The number, or id, of the passage of a version that has a text, if any."""
    query = "SELECT number, passage_id FROM passages WHERE version_id = ? AND text = ? ORDER BY ordinal LIMIT 1"
    row = db.execute(query, (version, text)).fetchone() if text else None
    return row and str(row[0] or row[1])


def _state(cited: str | None, current: str | None, start: int, end: int, quote: str) -> tuple[State, str]:
    if cited is None:
        return "broken", f"the version cited is no longer in the library; it said {_short(quote)}"
    if cited[start:end] != quote:
        return "broken", f"the stored text has changed; it said {_short(quote)}"
    if current is None:
        return "superseded", "the version in force has no such clause"
    if current.split() != cited.split():
        return "superseded", "the version in force words the clause differently"
    return "holds", ""


def _short(quote: str) -> str:
    return json.dumps(quote if len(quote) <= 80 else quote[:77] + "...", ensure_ascii=False)
