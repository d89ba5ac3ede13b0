"""The units that are read as one sentence: a lead-in with each of its points, or with all of them.

A unit is made of stretches of stored text, and every offset in it can be told back to the passage it comes from. "An
institution shall:" makes one unit with each point below it, in the clause tree or in the lines of a passage; where the
points are conditions ("if all of the following are met:") or alternatives joined by "or", they are one unit together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from responsa.corpus.tree import leads_in
from responsa.register.clauses import clauses
from responsa.text import sentences
from responsa.types import Passage

_MOST = 60  # points that are read together; a longer list is read point by point
_ITEM = re.compile(
    r"^[ \t\u200e\u200f]*(\((?:[A-Za-z]{1,2}|[ivxIVX]{1,6}|\d{1,3}[A-Za-z]?)\)|\d{1,3}\.(?=\s))\s*", re.M
)
_LEAD_ENDS = (":", "-", "—", "–")
_BESIDE = re.compile(r"(?:subparagraph|closing words)\Z")  # below a paragraph, but no point of it
_DEFINITIONS = re.compile(r"\bfollowing definitions (?:shall )?apply\b|\bhave the following meanings?\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"\bor\W*\Z")
_CONDITIONS = re.compile(
    r"\b(?:if|where|when|unless|provided that|(?:conditions|requirements|criteria) (?:is|are|have been|has been) "
    r"(?:met|fulfilled|"
    r"satisfied)|in (?:any|one|either|all|each)?(?: or more)?(?: of)? ?the following (?:cases|circumstances|"
    r"situations|conditions)|"
    r"either|any of the following|one of the following)\b[^,;:]{0,60}[:\u2013\u2014-]\s*\Z"
)


class Part(NamedTuple):
    """The characters ``start`` to ``end`` of the stored text of a passage."""

    passage_id: str
    start: int
    end: int
    text: str


class Segment(NamedTuple):
    """A stretch of a passage."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Unit:
    """Segments that are read as one sentence. ``item`` is the mark of the point in the lines of its passage."""

    segments: tuple[Segment, ...]
    item: str = ""

    @property
    def passage(self) -> Passage:
        """The passage that the unit is listed under: that of the point, or of the lead-in of points read together."""
        return self.segments[-1].passage if len({each.passage.id for each in self.segments}) == 2 else self._own()

    def _own(self) -> Passage:
        return self.segments[0].passage if self.item == "*" else self.segments[-1].passage

    @property
    def text(self) -> str:
        return "\n".join(each.text for each in self.segments)

    def parts(self, start: int, end: int) -> Iterator[Part]:
        """The stored text that the characters ``start`` to ``end`` of the unit are."""
        at = 0
        for passage, low, high in self.segments:
            first, last = max(start, at), min(end, at + high - low)
            if first < last:
                begin, stop = low + first - at, low + last - at
                yield Part(passage.id, begin, stop, passage.text[begin:stop])
            at += high - low + 1


def units(passages: Sequence[Passage], *, guidance: bool = False) -> Iterator[tuple[Passage, list[Unit]]]:
    """The units of a document in reading order, by the passage at which they begin; guidance only where asked for."""
    kinds = ("text", "guidance") if guidance else ("text",)
    below: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.parent_id and passage.kind == "text" and not _BESIDE.search(passage.number):
            below.setdefault(passage.parent_id, []).append(passage)
    used: set[str] = set()
    for passage in passages:
        made: list[Unit] = []
        if passage.kind in kinds and passage.id not in used:
            spans = sentences(passage.text)
            for start, end in spans[:-1]:
                made += _listed((), Segment(passage, start, end))
            if spans:
                made += _last((), Segment(passage, *spans[-1]), below, used)
        yield passage, made


