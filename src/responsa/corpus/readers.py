"""Source files into editions: structured rulebooks (.json), passages (.jsonl), rulebooks (.txt, .md).

Whatever cannot be read as what it claims to be is refused with a `ReadError` that starts with the file's
path and says where, what and what to do. Nothing is repaired and nothing skipped.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from responsa.corpus.structure import (
    document_title,
    is_blank,
    kind_of,
    parse_rulebook,
    paths_of,
    with_tree,
)
from responsa.errors import ReadError, suggestion
from responsa.types import Edition, Passage

Fail = Callable[[str], NoReturn]
_FRONT_MATTER = ("document", "title", "valid_from", "valid_to")
_NOT_IN_IDS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', re.DOTALL)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DEEPEST = 64  # levels of parents
_ENCODED_OTHERWISE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read(path: Path) -> tuple[Edition, ...]:
    """The documents in a file, read as its suffix says. `ReadError` where it cannot be used."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ReadError(
            f"{path}: files that end in {path.suffix!r} cannot be read; known: {', '.join(sorted(SUFFIXES))}"
        )

    def fail(problem: str) -> NoReturn:
        raise ReadError(f"{path}: {problem}")

    editions = reader(_text(path, fail), path.stem, fail)
    for edition in editions:
        if all(is_blank(passage.text) for passage in edition.passages):
            fail(f"nothing to index: no passage of document {edition.document_id!r} has text; leave it out")
    return editions


def _text(path: Path, fail: Fail) -> str:
    """The file's text with plain line ends and no byte-order mark."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path itself
        fail(f"cannot be read: {getattr(error, 'strerror', None) or error}; check the path and its permissions")
    for mark, name in _ENCODED_OTHERWISE.items():
        if content.startswith(mark):
            fail(f"is encoded as {name}, not UTF-8 (byte-order mark {mark.hex(' ')}); save it as UTF-8")
    content = content.removeprefix(codecs.BOM_UTF8)
    nul = content.find(b"\0")
    if nul >= 0:
        fail(f"is binary: NUL at byte {nul}, line {_line_at(content, nul)}; give a text file in UTF-8")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(
            f"is not UTF-8: byte {content[error.start]:#04x} at offset {error.start}, line "
            f"{_line_at(content, error.start)} ({error.reason}); save it as UTF-8"
        )
    if is_blank(text):
        fail("is empty; give a file with text or leave it out")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _line_at(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


# Plain text and Markdown


def _rulebook(text: str, stem: str, fail: Fail) -> tuple[Edition, ...]:
    keys, body = _front_matter(text, fail)
    given = keys.get("document")
    where = (
        "the file's name, the id where no front matter gives a document"
        if given is None
        else f"line {given[0]}: document"
    )
    document_id = _usable(_id_of(stem) if given is None else given[1], where, fail)
    dates = {key: _date(*keys[key], key, fail) for key in ("valid_from", "valid_to") if key in keys}
    start, end = dates.get("valid_from"), dates.get("valid_to")
    if start and end and end < start:
        line = keys["valid_to"][0]
        fail(f"line {line}: valid_to {end} lies before valid_from {start}; correct one of the two")
    passages = parse_rulebook(body, document_id)
    title = keys["title"][1] if "title" in keys else document_title(passages) or stem
    return (Edition(document_id, title, passages, start, end),)


def _front_matter(text: str, fail: Fail) -> tuple[dict[str, tuple[int, str]], str]:
    """The lines between the first ``---`` and the next, by key with their line number, and what follows."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---" or not _looks_like_keys(lines):
        return {}, text
    end = next((k for k, line in enumerate(lines) if k and line.rstrip() in ("---", "...")), None)
    if end is None:
        fail("line 1: the front matter is never closed; end it with a line ---")
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines[1:end], start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            fail(f"line {number}: {_shown(line)} in the front matter is no 'key: value'")
        if key not in _FRONT_MATTER:
            fail(f"line {number}: unknown front matter key {_shown(key)}{suggestion(key, _FRONT_MATTER)}")
        if key in found:
            fail(f"line {number}: {key} is given again, first in line {found[key][0]}; keep one")
        value = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
        if not value:
            fail(f"line {number}: {key} has no value; write one or remove the line")
        found[key] = (number, value)
    return found, "\n".join(lines[end + 1 :])


