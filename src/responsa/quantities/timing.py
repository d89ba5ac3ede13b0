"""Deadlines and frequencies: when something is to be done, and how often."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from responsa.quantities.amounts import A_UNIT, AMOUNT, DATE, Quantity, date_of, duration, number, unit_of

_LONGEST = 240  # characters of the words for an event

_LATEST = r"(?:(?:no|not) later than|at the latest(?: by| on)?|on or before|by no later than|latest by)"
_AFTER = r"(?:after|following|of|from|since)"
# "within ten days of receipt", "no later than six months after the end of the year"
_WITHIN = re.compile(
    rf"\b(?P<lead>within|in|(?:by )?(?:no|not) later than|(?:no|not) more than|for)\s(?:a (?:maximum )?period of "
    rf"(?:up to )?|the (?:first )?|"
    rf"(?:up to |at most |at the latest |no more than ))?(?:{AMOUNT}|(?P<one>an?|one)\s(?P<u1>{A_UNIT}))"
    rf"(?:'|’|\b)(?:\s(?P<to>{_AFTER}|before|prior to)\b)?",
    re.IGNORECASE,
)
# "six months after", "at least 30 days before"
_DISTANT = re.compile(
    rf"(?:\bfor\s)?(?:(?:at least|not less than|no less than|not more than|at most)\s)?(?:{AMOUNT}|\b(?P<one>an?|"
    rf"one)\s(?P<u1>{A_UNIT}))"
    r"(?:'|’|\b)\s(?:notice\s)?(?P<to>after|following|before|prior to|from the date|in advance of|in "
    r"advance)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    rf"\b(?P<lead>{_LATEST}|by|before|until|from|as (?:of|from)|after|on|starting(?: from| on)?)\s(?:the "
    rf"latest\s)?(?=[\dJFMASOND])",
    re.IGNORECASE,
)
_BY_END = re.compile(
    rf"\b(?P<lead>{_LATEST}|by|before|until)\s(?=(?:close of business|the (?:end|close|date|time|day|deadline|"
    rf"expiry|start|"
    r"beginning|next|same|following|first|last)\b))",
    re.IGNORECASE,
)
_LATEST_EVENT = re.compile(rf"\b(?P<lead>{_LATEST})\s(?=[a-z(])", re.IGNORECASE)
_ING = r"(?!(?:the|any|something|nothing|anything|everything|during|being)\b)[a-z]{2,}ing\b"
_EVENT = re.compile(
    rf"\b(?P<lead>prior to|before|after|following|upon|on)\s(?=(?:(?:first|having|it|they|he)\s)?{_ING}|(?:the |an? "
    rf"|its |their |such |any )?"
    r"(?:receipt|completion|expiry|request|commencement|conclusion|termination|submission|notification|becoming|demand|"
    r"execution|occurrence|date of|date on|first|approval|publication|entry into force|appointment|establishment|"
    r"end of|granting|adoption)\b)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?P<lead>before|prior to)\s(?=(?:the|an?|its|their|such|any|each|it|they|he)\s[a-z])", re.IGNORECASE
)
_NOT_EVENT = re.compile(
    r"\b(?:based|depend(?:s|ing|ent)?|impact|reliance|effect|rely|the day|conditional|contingent)\s\Z", re.IGNORECASE
)
_AT = re.compile(
    r"\b(?P<lead>at)\sthe (?:end|beginning|start|time|date|moment|same time) (?=of\b|as\b|when\b|that\b|on which\b|"
    r"at which\b)",
    re.IGNORECASE,
)
_TO = re.compile(r",?\s(?:to|until|and until)\s", re.IGNORECASE)
_COMPOUND = re.compile(r"\w-(?:day|week|month|quarter|year|hour|minute)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?P<lead>until)\s(?=[a-z])", re.IGNORECASE)
_AT_ONCE = re.compile(
    r"\b(?:without (?:undue |unreasonable |any |further )*delay|immediately(?! (?:subordinate|senior|preceding|"
    r"following|before|after|"
    r"prior|available|"
    r"adjacent|below|above|realisable|enforceable|following))|promptly|forthwith|as soon as (?:is |it is |may be "
    r")?(?:reasonably )?(?:practicable|possible)"
    r"|as soon as|in a timely (?:manner|fashion|basis)|on a timely basis|in due time|in good time|timely(?=[,.;])|"
    r"straight ?away|at the earliest opportunity)\b",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"[,;:\n—]|\.(?=\s|\Z)|\s(?:if|unless|where|whether|provided|except|save|must|shall|in accordance|in order|"
    r"pursuant|"
    r"and (?:must|shall|may|to|in)|or (?:must|shall)|by means|for the purposes?|with a view|the following)\b|\s[–-]\s"
)

_PERIODS = {
    "annual": "P1Y", "yearly": "P1Y", "half-yearly": "P6M", "semi-annual": "P6M", "biannual": "P6M", "bi-annual": "P6M",
    "quarterly": "P3M", "monthly": "P1M", "weekly": "P1W", "daily": "P1D", "hourly": "PT1H", "biennial": "P2Y",
}  # fmt: skip
_LEAST = (
    r"(?:(?:at least|at a minimum|not less than|no less than|no less frequently than|not less frequently than|at "
    r"minimum)\s)?"
)
_ADVERB = re.compile(
    rf"\b{_LEAST}(?:(?P<sure>annually|semi-annually|biannually|bi-annually|half-yearly|yearly|biennially)"
    r"|(?P<maybe>quarterly|monthly|weekly|daily|hourly))(?!\s(?:basis|frequency))\b",
    re.IGNORECASE,
)
_AT_FREQUENCY = re.compile(
    r"\b(?:at|with) an? (?:minimum |at least )?(?P<p>annual|yearly|half-yearly|semi-annual|quarterly|monthly|weekly|"
    r"daily) frequency\b",
    re.IGNORECASE,
)
_ADVERB_PLACE = re.compile(r"\s?(?:[,.;:)]|\Z|(?:and|or|to|by|in|on|at|for|with|whether|unless|during|as|using)\b)")
_ADVERB_BEFORE = re.compile(r"\b(?:least|than|minimum)\s", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:the|an?|its|and)\s\Z", re.IGNORECASE)  # "the daily and weekly reports"
_BASIS = re.compile(
    rf"\bon\s(?:an?\s)?(?:{_LEAST})(?:an?\s)?(?P<p>annual|yearly|half-yearly|semi-annual|bi-?annual|quarterly|"
    rf"monthly|weekly|daily|hourly|"
    r"regular|periodic|periodical|ongoing|on-going|continuous|continual|continuing|frequent|day-to-day)(?: (?:and|"
    r"or) [a-z-]+)?\sbasis\b",
    re.IGNORECASE,
)
_PER = re.compile(
    rf"\b{_LEAST}(?:(?P<once>once|twice|thrice)|(?P<n>\d{{1,3}}|two|three|four|five|six|ten|twelve) "
    rf"times)\s(?:during |in )?"
    rf"(?:(?:an?|per|each|every|any)\s(?:(?P<u>{A_UNIT})|(?P<a>(?:\d{{1,3}}|two|three|four|five|six|ten|"
    rf"twelve)[- ](?:days|weeks|months|years)))\b)",
    re.IGNORECASE,
)
_EVERY = re.compile(
    rf"\b{_LEAST}(?:(?:once|at the end of|in respect of|for|on|in|of)\s)?(?:every\s(?:{AMOUNT}|(?P<other>other "
    rf")?(?P<u1>{A_UNIT}))"
    rf"|each\s(?P<u2>{A_UNIT}))\b(?!\s(?:of|in|period|on which|for which|referred)\b)",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:at (?:regular|periodic|appropriate) intervals|regularly|periodically|continuously|continually|at all "
    r"times|from time to time|"
    r"on an ad hoc basis|frequently enough)\b",
    re.IGNORECASE,
)


def deadlines(text: str) -> Iterator[Quantity]:
    """When something is to be done, counted from an event, by a date, or at once."""
    for pattern in (_WITHIN, _DISTANT):
        for match in pattern.finditer(text):
            yield from _counted(text, match)
    for match in _BY.finditer(text):
        day = DATE.match(text, match.end())
        found = date_of(text, day) if day else None
        if found:
            end, iso = _interval(text, found) if match["lead"].lower() == "from" else (found.end, found.iso)
            yield Quantity(match.start(), end, "deadline", None, found.unit, iso, relation=_relation(match["lead"]))
    for pattern in (_BY_END, _LATEST_EVENT, _EVENT, _BEFORE, _AT, _UNTIL):
        for match in pattern.finditer(text):
            lead = match["lead"].lower()
            if pattern in (_EVENT, _BEFORE) and _NOT_EVENT.search(text, max(0, match.start() - 14), match.start()):
                continue
            start = match.start() + 3 if pattern is _AT else match.end()
            yield _anchored(text, match.start(), start, _relation(lead))
    for match in _AT_ONCE.finditer(text):
        words = re.sub(r"\s+", " ", match[0].lower())
        if words == "as soon as":
            yield _anchored(text, match.start(), match.end(), "at once", words)
        else:
            yield Quantity(*match.span(), "deadline", None, words, relation="at once")


def _interval(text: str, first: Quantity) -> tuple[int, str]:
    """Where "from 1 January 2021 to 31 December 2021" ends, and the interval; the first day where there is none."""
    to = _TO.match(text, first.end)
    day = DATE.match(text, to.end()) if to else None
    last = date_of(text, day) if day else None
    return (last.end, f"{first.iso}/{last.iso}") if last else (first.end, first.iso)


def _counted(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    if _COMPOUND.search(match[0]):
        return  # "within the three-year period"
    value = number(match["n"]) if match["n"] else Decimal(1)
    unit = unit_of(match["u"] or match["u1"])
    lead = (match.groupdict().get("lead") or "").lower()
    to = (match["to"] or "").lower()
    if lead in ("for", "in", "not more than", "no more than") and not (to and to not in ("of", "from", "since")):
        return  # "for a period of ten years", "in two years of data"
    relation = "before" if to.startswith(("before", "prior", "preceding", "in adv")) else "within" if lead else "after"
    bound = "at most" if lead else "at least" if re.match(r"(?:for\s)?(?:at|not|no) l", match[0], re.IGNORECASE) else ""
    end = match.end()
    iso = duration(value, unit)
    if not to or to == "in advance":
        yield Quantity(match.start(), end, "deadline", value, unit, iso, bound, relation)
        return
    stop = _event_end(text, end)
    anchor = (min(end + 1, stop), stop)
    yield Quantity(
        match.start(), stop, "deadline", value, unit, iso, bound, relation, anchor if anchor[0] < stop else None
    )


def _anchored(text: str, start: int, event: int, relation: str, unit: str = "") -> Quantity:
    while event < len(text) and text[event].isspace():
        event += 1
    end = max(_event_end(text, event), event)
    anchor = (event, end) if event < end else None
    return Quantity(start, end, "deadline", None, unit, relation=relation, anchor=anchor)


def _event_end(text: str, start: int) -> int:
    stop = _STOP.search(text, start, start + _LONGEST)
    end = stop.start() if stop else min(len(text), start + _LONGEST)
    if not stop and end < len(text):
        end = text.rfind(" ", start, end) if " " in text[start:end] else end
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _relation(lead: str) -> str:
    lead = lead.lower()
    if lead in ("before", "prior to"):
        return "before"
    if lead in ("after", "following", "upon"):
        return "after"
    if lead in ("from", "as of", "as from", "until", "at", "on"):
        return lead
    return "from" if lead.startswith("starting") else "by"


def frequencies(text: str) -> Iterator[Quantity]:
    """How often something is to be done. ``value`` and ``unit`` are those of the period, or the times "per year"."""
    for match in _ADVERB.finditer(text):
        word = (match["sure"] or match["maybe"]).lower()
        placed = _ADVERB_PLACE.match(text, match.end()) or _ADVERB_BEFORE.search(match[0])
        if match["sure"] or (placed and not _NOUN.search(text, max(0, match.start() - 6), match.start())):
            iso = _PERIODS[word.removesuffix("ly") if word.endswith(("ually", "ially")) else word]
            yield _rate(match, None, word, iso)
    for match in (*_BASIS.finditer(text), *_AT_FREQUENCY.finditer(text)):
        word = match["p"].lower()
        yield _rate(match, None, word, _PERIODS.get(word, _PERIODS.get(word.replace("-", ""), "")))
    for match in _PER.finditer(text):
        times = {"once": 1, "twice": 2, "thrice": 3}.get((match["once"] or "").lower()) or int(number(match["n"]))
        if match["a"]:
            value, unit = re.split(r"[- ]", match["a"])
            unit = unit_of(unit)
            iso = duration(number(value), unit) if times == 1 else ""
            yield _rate(
                match, number(value) if times == 1 else Decimal(times), unit if times == 1 else f"per {match['a']}", iso
            )
        else:
            unit = unit_of(match["u"])
            yield _rate(match, Decimal(times), f"per {unit}", duration(Decimal(1), unit) if times == 1 else "")
    for match in _EVERY.finditer(text):
        value = number(match["n"]) if match["n"] else Decimal(2 if match["other"] else 1)
        unit = unit_of(match["u"] or match["u1"] or match["u2"])
        yield _rate(match, value, unit, duration(value, unit))
    for match in _VAGUE.finditer(text):
        yield _rate(match, None, re.sub(r"\s+", " ", match[0].lower()), "")


def _rate(match: re.Match[str], value: Decimal | None, unit: str, iso: str) -> Quantity:
    least = re.match(r"(?:at (?:least|a min|min)|not less|no less)|on an? at least", match[0], re.IGNORECASE)
    return Quantity(*match.span(), "frequency", value, unit, iso, "at least" if least else "")
