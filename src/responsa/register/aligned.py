"""A text made plain for the rules that read it, each character of it still tied to one of the text as stored."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from responsa.text import normalise

_QUOTED = re.compile(r'"[^"]{1,80}"')
_BRACKETS = re.compile(r" ?\([^()]{5,300}\)")
_NUMBERING = re.compile(
    r"\A\W*(?:(?:\(?[A-Za-z0-9]{1,3}(?:\.[A-Za-z0-9]{1,4}){0,5}[.)]+|\*\*\w{1,5}\.\*\*)\W*)++(?=\w)"
)
_LIST_DASH = re.compile(r" ?-(?= ?\([A-Za-z0-9]{1,4}\)|\Z)")


@dataclass(frozen=True, slots=True)
class Plain:
    """``cased`` is the plain text, ``lower`` the same in lower case; each character stands for the stored
    ones from its place in ``at`` to its place in ``to``.
    """

    cased: str
    lower: str
    at: tuple[int, ...]
    to: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the stored text that ``start`` to ``end`` of the plain one stand for, blanks trimmed."""
        while start < end and self.cased[start] == " ":
            start += 1
        while end > start and self.cased[end - 1] == " ":
            end -= 1
        return (self.at[start], self.to[end - 1]) if start < end else (0, 0)


def plain(text: str) -> Plain:
    """Single blanks, plain quotes and dashes; without numbering at the start, quotations and longer brackets.

    What `responsa.obligations` reads is made the same way.
    """
    characters: list[str] = []
    at: list[int] = []
    for place, stored in enumerate(text):
        for character in stored if stored.isascii() else _one(stored):
            blank = character.isspace()
            if blank and (not characters or characters[-1] == " "):
                continue
            characters.append(" " if blank else character)
            at.append(place)
    made, to = "".join(characters), [place + 1 for place in at]
    for pattern, new in ((_NUMBERING, ""), (_LIST_DASH, ":"), (_QUOTED, "X"), (_BRACKETS, ""), (_BRACKETS, "")):
        made, at, to = _replaced(made, at, to, pattern, new)
    lower = "".join(each.lower() if len(each.lower()) == 1 else each for each in made)
    return Plain(made, lower, tuple(at), tuple(to))


def _one(character: str) -> str:
    if character.isspace():
        return " "
    made = normalise(character)
    # What combines with the character before it is normalised with that; alone it is kept.
    return made if made or not unicodedata.combining(character) else character


def _replaced(
    text: str, at: list[int], to: list[int], pattern: re.Pattern[str], new: str
) -> tuple[str, list[int], list[int]]:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for match in pattern.finditer(text):
        parts += [text[last : match.start()], new]
        starts += [*at[last : match.start()], *[at[match.start()]] * len(new)]
        ends += [*to[last : match.start()], *[to[match.end() - 1]] * len(new)]
        last = match.end()
    if not last:
        return text, at, to
    return "".join([*parts, text[last:]]), starts + at[last:], ends + to[last:]
