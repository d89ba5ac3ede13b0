"""Guards on figures: numbers, time limits, amounts, bounds, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from responsa.answer.verified import words as lex
from responsa.answer.verified.units import Cited, Unit
from responsa.quantities import Quantity, number, quantities

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:[\s\u00a0]\d{3}(?!\d))*")
_ORDINAL_WORDS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINALS = {name: place for place, name in enumerate(_ORDINAL_WORDS, 2)}
_WORDS = (
    r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|two|three|four|five|six|seven|eight|nine))?|"
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    r"nineteen|hundred|twice|half|dozen)"
)
_WORDED = re.compile(rf"\b{_WORDS}\b", re.IGNORECASE)
_SPECIAL = {"twice": Decimal(2), "half": Decimal("0.5"), "dozen": Decimal(12)}
_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_LESS, _MORE = ("at most", "less than"), ("at least", "more than")


_NEXT = re.compile(
    r"\b(next|previous|preceding|last)\s(?:\w+\s)?(?:day|week|month|quarter|year|session|meeting|report)",
    re.IGNORECASE,
)
_COUNTED = re.compile(  # measures that are no quantities of `responsa.quantities`
    rf"\b(?:\d[\d.,]*|one|{_WORDS})\s((?:micro|milli|nano)?seconds?|bits?|bytes?|met(?:re|er)s?|kilomet(?:re|er)s?|"
    r"tonnes?|kilograms?|grams?|litres?|[kmg]?watts?|degrees?|points?|votes?|copies|members|directors|persons|shares)\b",
    re.IGNORECASE,
)
_AS_NEXT = {
    "next": "following",
    "previous": "preceding|prior|last",
    "preceding": "previous|prior|last",
    "last": "final",
}


def _figure(each: Quantity) -> str:
    """A quantity as it is compared: a duration is the same in a deadline and by itself."""
    if each.kind in ("duration", "deadline", "frequency") and (each.iso or each.value is not None):
        counted = f"{each.value.normalize()} {each.unit}" if each.value is not None and not each.iso else each.iso
        return ("every " if each.kind == "frequency" else "") + (counted or each.unit)
    if each.value is not None and each.kind == "fraction":
        return f"{(100 * each.value).normalize()} %"
    if each.value is not None:
        return f"{each.value.normalize()} {each.unit}"
    return each.iso or ("" if each.kind in ("deadline", "frequency") else each.unit)


def figures_of(text: str) -> list[tuple[Quantity, str]]:
    return [(each, _figure(each)) for each in quantities(text) if _figure(each)]


def _numbers(text: str, but: Sequence[Quantity] = ()) -> set[Decimal]:
    """Every number of a text in digits or words, those of the quantities left out."""
    inside = [(each.start, each.anchor[0] if each.anchor else each.end) for each in but]
    found = set()
    for match in [*_NUMBER.finditer(text), *_WORDED.finditer(text)]:
        if not any(start <= match.start() < end for start, end in inside):
            word = match[0].lower()
            found.add(_SPECIAL[word] if word in _SPECIAL else _value(word))
    return found | {Decimal(place) for name, place in _ORDINALS.items() if re.search(rf"\b{name}\b", text, re.I)}


def _value(word: str) -> Decimal:
    try:
        return number(word)
    except ValueError:
        return Decimal(re.sub(r"\D", "", word) or 0)


def figures(text: str, cited: Cited) -> str:
    """A figure, deadline or number that the cited text does not have."""
    there = figures_of(cited.text)
    known = {figure for _, figure in there}
    plain = _numbers(cited.text + "\n" + cited.around) | {each.value for each, _ in there if each.value is not None}
    told = figures_of(text)
    for each, figure in told:
        if each.value in plain and _AGED.match(text, each.end) and re.search(r"\b(?:aged?|old)\b", cited.text):
            continue
        if each.value == 1 and text[: each.start].endswith("in ") and f"in a {each.unit}" in cited.text:
            continue  # "in one month" for "in a month"
        if "(%)" in cited.text and each.kind == "percentage" and each.value in plain:
            continue  # a column of a table
        if figure not in known and not _loose(each, cited) and not _enumerated(text[each.start : each.end], cited):
            return f"{text[each.start : each.end]!r} does not stand in the text cited"
    for value in sorted(_numbers(_uncounted(text, cited), [each for each, _ in told]) - plain):
        return f"the number {value} does not stand in the text cited"
    for match in _COUNTED.finditer(text):
        if lex.singular(match[1].lower()) not in {lex.singular(word) for word in lex.tokens(cited.text)}:
            return f"{match[0]!r} does not stand in the text cited"
    for match in _NEXT.finditer(text):
        if not re.search(rf"\b(?:{match[1]}|{_AS_NEXT.get(match[1].lower(), match[1])})\b", cited.text, re.IGNORECASE):
            return f"{match[0]!r} does not stand in the text cited"
    for day in set(lex.content(text)) & lex.calendar():
        if day not in cited.meanings:
            return f"{day!r} does not stand in the text cited"
    return ""


_THINGS = re.compile(
    rf"\b{_WORDS}(?=\s(?:(?:main|other|different|separate|further|cumulative|alternative)\s)?(things|sets|points|ways|"
    r"cases|situations|conditions|requirements|duties|obligations|exceptions|exemptions|elements|criteria|grounds|limbs|"
    r"circumstances|factors|items|options|parts|purposes|steps|rules|tests)\b)",
    re.IGNORECASE,
)


def _uncounted(text: str, cited: Cited) -> str:
    """The text without numbers of things that it counts and the cited text does not, as "two conditions" before a list
    of them; what the text cited counts keeps its number."""
    counted = rf"\b(?:\d+|{_WORDS})\s(?:\w+\s)?"
    return _THINGS.sub(
        lambda match: match[0] if re.search(counted + match[1], cited.text, re.IGNORECASE) else "_" * len(match[0]),
        text,
    )


_AGED = re.compile(r"\s(?:of age|old)\b", re.IGNORECASE)


def _enumerated(told: str, cited: Cited) -> bool:
    """Whether a quantity is one of several that share a unit there: "20, 40 or 60 per cent"."""
    found = re.fullmatch(r"(\d[\d.,]*)\s?(\D+)", told)
    if not found:
        return False
    others = r"(?:,?\s(?:and\s|or\s)?\d[\d.,]*)+"
    return re.search(rf"(?<![\d.]){re.escape(found[1])}{others}\s?{re.escape(found[2])}", cited.text) is not None


_ONE = {
    "year": {"year", "annual", "annually", "yearly"},
    "month": {"month", "monthly"},
    "quarter": {"quarter", "quarterly"},
    "week": {"week", "weekly"},
    "day": {"day", "daily"},
}


def _loose(each: Quantity, cited: Cited) -> bool:
    """A deadline without a number, or a frequency that is worded otherwise there."""
    if each.value is None and not each.iso:
        return True
    if each.kind == "fraction":
        return re.search(r"\ban? (?:third|half|quarter|fifth|tenth)\b", cited.text) is not None
    if each.kind != "frequency":
        return False
    unit = each.unit.removeprefix("per ")
    if each.value in (None, 1):
        alike = next((names for names in _ONE.values() if unit in names), {unit})
        return not alike.isdisjoint(lex.tokens(cited.text))
    times = rf"\b{_words_of(each.value)}\b"
    return (
        re.search(rf"{times}[^.;]{{0,40}}\b(?:per|an?|each|every|in any)\s{re.escape(unit)}", cited.text, re.I)
        is not None
    )


def _words_of(value: Decimal) -> str:
    known = [name for name in _SMALL if number(name) == value]
    return f"(?:{'|'.join([str(value), *known, *(['twice'] if value == 2 else [])])})"


_PIECE = re.compile(
    r"[;:]|,(?!\d)|\b(?:and|or|but|while|whereas|although|unless|except|save|where|when|if|provided)\b|—|\s-\s"
)


def misplaced(text: str, cited: Cited) -> str:
    """A figure whose part of the sentence speaks of a rule that does not have it."""
    for piece in _PIECE.split(text):
        words = lex.content(piece)
        if len(words) < 2:
            continue
        best = max((lex.share(words, cited.with_topic(unit)) for unit in cited.units), default=0.0)
        for each, figure in figures_of(piece):
            if each.value is None and not each.iso:
                continue
            held = [lex.share(words, cited.with_topic(unit)) for unit in cited.units if _has(unit, each, figure)]
            if held and max(held) < best - 0.15:
                return f"{piece[each.start : each.end]!r} belongs to another rule of the text cited"
    return ""


def _has(unit: Unit, each: Quantity, figure: str) -> bool:
    """Whether a unit has a figure, or a frequency in other words."""
    if figure in {other for _, other in figures_of(unit.text)}:
        return True
    return each.kind == "frequency" and _loose(each, Cited((unit,)))


_CASE = re.compile(r"\b(?:where|if|when|in the event of|in case of|for)\b([^,;]*)", re.IGNORECASE)


def other_case(text: str, cited: Cited) -> str:
    """The figure of one case, said of another that the text cited has a figure of its own for."""
    for match in _CASE.finditer(text):
        words = lex.content(match[1])
        shares = sorted(((lex.share(words, unit.meanings), at) for at, unit in enumerate(cited.units)), reverse=True)
        if len(words) < 2 or len(shares) < 2 or shares[0][0] < 0.6 or shares[1][0] > shares[0][0] - 0.3:
            continue
        own = figures_of(cited.units[shares[0][1]].text)
        for each, figure in figures_of(text):
            if match.start() <= each.start < match.end() or figure in {other for _, other in own}:
                continue
            alike = {name for other, name in own if _comparable(each, other)}
            if alike and not alike & {name for _, name in figures_of(text)}:
                return f"{text[each.start : each.end]!r} belongs to another case of the text cited"
    return ""


_PARTS = re.compile(r";|,? and(?=,| must\b| shall\b| may\b| should\b)")


def paired(text: str, cited: Cited) -> str:
    """A figure that stands in the right sentence, but for something else there."""
    for each, figure in figures_of(text):
        words = set(lex.content(text))
        for unit in cited.near(text)[:1]:
            told = figures_of(unit.text)
            own = [other for other, name in told if name == figure]
            if not own:
                continue
            parts = [part for part in _PARTS.split(unit.text) if part]
            shares = [len(words & set(lex.content(part))) for part in parts]
            here = [
                share
                for share, part in zip(shares, parts, strict=True)
                if figure in {name for _, name in figures_of(part)}
            ]
            if here and max(here) < max(shares) - 2 and max(here) < 0.5 * max(shares):
                return f"{text[each.start : each.end]!r} belongs to another part of the text cited"
            alike = [other for other, name in told if name != figure and _comparable(other, own[0])]
            views = (words, _context(text, each))
            if (
                alike
                and all(_closer(mine, own, alike, unit.text) for mine in views)
                and not _follows(words, own, alike, unit.text)
            ):
                return f"{text[each.start : each.end]!r} stands for something else in the text cited"
    return ""


_SEGMENT = re.compile(r"[,;:](?!\d)|\b(?:and|or|but|if|where|when|unless)\b")


def _context(text: str, each: Quantity) -> set[str]:
    """The words of the stretch that a quantity stands in, between commas and conjunctions; not its own."""
    end = each.anchor[0] if each.anchor else each.end
    start = max((cut.end() for cut in _SEGMENT.finditer(text, 0, each.start)), default=0)
    stop = next((cut.start() for cut in _SEGMENT.finditer(text, end)), len(text))
    return {*lex.content(text[start : each.start]), *lex.content(text[end:stop])}


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Whether one could be mistaken for the other."""
    return one.unit == other.unit or (one.kind == other.kind and one.kind in ("frequency", "date"))


