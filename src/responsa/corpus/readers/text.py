"""Rulebooks in plain text and Markdown, with a front matter that may give id, title and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from responsa.corpus.readers.content import Fail, id_of, shown, text_of, usable
from responsa.corpus.structure import document_title, parse_rulebook
from responsa.errors import suggestion
from responsa.types import Edition

_FRONT_MATTER = ("document", "title", "valid_from", "valid_to")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_rulebook(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one document of the file; without front matter it is named after the file."""
    text = text_of(content, fail)
    keys, body = _front_matter(text, fail)
    given = keys.get("document")
    where = (
        "the file's name, the id where no front matter gives a document"
        if given is None
        else f"line {given[0]}: document"
    )
    document_id = usable(id_of(stem) if given is None else given[1], where, fail)
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
            fail(f"line {number}: {shown(line)} in the front matter is no 'key: value'")
        if key not in _FRONT_MATTER:
            fail(f"line {number}: unknown front matter key {shown(key)}{suggestion(key, _FRONT_MATTER)}")
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
        fail(f"line {line}: {key} is {shown(value)}, not a date of the calendar; write it as 2024-01-31")
