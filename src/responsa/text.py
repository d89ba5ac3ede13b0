"""Text without meaning: clean-up for matching, sentences, words, canonical digests. Pure functions."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# Zero-width characters, bidirectional marks, soft hyphen and byte-order mark: invisible, and in the
# middle of rule numbers in published rulebooks.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_PUNCTUATION = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "•": " ", "…": "...",
})  # fmt: skip
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:(?:['-]|(?<=\d)\.(?=\d))[^\W_]+)*")

_MARK = "[\u200e\u200f]*"
# What begins a list item: (a) (iv) (1) a. 1. 1) - •
_ITEM = re.compile(
    _MARK + r"(?:\((?:\d{1,3}[A-Za-z]?|[A-Za-z]{1,2}|[ivxIVX]{1,6})\)"
    r"|(?:\d{1,3}|[A-Za-z]|[ivx]{1,6})[.)](?=\s)|o(?=\t)|[-–—•·*▪◦](?=\s))[\s\u200e\u200f]*"
)
# A number that begins a sentence, with its full stop: "1." "(a)." "3.1." "**2.**" "Rule 3.1."
_MARKER = re.compile(
    _MARK + r"(?:(?:Section|Rule|Article|Chapter|Part|Annex|Paragraph|Schedule) )?"
    r"\W{0,3}(?:\d[\d.]{0,9}[A-Za-z]?|[A-Za-z]|[ivxIVX]{1,6})\W{0,4}"
)
_TABLE_TAG = re.compile(r"[/\\](?:Table|Figure) (Start|End)\b", re.IGNORECASE)
_TABLE_END = re.compile(r"[/\\](?:Table|Figure) End\b", re.IGNORECASE)
# A full stop, with footnote number and closing quotes or brackets, and what must follow it.
_BREAK = re.compile(
    r"(?<![.!?])([.!?]++(?:(?<=[a-z]\.)\d{1,2}(?=\s))?[\"'”’»)\]*]*+)\s+(?=[\"'“‘«(\[*\u200e]*+(?:[A-Z0-9]|[^\W\d_a-z]))"
)
_STOP = re.compile(r"[.!?][\"'”’»)\]]*\Z")
_AND_OR = re.compile(r"\b(?:and|or)\Z")
_LAST_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\Z")
_INITIALS = re.compile(r"[A-Z](?:\.[A-Z])*")
_LABEL = re.compile(
    r"\b(?:annex|appendix|category|chapter|class|grade|level|part|schedule|section|table|tier|type|title)\s+\Z",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d\s?\Z")
_NUMBER = re.compile(r"[(\[\u200e]*(?:\d|[IVXLC]+\b|[A-Za-z]\b)")
_STARTER = re.compile(
    r"(?:An?|All|Any|As|At|Each|Every|Firms?|For|If|In|It|No|On|Such|The|There|These|They|This|Those|To|Under|"
    r"Unless|We|When|Where)\b"
)
# Abbreviations: that never end a sentence; that do not before a number; that may before a word of _STARTER.
_ALWAYS = re.compile(r"e\.g|i\.e|eg|ie|cf|vs|viz|approx|paras?|arts|mrs?|ms|dr|prof|incl|excl|resp", re.IGNORECASE)
_BEFORE_NUMBER = re.compile(r"nos?|art|secs?|sect|figs?|ch|cl|pt|pp?|ss?|rr?|regs?|vol|eq|app|sch|ref", re.IGNORECASE)
_MAYBE = re.compile(r"ltd|inc|co|corp|plc|llc|bros|jr|sr|etc|al|p\.a|[ap]\.m|op|cit|dept|est", re.IGNORECASE)
# Words that a heading or a sentence does not end with: the line was wrapped.
_UNFINISHED = re.compile(
    r"\b(?:an?|and|any|as|at|by|each|every|for|from|in|into|no|of|on|or|such|than|that|the|their|its|this|to|under|"
    r"which|whose|with)\Z"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|shall|may|can|should|will|which|who|does|do)\b|^(?:If|Where|When|For)\b"
)


def normalise(text: str) -> str:
    """Text for matching: NFKC, no invisible characters, plain quotes and dashes, single spaces, trimmed.

    Case is kept. Offsets are not: what is shown and cited is always the stored text.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_PUNCTUATION)
    return _SPACE.sub(" ", text).strip()


def folded(text: str) -> str:
    """As `normalise` gives it, without case: equal for the same wording."""
    return normalise(text).casefold()


def tidy(text: str) -> str:
    """Text for display: no invisible characters, single spaces, trimmed; every other character as stored.

    Unlike `normalise` it keeps what NFKC would change: "10²" is not "102".
    """
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip()


def digest(value: object) -> str:
    """sha256 (hex) of the value's canonical JSON: keys sorted, no spaces, UTF-8, no NaN."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def words(text: str) -> list[str]:
    """Lower-cased words and numbers of the normalised text, for measures of overlap.

    A word keeps its inner apostrophes and hyphens, a number its inner dots: "firm's", "pre-paid", "3.1.2".
    """
    return _WORD.findall(normalise(text).lower())


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence of legal text, in order; together they cover all that is not blank.

    A lead-in and its list items are one sentence, unless the items are sentences of their own. Headings
    on a line of their own and rows of tables (between ``/Table Start`` and ``/Table End``) are units.
    Linear in the length of the text.
    """
    spans: list[tuple[int, int]] = []
    previous: _Block | None = None
    in_list = False
    for block in _blocks(text):
        joins = previous is not None and _joins(text, previous, block, in_list)
        start = spans.pop()[0] if joins else block.start
        in_list = block.item or (joins and in_list)
        for cut, resume in block.breaks:
            spans.append((start, cut))
            start = resume
        spans.append((start, block.end))
        previous = block
    return spans


