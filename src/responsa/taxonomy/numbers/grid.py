"""A report's tables as rows of cells, whatever they came as: tables that the reader knew, in HTML (PDF) or in Markdown
(web pages, Word, text), lines that stand side by side on a page, words with their places, or plain text.

Where a reader knows no table, its cells are passages of their own; they make a row where they stand at one height.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import groupby, pairwise
from typing import Literal, NamedTuple, Protocol

from responsa.quantities.figures import stated
from responsa.quantities.money import IN_THOUSANDS
from responsa.types import Passage

RowKind = Literal["table", "caption", "loose", "text", "heading"]

_TABLE = re.compile(r"<caption>(?P<caption>[^<]*)</caption>|<tr>(?P<row>.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t(?P<kind>[dh])(?: colspan=\"(?P<span>\d{1,3})\")?>(?P<text>[^<]*)</t[dh]>")
_BARRED = re.compile(r"(?:^\|.*\|[ \t]*(?:\n|\Z)){2,}", re.MULTILINE)  # a Markdown table
_RULE = re.compile(r"\|(?:[ \t]*:?-+:?[ \t]*\|)+\s*")
_BAR = re.compile(r"(?<!\\)\|")
_LINE_BREAK = re.compile(r"<br ?/?>")
_DIGIT = re.compile(r"\d")
YEAR = re.compile(r"(?<![\d.,/])(?:FY\s?|fiscal\s)?((?:19|20)\d\d)(?:\s?/\s?\d\d)?(?!\d|[.,]\d|/\d)", re.IGNORECASE)
_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)(?:\s?/\s?\d\d)?(?!\d|[.,]\d|\s?%)", re.IGNORECASE)
_SHORT = 90  # characters at most of a passage that may be a cell
_LONG_HEAD = 100  # characters: longer ones head nothing
_BLOCK = 4  # rows apart at most of a loose row and the row that heads it
_WIDE = 0.9  # of the type size: a gap between words that parts cells


class Cell(NamedTuple):
    """``x0`` to ``x1``: columns of a table, or points on the page. ``head`` joins the heads of its column."""

    text: str
    x0: float
    x1: float
    head: str = ""


class Placed(NamedTuple):
    """A word or a cell with its place: points from the top left corner."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


class NamedYear(NamedTuple):
    start: int
    end: int
    year: int


