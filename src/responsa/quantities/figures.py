"""Numbers as reports print them: English and German marks, blanks between thousands, signs, footnotes glued on.

What the mark in "4.857" means cannot be seen in the number: it is the ``decimal`` mark of the document, which
`decimal_mark` tells from the numbers that can be read in one way only.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal, NamedTuple

Mark = Literal[".", ","]

_BLANKS = "\u00a0\u2009\u202f\u2007"
NUMERAL = (
    rf"(?:\d{{1,3}}(?:[,.'’{_BLANKS}]\d{{3}})+(?!\d)(?:[.,]\d{{1,6}})?|\d{{1,3}}(?: \d{{3}}(?!\d))+(?:[.,]\d{{1,6}})?"
    r"|\d{1,12}(?:[.,]\d{1,6})?)"
)
"""A number without its sign, as a pattern."""

_ONLY_DOT = re.compile(
    r"(?<![\d.,])\d{1,3}(?:,\d{3})+\.\d|(?<![\d.,])\d{1,3}(?:,\d{3}){2,}(?![\d.])|(?<![\d.,])\d+\.\d{1,2}\s?%"
)
_ONLY_COMMA = re.compile(
    r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d,])|(?<![\d.,])\d+,\d{1,2}\s?%"
)
_MARKS = re.compile(r"[.,]")
_BETWEEN = re.compile(rf"(?<=\d)[ '’{_BLANKS}](?=\d{{3}}(?:\D|\Z))")
_NOTE = re.compile(r"(?:[¹²³⁰⁴⁵⁶⁷⁸⁹*†‡]+|\d\))\Z")
_CELL = re.compile(rf"(?P<sign>[-−–+(]?)\s?(?P<n>{NUMERAL})\s?(?:\)?\s?(?P<percent>%?)|%\))")
_NOT_STATED = r"n/?a\.?|n\. ?a\.|k\. ?A\."
NOT_STATED = re.compile(_NOT_STATED, re.IGNORECASE)
"""What fills a cell whose number a report does not give: "n/a", in German "k. A."."""
_NOTHING = re.compile(rf"[-−–—‐]{{1,2}}|{_NOT_STATED}|nil", re.IGNORECASE)


class Stated(NamedTuple):
    """A number that fills a cell. ``nothing``: a dash or `NOT_STATED` stands for it."""

    value: Decimal
    percent: bool = False
    nothing: bool = False


def decimal_mark(text: str) -> Mark:
    """The mark that parts the decimals in a text; "." where nothing tells."""
    dots = sum(1 for _ in _ONLY_DOT.finditer(text))
    commas = sum(1 for _ in _ONLY_COMMA.finditer(text))
    return "," if commas > dots else "."


def figure(text: str, decimal: Mark = ".") -> Decimal:
    """The value of a number in digits. ValueError for anything else.

    A mark that stands twice, or before another mark, parts thousands. A single mark with three digits behind it parts
    thousands where it is not the ``decimal`` mark, but "0,693" is less than one in any document. Any other single
    mark parts decimals.
    """
    plain = _BETWEEN.sub("", text.strip())
    negative = plain[:1] in "-−–("
    plain = plain.lstrip("-−–+( ").rstrip(") ")
    marks = _MARKS.findall(plain)
    if len(marks) > 1:
        last = marks[-1] if marks[-1] not in marks[:-1] else ""
        whole, _, rest = plain.rpartition(last) if last else (plain, "", "")
        plain = _MARKS.sub("", whole) + (f".{rest}" if last else "")
    elif marks:
        whole, _, rest = plain.partition(marks[0])
        thousands = len(rest) == 3 and len(whole) <= 3 and whole.strip("0") and marks[0] != decimal
        plain = whole + rest if thousands else f"{whole}.{rest}"
    if not re.fullmatch(r"\d+(?:\.\d+)?", plain, re.ASCII):
        raise ValueError(f"not a number: {text!r}")
    return -Decimal(plain) if negative else Decimal(plain)


def stated(text: str, decimal: Mark = ".") -> Stated | None:
    """The number that fills a cell, footnote marks left out; a dash is zero; None where it holds something else."""
    plain = text.strip()
    if _NOTHING.fullmatch(plain):
        return Stated(Decimal(0), nothing=True)
    note = _NOTE.search(plain)
    if note and not (note[0].endswith(")") and "(" in plain):
        plain = plain[: note.start()].rstrip()
    match = _CELL.fullmatch(plain)
    if match is None:
        return None
    value = figure(match["n"], decimal)
    percent = bool(match["percent"]) or match[0].endswith("%)")
    return Stated(-value if match["sign"] in ("-", "−", "–", "(") and match["sign"] else value, percent)
