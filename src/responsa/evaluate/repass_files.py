"""Answers in the RIRAG submission format, and per-question scores in the columns of the published results."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from responsa.errors import InputError
from responsa.storage import write_text

COLUMNS = (
    "QuestionID",
    "entailment_score",
    "contradiction_score",
    "obligation_coverage_score",
    "composite_score",
)
_PASSAGES = ("RetrievedPassages", "RetrievedPassage")  # the shared task's text names the second


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """One question's answer and the passages it was given. ``reason`` says why there is no answer, empty where
    there is one; ``question`` is empty where the file does not tell it. Passages that are blank are left out. ``ids``
    names each of the passages: by ``RetrievedIDs``, else ``#`` and its number in the file's list, from 1."""

    id: str
    question: str
    passages: tuple[str, ...]
    answer: str
    reason: str = ""
    ids: tuple[str, ...] = ()


class Row(Protocol):
    """What a line of the results file is made of; coverage None: no obligation in the sources."""

    @property
    def id(self) -> str: ...
    @property
    def entailment(self) -> float: ...
    @property
    def contradiction(self) -> float | None: ...
    @property
    def coverage(self) -> float | None: ...
    @property
    def composite(self) -> float: ...


def read_answers(path: Path) -> tuple[SubmittedAnswer, ...]:
    """The answers of a file, in order. A byte order mark and Windows line ends do no harm.

    An answer that is missing, null, blank or no text counts as unanswered, with the reason; missing or empty passages
    are no passages; a number as id is read as text. InputError, which names file and place, for anything else.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}; is the file complete?") from error
    if not isinstance(items, list):
        raise InputError(f"{path}: expected a list of answers, found {type(items).__name__}")
    if not items:
        raise InputError(f"{path}: holds no answer")
    return tuple(_read(item, f"{path}: [{place}]") for place, item in enumerate(items))


def repeated(answers: Iterable[SubmittedAnswer]) -> tuple[str, ...]:
    """The ids that come more than once, in order."""
    return tuple(name for name, count in Counter(answer.id for answer in answers).items() if count > 1)


def _read(item: object, where: str) -> SubmittedAnswer:
    if not isinstance(item, dict):
        raise InputError(f"{where}: expected an object with 'QuestionID' and 'Answer', found {type(item).__name__}")
    name = item.get("QuestionID")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: 'QuestionID' is {name!r}; expected text or a whole number")
    answer, question = item.get("Answer"), item.get("Question")
    reason = (
        "no answer"
        if answer is None
        else f"the answer is of type {type(answer).__name__}, not text"
        if not isinstance(answer, str)
        else ""
        if answer.strip()
        else "the answer is blank"
    )
    passages = _passages(item, where)
    return SubmittedAnswer(
        name.strip(),
        question if isinstance(question, str) else "",
        tuple(text for _, text in passages),
        answer if isinstance(answer, str) and not reason else "",
        reason,
        tuple(each for each, _ in passages),
    )


def _passages(item: dict[str, object], where: str) -> list[tuple[str, str]]:
    """(id, text) of each passage that is not blank."""
    key = next((key for key in _PASSAGES if key in item), _PASSAGES[0])
    found = item.get(key)
    listed = [] if found is None else [found] if isinstance(found, str) else found
    if not isinstance(listed, list):
        raise InputError(f"{where}: {key!r} is of type {type(found).__name__}; expected a list of texts, or one text")
    for place, passage in enumerate(listed):
        if not (passage is None or isinstance(passage, str)):
            raise InputError(f"{where}: passage {place} is of type {type(passage).__name__}; expected text")
    told = item.get("RetrievedIDs")
    names = told if isinstance(told, list) and len(told) == len(listed) else [None] * len(listed)
    return [
        (name if isinstance(name, str) and name.strip() else f"#{number}", passage)
        for number, (name, passage) in enumerate(zip(names, listed, strict=True), 1)
        if passage and passage.strip()
    ]


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """The published columns, one line for each row. Coverage is ``0`` where the sources hold no obligation and ``0.0``
    where none is covered, as in the published files."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        coverage = 0 if row.coverage is None else row.coverage
        contradiction = "" if row.contradiction is None else row.contradiction
        writer.writerow([row.id, row.entailment, contradiction, coverage, row.composite])
    write_text(out.getvalue(), path)


def read_csv(path: Path) -> list[dict[str, float]]:
    """The four scores of each line of a results file, by column. An empty contradiction is NaN, for means to
    leave out. InputError for other columns or what is no number."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    try:
        return [{name: _number(name, row[name]) for name in COLUMNS[1:]} for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: expected the columns {', '.join(COLUMNS)} with numbers: {error}") from error


def _number(column: str, written: str) -> float:
    """As `write_csv` writes it: what is not said contradicts nothing."""
    return math.nan if column == "contradiction_score" and written == "" else float(written)