class HasPlace(Protocol):
    """What the words of a page have, as the PDF reader gives them."""

    @property
    def text(self) -> str: ...
    @property
    def x0(self) -> float: ...
    @property
    def y0(self) -> float: ...
    @property
    def x1(self) -> float: ...
    @property
    def y1(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table, or one passage of text (one cell). ``table`` numbers the table it is of, -1 for none.

    ``title`` is the caption or the two nearest headings. Empty cells are left out.
    """

    page: int
    cells: tuple[Cell, ...]
    kind: RowKind = "table"
    table: int = -1
    title: str = ""
    passage_id: str = ""
    is_head: bool = False

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


def years(text: str) -> list[NamedYear]:
    """The years that a text names, in its order: "2023", "FY 2023", "FY23" (of this century), "2022/23" (the first)."""
    found = [NamedYear(*match.span(), int(match[1])) for match in YEAR.finditer(text)]
    found += [NamedYear(*match.span(), 2000 + int(match[1])) for match in _SHORT_YEAR.finditer(text)]
    return sorted(found)


def is_year(text: str) -> bool:
    """Whether a text is a year and nothing else."""
    return bool(YEAR.fullmatch(text) or _SHORT_YEAR.fullmatch(text))


def rows_of(passages: Iterable[Passage]) -> list[Row]:
    """The rows of a report's passages in reading order. Hidden passages are left out. A file without pages is one."""
    found: list[Row] = []
    shown = (each for each in passages if "hidden" not in each.flags and each.text.strip())
    table = 0
    for page, group in groupby(shown, key=lambda each: each.page or 1):
        own = list(group)
        beside = _beside(own)
        for passage in own:
            title = " / ".join(passage.path[-2:])
            if passage.kind == "table" and "<tr>" in passage.text:
                found += _table_rows(*_html_rows(passage.text), Row(page, (), "table", table, title, passage.id))
                table += 1
            elif "|" in passage.text and _BARRED.search(passage.text):
                for row in _barred(passage, Row(page, (), "text", table, title, passage.id)):
                    found.append(row)
                    table = max(table, row.table + 1)
            elif passage.id in beside:
                cells = beside[passage.id]
                if cells:
                    found.append(Row(page, cells, "loose", title=title, passage_id=passage.id))
            else:
                kind: RowKind = "heading" if passage.kind == "heading" else "text"
                found.append(Row(page, (Cell(passage.text, 0, 0),), kind, title=title, passage_id=passage.id))
    return _headed(found)


def rows_of_text(page: int, text: str) -> list[Row]:
    """The lines of plain text; two blanks, a tab or a bar part cells."""
    found: list[Row] = []
    for line in text.splitlines():
        cells = [
            Cell(match[0].strip(), match.start(), match.end())
            for match in re.finditer(r"[^\s|](?:[^\s|]|[ \u00a0](?=[^\s|]))*", line)
        ]
        if cells:
            found.append(Row(page, tuple(cells), "loose" if len(cells) > 1 else "text"))
    return _headed(found)


def rows_of_words(page: int, words: Iterable[HasPlace]) -> list[Row]:
    """The lines that words make on a page, from top to bottom; wide gaps part cells."""
    lines = _lines([Placed(word.text, word.x0, word.y0, word.x1, word.y1) for word in words if word.text.strip()])
    found = []
    for line in lines:
        parts: list[list[Placed]] = [[line[0]]]
        for left, right in pairwise(line):
            if right.x0 - left.x1 > _WIDE * 0.8 * (left.y1 - left.y0):
                parts.append([])
            parts[-1].append(right)
        cells = tuple(Cell(" ".join(word.text for word in part), part[0].x0, part[-1].x1) for part in parts)
        found.append(Row(page, cells, "loose" if len(cells) > 1 else "text"))
    return _headed(found)


# --- tables ---------------------------------------------------------------------------------------------


def _html_rows(text: str) -> tuple[list[tuple[bool, list[Cell]]], str]:
    """The rows of a table, whether each is marked as a head, and the caption."""
    rows: list[tuple[bool, list[Cell]]] = []
    caption = ""
    for match in _TABLE.finditer(text):
        if match["caption"] is not None:
            caption = unescape(match["caption"])
            continue
        cells: list[Cell] = []
        at, head = 0, False
        for cell in _CELL.finditer(match["row"]):
            span = int(cell["span"] or 1)
            cells.append(Cell(unescape(cell["text"]).strip(), at, at + span - 1))
            head = head or cell["kind"] == "h"
            at += span
        rows.append((head, cells))
    return rows, caption


def _barred(passage: Passage, row: Row) -> Iterator[Row]:
    """The rows of the Markdown tables in a text, and the text between them. ``row``: what they have in common."""
    at = 0
    for match in _BARRED.finditer(passage.text):
        yield from _between(passage.text[at : match.start()], row)
        at = match.end()
        lines = match[0].splitlines()
        ruled = next((index for index, line in enumerate(lines) if _RULE.fullmatch(line)), 0)
        rows = [
            (index < ruled, [Cell(text, place, place) for place, text in enumerate(_parted(line))])
            for index, line in enumerate(lines)
            if not _RULE.fullmatch(line)
        ]
        # The readers set the rule under the first row, whatever is in it.
        rows = [(head and not any(_is_amount(cell.text) for cell in cells[1:]), cells) for head, cells in rows]
        yield from _table_rows(rows, "", row)
        row = replace(row, table=row.table + 1)
    yield from _between(passage.text[at:], row)


def _between(text: str, row: Row) -> Iterator[Row]:
    if text.strip():
        yield replace(row, cells=(Cell(text.strip(), 0, 0),), table=-1)


def _parted(line: str) -> list[str]:
    texts = _BAR.split(line.strip())[1:-1]
    return [" ".join(_LINE_BREAK.sub(" ", text).replace("\\|", "|").split()) for text in texts]


def _is_amount(text: str) -> bool:
    number = None if is_year(text) else stated(text)
    return number is not None and not number.nothing


def _table_rows(rows: Sequence[tuple[bool, list[Cell]]], caption: str, row: Row) -> Iterator[Row]:
    """Rows with the heads over their cells. ``row``: what they have in common."""
    width = max((int(cells[-1].x1) + 1 for _, cells in rows if cells), default=0)
    heads = _head_count(rows)
    above = _column_heads([cells for _, cells in rows[:heads]], width)
    if caption:
        yield replace(row, cells=(Cell(caption, 0, width - 1),), kind="caption")
    for index, (_, cells) in enumerate(rows):
        full = tuple(
            cell._replace(head=above[int(cell.x0)] if index >= heads and cell.x0 == cell.x1 else "")
            for cell in cells
            if cell.text
        )
        if full:
            yield replace(row, cells=full, kind="table", title=caption or row.title, is_head=index < heads)


def _head_count(rows: Sequence[tuple[bool, list[Cell]]]) -> int:
    """How many rows, from the top, head columns: those marked so, and those before the first with a number."""
    count = 0
    for head, cells in rows:
        values = [cell.text for cell in cells if cell.x0 > 0 and cell.text]
        if not head and (not values or any(_has_value(text) for text in values)):
            break
        count += 1
    return count


def _has_value(text: str) -> bool:
    """Whether a text has a number that is no year and no scale ("in 1,000 €")."""
    for pattern in (YEAR, _SHORT_YEAR, IN_THOUSANDS):
        text = pattern.sub("", text)
    return _DIGIT.search(text) is not None


def _column_heads(rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    heads: list[list[str]] = [[] for _ in range(width)]
    below = [
        _spread(cells, rows[index + 1] if index + 1 < len(rows) else (), width) for index, cells in enumerate(rows)
    ]
    for cells in below:
        for cell in cells:
            for column in range(int(cell.x0), int(cell.x1) + 1):
                if cell.text and len(cell.text) <= _LONG_HEAD and cell.text not in heads[column]:
                    heads[column].append(cell.text)
    return [" ".join(texts) for texts in heads]


def _spread(cells: Sequence[Cell], below: Sequence[Cell], width: int) -> Sequence[Cell]:
    """Years over equal groups of columns, whose own heads repeat, each set over its whole group."""
    over = [cell for cell in cells if cell.x0 > 0 and is_year(cell.text)]
    others = [cell for cell in cells if cell.text and cell not in over]
    labels = 1 + max((int(cell.x1) for cell in others), default=0)
    if len(over) < 2 or labels > over[0].x0:
        return cells
    for first in (labels, int(over[0].x0)):
        columns = width - first
        size = columns // len(over)
        own = [cell.text[:4] for cell in below if cell.x0 >= first]
        repeated = len(own) == columns and all(own[index] == own[index % size] for index in range(columns))
        if size > 1 and columns % len(over) == 0 and repeated:
            return [
                *[cell for cell in cells if cell.x0 < first],
                *[
                    cell._replace(x0=first + size * index, x1=first + size * (index + 1) - 1)
                    for index, cell in enumerate(over)
                ],
            ]
    return cells


# --- lines side by side ---------------------------------------------------------------------------------


def _lines(words: Sequence[Placed]) -> list[list[Placed]]:
    """Words that stand at one height, from top to bottom and from left to right."""
    lines: list[list[Placed]] = []
    for word in sorted(words, key=lambda each: (each.y0 + each.y1, each.x0)):
        last = lines[-1] if lines else None
        if last and _overlap(last[-1], word) >= 0.6:
            last.append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda each: each.x0) for line in lines]


