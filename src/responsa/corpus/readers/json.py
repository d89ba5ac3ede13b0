"""Passages as JSON: structured rulebooks (a list of objects) and JSON lines, one passage each."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from responsa.corpus.readers import articles
from responsa.corpus.readers.content import Fail, id_of, shown, storable, text_of, usable
from responsa.corpus.structure import kind_of, paths_of, with_tree
from responsa.types import Edition, Passage

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', re.DOTALL)
_DEEPEST = 64  # levels of parents


def read_structured(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:  # noqa: ARG001  # as all readers
    """The documents of a list of objects with ID, DocumentID, PassageID and Passage; or an act by article."""
    text = text_of(content, fail)
    rows = _json(text, fail)
    if isinstance(rows, dict) and rows.get("schema") == articles.SCHEMA:
        return articles.read(rows, fail)
    if not isinstance(rows, list):
        fail(f"{_article(rows)} where a list of passages should be; write [{{...}}, ...]")
    seen: dict[str, str] = {}
    documents: dict[str, list[Passage]] = {}
    titles: dict[str, str] = {}
    for index, row in enumerate(rows):
        place = f"[{index}]"
        if not isinstance(row, dict):
            fail(f"{place} is {_article(row)}, not an object with ID, DocumentID, PassageID and Passage")
        document = _id(row, "DocumentID", place, fail)
        passage_id = _id(row, "ID", place, fail)
        _once(passage_id, place, seen, fail)
        title = _string(row, "Title", place, fail) if "Title" in row else ""
        titles[document] = titles.get(document) or title
        number = _string(row, "PassageID", place, fail)
        passage = Passage(passage_id, document, number, _string(row, "Passage", place, fail))
        documents.setdefault(document, []).append(passage)
    if not rows:
        fail("is an empty list: nothing to index; add passages")
    return tuple(
        Edition(document, titles[document] or f"Document {document}", with_tree(passages))
        for document, passages in documents.items()
    )


def read_passages(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The documents of JSON lines with id and text, and where known document, number, title, parent and path."""
    text = text_of(content, fail)
    seen: dict[str, str] = {}
    documents: dict[str, list[Passage]] = {}
    places: list[tuple[str, Passage]] = []
    numbered: set[str] = set()
    for line, row_text in enumerate(text.split("\n"), start=1):
        if not row_text.strip():
            continue
        place = f"line {line}"
        row = _json(row_text, fail, line)
        if not isinstance(row, dict):
            fail(f"{place} is {_article(row)}, not an object with id and text")
        passage = _row_passage(row, place, stem, fail)
        _once(passage.id, place, seen, fail)
        if "number" in row:
            numbered.add(passage.document_id)
        documents.setdefault(passage.document_id, []).append(passage)
        places.append((place, passage))
    _check_parents(places, fail)
    return tuple(
        Edition(document, document, _tree(passages, document in numbered)) for document, passages in documents.items()
    )


def _row_passage(row: Mapping[str, object], place: str, stem: str, fail: Fail) -> Passage:
    passage_id = _id(row, "id", place, fail)
    text = _string(row, "text", place, fail)
    document = _id(row, "document", place, fail) if "document" in row else usable(id_of(stem), "the file's name", fail)
    number = _string(row, "number", place, fail) if "number" in row else passage_id
    title = _string(row, "title", place, fail) if "title" in row else ""
    parent = None if row.get("parent") is None else _id(row, "parent", place, fail)
    path = row.get("path", [])
    if not isinstance(path, list):
        fail(f"{place}.path is {_article(path)}, not a list of headings")
    headings = tuple(_string({f"path[{k}]": item}, f"path[{k}]", place, fail) for k, item in enumerate(path))
    return Passage(passage_id, document, number, text, title, parent, headings, kind_of(number, text))


