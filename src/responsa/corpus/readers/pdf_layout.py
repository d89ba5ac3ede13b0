"""Words of a page into lines, lines into blocks, blocks into reading order.

A *line* is a run of words of one column; a *block* is a paragraph or a heading: lines below one another of the same
size. Blocks are ordered by cutting the page at its white space, the columns from left to right, after the recursive
XY cut of Nagy and Seth (1984).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from responsa.corpus.readers.pdf_page import Page, Word

_GUTTER = 6.5  # points of white space between columns
_SAME_FLOW = 1.5  # ems between words of a line that follow one another in the file
_OTHER_FLOW = 0.5  # ems between words that do not
_AFTER_BULLET = 4.0  # ems
_LEADING = 0.95  # ems of white space between lines of a block
_BULLET = re.compile(r"[^\w\s(\[\"'“‘€$£+<>≥≤*]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]")


@dataclass(slots=True)
class Line:
    """Words of one column on one height, from left to right."""

    words: list[Word]
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0
    base: float = 0.0
    size: float = 0.0
    bold: bool = False

    def __post_init__(self) -> None:
        self.measure()

    def measure(self) -> None:
        """Take place and style from the words: the size of most of the letters."""
        words = self.words
        self.x0 = min(word.x0 for word in words)
        self.y0 = min(word.y0 for word in words)
        self.x1 = max(word.x1 for word in words)
        self.y1 = max(word.y1 for word in words)
        main = max(words, key=lambda word: len(word.text)) if len(words) < 4 else _main(words)
        self.size, self.base = main.size, main.base
        letters = sum(len(word.text) for word in words)
        self.bold = 2 * sum(len(word.text) for word in words if word.bold) > letters

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word.text for word in self.words)


@dataclass(slots=True)
class Block:
    """Lines of one paragraph or heading, from top to bottom. ``kind``: what a table finder makes of it."""

    lines: list[Line] = field(default_factory=list)
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0

    def add(self, line: Line) -> None:
        """Put a line below the others."""
        if self.lines:
            self.x0, self.y0 = min(self.x0, line.x0), min(self.y0, line.y0)
            self.x1, self.y1 = max(self.x1, line.x1), max(self.y1, line.y1)
        else:
            self.x0, self.y0, self.x1, self.y1 = line.x0, line.y0, line.x1, line.y1
        self.lines.append(line)


def _main(words: Sequence[Word]) -> Word:
    weights: dict[float, int] = {}
    for word in words:
        weights[word.size] = weights.get(word.size, 0) + len(word.text)
    size = max(weights, key=lambda each: weights[each])
    return next(word for word in words if word.size == size)


def upright(page: Page, turn: int) -> list[Word]:
    """The visible words that run in one direction, with places as if the page were turned so that they run level."""
    words = [word for word in page.words if word.turn == turn and not word.hidden]
    if turn == 0:
        return words
    return [_turn(word, page, turn) for word in words]


def _turn(word: Word, page: Page, turn: int) -> Word:
    x0, y0, x1, y1 = turned_box((word.x0, word.y0, word.x1, word.y1), page, turn)
    base = (0.0, page.width - word.base, page.height - word.base, word.base)[turn]
    return word._replace(x0=x0, y0=y0, x1=x1, y1=y1, base=base)


def turned_box(
    box: tuple[float, float, float, float], page: Page, turn: int, back: bool = False
) -> tuple[float, float, float, float]:
    """A box on the page turned against the direction of its words; ``back`` from there to the page as shown."""
    x0, y0, x1, y1 = box
    width, height = page.width, page.height
    if turn == 1:
        return (width - y1, x0, width - y0, x1) if back else (y0, width - x1, y1, width - x0)
    if turn == 2:
        return width - x1, height - y1, width - x0, height - y0
    if turn == 3:
        return (y0, height - x1, y1, height - x0) if back else (height - y1, x0, height - y0, x1)
    return box


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Lines from words in the order of the file, from top to bottom and left to right."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and _follows(runs[-1][-1], word, _SAME_FLOW):
            runs[-1].append(word)
        else:
            runs.append([word])
    return [_unspaced(line) for line in _joined([Line(run) for run in runs])]


def _unspaced(line: Line) -> Line:
    """A line set with space between its letters gets its words back: the wider gaps are spaces between words."""
    words = line.words
    if len(words) < 5 or 2 * sum(len(word.text) <= 2 for word in words) < len(words):
        return line
    gaps = [right.x0 - left.x1 for left, right in pairwise(words)]
    if sum(len(word.text) == 1 and word.text.isalpha() for word in words) * 2 < len(words) or max(gaps) > 3 * line.size:
        return line
    usual = sorted(gaps)[len(gaps) // 2]
    limit = max(1.6 * usual, usual + 0.12 * line.size)
    joined = [words[0]]
    for gap, word in zip(gaps, words[1:], strict=True):
        last = joined[-1]
        if gap > limit:
            joined.append(word)
        else:
            joined[-1] = last._replace(
                text=last.text + word.text, x1=word.x1, y0=min(last.y0, word.y0), y1=max(last.y1, word.y1)
            )
    return Line(joined)


def _follows(left: Word, right: Word, ems: float) -> bool:
    size = max(left.size, right.size)
    lower = min(left.size, right.size)
    gap = right.x0 - left.x1
    return (
        abs(left.base - right.base) <= 0.45 * size
        and -0.6 * lower <= gap <= ems * (lower if gap > size else size)
        and min(left.y1, right.y1) - max(left.y0, right.y0) > 0
    )


def _joined(lines: list[Line]) -> list[Line]:
    """Join pieces of a line that the file does not hold together, and bullets with what they stand before."""
    lines.sort(key=lambda line: (round(line.base), line.x0))
    done: list[Line] = []
    open_lines: list[Line] = []
    for line in lines:
        open_lines = [each for each in open_lines if line.base - each.base <= 0.5 * max(line.size, each.size)]
        for each in open_lines:
            bullet = len(each.words) == 1 and _BULLET.fullmatch(each.words[0].text) is not None
            same = abs(each.size - line.size) < 0.2 * line.size or bullet
            before = each.words[-1]
            if same and _follows(before, line.words[0], _AFTER_BULLET if bullet else _OTHER_FLOW):
                each.words += line.words
                each.measure()
                break
        else:
            done.append(line)
            open_lines.append(line)
    done.sort(key=lambda line: (line.base, line.x0))
    return done


def blocks_of(lines: Sequence[Line]) -> list[Block]:
    """Blocks from lines in order of height: a line joins the block whose last line is right above it."""
    blocks: list[Block] = []
    live: list[Block] = []
    for line in lines:
        live = [block for block in live if line.y0 - block.lines[-1].y1 < 2 * max(line.size, block.lines[-1].size)]
        best = max(
            (block for block in live if _continues(block, line)), key=lambda each: each.lines[-1].base, default=None
        )
        if best is None:
            best = Block()
            blocks.append(best)
            live.append(best)
        best.add(line)
    return blocks


def _continues(block: Block, line: Line) -> bool:
    last = block.lines[-1]
    if not (line.base - last.base > 0.5 * line.size and line.x0 < last.x1 and line.x1 > last.x0):
        return False
    size = max(last.size, line.size)
    gap = (line.base - last.base) - size
    if gap > _LEADING * size or abs(last.size - line.size) > 0.12 * size or last.bold != line.bold:
        return False
    if len(block.lines) > 1 and gap > (last.base - block.lines[-2].base) - size + 0.25 * size:
        return False  # the first line of the next paragraph: further below than the lines before it
    if _BULLET.fullmatch(line.words[0].text) and line.x0 <= block.x0 + 1:
        return False
    return not _ends_short(block, last, line)


def _ends_short(block: Block, last: Line, line: Line) -> bool:
    """A paragraph's last line leaves room for the first word of what follows, which begins anew."""
    if len(block.lines) < 2:
        return False
    room = block.x1 - last.x1
    first = line.words[0]
    return last.text[-1:] in ".:!?" and room > (first.x1 - first.x0) + 0.12 * (block.x1 - block.x0) + last.size


