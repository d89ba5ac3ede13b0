"""The numbers with units of a report: shares, money, energy, emissions, areas; as printed and in a normal unit.

What `responsa.quantities.quantities` finds is what legal English writes; here are the numbers that companies print:
ranges, "€ 15.7 billion", "210 thousand metric tons of CO2e", "kWh/m² p. a.", decimal commas where they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from responsa.quantities.figures import NUMERAL, Mark, figure
from responsa.quantities.money import SCALE_WORDS, counted, scale_factor
from responsa.quantities.units import Unit, unit_at

_DASH = r"[-–—−]"
_NUMBER = re.compile(
    rf"(?<![\w.,/])(?<!\d[:·])(?<![A-Za-z][-–])(?:(?P<sign>[-−–])(?=\d))?(?P<n>{NUMERAL})"
    rf"(?:(?P<mid>\s?%?\s?(?:{_DASH}|to|bis|and)\s?)(?P<n2>{NUMERAL}))?(?![\d])"
)
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
_YEAR_FOLLOWS = re.compile(r"\b(?:in|of|since|by|until|year|FY|im|Jahre?|seit)\s\Z", re.IGNORECASE)
_OF_FOUR_DIGITS = re.compile(r"\d[.,'’ ]?\d{3}(?:[.,]\d{1,2})?")
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100,
}  # fmt: skip
_WORD_PERCENT = re.compile(rf"\b(?P<w>{'|'.join(_WORDS)})\s(?:percent|per\s?cent)\b", re.IGNORECASE)
_SCALE = re.compile(rf"[\s-]?(?P<s>{SCALE_WORDS})(?:\s(?:of\s)?|(?![a-z]))", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?P<c>\b[TkM](?:EUR|€)|€|US\$|C\$|A\$|CA\$|\$|£|\b(?:EUR|USD|GBP|CHF|SEK|DKK|NOK|PLN|CAD|AUD))\s?\Z"
)
_AFTER = re.compile(
    rf"\s?(?P<s>{SCALE_WORDS}|mm|[kmbT](?=€|EUR\b))?\s?(?:of\s)?"
    r"(?P<c>€|euros?\b|EUR\b|USD\b|GBP\b|CHF\b|US dollars\b)",
    re.IGNORECASE,
)
# A letter alone is glued to the number, or a word of its own: not "€ 5 M&A", "€ 5 B. Other".
_MONEY_SCALE = re.compile(
    rf"\s?(?P<s>(?i:{SCALE_WORDS}|mm))(?![a-zA-ZäöüÄÖÜß])|(?P<s2>[kmbKMB])(?![a-zA-ZäöüÄÖÜß])"
    r"|\s(?P<s3>[kmKM]|B(?!\.\s))(?![\w&/’'-])"
)
_TRL = re.compile(
    r"\b(?:TRL|technology readiness level)s?\s?(?:\(TRL\)\s?)?(?:of\s)?(?P<n>[1-9])(?:\s?(?:[-–]|"
    r"to)\s?(?P<n2>[1-9]))?(?!\d|\.\d)",
    re.IGNORECASE,
)
_CERTIFICATE = (
    r"(?:EPCs?|energy performance certificates?(?:\s\(EPCs?\))?|"
    r"energy (?:efficiency |performance )?(?:class|rating|label)|(?:Energie)?effizienzklasse|"
    r"Energieausweis(?:klasse)?)"
)
_EPC = re.compile(
    rf"\b{_CERTIFICATE}\s?(?:(?:class|rating|rated|label|level|band|Klasse|der Klasse)\s?)?"
    rf"(?:(?:of|is|was|:|=|–|-)\s?)?(?P<least>at least\s)?(?:class\s)?(?P<c>(?-i:[A-G]))\+{{0,4}}(?![\w+'’&-])"
    rf"|\bclass\s(?P<c2>(?-i:[A-G]))\+{{0,4}}\s{_CERTIFICATE}\b",
    re.IGNORECASE,
)
_OR_BETTER = re.compile(r"\s(?:or|oder)\s(?:better|higher|above|besser|höher)", re.IGNORECASE)
_BOUNDS = (
    ("at least", r"at least|no less than|not less than|minimum(?: of)?|≥|>=|mindestens"),
    ("at most", r"at most|up to|no more than|not more than|maximum(?: of)?|≤|<=|höchstens|bis zu|max\."),
    ("more than", r"more than|over|above|exceed(?:s|ing)?|greater than|higher than|>|mehr als|über"),
    ("less than", r"less than|below|under|lower than|<|weniger als|unter"),
    ("about", r"about|around|approx(?:\.|imately)|approx|roughly|nearly|almost|some|circa|ca\.|c\.|rund|etwa|~"),
)
_BOUND = re.compile(
    "|".join(f"(?P<b{index}>(?<![a-zäöü]){words})" for index, (_, words) in enumerate(_BOUNDS)).join(
        ("(?:", r")\s?(?:€\s?)?\Z")
    ),
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|nicht|nie)|n['’]t)\s(?!only\b|nur\b)(?:[^\W\d]+\s){0,2}\Z", re.IGNORECASE
)
_OPPOSITE = {"at least": "less than", "at most": "more than", "more than": "at most", "less than": "at least"}
_BETWEEN = re.compile(
    r"\b(?:between|zwischen)\s(?P<first>[^;]{0,12}\d[^;]{0,30}\s(?:and|und|to|bis)\s)?(?:€\s?|EUR\s)?\Z", re.IGNORECASE
)
_FROM = re.compile(r"\b(?:from|von)\s(?:\w+\s)?(?:€\s?|EUR\s)?\Z", re.IGNORECASE)
_MINUS = re.compile(r"(?<!\d)(?<!\d\s)(?<!or\s)(?<!/)(?<!oder\s)\bminus\s\Z", re.IGNORECASE)
_RANGED = re.compile(  # what a dash goes on from: "5 -", "5 % –", "2 kWh –", "€5 million –"
    r"(?:\A|[\s(€$£<>≤≥~])\d[\d.,]*(?:[A-Za-z€%]{0,3}|\s?%|\s(?:[kMGT]?Wh|[kMG]?t|kg|km|EUR)|\s?"
    + SCALE_WORDS
    + r")\s\Z",
    re.IGNORECASE,
)
_AROUND = " +-−–<>≤≥~*.¹²³"  # what may stand about a number that fills a cell
_LONG_CELL = 40  # characters
_EMISSION = re.compile(r"CO\s?[2₂]|carbon|emission|GHG|greenhouse", re.IGNORECASE)
_EMITTED = {"g/km": "gCO2e/km", "g/kWh": "gCO2e/kWh", "g/tkm": "gCO2e/tkm", "g/pkm": "gCO2e/pkm"}


@dataclass(frozen=True, slots=True)
class Measure:
    """What the characters ``start`` to ``end`` of a text say. ``value`` counts ``unit``, a normal one.

    ``printed`` and ``printed_unit`` are as the text has them ("12.8", "EUR billion"). A range gives two measures, at
    least the one and at most the other. ``bound``: "at least", "at most", "more than", "less than", "about" or "".
    """

    start: int
    end: int
    value: float
    unit: str
    printed: float
    printed_unit: str
    bound: str = ""


def measures(text: str, decimal: Mark = ".") -> Iterator[Measure]:
    """The numbers with units of a text, in its order. Linear in its length."""
    at = 0
    for match in _numbers(text):
        if match.start() < at:
            continue
        for found in _measured(text, match, decimal):
            at = max(at, found.end)
            yield found
    for match in _WORD_PERCENT.finditer(text):
        value = float(_WORDS[match["w"].lower()])
        yield Measure(*match.span(), value, "%", value, "%", bound_before(text, match.start()))
    for match in _TRL.finditer(text):
        for each in filter(None, (match["n"], match["n2"])):
            yield Measure(*match.span(), float(each), "TRL", float(each), "TRL", bound_before(text, match.start()))
    for match in _EPC.finditer(text):
        rank = float("ABCDEFG".index(match["c"] or match["c2"]) + 1)  # A is the first; at least A is at most 1
        least = match["least"] or bound_before(text, match.start()) == "at least" or _OR_BETTER.match(text, match.end())
        yield Measure(*match.span(), rank, "class", rank, "class", "at most" if least else "")


def filling(text: str, decimal: Mark = ".") -> Measure | None:
    """The number and its unit that fill a cell: "1,234 t", "€5.2m"; "(€5.2m)" is less than nothing."""
    if len(text) > _LONG_CELL:
        return None
    plain = text.strip()
    bracketed = plain[:1] == "(" and plain[-1:] == ")"
    plain = plain[1:-1] if bracketed else plain
    found = list(measures(plain, decimal))
    if len(found) != 1 or (plain[: found[0].start] + plain[found[0].end :]).strip(_AROUND):
        return None
    (each,) = found
    loss = bracketed and each.value > 0 and each.unit.isalpha() and each.unit.isupper() and len(each.unit) == 3
    return replace(each, value=-each.value, printed=-each.printed) if loss else each


def bound_before(text: str, start: int) -> str:
    """What the words before a number say about it: "at least", "up to", "not below", "approx." ...; "" for nothing."""
    between = _BETWEEN.search(text, max(0, start - 70), start)
    if between:
        return "at most" if between["first"] else "at least"
    first = max(0, start - 24)
    match = _BOUND.search(text[first:start])
    if match is None:
        return ""
    bound = _BOUNDS[int((match.lastgroup or "b0")[1:])][0]
    at = first + match.start()
    return _OPPOSITE.get(bound, bound) if _DENIED.search(text, max(0, at - 40), at) else bound


def normalised(value: float, unit: Unit) -> float:
    """The value in the normal unit, free of the noise of conversion."""
    return float(f"{value * unit.factor:.12g}")


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """Each number or range. A year begins no range: "62 g in 2022 to 45 g"."""
    at = 0
    while match := _NUMBER.search(text, at):
        at = match.end()
        if match["n2"] and _YEAR.fullmatch(match["n"]) and _is_date(text, match):
            at = match.end("n")
        else:
            yield match


def _is_date(text: str, match: re.Match[str]) -> bool:
    """Whether what looks like a year is one, by the word before it or the size of the number that follows."""
    named = _YEAR_FOLLOWS.search(text, max(0, match.start() - 8), match.start())
    return bool(named) or not _OF_FOUR_DIGITS.fullmatch(match["n2"])


def _measured(text: str, match: re.Match[str], decimal: Mark) -> Iterator[Measure]:
    """The one or two numbers of a match, where a unit belongs to them."""
    ends = [match.end("n2"), match.end("n")] if match["n2"] else [match.end("n")]
    for end in ends:
        found = _money(text, match, end) or _physical(text, match.start("n"), end)
        if found is None:
            continue
        unit, printed_unit, start, stop = found
        whole = end == match.end("n2") and match["n2"]
        sign = -1.0 if _is_negative(text, match, start) else 1.0
        values = [sign * float(figure(match["n"], decimal))]
        if whole:
            second = float(figure(match["n2"], decimal))
            joined = (match["mid"] or "").strip(" %").lower() == "and"
            if joined and unit.name != "%" and not _BETWEEN.search(text, max(0, match.start() - 16), match.start()):
                values = []
                start = match.start("n2")
            values.append(second)
        first = text.find("%", match.end("n"), match.start("n2")) if whole else -1
        if whole and first >= 0 and unit.name != "%":
            values = values[-1:]
        bound = bound_before(text, match.start())
        low, high = ("at least", "at most") if _is_range(text, match, values, bound) else (bound, bound)
        for value in values[:-1]:
            stop_first = first + 1 if 0 <= first < match.start("n2") else match.end("n")
            yield Measure(start, stop_first, normalised(value, unit), unit.name, value, printed_unit, low)
        own = match.start("n2") if len(values) > 1 else start
        yield Measure(own, stop, normalised(values[-1], unit), unit.name, values[-1], printed_unit, high)
        return


def _is_range(text: str, match: re.Match[str], values: list[float], bound: str) -> bool:
    """Whether two numbers are the ends of a range: not "from 5 to 7 %", which may be a change, nor "5 and 7 %"."""
    if len(values) < 2 or values[0] >= values[1]:
        return False
    before = max(0, match.start() - 24)
    if _BETWEEN.search(text, before, match.start()):
        return True
    joined = (match["mid"] or "").strip(" %").lower() == "and"
    return not bound and not joined and _FROM.search(text, before, match.start()) is None


def _is_negative(text: str, match: re.Match[str], start: int) -> bool:
    """Whether a minus stands at a number, or before the currency that begins at ``start``: "-€5", "€ -5"."""
    if match["sign"]:
        return _is_sign(text, match.start())
    if _MINUS.search(text, max(0, start - 16), start):
        return True
    return 0 < start < match.start() and text[start - 1] in "-−" and _is_sign(text, start - 1)


def _is_sign(text: str, at: int) -> bool:
    """Whether a dash glued to what follows is a minus: a blank, a bracket or a currency stands before it, no number."""
    if at == 0 or text[at - 1] == "(":
        return True
    if text[at - 1] in "€$£":
        return re.search(r"\d\s?\Z", text[max(0, at - 3) : at - 1]) is None  # not "5 €-7 €"
    return text[at - 1].isspace() and not _RANGED.search(text[max(0, at - 24) : at])


def _money(text: str, match: re.Match[str], end: int) -> tuple[Unit, str, int, int] | None:
    start = match.start("n")
    before = _BEFORE.search(text, max(0, match.start() - 5), match.start())
    if before:
        scale = _MONEY_SCALE.match(text, end)
        words = f"{before['c']} {_scale_word(scale) if scale else ''}"
        stop = scale.end() if scale else end
        first = before.start()
    else:
        after = _AFTER.match(text, end)
        if after is None:
            return None
        words, stop, first = f"{after['c']} {_scale_word(after)}", after.end(), start
    money = counted(words.replace("C$", "CAD").replace("A$", "AUD").replace("CCAD", "CAD").replace("US dollars", "USD"))
    return (Unit(money.code, float(money.factor)), money.name, first, stop) if money else None


def _scale_word(match: re.Match[str]) -> str:
    """The scale of an amount of money; a lone b stands for "bn"."""
    word = next((each for name, each in match.groupdict().items() if name != "c" and each), "")
    return "bn" if word.lower() == "b" else word


def _physical(text: str, start: int, end: int) -> tuple[Unit, str, int, int] | None:
    scale = _SCALE.match(text, end)
    at = scale.end() if scale else end
    if not scale and text[at : at + 1] in (" ", "\u00a0", "\u2009", "\u202f", "-", "\n"):
        at += 1
    found = unit_at(text, at, min(len(text), at + 80))
    if found is None and scale:
        at = end  # "m" was no million
        found = unit_at(text, at)
    if found is None:
        return None
    unit, stop = found
    factor = scale_factor(scale["s"]) if scale and at >= scale.end() else 1
    if unit.name in _EMITTED and _EMISSION.search(text, max(0, start - 90), min(len(text), stop + 30)):
        unit = Unit(_EMITTED[unit.name], unit.factor)
    return Unit(unit.name, unit.factor * factor), " ".join(text[end:stop].split()).lstrip("-"), start, stop
