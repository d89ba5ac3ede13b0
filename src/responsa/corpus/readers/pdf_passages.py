"""Blocks and tables of the pages into passages: headings and their path, ids, places, flags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from responsa.corpus.readers.pdf_layout import Block, Line, Place, blocks_of, reading_order, turned_box
from responsa.corpus.readers.pdf_page import HYPHEN, Page, Word
from responsa.corpus.readers.pdf_tables import Table, html
from responsa.corpus.readers.pdf_words import Mender
from responsa.types import Box, Kind, Passage

HIDDEN, SCANNED, NO_TEXT = "hidden", "scanned", "no text"
"""Flags of passages: words that cannot be seen; a page that is a picture; a page without words or picture."""
RECOGNISED = "recognised"
"""Flag of passages whose words were read off a picture and may be wrong."""
PRINTED = "printed page "
"""Begins the flag with the page number that is printed on the page, where it is not the page's position."""

_LARGER = 1.12  # times the usual size: headings
_LONGEST = 200  # characters of a heading
_LONGEST_BOLD = 120  # of one that only its weight tells
_STOPS = (".", ",", ";", ":", HYPHEN)
_ENDED = re.compile(r"[.!?:;][\"'”’»)\]]*$")


class Item(NamedTuple):
    """A block or a table at its place on the page as shown."""

    place: Place
    content: Block | Table


@dataclass(slots=True)
class Writer:
    """Makes passages page by page; the headings that are open at the end of a page hold on the next."""

    document_id: str
    body: float
    mend: Mender
    passages: list[Passage] = field(default_factory=list)
    _open: list[tuple[tuple[float, bool], str, str]] = field(default_factory=list)
    _count: int = 0
    _page: int = 0

    def write(self, page: Page, items: Sequence[Item], label: str, flags: Sequence[str] = ()) -> None:
        """A page: what can be read, in order, then what is hidden; one passage without text where nothing is."""
        self._page, self._count = page.number, 0
        marks = (*flags, *((f"{PRINTED}{label}",) if label and label != str(page.number) else ()))
        before: Item | None = None
        for item in items:
            if isinstance(item.content, Table):
                self._add(html(item.content), "table", [item.place], marks)
            elif isinstance(before and before.content, Block) and self._goes_on(before, item):
                self._extend(item)
            elif self._is_heading(item.content):
                self._head(item, marks)
            else:
                self._add(self._text(item.content), "text", [item.place], marks)
            before = item
        for reason, words in _hidden(page.words).items():
            place = _around(words, page)
            self._add(self.mend([word.text for word in words]), "text", [place], (*marks, HIDDEN, reason), tree=False)
        if not self._count:
            reason = SCANNED if page.pictured >= 0.5 else NO_TEXT
            self._add("", "figure", [(0.0, 0.0, page.width, page.height)], (*marks, reason))

    def _text(self, block: Block) -> str:
        return self.mend([line.text for line in block.lines])

    def _add(self, text: str, kind: Kind, places: Iterable[Place], flags: Sequence[str], tree: bool = True) -> Passage:
        self._count += 1
        number = f"p. {self._page} ({self._count})"
        above = self._open if tree else []
        made = Passage(
            f"{self.document_id} {number}", self.document_id, number, text,
            parent_id=above[-1][2] if above else None,
            path=tuple(title for _, title, _ in above),
            kind=kind, page=self._page,
            boxes=tuple(_box(self._page, place) for place in places),
            flags=tuple(flags),
        )  # fmt: skip
        self.passages.append(made)
        return made

    def _goes_on(self, before: Item | None, item: Item) -> bool:
        """Whether a paragraph goes on at the top of the next column."""
        if before is None or not isinstance(before.content, Block) or not isinstance(item.content, Block):
            return False
        last, first = before.content.lines[-1], item.content.lines[0]
        if self.passages[-1].kind != "text" or abs(last.size - first.size) > 0.5 or item.place[0] <= before.place[0]:
            return False
        text = first.text.lstrip("\"'“‘(")
        return not _ENDED.search(last.text) and text[:1].islower() and len(before.content.lines) > 1

    def _extend(self, item: Item) -> None:
        assert isinstance(item.content, Block)
        last = self.passages[-1]
        text = self.mend([last.text, *(line.text for line in item.content.lines)])
        self.passages[-1] = replace(last, text=text, boxes=(*last.boxes, _box(self._page, item.place)))

    def _is_heading(self, block: Block) -> bool:
        text = " ".join(line.text for line in block.lines)
        letters = sum(letter.isalpha() for letter in text)
        if letters < 3 or 2 * letters < len(text.replace(" ", "")) or len(text) > _LONGEST or len(block.lines) > 4:
            return False
        if block.lines[0].size >= _LARGER * self.body:
            return not (text.endswith(_STOPS) and len(text) > 60)
        bold = all(line.bold for line in block.lines)
        return (
            bold and block.lines[0].size >= 0.95 * self.body and len(text) <= _LONGEST_BOLD
            and not text.endswith(_STOPS) and len(block.lines) <= 3 and not text[:1].islower()
        )  # fmt: skip

    def _head(self, item: Item, flags: Sequence[str]) -> None:
        assert isinstance(item.content, Block)
        line = item.content.lines[0]
        rank = (-round(2 * line.size), not line.bold)
        while self._open and self._open[-1][0] >= rank:
            self._open.pop()
        made = self._add(self._text(item.content), "heading", [item.place], flags)
        self._open.append((rank, made.text, made.id))


def usual_size(pages: Iterable[Iterable[Word]]) -> float:
    """The type size of most of the letters of a document; 0 without any."""
    sizes: Counter[float] = Counter()
    for words in pages:
        for word in words:
            sizes[word.size] += len(word.text)
    return min(sizes, key=lambda size: (-sizes[size], size)) if sizes else 0.0


def items_of(lines: Sequence[Line], tables: Sequence[Table], page: Page, turn: int) -> list[Item]:
    """Blocks and tables of the lines that run in one direction, as they are read."""
    contents: list[Block | Table] = [*blocks_of(lines), *tables]
    places = [
        content.place if isinstance(content, Table) else (content.x0, content.y0, content.x1, content.y1)
        for content in contents
    ]
    order = reading_order(places, _dividers(page, tables) if turn == 0 else ())
    return [Item(turned_box(places[index], page, turn, back=True), contents[index]) for index in order]


def _dividers(page: Page, tables: Sequence[Table]) -> list[float]:
    """Heights of the rules across the text of a page that are of no table."""
    words = [word for word in page.words if word.turn == 0 and not word.hidden]
    if not words:
        return []
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    return [
        rule.at
        for rule in page.level
        if rule.end - rule.start > 0.85 * (right - left)
        and not any(table.place[1] - 3 < rule.at < table.place[3] + 3 for table in tables)
    ]


def _hidden(words: Iterable[Word]) -> dict[str, list[Word]]:
    found: dict[str, list[Word]] = {}
    for word in words:
        if word.hidden:
            found.setdefault(word.hidden, []).append(word)
    return found


def _around(words: Sequence[Word], page: Page) -> Place:
    """Hidden words by the box around them, within bounds that a drawing can have."""
    far = 10 * max(page.width, page.height)
    sides = [min(max(value, -far), far) for word in words for value in (word.x0, word.y0, word.x1, word.y1)]
    return min(sides[::4]), min(sides[1::4]), max(sides[2::4]), max(sides[3::4])


def _box(page: int, place: Place) -> Box:
    return Box(page, *(round(value, 1) + 0.0 for value in place))
