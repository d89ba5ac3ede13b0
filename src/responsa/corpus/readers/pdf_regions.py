"""Where a page has tables: stacks of level rules of the same width, and rows of numbers below one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from responsa.corpus.readers.pdf_layout import Place, hull, overlaps
from responsa.corpus.readers.pdf_page import Rule, Word

_SAME_RULE = 1.6  # points between the heights of the pieces of one rule
_BREAK = 14.0  # points at most between the pieces of one rule
_FLUSH = 6.0  # points between the ends of the rules of one table
_NARROWEST = 80.0  # points: the width of a table
_TALLEST = 140.0  # points at most between two rules of a table
_CELL_GAP = 0.75  # ems at least between cells
_MOST_RULES = 1000  # across a page: with more it is a drawing
_LINE = 14.0  # points: a line of a table
_ROW_GAP = 3.5  # ems at most between the rows of a table without rules
_NUMBER = re.compile(
    r"[(\[<>≤≥~+±−–—-]?\s?[€$£]?\s?\d[\d.,'’/ ]*\s?(?:%|pp|bn|m|€)?[)\]]?[*¹²³)]{0,3}|[–—-]|n/?a\.?|[✓✔√●○•xX]"
)


class Span(NamedTuple):
    """A rule across a table, in one piece or broken between columns."""

    at: float
    x0: float
    x1: float
    pieces: tuple[tuple[float, float], ...]


class Region(NamedTuple):
    """Where a table may be, and the rules across it from top to bottom."""

    place: Place
    spans: tuple[Span, ...] = ()

    @property
    def breaks(self) -> list[float]:
        """Where the rules are broken between two columns, from left to right: at least two of them and a third."""
        broken = [span for span in self.spans if len(span.pieces) > 1]
        found: list[list[float]] = []
        for middle in sorted((a[1] + b[0]) / 2 for span in broken for a, b in pairwise(span.pieces)):
            if found and middle - found[-1][-1] <= 3:
                found[-1].append(middle)
            else:
                found.append([middle])
        return [sum(each) / len(each) for each in found if len(each) >= max(2, len(broken) / 3)]


@dataclass(slots=True)
class Row:
    """Words on one height."""

    base: float
    size: float
    words: list[Word] = field(default_factory=list)

    @property
    def pieces(self) -> list[list[Word]]:
        """The words from left to right, divided where there is room between two cells."""
        found: list[list[Word]] = []
        for word in sorted(self.words, key=lambda each: each.x0):
            if found and word.x0 - found[-1][-1].x1 <= _CELL_GAP * min(word.size, found[-1][-1].size):
                found[-1].append(word)
            else:
                found.append([word])
        return found


def rows_of(words: Iterable[Word]) -> list[Row]:
    """Words by the height they stand on, from top to bottom; raised and lowered ones with the line they belong to."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda each: (each.base, each.x0)):
        near = next((row for row in reversed(rows[-3:]) if word.base - row.base <= _raised(word, row)), None)
        if near is None:
            near = Row(word.base, word.size)
            rows.append(near)
        near.words.append(word)
        if word.size > near.size:
            near.base, near.size = word.base, word.size
    return rows


def _raised(word: Word, row: Row) -> float:
    """How far a word may stand below the height of a row: further where the one is raised type."""
    size = max(word.size, row.size)
    return (0.55 if min(word.size, row.size) < 0.8 * size else 0.4) * size


def is_number(words: Sequence[Word]) -> bool:
    """Whether a cell has a number, a dash or a mark and nothing else."""
    return _NUMBER.fullmatch(" ".join(word.text for word in words)) is not None


def regions(words: Sequence[Word], level: Sequence[Rule]) -> list[Region]:
    """Where tables may be, first those with rules."""
    found = _ruled(_spans(level), words)
    for place in _numeric(words):
        if not any(overlaps(place, region.place) for region in found):
            found.append(Region(place))
    return found


def stacks(level: Sequence[Rule]) -> list[Place]:
    """Where at least four rules of one width stand one below the other: surely a table, whatever its words. The line
    above the first rule belongs to it.
    """
    places = [region.place for region in _ruled(_spans(level), ()) if len(region.spans) >= 4]
    return [(x0, y0 - _LINE, x1, y1) for x0, y0, x1, y1 in places]


def _spans(level: Sequence[Rule]) -> list[Span]:
    heights: list[list[Rule]] = []
    for rule in sorted(level):
        if heights and rule.at - heights[-1][0].at <= _SAME_RULE:
            heights[-1].append(rule)
        else:
            heights.append([rule])
    spans = []
    for rules in heights:
        pieces: list[tuple[float, float]] = []
        for rule in sorted(rules, key=lambda each: each.start):
            if pieces and rule.start - pieces[-1][1] <= 1.0:
                pieces[-1] = (pieces[-1][0], max(pieces[-1][1], rule.end))
            else:
                pieces.append((rule.start, rule.end))
        group = [pieces[0]]
        for piece in pieces[1:]:
            if piece[0] - group[-1][1] > _BREAK:
                spans.append(Span(rules[0].at, group[0][0], group[-1][1], tuple(group)))
                group = []
            group.append(piece)
        spans.append(Span(rules[0].at, group[0][0], group[-1][1], tuple(group)))
    wide = [span for span in spans if span.x1 - span.x0 >= _NARROWEST]
    return wide if len(wide) <= _MOST_RULES else []