class _Block(NamedTuple):
    """Lines that belong together: paragraph, list item, heading, table row. ``body`` is after the marker."""

    start: int
    end: int
    body: int
    kind: str  # "text", "item" or "row"
    gap: bool  # a blank line stands before it
    breaks: tuple[tuple[int, int], ...]  # (end of a sentence inside, start of the next one)

    @property
    def item(self) -> bool:
        return self.kind == "item"


def _blocks(text: str) -> Iterator[_Block]:
    """Join the lines that were only wrapped."""
    first, last, gap, kind = -1, -1, False, ""
    tail = (0, 0)  # the last line of the block at hand
    for start, end, line_gap, line_kind in _lines(text):
        if first >= 0:
            wrapped = line_kind == "text" and kind != "row" and not line_gap
            if wrapped and _wraps(text, tail, start, alone=tail[0] == first and kind == "text"):
                last, tail = end, (start, end)
                continue
            yield _block(text, first, last, gap, kind)
        first, last, gap, kind, tail = start, end, line_gap, line_kind, (start, end)
    if first >= 0:
        yield _block(text, first, last, gap, kind)


def _lines(text: str) -> Iterator[tuple[int, int, bool, str]]:
    """(start, end, blank line before?, kind) of each line with text, trimmed."""
    offset, gap, in_table = 0, False, False
    table_ends = max((match.start() for match in _TABLE_END.finditer(text)), default=-1)
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if not stripped:
            gap = True
        else:
            start = offset + len(line) - len(line.lstrip())
            tag = _TABLE_TAG.match(stripped)
            if tag:
                # A table that is never closed is an error of the file: the rest is read as text.
                in_table = tag[1].lower() == "start" and start < table_ends
            kind = "row" if tag or in_table else "item" if _ITEM.match(text, start) else "text"
            yield start, start + len(stripped), gap, kind
            gap = False
        offset += len(line)


def _block(text: str, start: int, end: int, gap: bool, kind: str) -> _Block:
    marker = _ITEM.match(text, start, end) if kind == "item" else None
    breaks = () if kind == "row" else tuple(_breaks(text, start, end))
    return _Block(start, end, marker.end() if marker else start, kind, gap, breaks)


def _wraps(text: str, line: tuple[int, int], start: int, *, alone: bool) -> bool:
    """Whether the line that begins at ``start`` goes on with the sentence of the line before it.

    ``alone``: the line before is the first of its block, and may be a heading.
    """
    before = text[line[0] : line[1]]
    if text[start].islower():
        return True
    if text.startswith("**", start):  # a numbered paragraph in Markdown
        return False
    stop = _STOP.search(before, max(0, len(before) - 8))
    if stop:
        return _abbreviation(text, line[0] + stop.start(), start)
    if before[-1] in ":;–—-":
        return False
    if before[-1] == "," or _UNFINISHED.search(before, max(0, len(before) - 12)):
        return True
    if len(before) < 60:
        return False
    return not (alone and len(before) <= 100 and not _VERB.search(before))


def _joins(text: str, before: _Block, block: _Block, in_list: bool) -> bool:
    """Whether a block belongs to the sentence that the block before it ends with."""
    if "row" in (before.kind, block.kind) or (before.item and before.breaks):
        return False
    ending = text[max(before.start, before.end - 12) : before.end]
    leads = ending[-1] in ":–—-"
    goes_on = ending[-1] in ";," or _AND_OR.search(ending) is not None
    stops = _STOP.search(ending) is not None
    lower = block.body < block.end and text[block.body].islower()
    if not block.item:
        return in_list and lower and not stops
    if goes_on:
        return True
    complete = not lower and _STOP.search(text, max(block.body, block.end - 6), block.end) is not None
    if leads:
        return not complete
    if in_list:
        return lower or not (stops or complete)
    return lower and not stops and not block.gap


def _breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _BREAK.finditer(text, start, end):
        if match.end() >= end or _abbreviation(text, match.start(), match.end()):
            continue
        cut = match.end(1)
        if cut - start <= 24 and _MARKER.fullmatch(text, start, cut):
            continue  # "1. The firm", "Section 3.1. The firm" at the start: a number, not a sentence
        yield cut, match.end()
        start = match.end()


def _abbreviation(text: str, stop: int, following: int) -> bool:
    """Whether the full stop at ``stop`` belongs to the word before it, given what follows."""
    if text[stop] != ".":
        return False
    word = _LAST_WORD.search(text, max(0, stop - 14), stop)
    if word is None:
        return False
    name = word[0]
    if _ALWAYS.fullmatch(name):
        return True
    if _BEFORE_NUMBER.fullmatch(name) and _NUMBER.match(text, following):
        return True
    initials = _INITIALS.fullmatch(name)
    if initials and len(name) == 1:
        # "J. Smith", but not the end of "set out in Annex I. Firms ..." or "at most 5 W. Firms ..."
        before = max(0, word.start() - 14), word.start()
        return text[following].isupper() and not (_LABEL.search(text, *before) or _FIGURE.search(text, *before))
    return bool(initials or _MAYBE.fullmatch(name)) and not _STARTER.match(text, following)
