"""Numbers with units in the text of the acts: EU style, in which a comma is decimal and a blank parts thousands."""

from __future__ import annotations

import re
from typing import NamedTuple

from responsa.taxonomy.activities.units import plain, unit_at

_DIGITS = r"\d{1,3}(?: \d{3})+(?![\d,.])|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w/.,(-])\[?(?:{_DIGITS})\]?(?![./]?\d)|(?<=\()(?:{_DIGITS})(?=\s?%)|(?<==)(?:{_DIGITS})(?=\s?[a-z%])"
)
_CITED = re.compile(
    r"(?:Articles?|Sections?|points?|Points?|Annex|Regulation|Directive|Decision|ISO|EN|CEN|IEC|Table|paragraphs?|"
    r"Chapters?|Appendix|indicators?|Level|criteri(?:on|a)|Part|No|BAT|Tier|Step|[Ss]cope|[Cc]ategory|categories|CMC|"
    r"entry|Volume|amendment|of Annex|L/S =|/|\))\s?\Z"
)
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_WORD_NUMBER = re.compile(rf"\b({'|'.join(_WORDS)})(?= (?:years?|months?|days?)\b)")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Number(NamedTuple):
    """``start`` to ``end`` of the text say ``value`` in ``unit``, "" for a bare number."""

    start: int
    end: int
    value: float
    unit: str


def numbers(text: str) -> list[Number]:
    """The numbers with units of a text in its order; not those of acts, provisions, standards and dates."""
    text = plain(text)
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        if _is_cited(text, match.start()) or (found and match.start() < found[-1].end):  # "per 1 kWh" is a unit
            continue
        unit = unit_at(text, match.end())
        if unit is None and not _YEAR.fullmatch(match[0]):
            unit = _shared(text, match.end())
        if unit:
            found.append(Number(match.start(), unit[1], value(match[0]), unit[0]))
    for match in _WORD_NUMBER.finditer(text):
        unit = unit_at(text, match.end())
        if unit:
            found.append(Number(match.start(), unit[1], float(_WORDS[match[1]]), unit[0]))
    return sorted(found)


def bare(text: str) -> list[Number]:
    """The numbers without a unit; no years."""
    text = plain(text)
    found = []
    for match in _NUMBER.finditer(text):
        if not (_is_cited(text, match.start()) or unit_at(text, match.end()) or _YEAR.fullmatch(match[0])):
            found.append(Number(match.start(), match.end(), value(match[0]), ""))
    return found


def value(digits: str) -> float:
    """``0,722`` is 0.722 and ``10 000`` is 10000."""
    return float(digits.strip("[]").replace(" ", "").replace(",", "."))


def _is_cited(text: str, start: int) -> bool:
    return _CITED.search(text, max(0, start - 14), start) is not None


def _shared(text: str, start: int) -> tuple[str, int] | None:
    """The unit of the first of two numbers: "between 10000 and 100000 p.e."."""
    second = re.match(rf"\s(?:and|to|or)\s(?:{_DIGITS})", text[start : start + 24])
    found = unit_at(text, start + second.end()) if second else None
    return (found[0], start) if found else None
