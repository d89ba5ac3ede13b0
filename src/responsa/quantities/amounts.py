"""The quantities that are one number and one unit, and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

QuantityKind = Literal[
    "money", "percentage", "basis points", "ratio", "fraction", "factor", "duration", "date", "deadline", "frequency"
]


@dataclass(frozen=True, slots=True)
class Quantity:
    """What the characters ``start`` to ``end`` of a text say, normalised.

    ``value`` counts ``unit``: a currency (ISO 4217), "%", "bp", "to one" (a ratio), "whole" (a fraction), "times",
    "month", "business day". ``iso`` is ISO 8601 where that is exact: a duration (P6M), a date, an interval of
    dates, a day of every year (--06-30), the period of a frequency (P1Y). ``bound`` is "at least", "at most" or "".
    A deadline has in ``relation`` how it stands to its event (within, after, before, by, at once), and in ``anchor``
    the start and end of the words for the event, None where the text names none.
    """

    start: int
    end: int
    kind: QuantityKind
    value: Decimal | None
    unit: str
    iso: str = ""
    bound: str = ""
    relation: str = ""
    anchor: tuple[int, int] | None = None


# --- words ----------------------------------------------------------------------------------------------

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "m": 10**6, "mn": 10**6, "bn": 10**9, "k": 1000,
}  # fmt: skip
_TENS_WORD = "|".join(_TENS)
_WORD_NUMBER = (
    rf"(?:(?:{_TENS_WORD})(?:[-\s](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES, key=len, reverse=True))}|"
    rf"hundred)"
)
# Thousands are parted by commas, apostrophes or (no-break, thin) blanks; a comma with one or two digits is decimal.
_BLANK = "[ \u00a0\u2009\u202f]"
_DIGITS = (
    rf"(?:\d{{1,3}}(?:(?:,|'|’|{_BLANK})\d{{3}})+(?!\d)(?:\.\d{{1,6}})?|\d{{1,12}}(?:\.\d{{1,6}}|,\d{{1,2}}(?!\d))?)"
)
_SCALE = rf"(?:{_BLANK}?(?:hundred|thousand|million|billion|trillion|bn|mn|[mk](?![a-z])))"
_NUMBER = rf"(?<![\w./,(])(?:{_DIGITS}|{_WORD_NUMBER}\b)"

_CURRENCIES = {"€": "EUR", "$": "USD", "US$": "USD", "£": "GBP", "¥": "JPY"} | {
    word: code
    for words, code in (
        ("euro euros", "EUR"), ("dollar dollars", "USD"), ("dirham dirhams", "AED"), ("sterling", "GBP"),
        ("yen", "JPY"),
    )
    for word in words.split()
}  # fmt: skip
_CODES = "EUR|USD|GBP|AED|CHF|JPY|SEK|DKK|NOK|PLN|CZK|HUF|CNY|SAR|CAD|AUD"
_CURRENCY = rf"(?:US\$|[€$£¥]|\b(?:{_CODES})\b)"
_CURRENCY_AFTER = rf"(?:{_BLANK}?(?:[€£]|(?:{_CODES}|euros?|(?:US )?dollars?|dirhams?|sterling|yen)\b))"

_UNITS = {
    "business day": "", "working day": "", "trading day": "", "calendar day": "D", "day": "D", "week": "W",
    "month": "M", "quarter": "3M", "year": "Y", "calendar year": "Y", "financial year": "", "calendar month": "M",
    "hour": "H", "minute": "TM", "second": "TS", "calendar quarter": "3M", "fiscal year": "",
}  # fmt: skip
_UNIT = (
    r"(?:(?:business|working|trading|calendar|financial|fiscal)[- ])?(?:days?|weeks?|months?|quarters?|years?|"
    r"hours?|minutes?|seconds?)"
)
_A_UNIT = r"(?:(?:business|working|trading|calendar|financial|fiscal)[- ])?(?:day|week|month|quarter|year|hour)"

_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
_MONTH = "|".join(month.capitalize() for month in _MONTHS)
_DATE = (
    rf"(?:(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?{_BLANK}(?:of{_BLANK})?(?P<m1>{_MONTH})\b(?:,?{_BLANK}(?P<y1>(?:19|"
    rf"20)\d\d)\b)?"
    rf"|(?P<m2>{_MONTH}){_BLANK}(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?,{_BLANK}(?P<y2>(?:19|20)\d\d)\b"
    r"|(?P<y3>(?:19|20)\d\d)-(?P<m3>[01]\d)-(?P<d3>[0-3]\d)\b)"
)


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


_MONEY = _pattern(
    rf"(?<![\w$€£¥])(?P<before>{_CURRENCY}){_BLANK}?(?P<n1>{_DIGITS})(?P<s1>{_SCALE}\b)?"
    rf"|(?P<n2>{_NUMBER})(?P<s2>{_SCALE}\b)?(?P<after>{_CURRENCY_AFTER})"
)
_PERCENT = _pattern(
    rf"(?P<n>{_NUMBER}){_BLANK}?(?P<u>%|‰|(?:per{_BLANK}?cent(?:um)?\b)|percentage points?\b|basis points?\b|bps?\b)"
)
_RATIO = re.compile(
    rf"(?<![\w.:/(-])(?P<a>\d{{1,4}}(?:\.\d+)?){_BLANK}?:{_BLANK}?(?P<b>\d{{1,4}}(?:\.\d+)?)(?![\w:/]|\.\d)"
)
_CLOCK = re.compile(r"\A(?:\s?[ap]\.?m\b|\s?(?:hours|GMT|CET|UTC|Uhr|noon))|\A\)?\s?o'clock", re.IGNORECASE)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10, "twelfth": 12}
_FRACTION = _pattern(
    rf"\b(?P<n>{'|'.join(_ONES[1:12])})[- ](?P<p>thirds?|quarters?|fifths?|tenths?|twelfths?|half)\b(?! (?:party|"
    rf"parties|country|"
    r"countries|subparagraph|paragraph|sentence|indent|person|persons|ends?\b))"
)
_TIMES = _pattern(rf"(?P<n>{_NUMBER}){_BLANK}times\b|\b(?P<w>twice|thrice)\b(?! (?:a|per|each|every|in)\b)")
# The number of the unit may be repeated in brackets, "ten (10) days"; three consecutive years are as long as any three.
_AMOUNT = rf"(?P<n>{_NUMBER})(?:\s?\(\d{{1,3}}\))?[-\s]{{1,2}}(?:(?:consecutive|successive) )?(?P<u>{_UNIT})\b(?!-)"
_DURATION = _pattern(_AMOUNT)
_CITED = (
    re.compile(  # a number with these before it names a provision: "Article 30 days" cannot be, "Table 2 %" neither
        r"\b(?:articles?|rules?|sections?|paragraphs?|points?|chapters?|tables?|annex|parts?|titles?|schedules?|steps?|"
        r"tiers?|no\.?|and (?=\d+\(\d))\s?\Z",
        re.IGNORECASE,
    )
)
_ACT_DATE = re.compile(  # "Directive 2013/36/EU of the European Parliament and of the Council of"
    r"(?:\b(?:Directives?|Regulations?|Decisions?|Recommendations?|Opinion|Treaty|Agreement|Convention|Council|"
    r"Parliament|"
    r"Commission|Bank|Act|Law|Board|No|Guidelines?)\b|\d/\d+|/E[CU]|/EEC)[^.;]{0,60}\b(?:of|dated)\s\Z"
    r"|\bOJ\b[^.;]{0,20}\Z"
)
_YEARLY = _pattern(r"\s?,?\s?(?:of )?(?:each|every)(?: (?:calendar|financial))? year\b|\sannually\b")

_BOUNDS = _pattern(
    r"(?P<least>at least|not less than|no less than|a minimum(?: of)?|minimum of|or more than|not fewer than|no "
    r"fewer than|"
    r"no shorter than|equal to or (?:greater|higher) than|no lower than)\s\Z"
    r"|(?P<most>at most|up to|not more than|no more than|not exceeding|a maximum(?: of)?|maximum of|no longer than|"
    r"not longer than|no higher than|does not exceed|do not exceed|not exceed|equal to or (?:lower|less) than|"
    r"no later than|not later than|within)\s\Z"
    r"|(?P<above>more than|exceeding|exceeds?|over|greater than|higher than|longer than|above|in excess of)\s\Z"
    r"|(?P<below>less than|lower than|below|under|shorter than|fewer than)\s\Z"
)
_BOUND_AFTER = _pattern(
    r"\s(?:or (?P<least>more|above|longer|over|greater|higher)|or (?P<most>less|below|shorter|fewer|lower))\b"
)


# --- numbers --------------------------------------------------------------------------------------------


def number(text: str) -> Decimal:
    """The value of a number in digits or words: "1,250.5", "1 250", "0,5", "twenty-five". ValueError for no number."""
    plain = re.sub(r"[\s\u00a0\u2009\u202f]+", " ", text.strip().lower())
    if not plain or not (plain[0].isdigit() or plain[0].isalpha()):
        raise ValueError(f"not a number: {text!r}")
    if plain[0].isdigit():
        plain = re.sub(r"[ ,'’](?=\d{3}(?:\D|\Z))", "", plain).replace(",", ".")
        try:
            return Decimal(plain)
        except ArithmeticError as error:
            raise ValueError(f"not a number: {text!r}") from error
    value = 0
    for word in re.split(r"[ -]", plain):
        if word == "hundred":
            value = (value or 1) * 100
        elif word in _WORDS:
            value += _WORDS[word]
        else:
            raise ValueError(f"not a number: {text!r}")
    return Decimal(value)


def duration(value: Decimal, unit: str) -> str:
    """The ISO 8601 duration; "" where there is none: business days, financial years, half months."""
    letter = _UNITS.get(unit, "")
    if not letter or value <= 0:
        return ""
    if letter == "3M":
        value, letter = value * 3, "M"
    if value != value.to_integral_value():
        return ""
    time = letter in ("H", "TM", "TS")
    return f"P{'T' if time else ''}{int(value)}{letter[-1]}"


def unit_of(word: str) -> str:
    """The unit as `duration` knows it: singular, lower case."""
    return re.sub(r"[-\s]+", " ", word.lower()).removesuffix("s")


def _scaled(digits: str, scale: str | None) -> Decimal:
    return number(digits) * _SCALES[(scale or "").strip("\u00a0\u2009\u202f ").lower()] if scale else number(digits)


def _bound(text: str, start: int, end: int) -> str:
    before = _BOUNDS.search(text, max(0, start - 34), start)
    after = _BOUND_AFTER.match(text, end)
    for match in (after, before):
        if match and match.lastgroup:
            return {"least": "at least", "most": "at most", "above": "more than", "below": "less than"}[match.lastgroup]
    return ""


# --- finding --------------------------------------------------------------------------------------------


def amounts(text: str) -> Iterator[Quantity]:
    """Money, percentages, ratios, fractions, factors and durations."""
    for match in _MONEY.finditer(text):
        first = match["before"] is not None
        word = (match["before"] if first else match["after"]).strip("\u00a0\u2009\u202f ")
        unit = (
            _CURRENCIES.get(word.lower().removeprefix("us "), word.upper())
            if word not in _CURRENCIES
            else _CURRENCIES[word]
        )
        value = _scaled(match["n1"], match["s1"]) if first else _scaled(match["n2"], match["s2"])
        if first or not _cited(text, match.start()):
            yield Quantity(
                *match.span(), "money", value, _CURRENCIES.get(unit, unit), bound=_bound(text, *match.span())
            )
    for match in _PERCENT.finditer(text):
        word = match["u"].lower()
        kind: QuantityKind = "basis points" if word.startswith("b") else "percentage"
        unit = "bp" if word.startswith("b") else "‰" if word == "‰" else "percentage point" if "point" in word else "%"
        if not _cited(text, match.start()):
            yield Quantity(*match.span(), kind, number(match["n"]), unit, bound=_bound(text, *match.span()))
    for match in _RATIO.finditer(text):
        below = Decimal(match["b"])
        if below and not _CLOCK.match(text, match.end()) and not _cited(text, match.start()) and len(match["b"]) < 2:
            yield Quantity(*match.span(), "ratio", Decimal(match["a"]) / below, "to one")
    for match in _FRACTION.finditer(text):
        part = match["p"].lower()
        below = Decimal(_PARTS[part if part == "half" else part.removesuffix("s")])
        yield Quantity(
            *match.span(), "fraction", number(match["n"]) / below, "whole", bound=_bound(text, *match.span())
        )
    for match in _TIMES.finditer(text):
        value = number(match["n"]) if match["n"] else Decimal(2 if match["w"].lower() == "twice" else 3)
        yield Quantity(*match.span(), "factor", value, "times", bound=_bound(text, *match.span()))
    for match in _DURATION.finditer(text):
        if not _cited(text, match.start()):
            value, unit = number(match["n"]), unit_of(match["u"])
            yield Quantity(*match.span(), "duration", value, unit, duration(value, unit), _bound(text, *match.span()))


def _cited(text: str, start: int) -> bool:
    return _CITED.search(text, max(0, start - 14), start) is not None


def dates(text: str) -> Iterator[Quantity]:
    """Days with a year, and days of every year; not the date of an act or of its publication."""
    for match in DATE.finditer(text):
        if _ACT_DATE.search(text, max(0, match.start() - 90), match.start()):
            continue
        quantity = date_of(text, match)
        if quantity:
            yield quantity


def date_of(text: str, match: re.Match[str]) -> Quantity | None:
    """The quantity of a match of `DATE`; None for a day that no calendar has."""
    which = next(index for index in "123" if match[f"d{index}"])
    name, year = match[f"m{which}"], match[f"y{which}"]
    month = int(name) if name.isdigit() else _MONTHS.index(name.lower()) + 1
    day = int(match[f"d{which}"])
    if not (1 <= month <= 12 and 1 <= day <= (29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31)):
        return None
    yearly = None if year else _YEARLY.match(text, match.end())
    end = yearly.end() if yearly else match.end()
    return Quantity(
        match.start(), end, "date", None, "every year" if yearly else "day", f"{year or '-'}-{month:02}-{day:02}"
    )


DATE = re.compile(rf"(?<![\w/.]){_DATE}")
AMOUNT = _AMOUNT
A_UNIT = _A_UNIT
