"""EU law by article, as JSON of the schema ``lex-articles/1``: each article is text in Markdown.

Where only this derived form of a version can be had, its provisions get the same names as from the original. It has
less: no recitals, tables without spans, points within points partly run into one text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from responsa.corpus import acts
from responsa.corpus.ranges import roman
from responsa.corpus.readers import eulaw
from responsa.corpus.readers.clauses import Block, Clause, to_passages
from responsa.corpus.readers.content import Fail
from responsa.types import Edition

SCHEMA = "lex-articles/1"
_PARAGRAPH = re.compile(r"\*{0,2}(\d{1,3}[a-z]{0,3})\.\*{0,2}\s+")
_POINT = re.compile(r"\((\d{1,3}[a-z]{0,2}|[a-z]{1,5})\)\s+")
_INDENT = re.compile(r"[—–-]\s+")
_TERM = re.compile(r"^\s*\|\s*(\S[^|]*?)\s*\|\s*=\s*\|\s*(.*?)\s*\|\s*$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,2}(?=\S)(.+?)(?<=\S)\*{1,2}")
_ROMAN = frozenset(roman(number).lower() for number in range(1, 40))


def read(file: Mapping[str, Any], fail: Fail) -> tuple[Edition, ...]:
    """The one version of an act in a file."""
    celex = eulaw.celex_in(str(file.get("lex_id", "")))
    rows = file.get("provisions")
    if celex is None:
        fail(f"lex_id is {str(file.get('lex_id'))[:60]!r}, which names no act; write eu-eurlex:32013r0575:2013-06-28")
    if not isinstance(rows, list) or not rows:
        fail("provisions is no list of articles; write the file again")
    clauses: list[Clause] = []
    opened: list[Clause] = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("text_md"), str):
            fail(f"provisions[{index}] is no object with text_md")
        if row.get("type") == "annex":
            clauses.append(
                _filled(Clause("annex", *eulaw.annex_label([str(row.get("heading") or "")])), row["text_md"])
            )
            continue
        path = [str(each) for each in row.get("path") or ()]
        _divide(path, opened, clauses)
        article = Clause("article", eulaw.article_label(str(row.get("num") or "")), str(row.get("heading") or ""))
        (opened[-1].parts if opened else clauses).append(_filled(article, row["text_md"]))
    start, end = (_date(file, key, fail) for key in ("valid_from", "valid_to"))
    title = str(file.get("title") or "").partition(" — ")[2] or str(file.get("title") or "")
    name = acts.name_of(celex)
    return (Edition(celex, eulaw.short_title(title, celex), to_passages(clauses, celex, name), start, end),)


def _date(file: Mapping[str, Any], key: str, fail: Fail) -> date | None:
    value = file.get(key)
    if value is None:
        return None
    found = eulaw.day(str(value).replace("-", ""))
    if found is None:
        fail(f"{key} is {str(value)[:60]!r}, not a date; write it as 2024-01-31")
    return found


def _divide(path: list[str], opened: list[Clause], clauses: list[Clause]) -> None:
    """Leave ``opened`` as the divisions of a path, those that go on and those that begin."""
    wanted = [tuple(each.split(" — ", 1)) for each in path] if any(" — " in each for each in path) else []
    if path and not wanted:
        wanted = [(path[0], " ".join(path[1:]))]  # number and title of the innermost alone
    depth = next(
        (k for k, (clause, each) in enumerate(zip(opened, wanted, strict=False)) if clause.label != each[0]),
        min(len(opened), len(wanted)),
    )
    del opened[depth:]
    for each in wanted[depth:]:
        clause = Clause("division", each[0], each[1] if len(each) > 1 else "")
        (opened[-1].parts if opened else clauses).append(clause)
        opened.append(clause)


def _filled(clause: Clause, text: str) -> Clause:
    """The clause with its paragraphs and points, told from how the blocks of its text begin."""
    place = clause
    points: list[tuple[str, Clause]] = []
    for block in re.split(r"\n\s*\n", text):
        if terms := _TERM.findall(block):
            place.parts.append(Block("\n".join(f"{term} = {meaning}" for term, meaning in terms), False))
            continue
        if block.lstrip().startswith("|"):
            (points[-1][1] if points else place).parts.append(Clause("table", parts=[Block(block.strip(), False)]))
            continue
        words = " ".join(block.split())
        number, point = _PARAGRAPH.match(words), _POINT.match(words)
        if number and clause.level == "article":
            place, points = Clause("paragraph", number[1]), []
            clause.parts.append(place)
            words = words[number.end() :]
        elif point or number:
            found = point or number
            assert found is not None
            inner = _nested(found[1], points, place)
            inner.parts.append(Block(_EMPHASIS.sub(r"\1", words[found.end() :])))
            continue
        elif indent := _INDENT.match(words):
            bullet = Clause("indent", parts=[Block(_EMPHASIS.sub(r"\1", words[indent.end() :]))])
            (points[-1][1] if points else place).parts.append(bullet)
            continue
        else:
            points = []
        if words:
            place.parts.append(Block(_EMPHASIS.sub(r"\1", words)))
    return clause


def _nested(label: str, points: list[tuple[str, Clause]], place: Clause) -> Clause:
    """A point in its place among those that are open: (i) after (h) is a letter, else a roman number."""
    letters = next((each.label for kind, each in reversed(points) if kind == "letter"), "")
    follows = len(label) == 1 and letters == chr(ord(label) - 1)
    kind = "number" if label[0].isdigit() else "roman" if label in _ROMAN and not follows else "letter"
    depth = next((k for k, (each, _) in enumerate(points) if each == kind), len(points))
    del points[depth:]
    clause = Clause("point", label)
    (points[-1][1] if points else place).parts.append(clause)
    points.append((kind, clause))
    return clause