Place = tuple[float, float, float, float]


def reading_order(places: Sequence[Place], dividers: Iterable[float] = ()) -> list[int]:
    """The order in which boxes (x0, y0, x1, y1) are read, as positions in ``places``.

    ``dividers`` are heights of rules across the page: what stands above one is read before what stands below it.
    """
    whole = list(range(len(places)))
    parts: list[list[int]] = []
    for at in [*sorted(dividers), float("inf")]:
        parts.append([each for each in whole if (places[each][1] + places[each][3]) / 2 < at])
        whole = [each for each in whole if (places[each][1] + places[each][3]) / 2 >= at]
    return [each for part in parts for each in _cut(places, part, 0)]


def _cut(places: Sequence[Place], chosen: list[int], depth: int) -> list[int]:
    if len(chosen) < 2 or depth > 40:
        return sorted(chosen, key=lambda each: (places[each][1], places[each][0]))
    columns = _split(places, chosen, 0, _GUTTER)
    if len(columns) > 1:
        return [each for column in columns for each in _cut(places, column, depth + 1)]
    bands = _split(places, chosen, 1, 0.0)
    if len(bands) == 1:
        return sorted(chosen, key=lambda each: (places[each][1], places[each][0]))
    ordered: list[int] = []
    for band in _with_shared_gutter(places, bands):
        ordered += _cut(places, band, depth + 1)
    return ordered


def _split(places: Sequence[Place], chosen: Iterable[int], axis: int, least: float) -> list[list[int]]:
    """Groups of boxes with white space between them along an axis, in order."""
    groups: list[list[int]] = []
    end = float("-inf")
    for each in sorted(chosen, key=lambda one: places[one][axis]):
        if not groups or places[each][axis] - end > least:
            groups.append([])
        groups[-1].append(each)
        end = max(end, places[each][axis + 2])
    return groups


def _with_shared_gutter(places: Sequence[Place], bands: list[list[int]]) -> list[list[int]]:
    """Bands one below the other that have the same white space between columns are read column by column."""
    joined: list[list[int]] = []
    current: list[int] = []
    split = False
    for band in bands:
        own = len(_split(places, band, 0, _GUTTER)) > 1
        if current and (own or split) and len(_split(places, current + band, 0, _GUTTER)) > 1:
            current, split = current + band, True
        else:
            if current:
                joined.append(current)
            current, split = list(band), own
    joined.append(current)
    return joined if len(joined) > 1 else bands


def overlaps(one: Place, other: Place) -> bool:
    """Whether two boxes share more than a point in each direction."""
    return all(min(one[i + 2], other[i + 2]) - max(one[i], other[i]) > 1 for i in (0, 1))


def hull(places: Iterable[Place]) -> Place:
    """The smallest box around all of them."""
    sides = list(zip(*places, strict=True))
    return min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])