def _last(
    above: tuple[Segment, ...], lead: Segment, below: Mapping[str, list[Passage]], used: set[str]
) -> Iterator[Unit]:
    """The units of the last sentence of a passage: with the points below it where it leads in."""
    points = below.get(lead.passage.id, ())
    if not points or not leads_in(lead.passage):
        yield from _listed(above, lead)
        return
    under = [point for each in points for point in _descendants(each, below)]
    upper = (*above, lead)
    if _DEFINITIONS.search(lead.text):
        used.update(each.id for each in under)
        return
    if len(under) <= _MOST and _together(Unit(upper).text, [each.text for each in points]):
        used.update(each.id for each in under)
        whole = tuple(Segment(each, 0, len(each.text.rstrip())) for each in under)
        yield Unit((*upper, *whole), "*")
        return
    for point in points:
        used.add(point.id)
        spans = sentences(point.text)
        if not spans:
            continue
        if len(spans) == 1:
            yield from _last(upper, Segment(point, *spans[0]), below, used)
            continue
        yield from _listed(upper, Segment(point, *spans[0]))
        for start, end in spans[1:-1]:
            yield from _listed((), Segment(point, start, end))
        yield from _last((), Segment(point, *spans[-1]), below, used)


def _descendants(passage: Passage, below: Mapping[str, list[Passage]]) -> Iterator[Passage]:
    yield passage
    if leads_in(passage):
        for each in below.get(passage.id, ()):
            yield from _descendants(each, below)


def _listed(above: tuple[Segment, ...], sentence: Segment) -> Iterator[Unit]:
    """The units of a sentence whose points stand on lines of their own, or the sentence as it is."""
    text = sentence.text
    marks = _top(list(_ITEM.finditer(text)))
    if not marks or marks[0].start() == 0 or not text[: marks[0].start()].rstrip().endswith(_LEAD_ENDS):
        yield Unit((*above, sentence))
        return
    lead = text[: marks[0].start()].rstrip()
    bounds = [*(mark.start() for mark in marks), len(text)]
    points = [text[start:end].rstrip() for start, end in pairwise(bounds)]
    tail = _tail(points[-1])
    points[-1] = points[-1][: len(points[-1]) - len(tail)].rstrip()
    before = "\n".join([*(each.text for each in above), lead])
    if len(points) == 1 or (tail and not above and not clauses(before)) or _together(before, points):
        yield Unit((*above, sentence))
        return
    passage, start, end = sentence
    head = Segment(passage, start, start + len(lead))
    rest = (Segment(passage, end - len(tail), end),) if tail else ()
    for mark, point in zip(marks, points, strict=True):
        at = start + mark.start()
        yield Unit((*above, head, Segment(passage, at, at + len(point)), *rest), mark[1])


def _together(lead: str, points: Sequence[str]) -> bool:
    """Whether points are read together with their lead-in: conditions, or alternatives of one duty."""
    if _CONDITIONS.search(lead):
        return True
    duties = clauses(lead)
    ends = [end for each in duties[-1:] for part in (each.condition, each.exception) for _, end in part]
    if ends and len(lead) - max(ends) < 4:
        return True
    if duties and duties[-1].modality == "prohibition":
        return False
    return any(_ALTERNATIVES.search(point.rstrip()) for point in points[:-1])


def _top(marks: list[re.Match[str]]) -> list[re.Match[str]]:
    """The marks of the outer list: of the sort of the first one, each the one that comes next."""
    if not marks:
        return []
    kept = [marks[0]]
    for mark in marks[1:]:
        if _follows(kept[-1][1], mark[1]):
            kept.append(mark)
    return kept


def _follows(mark: str, following: str) -> bool:
    before, after = mark.strip("()."), following.strip("().")
    if mark[0] != following[0]:
        return False
    if before.isdigit():
        return after.isdigit() and 0 < int(after) - int(before) <= 2
    if after.isdigit() or before.islower() != after.islower():
        return False
    if len(before) == len(after) == 1 and 0 < ord(after) - ord(before) <= 2:
        return True
    roman = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv"]
    lower = before.lower(), after.lower()
    return lower[0] in roman and lower[1] in roman and 0 < roman.index(lower[1]) - roman.index(lower[0]) <= 2


def _tail(point: str) -> str:
    """Words after the last point that go on with the sentence: a line of its own that begins in lower case."""
    lines = point.split("\n")
    for number in range(len(lines) - 1, 0, -1):
        line = lines[number].lstrip()
        if _ITEM.match(line):
            return ""
        if re.match(
            r"(?:unless|except|if|where|provided|in |within|before|until|at |when|for |to |and must|subject)", line
        ):
            return "\n".join(lines[number:]).lstrip()
    return ""
