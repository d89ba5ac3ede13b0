"""Lines of criteria with their printed numbers into the tree that the numbers make.

Readers give lines: "(1) ...", "(a) ...", "(i) ..." and paragraphs without a number. How deep a line stands is not
always printed; it follows from the sequence of the numbers: (i) after (h) goes on with the letters, (i) after (b)
begins a list below (b). A paragraph between (b) and (c) belongs to (b).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)")
_ROMAN = {"i": 1, "v": 5, "x": 10}
_SEQUENTIAL = re.compile(r"\((\d{1,2}(?:\.\d{1,2})*|[a-z]{1,5})\)\s+")
_PRINTED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.?(?=\s)(?<=\d\.|\.\d)\s+")
_DASH = re.compile(r"[—–•-]\s+")


class Line(NamedTuple):
    """A line: ``label`` is "1", "1.1", "a", "iv", "-" for a dash, or "" for a paragraph."""

    label: str
    text: str


class Place(NamedTuple):
    """Where a label stands in a kind of list: "n", "a" or "r", the parts above it and its ordinal from 1."""

    kind: str
    above: tuple[int, ...]
    ordinal: int


@dataclass(slots=True)
class Node:
    """A line and what stands below it."""

    label: str
    text: str
    place: Place | None = None
    either: bool = False  # its parts are alternatives
    parts: list[Node] = field(default_factory=list)


def line(text: str) -> Line:
    """A line with its printed number told apart: "(a) text", "1.1. text", "1. text", "- text"."""
    text = text.strip()
    found = _SEQUENTIAL.match(text) or _PRINTED.match(text)
    if found and places(found[1]):
        return Line(found[1], text[found.end() :].strip())
    dash = _DASH.match(text)
    return Line("-", text[dash.end() :]) if dash else Line("", text)


def places(label: str) -> tuple[Place, ...]:
    """What a label can be; "i", "v" and "x" are letters and Roman numbers."""
    if _NUMBER.fullmatch(label):
        *above, last = (int(part) for part in label.split("."))
        return (Place("n", tuple(above), last),)
    found = []
    roman = _roman(label)
    if roman:
        found.append(Place("r", (), roman))
    if len(label) == 1 and label.isalpha():
        found.append(Place("a", (), ord(label) - ord("a") + 1))
    return tuple(found)


def _roman(label: str) -> int:
    if not label or set(label) - set(_ROMAN):
        return 0
    values = [_ROMAN[sign] for sign in label]
    return sum(-v if v < max(values[k:]) else v for k, v in enumerate(values))


def outline(lines: Sequence[Line]) -> Node:
    """The tree; its root has neither label nor text. No line is lost and their order is kept."""
    root = Node("", "")
    chain = [root]  # the nodes above the next line
    for index, each in enumerate(lines):
        options = places(each.label)
        if options:
            at, place = _labelled(chain, options)
        elif each.label == "-":
            at, place = _dashed(chain), Place("-", (), 1)
        else:
            at, place = _paragraph(chain, lines[index + 1 :], each.text), None
        del chain[at + 1 :]
        node = Node(each.label, each.text, place)
        chain[-1].parts.append(node)
        chain.append(node)
    return root


def _follows(place: Place, before: Place | None) -> bool:
    """Whether a number is the next of its list, or the first of the next level: 1.1 after 1."""
    if before is None or place.kind != before.kind:
        return False
    return place.above == before.above and place.ordinal == before.ordinal + 1


def _labelled(chain: Sequence[Node], options: Sequence[Place]) -> tuple[int, Place]:
    """The index in the chain of the node that a numbered line stands under."""
    for depth in range(len(chain) - 1, 0, -1):
        for place in options:
            if _follows(place, chain[depth].place):
                return depth - 1, place
    for place in options:
        if place.kind == "n" and place.above:
            for depth in range(len(chain) - 1, 0, -1):
                above = chain[depth].place
                if above and above.kind == "n" and (*above.above, above.ordinal) == place.above:
                    return depth, place
    for place in options:
        if place.ordinal == 1 and not place.above:
            return len(chain) - 1, place
    for depth in range(len(chain) - 1, 0, -1):  # a number was left out, or another section begins
        for place in options:
            before = chain[depth].place
            if before and before.kind == place.kind and len(before.above) <= len(place.above):
                return depth - 1, place
    return (0 if options[0].kind == "n" else len(chain) - 1), options[0]


def _dashed(chain: Sequence[Node]) -> int:
    for depth in range(len(chain) - 1, 0, -1):
        before = chain[depth].place
        if before and before.kind == "-":
            return depth - 1
    return len(chain) - 1


def _paragraph(chain: Sequence[Node], later: Sequence[Line], text: str) -> int:
    """The index in the chain of the node that a paragraph stands under.

    That is the item whose list goes on after it. Where none does, it is the last item of a numbered list; under
    lists of letters alone it stands beside what introduces the list. What goes on in lower case stays in the item.
    """
    opened = [depth for depth in range(len(chain) - 1, 0, -1) if chain[depth].place]
    if not opened:
        return 0
    fresh: list[Place] = []
    for each in later:
        options = places(each.label)
        if not options:
            continue
        began = next((place for place in options if place.ordinal == 1 and not place.above), None)
        k = next((k for k in range(len(fresh) - 1, -1, -1) if any(_follows(p, fresh[k]) for p in options)), None)
        if k is not None:
            fresh[k:] = [next(p for p in options if _follows(p, fresh[k]))]
            continue
        for depth in opened:
            if any(_follows(place, chain[depth].place) for place in options):
                return depth
        if began is not None:
            fresh.append(began)
    if text[:1].islower():
        return opened[0] - 1
    numbered = [depth for depth in opened if (chain[depth].place or Place("", (), 0)).kind == "n"]
    return numbered[0] if numbered else opened[-1] - 1 if chain[opened[-1] - 1].place else _beside(chain, opened[-1])


def _beside(chain: Sequence[Node], depth: int) -> int:
    """Above the paragraph that introduces the list of the item at ``depth``."""
    return depth - 2 if depth >= 2 and chain[depth - 1].place is None else depth - 1
