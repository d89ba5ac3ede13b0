"""Tables of a PDF page cut into rows and cells, and written as HTML.

Reports rarely draw the grid of a table. What they draw is a rule below each row, whole or broken between the columns;
so the columns are told by the white space that all rows share, and the rows by rules and the distance of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import NamedTuple

from responsa.corpus.readers.pdf_layout import Place, hull
from responsa.corpus.readers.pdf_page import Rule, Word
from responsa.corpus.readers.pdf_regions import Region, Row, is_number, is_year, regions, rows_of

_COLUMN_GAP = 3.0  # points at least between columns
_APART = 1.75  # ems at least between lines that are never of one row
_TIGHT = 1.45  # ems at most between lines of one cell
_HEADER = 1.6  # ems at most between lines of one header
_LONG_CELL = 260  # characters: two columns of such cells are running text
_ABOVE = 45.0  # points above the first rule in which headers are looked for

Join = Callable[[Sequence[str]], str]
"""Mends the lines of a cell into one text."""


class Cell(NamedTuple):
    """``text`` has single spaces. ``columns``: how many it spans."""

    text: str
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """``heads``: how many rows, from the top, are headers. ``words``: positions of its words among those given."""

    place: Place
    caption: str
    rows: tuple[tuple[Cell, ...], ...]
    heads: int
    words: frozenset[int]


@dataclass(slots=True)
class _Slots:
    """A row as it is built: lines of text by the columns they stand in, first to last."""

    cells: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)

    def put(self, first: int, last: int, text: str) -> None:
        """Add a line to the cell that stands there, which grows where need be."""
        texts: list[str] = []
        for a, b in sorted(self.cells):
            if a <= last and b >= first:
                texts += self.cells.pop((a, b))
                first, last = min(a, first), max(b, last)
        self.cells[first, last] = [*texts, text]


def find_tables(words: Sequence[Word], level: Sequence[Rule], upright: Sequence[Rule], join: Join) -> list[Table]:
    """The tables among the visible level words of a page, from top to bottom."""
    found: list[Table] = []
    used: set[int] = set()
    for region in regions(words, level):
        free = [index for index in range(len(words)) if index not in used]
        table = _table(words, free, region, upright, join)
        if table:
            found.append(table)
            used |= table.words
    return sorted(found, key=lambda table: (table.place[1], table.place[0]))


def html(table: Table) -> str:
    """The table as HTML: one line a row, headers as ``th``, nothing but ``colspan`` as an attribute."""
    lines = [f"<caption>{escape(table.caption, quote=False)}</caption>"] if table.caption else []
    for position, row in enumerate(table.rows):
        tag = "th" if position < table.heads else "td"
        cells = "".join(f"<{tag}{_spanning(cell)}>{escape(cell.text, quote=False)}</{tag}>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join(["<table>", *lines, "</table>"])


def _spanning(cell: Cell) -> str:
    return f' colspan="{cell.columns}"' if cell.columns > 1 else ""


def _table(
    words: Sequence[Word], free: Sequence[int], region: Region, upright: Sequence[Rule], join: Join
) -> Table | None:
    position = {id(words[index]): index for index in free}
    rows = rows_of(words[index] for index in free if _inside(words[index], region.place))
    if len(rows) < 2:
        return None
    columns = _columns(rows, region, upright)
    if len(columns) < 2:
        return None
    if region.spans:
        rows = _above(words, free, region, columns) + rows
    body = _body(rows, columns, region)
    slots = _slots(rows, body, columns, region)
    small = 0.88 * rows[body].size  # the notes below a table
    multiple = [
        index
        for index, slot in enumerate(slots)
        if len(slot.cells) > 1
        and (max(word.size for word in slot.words) >= small or slot.words[0].base < rows[body].base)
    ]
    if len(multiple) < 2 or not _tabular(slots, region, len(columns)):
        return None
    caption = [slot for slot in slots[: multiple[0]] if min(slot.cells)[0] == 0]
    ends = [index for index, slot in enumerate(slots) if min(slot.cells)[0] > 0 and slot.words[0].size >= small]
    kept = [slot for slot in slots[: max(multiple[-1], *ends, 0) + 1] if slot not in caption]
    inside = [word for slot in [*caption, *kept] for word in slot.words]
    first = rows[body].base if body < len(rows) else float("inf")
    heads = sum(max(word.base for word in slot.words) < first - 1 for slot in kept) if body else 0
    return Table(
        hull((word.x0, word.y0, word.x1, word.y1) for word in inside),
        " ".join(join(lines) for slot in caption for _, lines in sorted(slot.cells.items())),
        tuple(_cells(slot, len(columns), join) for slot in kept),
        heads,
        frozenset(position[id(word)] for word in inside),
    )


def _inside(word: Word, place: Place) -> bool:
    x, y = (word.x0 + word.x1) / 2, word.base - 0.3 * word.size
    return place[0] - 4 <= x <= place[2] + 4 and place[1] - 1 <= y <= place[3] + 1


def _columns(rows: Sequence[Row], region: Region, upright: Sequence[Rule]) -> list[tuple[float, float]]:
    """The left and right ends of what stands in each column, from left to right."""
    pieces = [row.pieces for row in rows]
    start = _first_numbers(pieces)
    chosen = pieces[start:] if len(pieces) - start >= 2 else pieces
    several = [found for found in chosen if len(found) > 1]
    wide = 0.6 * (region.place[2] - region.place[0])
    if len(several) < 2:
        several = [[piece for piece in found if piece[-1].x1 - piece[0].x0 < wide] for found in chosen]
    sure = sorted([*region.breaks, *_drawn(region, upright)])
    columns: list[tuple[float, float]] = []
    parts = [part for found in several for piece in found for part in _cut_at(piece, sure)]
    for part in sorted(parts, key=lambda each: each[0].x0):
        x0, x1 = part[0].x0, part[-1].x1
        apart = not columns or x0 - columns[-1][1] > _COLUMN_GAP
        if apart or any(sum(columns[-1]) / 2 < at < (x0 + x1) / 2 for at in sure):
            columns.append((x0, x1))
        else:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
    for left, right in pairwise([region.place[0], *region.breaks, region.place[2]]):
        if not any(left - 1 <= (a + b) / 2 <= right + 1 for a, b in columns):
            columns.append((left + 1, right - 1))  # a column without words
    return sorted(columns)


def _drawn(region: Region, upright: Sequence[Rule]) -> list[float]:
    """Upright rules between columns."""
    x0, y0, x1, y1 = region.place
    return [
        rule.at
        for rule in upright
        if min(rule.end, y1) - max(rule.start, y0) >= 0.5 * (y1 - y0) and x0 + 10 < rule.at < x1 - 10
    ]


def _cut_at(piece: list[Word], sure: Sequence[float]) -> list[list[Word]]:
    """A piece cut where a rule says that a column ends."""
    parts = [[piece[0]]]
    for left, right in pairwise(piece):
        if any(_centre(left) < at < _centre(right) for at in sure):
            parts.append([])
        parts[-1].append(right)
    return parts


def _first_numbers(pieces: Sequence[Sequence[Sequence[Word]]]) -> int:
    """The first row with a number behind its first cell that is no year; 0 where there is none."""
    for index, found in enumerate(pieces):
        numbers = [piece for piece in found[1:] if is_number(piece)]
        if numbers and not all(is_year(piece) for piece in numbers):
            return index
    return 0


def _body(rows: Sequence[Row], columns: Sequence[tuple[float, float]], region: Region) -> int:
    """The position of the first row that is no header."""
    start = _first_numbers([row.pieces for row in rows])
    if start:
        while start and rows[start].base - rows[start - 1].base <= _TIGHT * rows[start].size:
            above = rows[start - 1].pieces
            ruled = any(rows[start - 1].base < span.at <= rows[start].base for span in region.spans)
            if ruled or len(above) > 1 or (above[0][0].x0 > columns[0][1] and not region.spans):
                break
            start -= 1  # the first line of the first row's label
        return start
    if not region.spans:
        return 1
    below = [span.at for span in region.spans if span.at > rows[0].base]
    return next((index for index, row in enumerate(rows) if below and row.base > below[0]), 1)


def _above(
    words: Sequence[Word], free: Sequence[int], region: Region, columns: Sequence[tuple[float, float]]
) -> list[Row]:
    """Headers above the first rule: lines that stand over the columns of a table."""
    x0, y0, x1, _ = region.place
    usual = max(words[index].size for index in free if _inside(words[index], region.place))
    band = [words[index] for index in free if _inside(words[index], (x0, y0 - _ABOVE, x1, y0 - 1.5))]
    taken: list[Row] = []
    bottom = y0
    for row in reversed(rows_of(band)):
        pieces = row.pieces
        over = [any(piece[0].x0 < b and piece[-1].x1 > a for a, b in columns[1:]) for piece in pieces]
        large = row.size > 1.1 * usual and not all(word.bold for word in row.words)
        if (
            large
            or bottom - row.base > _APART * row.size
            or not all(over[1:])
            or not over[-1]
            or (over[0] and len(pieces) < 2)
        ):
            break
        taken.insert(0, row)
        bottom = row.base - row.size
    return taken


def _slots(rows: Sequence[Row], body: int, columns: Sequence[tuple[float, float]], region: Region) -> list[_Slots]:
    """Lines put together into rows."""
    slots: list[_Slots] = []
    for group in _grouped(rows, body, columns, region):
        if not group:
            continue
        slot = _Slots()
        header = group[0].base < rows[body].base
        for row in group:
            for first, last, piece in _placed(row, columns, region, group if header else ()):
                slot.put(first, last, " ".join(word.text for word in piece))
            slot.words += row.words
        slots.append(slot)
    return slots


def _placed(
    row: Row, columns: Sequence[tuple[float, float]], region: Region, header: Sequence[Row]
) -> list[tuple[int, int, list[Word]]]:
    """The pieces of a line with the first and last column they stand in; a header spans what its own rule spans."""
    placed: list[tuple[int, int, list[Word]]] = []
    pieces = row.pieces
    for piece in pieces:
        cut = _cut_at(piece, region.breaks) if len(pieces) > 1 and not header else [piece]
        for part in [one for each in cut for one in _at_columns(each, columns)]:
            x0, x1 = part[0].x0, part[-1].x1
            over = [index for index, (a, b) in enumerate(columns) if min(b, x1) - max(a, x0) > 0.5]
            if len(over) > 1 and len(cut) > 1:
                over = [max(over, key=lambda each: min(columns[each][1], x1) - max(columns[each][0], x0))]
            if not over:
                over = [min(range(len(columns)), key=lambda each: abs(sum(columns[each]) - x0 - x1))]
            if header and len(pieces) > 1:
                over = _ruled_below(header, (x0, x1), columns, region) or over
            placed.append((over[0], over[-1], part))
    return placed


def _ruled_below(
    header: Sequence[Row], place: tuple[float, float], columns: Sequence[tuple[float, float]], region: Region
) -> list[int]:
    """The columns over which the piece of a rule right below a header goes; none where no piece does, or where other
    headers stand over it too."""
    centre = sum(place) / 2
    for span in region.spans:
        if 0 <= span.at - header[-1].base <= _TIGHT * header[-1].size and len(span.pieces) > 1:
            piece = next((each for each in span.pieces if each[0] - 1 <= centre <= each[1] + 1), None)
            if piece is None:
                return []
            over = [(each[0].x0, each[-1].x1) for row in header for each in row.pieces]
            if all(b > place[0] and a < place[1] for a, b in over if piece[0] <= (a + b) / 2 <= piece[1]):
                return [index for index, (a, b) in enumerate(columns) if piece[0] - 1 <= (a + b) / 2 <= piece[1] + 1]
    return []


def _at_columns(piece: list[Word], columns: Sequence[tuple[float, float]]) -> list[list[Word]]:
    """A piece that runs over several columns, cut where a wider space of its own lies between them."""
    gaps = [right.x0 - left.x1 for left, right in pairwise(piece)]
    parts = [[piece[0]]]
    for index, (left, right) in enumerate(pairwise(piece)):
        others = gaps[:index] + gaps[index + 1 :]
        wide = gaps[index] > max(0.3 * right.size, 1.4 * sorted(others)[len(others) // 2] if others else 0.0)
        if wide and any(_centre(left) < (a[1] + b[0]) / 2 < _centre(right) for a, b in pairwise(columns)):
            parts.append([])
        parts[-1].append(right)
    return parts


def _centre(word: Word) -> float:
    return (word.x0 + word.x1) / 2


def _grouped(rows: Sequence[Row], body: int, columns: Sequence[tuple[float, float]], region: Region) -> list[list[Row]]:
    """Lines that make one row of the table."""
    heights = [span.at for span in region.spans]
    bands: list[list[Row]] = []
    whole = len(heights) > 3 and len(heights) * 2 >= len(rows[body:]) / 2
    for index, row in enumerate(rows):
        before = rows[index - 1] if index else None
        size = max(row.size, before.size) if before else 0.0
        if (
            before is None or index == body
            or any(before.base - 1 < at <= row.base for at in heights)
            or (index < body and (row.base - before.base > _HEADER * size or abs(row.size - before.size) > 0.1 * size))
            or (index > body and _smaller(rows[body], row) and not _smaller(rows[body], before))
            or (row.base - before.base > _APART * size and (not whole or _is_title(before, row, columns)))
        ):  # fmt: skip
            bands.append([])
        bands[-1].append(row)
    grouped: list[list[Row]] = []
    for band in bands:
        grouped += [band] if band[0].base < rows[body].base else _divided(band, columns, whole)
    return grouped


def _smaller(row: Row, other: Row) -> bool:
    return other.size < 0.88 * row.size


def _is_title(row: Row, below: Row, columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a line stands alone over rows of its own."""
    pieces = row.pieces
    edge = columns[0][1]
    return len(pieces) == 1 and pieces[0][0].x0 <= edge and below.pieces[0][0].x0 <= edge


