"""Citations of levels within levels: point (b) of the first subparagraph of Article 129(4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from responsa.corpus.acts import Token
from responsa.corpus.citations import DIVISIONS, INNER, LETTERS, OF, ONLY_INSIDE, RANK, Segment, segment


@dataclass(frozen=True, slots=True)
class Chain:
    """Segments from the outermost to the innermost, the tokens they span, and those of the first in the text."""

    segments: tuple[Segment, ...]
    at: int
    end: int

    @property
    def outer(self) -> Segment:
        return self.segments[0]


_ARTICLES = ("the", "l", "la", "le", "dem", "'", "’")  # between "of" and the provision


def chain(found: Sequence[Token], at: int, room: int) -> Chain | None:
    first = segment(found, at, room)
    if first is None or found[at].value in ONLY_INSIDE:
        return None
    segments, end = [first], first.end
    while len(segments) < 8:
        up = _past(found, end, (*OF, "in", "to", "from", ","), _ARTICLES)
        new = segment(found, up, room) if up is not None else None
        if new and _holds(new.level, segments[0].level) and _is_up(found[end], new, segments[0]):
            segments.insert(0, new)
            end = _between(found, segments, room)
            continue
        above = segment(found, end, room) if end < len(found) else None
        if above and {above.level, segments[0].level} <= DIVISIONS and RANK[above.level] < RANK[segments[0].level]:
            segments.insert(0, above)  # "Chapter 6 in Title II Part Three"
            end = above.end
            continue
        down = _down(found, end, segments[-1], room)
        if down is None:
            break
        segments.append(down)
        end = down.end
    return Chain(tuple(segments), at, end)


def _between(found: Sequence[Token], segments: list[Segment], room: int) -> int:
    """Put in the divisions of "paragraph 6 of Annex I, Part II, Section 2"; the token after them."""
    at = 0
    while segments[at].level in DIVISIONS and len(segments) < 8:
        new = _down(found, segments[at].end, segments[at], room)
        if new is None or new.level not in DIVISIONS or RANK[new.level] >= RANK[segments[at + 1].level]:
            break
        at += 1
        segments.insert(at, new)
    return segments[at].end


def _is_up(link: Token, new: Segment, inner: Segment) -> bool:
    """Whether a word links a provision to what it is in: all do to an annex, "of" to all."""
    if link.value == ",":  # "paragraph 6, Annex I, Part II"
        return new.level == "annex" and inner.level in ("paragraph", "point") and inner.how == "number"
    return (
        new.level == "annex"
        or link.value in OF
        or (
            new.level in DIVISIONS
            and (link.value == "from" or (link.value == "in" and inner.level in (*DIVISIONS, "paragraph")))
        )
    )


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
    if new is None or new.how == "this" or RANK[new.level] < RANK[outer.level]:
        return None
    if new.level == outer.level and found[k].value not in LETTERS:  # "point 4 letter (c)"
        return None
    if new.level not in INNER and not (outer.level in DIVISIONS and (new.level in DIVISIONS or outer.level != "annex")):
        return None
    other = _past(found, new.end, OF, _ARTICLES)  # "Article 5, point (a) of Article 6"
    parent = segment(found, other, 0) if other is not None else None
    if parent is None or not _holds(parent.level, new.level) or _holds(outer.level, parent.level):
        return new
    return new if parent.level == "annex" and outer.level == "part" else None  # "Part II point 4.1.2 of Annex II"


def _past(found: Sequence[Token], at: int, first: tuple[str, ...], then: Sequence[str]) -> int | None:
    """The token after one of ``first`` and any (at most four) of ``then``; None where ``first`` is missing."""
    if at >= len(found) or found[at].value not in first:
        return None
    k = at + 1
    while k < len(found) and k < at + 6 and found[k].value in then:
        k += 1
    return k if k < len(found) else None
