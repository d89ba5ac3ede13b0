"""Saved answers: every citation can be read again, and is compared with what the law says now."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from responsa.types import Answer

State = Literal["holds", "superseded", "broken"]


@dataclass(frozen=True)
class CitationCheck:
    """What became of a saved citation.

    ``holds``: the cited text stands in the version cited and in the one in force now. ``superseded``: it
    stands in the version cited, but the version in force says something else or has lost the clause.
    ``broken``: the version cited is gone or its text is another one.
    """

    answer: int
    passage_id: str
    document_id: str
    number: str
    state: State
    reason: str = ""


def save(db: sqlite3.Connection, answer: Answer, recipe: str) -> int:
    """Store an answer with its citations and the text they cite; returns its number."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = db.execute(
        "INSERT INTO answers (asked_at, question, recipe, text) VALUES (?, ?, ?, ?) RETURNING id",
        (now, answer.query.text, recipe, answer.text),
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


def check(db: sqlite3.Connection) -> Iterator[CitationCheck]:
    """Every saved citation, by answer and place in it, read again."""
    rows = db.execute(
        'SELECT answer_id, passage_id, document_id, number, version, start, "end", quote FROM citations'
        " ORDER BY answer_id, ordinal"
    ).fetchall()
    for answer, passage_id, document_id, number, version, start, end, quote in rows:
        state, reason = _state(db, passage_id, document_id, version, start, end, quote)
        yield CitationCheck(answer, passage_id, document_id, number, state, reason)


def _state(
    db: sqlite3.Connection, passage_id: str, document_id: str, version: str, start: int, end: int, quote: str
) -> tuple[State, str]:
    rows = db.execute(
        "SELECT v.digest, v.current, p.text FROM passages p JOIN versions v ON v.id = p.version_id"
        " WHERE p.passage_id = ? AND v.document_id = ? AND (v.digest = ? OR v.current = 1)",
        (passage_id, document_id, version),
    ).fetchall()
    cited = next((text for digest, _, text in rows if digest == version), None)
    current = next((text for _, is_current, text in rows if is_current), None)
    if cited is None:
        return "broken", f"the version cited is no longer in the library; it said {_short(quote)}"
    if cited[start:end] != quote:
        return "broken", f"the stored text has changed; it said {_short(quote)}"
    if current is None:
        return "superseded", "the version in force has no such clause"
    if current != cited:
        return "superseded", "the version in force words the clause differently"
    return "holds", ""


def _short(quote: str) -> str:
    return json.dumps(quote if len(quote) <= 80 else quote[:77] + "...", ensure_ascii=False)
