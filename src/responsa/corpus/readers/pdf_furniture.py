"""Headers, footers and page numbers: what comes again at the same place on page after page, and is no text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from responsa.corpus.readers.pdf_layout import Line, Place, overlaps

_TOP, _BOTTOM = 0.13, 0.90  # of the height of a page: above and below them stand headers and footers
_LEAST = 3  # pages on which a line must come again
_EVERYWHERE = 0.4  # of the pages: a line that comes again so often is no text wherever it stands
_DIGITS = re.compile(r"\d+")
_GRID = 3.0  # points
_LEVEL = 2.0  # points by which the lines of one row of a table differ in height
_ROW = 3.0  # heights of a line: so far below its head the first row of a table stands at most
_MOST_COLUMNS = 60  # of a table: so that a page made to be slow is not
_VALUE = re.compile(r"[(+\-–−]?[€$£]?\d[\d.,’']*(?: ?[%‰)€$£])*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class Sheet(NamedTuple):
    """The lines of a page that run in one direction, and the height of the page in that direction."""

    page: int
    turn: int
    height: float
    lines: Sequence[Line]
    tables: Sequence[Place] = ()


def furniture(sheets: Sequence[Sheet], pages: int) -> tuple[set[int], dict[int, str]]:
    """The identities (``id``) of the lines that are no text, and the printed number of each page that has one.

    A line is no text where its words, digits aside, come again at the same height and margin in the head or foot of
    at least three pages, or where it stands on the height and in the type of such a line.
    Nothing in a table is left out, nor the years over a row of numbers.
    """
    seen: Counter[tuple[object, ...]] = Counter()
    for sheet in sheets:
        seen.update({key for line in sheet.lines for key in _keys(line, sheet)})
    kept = {id(line) for sheet in sheets for line in _heads(sheet)}
    gone: set[int] = set()
    slots: set[tuple[object, ...]] = set()
    for sheet in sheets:
        for line in sheet.lines:
            if id(line) in kept or _in_table(line, sheet):
                continue
            often = max(seen[key] for key in _keys(line, sheet))
            if often >= (_LEAST if _marginal(line, sheet) else max(_LEAST + 2, _EVERYWHERE * pages)):
                gone.add(id(line))
                if _marginal(line, sheet):
                    slots.add(_slot(line, sheet))
    for sheet in sheets:
        gone.update(
            id(line)
            for line in sheet.lines
            if _marginal(line, sheet) and _slot(line, sheet) in slots and not _in_table(line, sheet)
        )
    gone -= kept
    return gone, _numbers(sheets, gone, pages)


def _heads(sheet: Sheet) -> list[Line]:
    """The lines that head a table at the top of a page, and its first row: at least two lines of one height stand over
    numbers of the next row, each over its own, and name a year.
    """
    head = [line for line in sheet.lines if line.y1 < _TOP * sheet.height]
    found: list[Line] = []
    looked_at: set[int] = set()
    for first in head:
        if id(first) in looked_at or not _YEAR.search(first.text):
            continue
        row = [line for line in head if abs(line.base - first.base) <= _LEVEL]
        looked_at.update(map(id, row))
        below = _next_row(first, sheet)
        if max(len(row), len(below)) > _MOST_COLUMNS:
            continue
        over = [[value for value in below if _is_value(value.text) and _across(line, value)] for line in row]
        years = [line for line, values in zip(row, over, strict=True) if len(values) == 1 and _YEAR.search(line.text)]
        if len({id(values[0]) for values in over if len(values) == 1}) > 1 and len(years) > 1:
            found += [*row, *below]
    return found


def _next_row(above: Line, sheet: Sheet) -> list[Line]:
    lower = [line for line in sheet.lines if 0 < line.base - above.base - _LEVEL <= _ROW * (above.y1 - above.y0)]
    nearest = min((line.base for line in lower), default=0.0)
    return [line for line in lower if line.base - nearest <= _LEVEL]


def _across(line: Line, other: Line) -> bool:
    return line.x0 < other.x1 and other.x0 < line.x1


def _is_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None


def _in_table(line: Line, sheet: Sheet) -> bool:
    return any(overlaps((line.x0, line.y0, line.x1, line.y1), table) for table in sheet.tables)


def _marginal(line: Line, sheet: Sheet) -> bool:
    return line.y1 < _TOP * sheet.height or line.y0 > _BOTTOM * sheet.height


def _keys(line: Line, sheet: Sheet) -> list[tuple[object, ...]]:
    """What a line is told by: neighbours on the grid too, so that a point up or down does not matter."""
    words = _DIGITS.sub("#", line.text)
    from_edge = line.base if line.base < sheet.height / 2 else line.base - sheet.height
    across = line.x0 if words != "#" else 0.0
    places = {(round((from_edge + d) / _GRID), round(across / _GRID)) for d in (-1, 1)}
    return [(sheet.turn, words, *place) for place in sorted(places)]


def _slot(line: Line, sheet: Sheet) -> tuple[object, ...]:
    word = line.words[0]
    return sheet.turn, round(line.base), word.font, word.size


def _numbers(sheets: Sequence[Sheet], gone: set[int], pages: int) -> dict[int, str]:
    """Printed page numbers: those of headers and footers that go up with the pages."""
    found: dict[int, set[int]] = {}
    for sheet in sheets:
        for line in sheet.lines:
            if id(line) in gone:
                texts = (word.text for word in line.words)
                found.setdefault(sheet.page, set()).update(int(text) for text in texts if _is_number(text))
    offsets = Counter(
        number - page for page, numbers in found.items() for number in numbers if abs(number - page) < 1000
    )
    if not offsets:
        return {}
    offset, count = min(offsets.items(), key=lambda item: (-item[1], abs(item[0])))
    if count < max(_LEAST, 0.3 * pages):
        return {}
    return {page: str(page + offset) for page, numbers in found.items() if page + offset in numbers}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5