def _looks_like_keys(lines: Sequence[str]) -> bool:
    """A rule ``---`` above ordinary text is no front matter."""
    first = next((line for line in lines[1:] if line.strip()), "")
    return first.rstrip() == "---" or re.match(r"[A-Za-z_][\w-]{0,40}\s{0,9}:", first) is not None


def _date(line: int, value: str, key: str, fail: Fail) -> date:
    try:
        # fromisoformat alone would take 20240131 and 2024-W05-3 too
        return date.fromisoformat(value if _DATE.fullmatch(value) else "")
    except ValueError:
        fail(f"line {line}: {key} is {_shown(value)}, not a date of the calendar; write it as 2024-01-31")


# JSON


def _structured(text: str, stem: str, fail: Fail) -> tuple[Edition, ...]:  # noqa: ARG001  # all readers take a stem
    rows = _json(text, fail)
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


def _passages(text: str, stem: str, fail: Fail) -> tuple[Edition, ...]:
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
    document = (
        _id(row, "document", place, fail) if "document" in row else _usable(_id_of(stem), "the file's name", fail)
    )
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
            fail(f"{place}.parent is {_shown(passage.parent_id)}, which is the id of no line of this file")
        if parent is not None and parent.document_id != passage.document_id:
            fail(f"{place}.parent is {_shown(parent.id)}, of another document, {parent.document_id!r}")
        chain: list[str] = []
        step: Passage | None = passage
        while step is not None and step.id not in depths and len(chain) <= _DEEPEST:
            chain.append(step.id)
            step = known.get(step.parent_id or "")
            if step is not None and step.id in chain:
                fail(f"{place}.parent leads back to {_shown(step.id)} itself; correct it")
        top = depths[step.id] if step is not None and step.id in depths else 0
        if top + len(chain) > _DEEPEST:
            fail(f"{place}.parent: more than {_DEEPEST} levels above {_shown(passage.id)}; give fewer")
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
                raise ValueError(f"{place}: the key {_shown(key)} is given twice; keep one")
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
        fail(f"{place} has no {key!r}; its keys are: {', '.join(_shown(known) for known in row) or 'none'}")
    value = row[key]
    if not isinstance(value, str):
        fail(f"{place}.{key} is {_article(value)}, not a string")
    return _storable(value, f"{place}.{key}", fail)


def _storable(value: str, where: str, fail: Fail) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        lone = value[error.start]
        fail(f"{where} holds half a character, \\u{ord(lone):04x}, at character {error.start}; remove it")
    return value


def _id(row: Mapping[str, object], key: str, place: str, fail: Fail) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if key in row and not isinstance(value, str):
        fail(f"{place}.{key} is {_article(value)}, not a string or a whole number")
    return _usable(_string(row, key, place, fail), f"{place}.{key}", fail)


def _id_of(stem: str) -> str:
    """The id of a document that is named after its file."""
    return re.sub(r"\s+", "_", stem)


def _usable(value: str, where: str, fail: Fail) -> str:
    """An id that can stand in a TREC file: not empty, no white space."""
    if not value:
        fail(f"{where} is empty; give it an id")
    found = _NOT_IN_IDS.search(value)
    if found:
        what = "white space" if found.group().isspace() else "a control character"
        fail(f"{where}: {_shown(value)} holds {what} at character {found.start()}; an id must have none")
    return _storable(value, where, fail)


def _once(passage_id: str, place: str, seen: dict[str, str], fail: Fail) -> None:
    if passage_id in seen:
        fail(f"the id {_shown(passage_id)} is given twice, at {seen[passage_id]} and {place}; change one")
    seen[passage_id] = place


def _article(value: object) -> str:
    """What a JSON value is, in words."""
    names = {bool: "a truth value", int: "a number", float: "a number", str: "a string", list: "a list"}
    names |= {dict: "an object", type(None): "null"}
    return names[type(value)]


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else f"{value[:57]}...")


READERS: Mapping[str, Callable[[str, str, Fail], tuple[Edition, ...]]] = MappingProxyType(
    {".json": _structured, ".jsonl": _passages, ".txt": _rulebook, ".md": _rulebook, ".markdown": _rulebook}
)
SUFFIXES = frozenset(READERS)
