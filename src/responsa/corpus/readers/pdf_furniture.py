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
    Nothing in a table is left out.
    """
    seen: Counter[tuple[object, ...]] = Counter()
    for sheet in sheets:
        seen.update({key for line in sheet.lines for key in _keys(line, sheet)})
    gone: set[int] = set()
    slots: set[tuple[object, ...]] = set()
    for sheet in sheets:
        for line in sheet.lines:
            if _in_table(line, sheet):
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
    return gone, _numbers(sheets, gone, pages)


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
