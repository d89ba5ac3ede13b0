"""The CRR as it stood on a day: its versions, and one version as passages, by article or by paragraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from responsa.errors import InputError, ReadError
from responsa.learn.eba.files import Row, read_date, read_json, read_string, read_text
from responsa.learn.eba.inquiries import DOCUMENT, passage_id
from responsa.types import Edition, Passage


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The CRR as consolidated on a day, in a file; in force from ``valid_from`` to ``valid_to``, both inclusive."""

    path: Path
    valid_from: date
    valid_to: date | None


@dataclass(frozen=True, slots=True)
class InForce:
    """The version to read for a day. ``approximate``: none that is held was in force then."""

    version: Consolidation
    approximate: bool


def consolidations(folder: Path) -> tuple[Consolidation, ...]:
    """The versions of an act in a folder of article files, the earliest first."""
    found = [_consolidation(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise ReadError(f"{folder}: holds no article file; give the folder of the act, such as articles/32013r0575")
    return tuple(sorted(found, key=lambda version: version.valid_from))


def _consolidation(path: Path) -> Consolidation:
    row = _article_file(path)
    start = read_date(row, "valid_from", str(path))
    if start is None:
        raise ReadError(f"{path}: 'valid_from' is empty; write a date")
    return Consolidation(path, start, None if row.get("valid_to") is None else read_date(row, "valid_to", str(path)))


def crr_version(versions: Sequence[Consolidation], on: date) -> InForce:
    """The latest version that began on or before a day; before the first one, the first, marked approximate."""
    if not versions:
        raise InputError("no version of the act is given; read them with consolidations()")
    ordered = sorted(versions, key=lambda version: version.valid_from)
    begun = [version for version in ordered if version.valid_from <= on]
    if not begun:
        return InForce(ordered[0], approximate=True)
    return InForce(begun[-1], approximate=begun[-1].valid_to is not None and begun[-1].valid_to < on)


def edition(version: Consolidation) -> Edition:
    """The act with one passage for each article and annex.

    Articles out of their order are those that an amending article writes into another act (50a to 50d of
    Regulation 648/2012, which stand after Article 520): they carry the flag ``amends``.
    """
    row = _article_file(version.path)
    rows = row.get("provisions")
    if not isinstance(rows, list) or not rows:
        raise ReadError(f"{version.path}: no list of 'provisions'; is it an article file?")
    passages: dict[str, Passage] = {}
    highest = 0
    for index, item in enumerate(rows):
        place = f"{version.path}: provisions[{index}]"
        if not isinstance(item, dict):
            raise ReadError(f"{place} is no object")
        passage = _passage(item, place)
        digits = re.match(r"Article (\d+)", passage.number)
        if passage.id in passages:
            raise ReadError(f"{place}: {passage.number} is given twice; remove one")
        if digits and int(digits[1]) < highest:
            passage = replace(passage, flags=("amends",))
        highest = max(highest, int(digits[1]) if digits else 0)
        passages[passage.id] = passage
    title = read_string(row, "title", str(version.path))
    return Edition(DOCUMENT, title, tuple(passages.values()), version.valid_from, version.valid_to)


def _passage(item: Row, place: str) -> Passage:
    anchor = read_string(item, "anchor", place)
    kind, _, label = anchor.partition("_")
    if kind not in ("art", "anx") or not label:
        raise ReadError(f"{place}: the anchor {anchor!r} is none of an article or annex")
    path = item.get("path")
    if not isinstance(path, list) or not all(isinstance(heading, str) for heading in path):
        raise ReadError(f"{place}: 'path' is no list of headings")
    heading = item.get("heading") if isinstance(item.get("heading"), str) else ""
    name = label.replace("_", "") if kind == "art" else f"Annex-{label.upper()}"
    number = f"Article {name}" if kind == "art" else name.replace("-", " ")
    above = (*path, str(heading)) if heading else tuple(path)
    return Passage(passage_id(name), DOCUMENT, number, read_string(item, "text_md", place), str(heading), None, above)


def _article_file(path: Path) -> Row:
    row = read_json(read_text(path), str(path))
    if not isinstance(row, dict):
        raise ReadError(f"{path}: no object; is it an article file?")
    return row


# Paragraphs

_PARAGRAPH = re.compile(r"\*{0,2}(\d{1,3}[a-z]{0,2})\.\*{0,2}\s")
LONGEST = 200  # words of a passage, where its blocks of text allow


def paragraphs(act: Edition, most: int = LONGEST) -> Edition:
    """The act with a passage for each numbered paragraph, below a blank one for its article or annex.

    Paragraph 1 of Article 425 is ``CRR/425/1``; text above the first, or of an article without any, ``CRR/425/p``. A
    paragraph of more than ``most`` words is parted between its blocks (points, table rows): ``CRR/425/1.2`` is its
    second part. What amends other acts is left out. Every word stays in some passage.
    """
    passages: list[Passage] = []
    for article in act.passages:
        if "amends" in article.flags:
            continue
        passages.append(replace(article, text=""))
        seen: Counter[str] = Counter()
        for label, part, text in _parts(article.text, most):
            name = f"{article.id}/{label}" + (f".{part}" if part > 1 else "")
            seen[name] += 1
            name += f"#{seen[name]}" if seen[name] > 1 else ""
            number = article.number + (f"({label})" if label != "p" else "")
            passages.append(Passage(name, act.document_id, number, text, "", article.id, article.path))
    return replace(act, passages=tuple(passages))


def _parts(text: str, most: int) -> Iterator[tuple[str, int, str]]:
    """(paragraph, part from 1, text) of an article."""
    groups: list[tuple[str, list[str]]] = []
    for block in text.split("\n\n"):
        found = _PARAGRAPH.match(block)
        if not block.strip():
            continue
        if found or not groups:
            groups.append((found[1] if found else "p", []))
        groups[-1][1].append(block)
    for label, blocks in groups:
        part, held, words = 1, list[str](), 0
        for block in blocks:
            length = len(block.split())
            if held and words + length > most:
                yield label, part, "\n\n".join(held)
                part, held, words = part + 1, [], 0
            held.append(block)
            words += length
        yield label, part, "\n\n".join(held)