def _ruled(spans: Sequence[Span], words: Sequence[Word]) -> list[Region]:
    chains: list[list[Span]] = []
    for span in sorted(spans):
        for chain in reversed(chains):
            if span.at - chain[-1].at <= _TALLEST and _of_one_table(chain[0], span):
                chain.append(span)
                break
        else:
            chains.append([span])
    found = [
        Region((min(each.x0 for each in part), part[0].at, max(each.x1 for each in part), part[-1].at), tuple(part))
        for chain in chains
        for part in _parted(chain, words)
        if len(part) > 1
    ]
    return sorted(found, key=lambda region: -(region.place[2] - region.place[0]))  # rules of some columns come last


def _of_one_table(first: Span, span: Span) -> bool:
    """Rules of the same width; one that is broken may lack the columns at an end, whose cells go on below it."""
    left, right = abs(span.x0 - first.x0) <= _FLUSH, abs(span.x1 - first.x1) <= _FLUSH
    inside = first.x0 - _FLUSH <= span.x0 and span.x1 <= first.x1 + _FLUSH
    return (left and right) or (inside and (left or right) and len(span.pieces) > 1 and len(first.pieces) > 1)


def _parted(chain: list[Span], words: Sequence[Word]) -> list[list[Span]]:
    """Tables one below the other: after rules that are broken between the columns an unbroken one begins the next,
    unless numbers follow it at once: then it is below a heading between the rows. One below numbers ends a table."""
    parts = [[chain[0]]]
    closed = False
    usual = _usual_size(chain, words)
    for index, span in enumerate(chain[1:], 1):
        after_broken = len(span.pieces) == 1 < len(chain[index - 1].pieces)
        if (closed and len(span.pieces) == 1) or _titled(chain[index - 1], span, words, usual):
            parts.append([])
        closed = after_broken and _counts(chain[index - 1], span, words)
        last = index + 1 == len(chain)
        if after_broken and not closed and not last and not _counts(span, chain[index + 1], words):
            parts.append([])
        parts[-1].append(span)
    return parts


def _usual_size(chain: Sequence[Span], words: Sequence[Word]) -> float:
    sizes = sorted(word.size for word in words if chain[0].at < word.base <= chain[-1].at)
    return sizes[len(sizes) // 2] if sizes else 0.0


def _titled(above: Span, below: Span, words: Sequence[Word], usual: float) -> bool:
    """Whether there is a line in larger type between two rules, alone on its height."""
    between = [word for word in words if above.at < word.base <= below.at and above.x0 - 5 <= word.x0 <= above.x1]
    large = [row for row in rows_of(between) if row.size > 1.3 * usual]
    return bool(large) and all(len(row.pieces) == 1 for row in large)


def _counts(above: Span, below: Span, words: Sequence[Word]) -> bool:
    """Whether there are numbers other than years between two rules, behind the first cell."""
    between = [word for word in words if above.at < word.base <= below.at and above.x0 <= word.x0 <= above.x1]
    return any(is_number(piece) and not is_year(piece) for row in rows_of(between) for piece in row.pieces[1:])


def is_year(piece: Sequence[Word]) -> bool:
    """Whether a number is a year, as headers have it."""
    text = piece[0].text.rstrip("*¹²³)")
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")


def _numeric(words: Sequence[Word]) -> list[Place]:
    """Where at least two columns of at least three numbers each stand side by side, with what stands left of them."""
    columns: dict[int, list[tuple[float, list[Word]]]] = {}
    left: dict[int, list[Word]] = {}
    for row in rows_of(words):
        pieces = row.pieces
        for position, piece in enumerate(pieces):
            if position and is_number(piece):
                edge = round(piece[-1].x1)
                key = next((each for each in (edge, edge - 1, edge + 1, edge - 2, edge + 2) if each in columns), edge)
                columns.setdefault(key, []).append((row.base, piece))
                if not is_number(pieces[position - 1]):
                    left[id(piece)] = pieces[position - 1]
    stacks = [stack for cells in columns.values() for stack in _stacks(cells) if len(stack) >= 3]
    groups: list[list[list[tuple[float, list[Word]]]]] = []
    for stack in sorted(stacks, key=lambda each: each[0][0]):
        bases = {base for base, _ in stack}
        for group in groups:
            if any(len(bases & {base for base, _ in other}) >= 0.6 * min(len(bases), len(other)) for other in group):
                group.append(stack)
                break
        else:
            groups.append([stack])
    places = []
    for group in groups:
        if len(group) > 1:
            cells = [piece for stack in group for _, piece in stack]
            cells += [left[id(piece)] for piece in cells if id(piece) in left]
            places.append(hull((word.x0, word.y0, word.x1, word.y1) for piece in cells for word in piece))
    return places


def _stacks(cells: list[tuple[float, list[Word]]]) -> list[list[tuple[float, list[Word]]]]:
    """Numbers of one column divided where there is too much room between two."""
    stacks: list[list[tuple[float, list[Word]]]] = []
    for base, piece in cells:
        if stacks and base - stacks[-1][-1][0] <= _ROW_GAP * piece[0].size:
            stacks[-1].append((base, piece))
        else:
            stacks.append([(base, piece)])
    return stacks
