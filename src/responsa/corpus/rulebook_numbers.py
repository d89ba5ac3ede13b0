"""Citations in rulebooks, where a rule is found by the number printed in front of it.

"Rule 3.2.1(a)" is the passage 3.2.1.(a); where there is none, 3.2.1, whose text holds its items; where that is a
bare heading, the passages below it. A whole part or chapter is no passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from responsa.corpus.citations import LEVEL, ORDINALS
from responsa.corpus.references import Here, Reference, parse
from responsa.text import normalise
from responsa.types import Passage

MOST_BELOW = 12  # passages below a heading that a citation of it may mean; more is a chapter

Key = tuple[str, ...]  # the schedule or annex ("" for none), then the labels inwards: ("", "3", "2", "1", "a")

INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff"))
_SPACE = re.compile(r"(schedule|annex|appendix|app)\b\W*(\w*)|(app)(\d+)\b")
_DIVISION = re.compile(r"\b(?:part|title|chapter|section)\W+\w+\W*")
_NOUN = re.compile(r"\b(?:article|rule|regulation|paragraph|para)s?\b")


class Target(NamedTuple):
    """What a citation names: an act ("" for the citing document itself) and a provision in it.

    No fewer than ``least`` parts of ``key`` may be left where the whole is not found. ``other`` is tried then: a
    "paragraph 7" may be one of the rule it stands in or of the document.
    """

    act: str
    key: Key
    least: int
    other: Key = ()


def key_of(number: str) -> Key:
    """The key of a printed number: "Part 3.Chapter 2.10.(5)" and "10(5)" are 10, 5; "Schedule 2.3" is its own."""
    text = normalise(number).lower()
    space = ""
    found = _SPACE.match(text)
    if found:
        noun = found[1] or found[3]
        space = f"{'appendix' if noun == 'app' else noun} {found[2] or found[4] or ''}".strip()
        text = text[found.end() :]
    labels = re.findall(r"\w+", _NOUN.sub(" ", _DIVISION.sub(" ", text)))
    if space.startswith("appendix") and labels[:1] == [f"a{space[9:]}"]:  # "APP4.A4.10": cited as A4.10
        space = ""
    return (space, *labels)


def here(passage: Passage, act: str | None) -> Here:
    """Where a passage stands; ``act`` is that of its document."""
    head, _, tail = normalise(passage.number).partition("(")
    own = key_of(head)
    inner = re.findall(r"\w+", tail)
    article = ".".join(own[1:]) if not own[0] else ""
    return Here(act, article or None, inner[0] if inner else None, passage.path)


def targets(passage: Passage, act: str | None) -> Iterator[Target]:
    """What the citations in a passage name."""
    for reference in parse(passage.text.translate(INVISIBLE), here(passage, act)):
        found = target_of(reference, passage.number, act)
        if found is not None:
            yield found


def target_of(reference: Reference, number: str, act: str | None) -> Target | None:
    """What a citation in the passage of a number names; None where that is no provision."""
    own = key_of(normalise(number).partition("(")[0])
    space, labels, least = "", [], 0
    for part in reference.provision.split(", "):
        word, _, rest = part.lower().partition(" ")
        if word in ORDINALS[:12]:
            labels.append(str(ORDINALS.index(word) + 1))
            continue
        level = LEVEL.get(word)
        if level is None or not rest:
            return None  # "this Article", and an act without a provision
        found = re.findall(r"\w+", rest)
        if level in ("schedule", "annex", "appendix"):
            space, labels = f"{level} {found[0]}", found[1:]
        elif level not in ("part", "title", "chapter"):
            labels += found
            least = least or len(labels) - part.count("(")
    if not labels:
        return None
    named = "" if reference.act in (None, act) else str(reference.act)
    whole = (space, *labels)
    inside = own[1:] and not own[0] and tuple(labels[: len(own) - 1]) == own[1:]
    if reference.relative and inside:
        return Target(named, whole, len(labels), ("", *labels[len(own) - 1 :]))
    return Target(named, whole, max(least, 1))


class Numbers:
    """The passages with text of one document, by the keys of their numbers; a key also holds what stands below it."""

    def __init__(self, numbers: Sequence[Sequence[str]]) -> None:
        self.keys = [tuple(number) for number in numbers]
        self.below: dict[Key, list[int]] = {}
        for place, key in enumerate(self.keys):
            for length in range(2, len(key) + 1):
                self.below.setdefault(key[:length], []).append(place)

    def find(self, target: Target) -> list[int]:
        for length in range(len(target.key), target.least, -1):
            found = self._at(target.key[:length])
            if found:
                return found
        return self._at(target.other)

    def _at(self, key: Key) -> list[int]:
        below = self.below.get(key, [])
        exact = [place for place in below if self.keys[place] == key]
        return exact or (below if len(below) <= MOST_BELOW else [])
