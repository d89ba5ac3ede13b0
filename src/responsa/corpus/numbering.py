"""The numbering grammar of rulebooks: what a line may start with, and which number may follow which.

Everything here looks at one line, one label or one number; `responsa.corpus.structure` decides with the
context whether a line really starts a passage. Every pattern is anchored and bounded, so that no line
costs more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from responsa.text import normalise

# (2, 0) is "2" or "b" or "ii"; (2, 1) is what was inserted behind it later: "2A" or "ba". The letter of an
# appendix number is worth a thousand: "A3" is (1003, 0).
Ordinal = tuple[int, int]
Parts = tuple[Ordinal, ...]
MarkKind = Literal["heading", "division", "number", "item", "guidance"]

# How deep a unit stands when nothing else tells: a schedule holds parts, a part holds chapters, and so on.
ROOT, SCHEDULE, PART, CHAPTER, SECTION, ARTICLE, HEADING, NUMBER, GUIDANCE, FLAT, ITEM, PARAGRAPH = range(-1, 11)
_RANKS = {"part": PART, "chapter": CHAPTER, "section": SECTION, "article": ARTICLE}
LONGEST_TITLE = 12  # words
_DEEPEST = 32  # components of a number that are told apart


@dataclass(frozen=True, slots=True)
class Mark:
    """What a line seems to start with. ``label`` is the number without decoration, ``rest`` what follows it.

    ``tail`` holds the labels of brackets written on to the number (``3.2.1(1)(a)``), ``delimiter`` the dot
    or bracket behind it. ``level`` is the depth of a Markdown heading, 0 for other lines. ``firm``: a
    Markdown heading or bold type shows that it is no running text.
    """

    kind: MarkKind
    label: str
    rest: str = ""
    title: str = ""
    parts: Parts = ()
    tail: tuple[str, ...] = ()
    delimiter: str = ""
    rank: int = ITEM
    level: int = 0
    firm: bool = False


_IN_FRONT = re.compile("[\\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*")
_PIECE = r"\d{1,3}[A-Z]{0,2}"
_NUMBER = re.compile(
    rf"(Rules?[ \t]+)?([A-Z]?{_PIECE}(?:\.{_PIECE}){{0,6}})"
    r"((?:\.?\((?:\d{1,3}[A-Z]{0,2}|[a-z]{1,5}|[A-Z]{1,5})\)){0,6})([.)]?)(?=[\s*_]|$)"
)
_DIVISION = re.compile(
    r"(?:(Part|Chapter|Section|Article|Schedule|Appendix|Annex)s?(?:[ \t\u00a0]+"
    rf"({_PIECE}(?:\.{_PIECE}){{0,4}}|[IVXLC]{{1,7}}|[A-Z]))?|APP[ \t]?({_PIECE}))[.:)]?(?=[\s*_–—-]|$)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\((\d{1,3}[A-Z]{0,2}|[a-z]{1,5}|[A-Z]{1,5})\)(?=[\s(*_]|$)")
_GUIDANCE = re.compile(r"Guidance(?=$|[ \t]*[:*_–—-]|[ \t]+(?:on|notes?|about|for)\b)", re.IGNORECASE)
_TAIL = re.compile(r"\(([^()]*)\)")
_DIGITS = re.compile(r"([A-Z]?)(\d{1,3})([A-Z]{0,2})$")
_SEPARATOR = " \t\u00a0:–—-"

# A line that ends so goes on in the next; what stands there is a reference or a quantity, not a number.
_NOUN = (
    r"\b(?:(?:sub-?)?(?:rules?|paragraphs?|sections?)|chapters?|parts?|articles?|schedules?|appendix|annex|items?"
    r"|clauses?|points?|regulations?)"
)
_DANGLING = re.compile(
    r"\b(?:a|an|the|this|that|any|each|of|in|on|to|by|at|as|if|is|are|for|from|with|within|under|than|per|see|via"
    r"|least|most|about|over|up|between|through|pursuant|accordance|after|before|until|exceeds?|not"
    rf"|usd|eur|gbp|aed)$|[$€£(\[]$|{_NOUN}$",
    re.IGNORECASE,
)
_REFERRING = re.compile(rf"{_NOUN}(?:\s+[\w.()]{{0,20}}[\w)])?$", re.IGNORECASE)
_CLOSED = re.compile(r"(?:[.;:!?…—–)\]\"”’*_|-]|[;,]\s*(?:and|or|and/or)|,)$", re.IGNORECASE)
_FINAL = re.compile(r"[.;:,!?]$")
# Words after a number that make it a reference ("3.2.2 and 3.2.3 apply") or a quantity ("10 Business Days").
_REFERENCE = re.compile(
    r"(?:and|or|to|above|below|of|does|do|applies|apply|shall|must|may|is|are|was|were|in|as|has|have|also)\b"
)
_ITEM_REFERENCE = re.compile(r"(?:(?:and|or|to)\s+\(|(?:above|below|applies|apply|does not|do not)\b)")
_UNIT = re.compile(
    r"(?:(?:business|working|calendar|trading)\s+)?(?:days?|hours?|minutes?|weeks?|months?|years?|per\s?cent|percent\w*|%"
    r"|(?:basis\s+)?points?|[mb]illions?|thousands?|january|february|march|april|june|july|august|september|october"
    r"|november|december|usd|eur|gbp|aed|dirhams?|dollars?|euros?)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:must|shall|may|should|will|is|are|was|were|means|includes?|appl(?:y|ies)|does|do|has|have|can|cannot)\b"
)


def read_mark(line: str) -> Mark | None:
    """What the line starts with by its looks alone; None for running text."""
    body = _IN_FRONT.sub("", line, count=1).rstrip()
    if body.startswith("#"):
        hashes = len(body) - len(body.lstrip("#"))
        if hashes > 6 or body[hashes : hashes + 1] not in (" ", "\t"):
            return None
        # A closing row of hashes is decoration, but "C#" is not.
        inner = body[hashes:].strip()
        bare = inner.rstrip("#")
        inner = bare.rstrip() if not bare or bare[-1] in " \t" else inner
        mark = _unit_mark(inner)
        if mark is None or mark.kind == "item":
            return Mark("heading", "", title=_plain(inner), rank=HEADING, level=hashes, firm=True)
        return replace(mark, level=hashes, firm=True)
    return _unit_mark(body)


def _unit_mark(body: str) -> Mark | None:
    bold = next((sign for sign in ("**", "__") if body.startswith(sign)), "")
    inner = body[len(bold) :]
    mark = _guidance(inner) or _division(inner) or _number(inner) or _item(inner)
    if mark is None or not bold:
        return mark
    title, closing, rest = mark.rest.partition(bold)
    if not closing:  # one emphasised word at the start of a paragraph, closed on a later line
        return None
    return replace(mark, title=title.strip(_SEPARATOR), rest=rest.strip(), firm=True)


def _guidance(body: str) -> Mark | None:
    found = _GUIDANCE.match(body)
    if found is None:
        return None
    return Mark("guidance", found.group(), rest=body[found.end() :].strip(), rank=GUIDANCE)


def _division(body: str) -> Mark | None:
    found = _DIVISION.match(body)
    if found is None or not body[0].isupper():
        return None
    word, number, app = found.groups()
    rest = body[found.end() :].lstrip(_SEPARATOR)
    if number is None and app is None and (rest.strip("*_") or word.lower() in _RANKS):
        return None  # "Schedule" stands alone, "Part" does not
    if number is not None and not (number[0].isdigit() or number.isupper()):
        return None
    rank = SCHEDULE if app else _RANKS.get(word.lower(), SCHEDULE)
    label = " ".join(found.group().rstrip(".:)").split())
    return Mark("division", label, rest=rest, parts=_parts(number or app or ""), rank=rank)


def _number(body: str) -> Mark | None:
    found = _NUMBER.match(body)
    if found is None:
        return None
    _, label, tail, delimiter = found.groups()
    parts = _parts(label)
    if not parts or any(number == 0 for number, _ in parts[:1]):
        return None
    rest = body[found.end() :].lstrip()
    return Mark("number", label, rest, "", parts, tuple(_TAIL.findall(tail)), delimiter, NUMBER)


def _item(body: str) -> Mark | None:
    found = _ITEM.match(body)
    return Mark("item", found.group(1), rest=body[found.end() :].lstrip()) if found else None


def _parts(label: str) -> Parts:
    """The ordinals of a dotted number; () where one is written as no clause is ("01.02", "3.05")."""
    parts = []
    for piece in label.split("."):
        found = _DIGITS.match(piece)
        if found is None or (found.group(2)[0] == "0" and len(found.group(2)) > 1):
            return ()
        letter, digits, inserted = found.groups()
        parts.append((int(digits) + (1000 * (ord(letter) - 64) if letter else 0), _letters(inserted.lower())))
    return tuple(parts)


def _letters(text: str) -> int:
    value = 0
    for letter in text:
        value = value * 26 + ord(letter) - 96
    return value


def _plain(text: str) -> str:
    """A title without the emphasis around it."""
    for sign in ("**", "__"):
        if text.startswith(sign) and text.endswith(sign) and len(text) > 2 * len(sign):
            return text[len(sign) : -len(sign)].strip()
    return text


_ROMAN = re.compile(r"(?=[ivxl])(xl|l?x{0,3})(ix|iv|v?i{0,3})$")  # to 89: no list of clauses is longer
_TENS = {"": 0, "x": 10, "xx": 20, "xxx": 30, "xl": 40, "l": 50, "lx": 60, "lxx": 70, "lxxx": 80}
_UNITS = {"": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9}


def readings(label: str) -> tuple[tuple[str, Ordinal], ...]:
    """The lists a bracketed label may be in, and its place in each: (i) is letter nine or numeral one."""
    if label[0].isdigit():
        number = _parts(label)
        return (("digit", number[0]),) if number else ()
    low, upper = label.lower(), label.isupper()
    alpha, roman = ("ALPHA", "ROMAN") if upper else ("alpha", "roman")
    found: list[tuple[str, Ordinal]] = []
    numeral = _ROMAN.match(low)
    if numeral:
        found.append((roman, (_TENS[numeral.group(1)] + _UNITS[numeral.group(2)], 0)))
    if len(low) == 1:
        found.append((alpha, (_letters(low), 0)))
    elif len(low) == 2:
        found.append((alpha, (ord(low[0]) - 96, ord(low[1]) - 96)))
        if low[0] == low[1]:
            found.append((alpha, (26 + ord(low[0]) - 96, 0)))
    return tuple(found)


def follows(last: Ordinal, new: Ordinal) -> bool:
    """Whether the number is the very next: 3 after 2, 2A after 2, 3 after 2A."""
    return new == (last[0] + 1, 0) or new == (last[0], last[1] + 1)


def succeeds(last: Parts, new: Parts) -> bool:
    """Whether the dotted number is a next one: 3.2.2, 3.3, 3.3.1, 4, 4.1.1 or 3.2.1.1 after 3.2.1."""
    shared = _shared(last, new)
    if shared == len(new):
        return False
    if shared < len(last):
        if not follows(last[shared], new[shared]):
            return False
        shared += 1
    return all(part == (1, 0) for part in new[shared:])


def leaps(last: Parts, new: Parts) -> bool:
    """Whether the dotted number lies a little further on than a next one: clauses between may be deleted."""
    shared = _shared(last, new)
    if shared == len(new):
        return False
    before = last[shared] if shared < len(last) else (0, 0)
    return before < new[shared] <= (before[0] + 10, 0)


def _shared(left: Parts, right: Parts) -> int:
    return next((k for k, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def dangles(line: str) -> bool:
    """Whether the line breaks off in a phrase, so that a number in the next line is part of the sentence."""
    return _DANGLING.search(line.rstrip()[-60:]) is not None


def refers(line: str) -> bool:
    """Whether the line ends in a reference that a bracketed label in the next line may complete."""
    return _REFERRING.search(line.rstrip()[-60:]) is not None


def closes(line: str) -> bool:
    """Whether the line ends as a clause or an item of a list ends."""
    return _CLOSED.search(line.rstrip()[-20:]) is not None


def is_reference(rest: str) -> bool:
    """Whether the words after a number say that it only mentions a rule."""
    return _REFERENCE.match(rest) is not None


def is_item_reference(rest: str) -> bool:
    """Whether the words after a bracketed label say that it only mentions an item."""
    return _ITEM_REFERENCE.match(rest) is not None


def is_quantity(rest: str) -> bool:
    """Whether the words after a number make it an amount, a period or a date."""
    return _UNIT.match(rest) is not None


def is_title(text: str) -> bool:
    """Whether a text reads as a heading: one line of at most 12 words, no final punctuation, no verb."""
    if not text.strip() or len(text) > 200 or "\n" in text.strip():
        return False
    plain = normalise(text)
    return len(plain.split()) <= LONGEST_TITLE and not _FINAL.search(plain) and not _VERB.search(plain)


def components(number: str) -> tuple[str, ...]:
    """A printed number split for comparing: ``3.2.1.(1)(a)`` is 3, 2, 1, (1), (a); ``APP 6.A6.`` is app6, a6.

    Blanks, invisible characters, case, final dots, colons and brackets make no difference. From the 32nd
    component on, the rest counts as one.
    """
    text = "".join(normalise(number).split()).casefold().replace(":", "").replace("[", "").replace("]", "")
    pieces = list(islice(_pieces(text), _DEEPEST - 1))
    end = pieces[-1][1] if pieces else 0
    rest = text[end:].strip(".") if len(pieces) == _DEEPEST - 1 else ""
    return (*(piece for piece, _ in pieces), *([rest] if rest else ()))


_COMPONENT = re.compile(r"(\([^().]*\))|([^.()]+)|[.()]")


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    for found in _COMPONENT.finditer(text):
        piece = found.group(1) or found.group(2)
        if piece:
            yield piece, found.end()