def _tree(passages: Sequence[Passage], numbered: bool) -> tuple[Passage, ...]:
    """The tree as given. Where no parent and no path is, the one told by the numbers, if there are any."""
    if numbered and not any(passage.parent_id or passage.path for passage in passages):
        return with_tree(passages)
    paths = paths_of(passages)
    return tuple(replace(passage, path=passage.path or path) for passage, path in zip(passages, paths, strict=True))


def _check_parents(places: Sequence[tuple[str, Passage]], fail: Fail) -> None:
    """Each parent is in the same document of this file, no passage is below itself, none is too deep."""
    known = {passage.id: passage for _, passage in places}
    depths: dict[str, int] = {}
    for place, passage in places:
        parent = None if passage.parent_id is None else known.get(passage.parent_id)
        if passage.parent_id is not None and parent is None:
            fail(f"{place}.parent is {shown(passage.parent_id)}, which is the id of no line of this file")
        if parent is not None and parent.document_id != passage.document_id:
            fail(f"{place}.parent is {shown(parent.id)}, of another document, {parent.document_id!r}")
        chain: list[str] = []
        step: Passage | None = passage
        while step is not None and step.id not in depths and len(chain) <= _DEEPEST:
            chain.append(step.id)
            step = known.get(step.parent_id or "")
            if step is not None and step.id in chain:
                fail(f"{place}.parent leads back to {shown(step.id)} itself; correct it")
        top = depths[step.id] if step is not None and step.id in depths else 0
        if top + len(chain) > _DEEPEST:
            fail(f"{place}.parent: more than {_DEEPEST} levels above {shown(passage.id)}; give fewer")
        depths.update((name, top + len(chain) - k) for k, name in enumerate(chain))


def _json(text: str, fail: Fail, line: int = 0) -> Any:  # noqa: ANN401  # whatever the file holds
    """Parse strictly. ``line``, where given, is the line of the file that the text is."""

    def at(error: json.JSONDecodeError) -> str:
        return f"line {line or error.lineno}, column {error.colno}"

    objects = itertools.count(1)

    def constant(name: str) -> NoReturn:
        bare = (found for found in _CONSTANT.finditer(text) if found.group(1))
        number = line or text.count("\n", 0, next(bare).start()) + 1
        raise ValueError(f"line {number}: {name} is no JSON number; write null or leave it out")

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        place = f"line {line}" if line else f"object {next(objects)} of the file"
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                raise ValueError(f"{place}: the key {shown(key)} is given twice; keep one")
            found[key] = value
        return found

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        fail(f"{at(error)}: {'the JSON is cut off' if cut else 'not JSON'} ({error.msg}); write the file again")
    except RecursionError:
        fail(f"{f'line {line}: ' if line else ''}the JSON is nested too deeply; give a flat list of passages")
    except ValueError as error:  # from the hooks, or a number of too many digits
        fail(str(error) if str(error).startswith(("line", "object")) else f"line {line or '?'}: {error}")


def _string(row: Mapping[str, object], key: str, place: str, fail: Fail) -> str:
    if key not in row:
        fail(f"{place} has no {key!r}; its keys are: {', '.join(shown(known) for known in row) or 'none'}")
    value = row[key]
    if not isinstance(value, str):
        fail(f"{place}.{key} is {_article(value)}, not a string")
    return storable(value, f"{place}.{key}", fail)


def _id(row: Mapping[str, object], key: str, place: str, fail: Fail) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if key in row and not isinstance(value, str):
        fail(f"{place}.{key} is {_article(value)}, not a string or a whole number")
    return usable(_string(row, key, place, fail), f"{place}.{key}", fail)


def _once(passage_id: str, place: str, seen: dict[str, str], fail: Fail) -> None:
    if passage_id in seen:
        fail(f"the id {shown(passage_id)} is given twice, at {seen[passage_id]} and {place}; change one")
    seen[passage_id] = place


def _article(value: object) -> str:
    """What a JSON value is, in words."""
    names = {bool: "a truth value", int: "a number", float: "a number", str: "a string", list: "a list"}
    names |= {dict: "an object", type(None): "null"}
    return names[type(value)]