def _overlap(one: Placed, other: Placed) -> float:
    """How much of the lower of two places lies beside the other, 0 to 1."""
    height = min(one.y1 - one.y0, other.y1 - other.y0)
    return (min(one.y1, other.y1) - max(one.y0, other.y0)) / height if height > 0 else 0.0


def _beside(passages: Sequence[Passage]) -> dict[str, tuple[Cell, ...]]:
    """The cells of each row of short passages by the id of its first; "" cells for the others of the row."""
    places: dict[str, Placed] = {}
    for passage in passages:
        if passage.kind != "table" and passage.boxes and len(passage.text) <= _SHORT:
            boxes = [box for box in passage.boxes if box.page == passage.page]
            if boxes:
                places[passage.id] = Placed(
                    passage.text,
                    min(box.x0 for box in boxes), min(box.y0 for box in boxes),
                    max(box.x1 for box in boxes), max(box.y1 for box in boxes),
                )  # fmt: skip
    places = _upright(places)
    order = {passage.id: index for index, passage in enumerate(passages)}
    of_place = {place: passage_id for passage_id, place in places.items()}
    found: dict[str, tuple[Cell, ...]] = {}
    for line in _lines(list(of_place)):
        if len(line) < 2 or any(b.x0 < a.x1 - 1 for a, b in pairwise(line)):
            continue
        first, *others = sorted((of_place[place] for place in line), key=order.__getitem__)
        found |= dict.fromkeys(others, ())
        found[first] = tuple(Cell(place.text, place.x0, place.x1) for place in line)
    return found


def _upright(places: dict[str, Placed]) -> dict[str, Placed]:
    """Places as they are when the page is turned so that its words run from left to right.

    Words are taken to run upwards where more of them begin at one height at the bottom than at the top.
    """
    long = [place for place in places.values() if len(place.text) > 4]
    if not long or sum(place.y1 - place.y0 > 1.2 * (place.x1 - place.x0) for place in long) * 2 < len(long):
        return places
    bottom = max(Counter(round(place.y1) for place in long).values())
    upwards = bottom >= max(Counter(round(place.y0) for place in long).values())
    return {
        name: Placed(text, -y1, x0, -y0, x1) if upwards else Placed(text, y0, -x1, y1, -x0)
        for name, (text, x0, y0, x1, y1) in places.items()
    }


def _headed(rows: Sequence[Row]) -> list[Row]:
    """Loose rows with the heads that stand over their cells: those of the last row without numbers but years."""
    found: list[Row] = []
    heads: tuple[Cell, ...] = ()
    since, page = 0, 0
    for row in rows:
        if row.kind != "loose" or row.page != page:
            since += 1
            if row.page != page or since > _BLOCK:
                heads = ()
            page = row.page
        if row.kind == "loose":
            values = row.cells[1:]
            if not any(_has_value(cell.text) for cell in values):
                heads, since = row.cells, 0
                row = replace(row, is_head=True)
            elif heads:
                since = 0
                row = replace(row, cells=tuple(cell._replace(head=_over(heads, cell)) for cell in row.cells))
        found.append(row)
    return found


def _over(heads: Sequence[Cell], cell: Cell) -> str:
    """The heads that stand over a cell."""
    return " ".join(head.text for head in heads if head.x0 <= cell.x1 and head.x1 >= cell.x0)