def _closer(mine: set[str], own: Sequence[Quantity], alike: Sequence[Quantity], source: str) -> bool:
    """Whether words fit the places of other quantities better than those of the same one."""
    best = max(_likeness(mine, _context(source, other)) for other in own)
    return any(_likeness(mine, _context(source, other)) > best for other in alike)


_NEXT_PART = re.compile(r"[,;:](?!\d)|\band\b")


def _follows(mine: set[str], own: Sequence[Quantity], alike: Sequence[Quantity], source: str) -> bool:
    """Whether what comes after a quantity there is told, and more of it than of what comes after the others: "50 % of
    its value for small funds and 100 % for others" names once what both are shares of."""
    shares = [
        [lex.share(after, frozenset(mine)) for other in each if (after := _after(source, other))]
        for each in (own, alike)
    ]
    return bool(shares[0]) and max(shares[0]) > max(shares[1], default=0.0)


def _after(text: str, each: Quantity) -> tuple[str, ...]:
    """The words from a quantity to the next comma or "and"."""
    return lex.content(_NEXT_PART.split(text[each.end :], maxsplit=1)[0])


def _likeness(one: set[str], other: set[str]) -> int:
    """Words in common, less those of the other that are not in the one."""
    return len(one & other) - len(other - one)


def bounds(text: str, cited: Cited) -> str:
    """ "at least" made "at most", or the reverse."""
    held: dict[str, list[tuple[Quantity, str]]] = {}
    for unit in cited.units:
        for each, figure in figures_of(unit.text):
            held.setdefault(figure, []).append((each, unit.text))
    for each, figure in figures_of(text):
        others = [(other, where) for other, where in held.get(figure, []) if _direction(other, where)]
        mine = _direction(each, text)
        if others and mine and all(_direction(other, where) not in mine for other, where in others):
            ours = {found for other, where in others for found in _both(other, where)}
            if not ours & set(_both(each, text)):
                return f"{text[each.start : each.end]!r} is bounded the other way in the text cited"
    return ""


