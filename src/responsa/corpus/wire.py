"""Editions as JSON and back: what comes from the process that reads untrusted files is data, and is checked.

That process may have been taken over by a file, so nothing it sends is believed: every value is of its type, ids are
unique, parents stand in the same document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from typing import Any, NoReturn, get_args

from responsa.types import Box, Edition, Kind, Passage

_KINDS = frozenset(get_args(Kind))


def dumps(editions: Iterable[Edition]) -> bytes:
    """The editions as JSON in UTF-8."""
    rows = [
        {
            "document": each.document_id,
            "title": each.title,
            "valid_from": _iso(each.valid_from),
            "valid_to": _iso(each.valid_to),
            "passages": [_row(passage) for passage in each.passages],
        }
        for each in editions
    ]
    return json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass")


def loads(content: bytes) -> tuple[Edition, ...]:
    """The editions that `dumps` wrote. ValueError where it is anything else."""
    try:
        return tuple(_edition(row) for row in _list(json.loads(content.decode("utf-8"))))
    except (KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"no editions: {type(error).__name__}: {error}") from error


def _row(passage: Passage) -> list[object]:
    boxes = [[box.page, box.x0, box.y0, box.x1, box.y1] for box in passage.boxes]
    return [
        passage.id, passage.number, passage.text, passage.title, passage.kind, list(passage.path),
        list(passage.flags), passage.parent_id, passage.page, boxes,
    ]  # fmt: skip


def _edition(row: Any) -> Edition:  # noqa: ANN401  # checked here
    document = _text(row["document"])
    passages = tuple(_passage(each, document) for each in _list(row["passages"]))
    ids = {passage.id for passage in passages}
    if len(ids) < len(passages):
        _refuse("a passage id twice")
    if any(passage.parent_id is not None and passage.parent_id not in ids for passage in passages):
        _refuse("a parent that is not there")
    return Edition(document, _text(row["title"]), passages, _date(row["valid_from"]), _date(row["valid_to"]))


def _passage(row: Any, document: str) -> Passage:  # noqa: ANN401  # checked here
    passage_id, number, text, title, kind, path, flags, parent, page, boxes = _list(row)
    if kind not in _KINDS:
        _refuse("an unknown kind of passage")
    if page is not None and type(page) is not int:
        _refuse("a page that is no number")
    return Passage(
        _text(passage_id),
        document,
        _text(number),
        _text(text),
        _text(title),
        None if parent is None else _text(parent),
        tuple(map(_text, _list(path))),
        kind,
        page,
        tuple(_box(box) for box in _list(boxes)),
        tuple(map(_text, _list(flags))),
    )


def _box(value: Any) -> Box:  # noqa: ANN401  # checked here
    page, *corners = _list(value)
    if type(page) is not int or len(corners) != 4 or not all(type(each) in (int, float) for each in corners):
        _refuse("a box that is none")
    return Box(page, *map(float, corners))


def _text(value: object) -> str:
    if not isinstance(value, str):
        _refuse(f"{type(value).__name__} where text should be")
    value.encode("utf-8")  # UnicodeEncodeError, a ValueError, for half a character
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        _refuse(f"{type(value).__name__} where a list should be")
    return value


def _date(value: object) -> date | None:
    return None if value is None else date.fromisoformat(_text(value))


def _iso(value: date | None) -> str | None:
    return value.isoformat() if value else None


def _refuse(what: str) -> NoReturn:
    raise ValueError(f"no editions: {what}")
