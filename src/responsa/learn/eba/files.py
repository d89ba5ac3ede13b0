"""Reading the files of the data set: what cannot be used is a `ReadError` that names file, line and key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from responsa.errors import ReadError

Row = Mapping[str, object]


def read_text(path: Path) -> str:
    """A whole file. A byte order mark does no harm."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_json(text: str, place: str) -> object:
    """A JSON value; ``place`` is what a message starts with."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{place}: not JSON ({error}); write the file again") from error
    return value


def read_string(row: Row, key: str, place: str) -> str:
    """A text under a key."""
    value = row.get(key)
    if not isinstance(value, str):
        problem = f"{key!r} is no string" if key in row else f"no {key!r}"
        raise ReadError(f"{place}: {problem}; its keys are: {', '.join(map(repr, row)) or 'none'}")
    return value


def read_date(row: Row, key: str, place: str) -> date | None:
    """A date under a key; None where the text is empty."""
    value = read_string(row, key, place)
    try:
        return date.fromisoformat(value) if value else None
    except ValueError as error:
        raise ReadError(f"{place}: {key!r} is {value!r}, no date; write it as 2020-01-31") from error