def _direction(each: Quantity, text: str) -> str:
    if not each.bound:
        before = text[max(0, each.start - 20) : each.start].lower()
        told = re.search(
            r"\b(?:(at most|no more than|not more than)|(at least|no less than|not less than))\s\Z", before
        )
        return ("less" if told[1] else "more") if told else ""
    return "less" if each.bound in _LESS else "more" if each.bound in _MORE else ""


def _both(each: Quantity, text: str) -> list[str]:
    """The ways a bound may be meant: a "not" before it turns it."""
    way = _direction(each, text)
    before = text[max(0, each.start - 60) : each.start]
    turned = {"less": "more", "more": "less"}.get(way, "")
    if re.search(
        r"\b(?:not|no|never|nobody|cannot)\b(?!\s(?:(?:less|more|later|fewer|longer) than|exceed))",
        before,
        re.IGNORECASE,
    ):
        return [turned]
    return [way]


_TIMES = (
    (r"\b(?:in advance|beforehand|before|prior)\b", r"\b(?:afterwards|thereafter|later)\b", "before"),
    (r"\b(?:afterwards|thereafter)\b", r"\b(?:in advance|beforehand|before|prior)\b", "after"),
    (r"\b(?:before|prior to|ahead of)\b", r"\b(?:after|following|upon|once|since)\b", "before"),
          (r"\bafter\b", r"\b(?:before|prior to)\b", "after"))  # fmt: skip


def order(text: str, cited: Cited) -> str:
    """ "before" made "after", or the reverse."""
    source = cited.text.lower()
    for own, other, name in _TIMES:
        if re.search(own, text.lower()) and not re.search(own, source) and re.search(other, source):
            return f"{name!r} where the text cited says the contrary"
    return ""
