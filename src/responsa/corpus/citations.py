"""The pieces of a citation: lists of numbers on one level, and levels within levels.

`responsa.corpus.references` joins them with acts and with what was cited before. Tokens are only read forwards,
so that the work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from responsa.corpus.acts import Token
from responsa.corpus.ranges import expand, numeral, roman

# Levels, from the outermost to the innermost.

_WORDS = {
    "annex": "annex annexes",
    "schedule": "schedule schedules",
    "appendix": "appendix appendices app",
    "part": "part parts",
    "title": "title titles",
    "chapter": "chapter chapters",
    "section": "section sections",
    "sub-section": "sub-section sub-sections subsection subsections",
    "recital": "recital recitals",
    "article": "article articles art arts artikel",
    "rule": "rule rules",
    "paragraph": "paragraph paragraphs para paras par",
    "subparagraph": "subparagraph subparagraphs sub-paragraph sub-paragraphs",
    "point": "point points lit letter letters",
    "indent": "indent indents",
    "sentence": "sentence sentences",
}
LEVEL = MappingProxyType({word: level for level, words in _WORDS.items() for word in words.split()})
RANK = MappingProxyType({level: rank for rank, level in enumerate(_WORDS)})
DIVISIONS = frozenset({"annex", "schedule", "appendix", "part", "title", "chapter", "section", "sub-section"})
INNER = frozenset({"paragraph", "subparagraph", "point", "indent", "sentence"})
ORDINALS = tuple(
    re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last final")
)
_DIGITS = MappingProxyType({"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth"})
_CARDINALS = re.findall(r"\w+", "zero one two three four five six seven eight nine ten eleven twelve")
_NOT_POINTS = frozenset(["basis", "percentage", "data", "validation", "golden", "general"])
# After a bare number: it is an amount, not the next of a list.
_UNITS = frozenset(
    re.findall(
        r"\S+",
        "% day days month months year years week weeks calendar business working million billion bn percent basis eur"
        " euro euros € times thousand usd january february march april june july august september october november"
        " december column columns row rows /",
    )
)
_LATIN = MappingProxyType({"bis": "a", "ter": "b", "quater": "c", "quinquies": "d"})


class Item(NamedTuple):
    """One of a list. ``labels`` go inwards: 36, 1, a. ``start`` to ``end``: the words that it comes from."""

    labels: tuple[str, ...]
    start: int
    end: int


class Segment(NamedTuple):
    """A list on one level, and the token after it. ``how`` is "number", "ordinal" or "this" (this, that)."""

    level: str
    how: str
    items: tuple[Item, ...]
    end: int


def segment(found: Sequence[Token], at: int, room: int = 600) -> Segment | None:
    """What is cited on one level at a token; None where nothing is. ``room`` bounds what a range expands to."""
    token = found[at]
    if token.kind not in ("word", "run"):
        return None
    return _ordinals(found, at) or _demonstrative(found, at) or _numbered(found, at, room)


def _ordinals(found: Sequence[Token], at: int) -> Segment | None:
    """ "(that) first and second subparagraph"."""
    k = at + (found[at].value in ("this", "that") and at + 1 < len(found))
    items: list[Item] = []
    for _ in range(6):
        word = _DIGITS.get(found[k].value, found[k].value) if k < len(found) else ""
        if word not in ORDINALS:
            break
        items.append(Item((word,), found[k].start if items else found[at].start, found[k].end))
        k = _after_separator(found, k + 1)[0]
    level = LEVEL.get(found[k].value) if items and k < len(found) else None
    if level is None or level not in INNER or (level == "paragraph" and items[-1].labels == ("last",)):
        return None
    items[-1] = items[-1]._replace(end=found[k].end)
    return Segment(level, "ordinal", tuple(items), k + 1)


def _demonstrative(found: Sequence[Token], at: int) -> Segment | None:
    if found[at].value not in ("this", "that") or at + 1 >= len(found):
        return None
    noun = found[at + 1]
    level = LEVEL.get(noun.value)
    if (
        level in (None, "sentence", "recital")
        or not (noun.capital or level in INNER)
        or noun.value in ("letter", "art")
    ):
        return None
    if _numbered(found, at + 1, 0):
        return None
    return Segment(LEVEL[noun.value], "this", (Item((found[at].value,), found[at].start, noun.end),), at + 2)


def _numbered(found: Sequence[Token], at: int, room: int) -> Segment | None:
    level = LEVEL.get(found[at].value)
    if level is None or (at and found[at - 1].value in _NOT_POINTS and level in ("point", "rule")):
        return None
    k = at + 1
    if k < len(found) and found[k].value == "." and found[at].value in ("art", "arts", "lit", "para", "par", "app"):
        k += 1
    first = _item(found, k, level, found[at])
    if first is None:
        return None
    item, k = first
    items = [item._replace(start=found[at].start)]
    while True:
        after, joins = _after_separator(found, k)
        step = _item(found, after, level, None) if joins else None
        if step is None or not _goes_on(found, after, step[1], level):
            return Segment(level, "number", tuple(items), k)
        if joins == "to" and _falls(items[-1].labels, step[0].labels):  # "Article 429 - 11"
            return Segment(level, "number", tuple(items), k)
        new, k = step
        new = new._replace(labels=_completed(items[-1].labels, new.labels, found[after].kind, level))
        span = items[-1].start, new.end
        between = expand(items[-1].labels, new.labels, room) if joins == "to" else None
        if between:
            room = max(room - len(between), 0)
            items[-1:] = [Item(labels, *span) for labels in between]
        else:
            items.append(new)


def _falls(low: tuple[str, ...], high: tuple[str, ...]) -> bool:
    return low[0].isdigit() and high[0].isdigit() and len(low) == len(high) == 1 and int(low[0]) > int(high[0])


def numbers(found: Sequence[Token], at: int, level: str) -> Segment | None:
    """A number without its word: the "17.4" of "COBS 17.4", the "465 (1)" of "CRR 465 (1)"."""
    step = _item(found, at, level, None) if at < len(found) and found[at].kind == "num" else None
    return Segment(level, "number", (step[0],), step[1]) if step else None


def _goes_on(found: Sequence[Token], at: int, end: int, level: str) -> bool:
    """Whether a number after a comma or "and" is the next of the list and no amount."""
    token = found[at]
    if token.kind != "num":
        return True
    if level in ("article", "recital") and token.value.isdigit() and int(token.value) > 1200:
        return False
    if end - at > 1 or end >= len(found):
        return True
    return found[end].value not in _UNITS and not (found[end].kind == "act" and "/" in found[end].value)


def _after_separator(found: Sequence[Token], at: int) -> tuple[int, str]:
    """The token after "," "and" "or" "to" "-", and which kind of separator it was: "and", "to" or ""."""
    k, kind = at, ""
    for _ in range(3):
        value = found[k].value if k < len(found) else ""
        if value in ("and", "or", ",", "&", "/"):
            k, kind = k + 1, kind or "and"
        elif value in ("to", "-", "–", "through") and kind != "to":
            k, kind = k + 1, "to"
        else:
            break
    return (k, kind) if k < len(found) else (at, "")


def _item(found: Sequence[Token], at: int, level: str, label: Token | None) -> tuple[Item, int] | None:
    """An item of a list at a token, and the token after it. ``label`` is the word before the first."""
    if at >= len(found):
        return None
    head = _head(found, at, level, label)
    if head is None:
        return None
    labels, k = list(head), at + 1
    if level == "article" and k < len(found) and found[k].value in _LATIN and labels[-1].isdigit():
        labels[-1] += _LATIN[found[k].value]
        k += 1
    while k < len(found) and found[k].kind == "bracket" and len(labels) < 8 and level not in DIVISIONS - {"section"}:
        labels.append(found[k].value)
        k += 1
    return Item(tuple(labels), found[at].start, found[k - 1].end), k


def _head(found: Sequence[Token], at: int, level: str, label: Token | None) -> tuple[str, ...] | None:
    token = found[at]
    if token.kind == "bracket":
        usable = level in INNER or level == "recital" or (label is None and level in ("article", "rule", "section"))
        return (token.value,) if usable and not token.capital else None
    if token.kind == "num":
        if level in ("article", "paragraph"):
            return tuple(token.value.split("."))
        return (roman(int(token.value)),) if level == "annex" and token.value.isdigit() else (token.value,)
    if token.kind != "word" or level not in DIVISIONS or (label is not None and not label.capital):
        return None
    if token.value in _CARDINALS and level == "part":
        return (str(_CARDINALS.index(token.value)),)
    if not token.capital:
        return None
    value = numeral(token.value)
    if value:
        return (str(value) if level == "part" else token.value.upper(),)
    single = len(token.value) == 1 and label is not None
    return (token.value.upper(),) if single and level in ("annex", "section", "part", "appendix") else None


def _completed(last: tuple[str, ...], new: tuple[str, ...], kind: str, level: str) -> tuple[str, ...]:
    """The labels of "(c)" in "36(1)(b) and (c)": those of the item before it, up to the one that it replaces."""
    if kind != "bracket":
        return new
    floor = 0 if level in INNER or level == "recital" else 1
    digit = new[0][0].isdigit()
    for place in range(len(last) - 1, floor - 1, -1):
        old = last[place]
        if old[0].isdigit() != digit:
            continue
        if not digit and place > floor and numeral(old) and not numeral(new[0]) and not last[place - 1][0].isdigit():
            continue  # (a)(ii) and (b)
        return last[:place] + new
    return last + new if len(last) == floor else last[:floor] + new


@dataclass(frozen=True, slots=True)
class Chain:
    """Segments from the outermost to the innermost, the tokens they span, and those of the first in the text."""

    segments: tuple[Segment, ...]
    at: int
    end: int

    @property
    def outer(self) -> Segment:
        return self.segments[0]


def chain(found: Sequence[Token], at: int, room: int) -> Chain | None:
    first = segment(found, at, room)
    if first is None:
        return None
    segments, end = [first], first.end
    while len(segments) < 8:
        up = _past(found, end, ("of", "in", "to"), ("the",))
        new = segment(found, up, room) if up is not None else None
        if new and _holds(new.level, segments[0].level) and (found[end].value == "of" or new.level == "annex"):
            segments.insert(0, new)
            end = new.end
            continue
        down = _down(found, end, segments[-1], room)
        if down is None:
            break
        segments.append(down)
        end = down.end
    return Chain(tuple(segments), at, end)


def _holds(outer: str, inner: str) -> bool:
    if outer == "point" and inner in ("point", "subparagraph"):
        return True
    return RANK[outer] < RANK[inner] and "recital" not in (outer, inner) and (outer, inner) != ("article", "rule")


def _down(found: Sequence[Token], at: int, outer: Segment, room: int) -> Segment | None:
    """What goes on inwards: ", first subparagraph" after "Article 416(1)", ", Title II" after "Part Three"."""
    dotted = outer.level == "annex" and at < len(found) and found[at].value == "."
    k = at + 1 if dotted or (at < len(found) and found[at].value == ",") else at
    if k >= len(found) or outer.how == "this" or outer.level == "recital":
        return None
    new = segment(found, k, room)
    if new is None or new.how == "this" or RANK[new.level] <= RANK[outer.level]:
        return None
    if new.level not in INNER and not (outer.level in DIVISIONS and (new.level in DIVISIONS or outer.level != "annex")):
        return None
    other = _past(found, new.end, ("of",), ("the",))  # "Article 5, point (a) of Article 6"
    parent = segment(found, other, 0) if other is not None else None
    return None if parent and _holds(parent.level, new.level) and not _holds(outer.level, parent.level) else new


def _past(found: Sequence[Token], at: int, first: tuple[str, ...], then: Sequence[str]) -> int | None:
    """The token after one of ``first`` and any (at most four) of ``then``; None where ``first`` is missing."""
    if at >= len(found) or found[at].value not in first:
        return None
    k = at + 1
    while k < len(found) and k < at + 6 and found[k].value in then:
        k += 1
    return k if k < len(found) else None


# Provisions as steps inwards

Step = tuple[str, str]  # level and label: ("article", "36"), ("sub", "1"), ("sub", "a")
Steps = tuple[Step, ...]


def extended(steps: Steps, part: Segment, labels: tuple[str, ...]) -> Steps:
    if part.how == "this":
        return steps
    if part.how == "ordinal":
        return (*steps, (part.level, labels[0]))
    in_article = any(level in ("article", "rule") for level, _ in steps)
    if part.level in ("article", "rule"):
        steps = tuple(step for step in steps if step[0] in ("annex", "schedule"))
    if part.level == "paragraph" and in_article:
        return (*steps, *(("sub", label) for label in labels))
    if part.level == "subparagraph" and labels[0].isdigit() and int(labels[0]) <= len(ORDINALS):
        return (*steps, (part.level, ORDINALS[int(labels[0]) - 1]))
    level = "point" if part.level == "subparagraph" else part.level
    return (*steps, (level, labels[0]), *(("sub", label) for label in labels[1:]))


def enclosing(steps: Steps, level: str, *, inclusive: bool = False) -> Steps:
    """The part of the provision cited before that encloses a paragraph or point, or (inclusive) is "that" one."""
    if inclusive and level in DIVISIONS:
        return next((steps[: k + 1] for k, step in enumerate(steps) if step[0] == level), ())
    if not steps or steps[0][0] not in ("article", "rule"):
        return ()
    keep = 1
    digits = len(steps) > 1 and steps[1][0] == "sub" and steps[1][1][0].isdigit()
    if digits and (level in ("subparagraph", "point") or (inclusive and level == "paragraph")):
        keep = 2
    if inclusive and level in ("point", "subparagraph"):
        keep = len(steps)
    return steps[:keep]


def render(steps: Steps) -> str:
    """Steps in words: Article 129(4), first subparagraph, point (b)."""
    parts: list[str] = []
    plain = False  # inside an article and no ordinal yet: points are written on to it
    for level, label in steps:
        number = f"({label})" if label[0].isalpha() and len(label) < 6 else label
        if level == "sub":
            parts[-1:] = [f"{parts[-1] if parts else ''}({label})"]
        elif level in INNER and label in (*ORDINALS, "this", "that"):
            parts.append(f"{label} {level}")
            plain = False
        elif level == "point" and plain:
            parts[-1] += f"({label})"
        elif level in INNER:
            parts.append(f"{level} {number}")
        else:
            parts.append(
                f"{label} {level.capitalize()}" if label in ("this", "that") else f"{level.capitalize()} {label}"
            )
            plain = level in ("article", "rule")
    return ", ".join(parts)
