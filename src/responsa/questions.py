"""Questions: one from the command line, many from a file."""

from __future__ import annotations

import json
import unicodedata
from datetime import date
from pathlib import Path

from responsa.errors import InputError
from responsa.text import normalise
from responsa.types import Query

MOST_CHARACTERS = 10_000


def check(text: str, what: str = "the question") -> str:
    """The text trimmed. InputError where it is blank, too long or holds control characters."""
    if not normalise(text):
        raise InputError(f"{what} is empty: ask something, for example: responsa ask 'When must a firm report?'")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{what} has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read: shorten it")
    for position, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\r\t":
            raise InputError(
                f"{what} holds the control character U+{ord(character):04X} at position {position}: remove it"
            )
    return text.strip()


def read(path: Path) -> tuple[Query, ...]:
    """Questions from ObliQA JSON, JSONL (``id``, ``question``, optionally ``background`` and ``date``, the day it was
    asked on) or TSV (id, question).

    The suffix decides. Ids are unique, without white space; every question is checked, and the error names
    its place in the file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    kinds = {".json": _from_json, ".jsonl": _from_jsonl, ".tsv": _from_tsv, ".txt": _from_tsv}
    if path.suffix.lower() not in kinds:
        raise InputError(f"{path}: question files end in {', '.join(sorted(kinds))}")
    queries = kinds[path.suffix.lower()](text, path) if text.strip() else []
    if not queries:
        raise InputError(f"{path}: holds no question")
    seen: dict[str, int] = {}
    for position, query in enumerate(queries, 1):
        if query.id in seen:
            raise InputError(f"{path}: question id {query.id!r} stands at {seen[query.id]} and again at {position}")
        seen[query.id] = position
    return tuple(queries)


def _from_json(text: str, path: Path) -> list[Query]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
        raise InputError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(items, list):
        raise InputError(f"{path}: expected a list of questions, found {type(items).__name__}")
    return [_query(item, f"{path}: [{index}]", "QuestionID", "Question") for index, item in enumerate(items)]


def _from_jsonl(text: str, path: Path) -> list[Query]:
    queries = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON may hold U+2028 and its like
        if line.strip():
            try:
                item = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}: line {number}: not valid JSON: {error}") from error
            queries.append(_query(item, f"{path}: line {number}", "id", "question"))
    return queries


def _from_tsv(text: str, path: Path) -> list[Query]:
    queries = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            columns = line.split("\t")
            if len(columns) not in (2, 3):
                raise InputError(f"{path}: line {number}: expected id, tab, question; found {len(columns)} column(s)")
            queries.append(
                _query(
                    dict(zip(("id", "question", "background"), columns, strict=False)),
                    f"{path}: line {number}",
                    "id",
                    "question",
                )
            )
    return queries


def _query(item: object, where: str, id_key: str, text_key: str) -> Query:
    if not isinstance(item, dict):
        raise InputError(f"{where}: expected an object with {id_key!r} and {text_key!r}, found {type(item).__name__}")
    values = []
    for key in (id_key, text_key):
        if key not in item:
            raise InputError(f"{where}: key {key!r} is missing")
        value = item[key]
        if key == id_key and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise InputError(f"{where}: {key!r} is {value!r}; expected text")
        values.append(value)
    if not values[0] or values[0].split() != [values[0]]:
        raise InputError(f"{where}: id {values[0]!r} is empty or holds white space, which run files cannot")
    check(values[0], f"{where}: the id")
    background = item.get("background") or ""
    if not isinstance(background, str):
        raise InputError(f"{where}: 'background' is {background!r}; expected text")
    if background.strip():
        background = check(background, f"{where}: the background")
    return Query(values[0], check(values[1], f"{where}: the question"), background.strip(), _day(item, where))


def _day(item: dict[str, object], where: str) -> date | None:
    given = item.get("date")
    if given is None or given == "":
        return None
    try:
        return date.fromisoformat(str(given).partition("T")[0])
    except ValueError as error:
        raise InputError(f"{where}: 'date' is {given!r}; write it as 2024-01-31, or leave it out") from error