def _divided(band: list[Row], columns: Sequence[tuple[float, float]], whole: bool) -> list[list[Row]]:
    """Lines between two rules as rows: a row begins where the first column does and there are numbers."""
    edge = (columns[0][1] + columns[1][0]) / 2
    labelled = [row.pieces[0][0].x0 < edge for row in band]
    anchors = [
        own and any(is_number(piece) for piece in row.pieces[1:]) for row, own in zip(band, labelled, strict=True)
    ]
    if sum(anchors) < 2 and (whole or sum(anchors) == 1):
        return [band]
    groups: list[list[Row]] = []
    waiting: list[Row] = []
    for index, row in enumerate(band):
        text = row.pieces[0][0].text
        if not labelled[index] or (text[:1].islower() and not anchors[index]):
            (groups[-1] if groups and not waiting else waiting).append(row)
        elif anchors[index] or sum(anchors) == 0:
            lower = text[:1].islower()
            if waiting and not lower:
                groups.append(waiting)
                waiting = []
            groups.append([*waiting, row])
            waiting = []
        else:
            if waiting:
                groups.append(waiting)
            waiting = [row]
    return [*groups, waiting] if waiting else groups


def _tabular(slots: Sequence[_Slots], region: Region, columns: int) -> bool:
    """Whether it looks like a table at all, not like text in columns between rules or the scale of a chart."""
    texts = [" ".join(lines) for slot in slots for lines in slot.cells.values()]
    numbers = sum(any(letter.isdigit() for letter in text) and len(text) < 25 for text in texts)
    filled = sum(len(slot.cells) for slot in slots)
    if filled < 0.3 * len(slots) * columns and filled < 12:
        return False
    if numbers * 5 >= len(texts):
        return True
    long = sorted(map(len, texts))[len(texts) // 2] > _LONG_CELL
    return len(region.spans) >= 3 and not long and len(slots) >= 3


def _cells(slot: _Slots, columns: int, join: Join) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    at = 0
    for (first, last), lines in sorted(slot.cells.items()):
        cells += [Cell("")] * (first - at)
        cells.append(Cell(join(lines), last - first + 1))
        at = last + 1
    return (*cells, *[Cell("")] * (columns - at))
