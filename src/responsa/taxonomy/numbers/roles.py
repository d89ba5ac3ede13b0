"""What year a number of a report is about, and whether it is a fact of the financial year, a target, a rule.

A year or a word of intent binds the numbers of its own part of the sentence; what stands right at a number, or in
brackets with it, binds that number alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from responsa.taxonomy.numbers.grid import years
from responsa.taxonomy.values import Role

_RELATIVE = re.compile(
    r"(?P<before>\b(?:previous|prior|preceding|last) (?:financial |fiscal |reporting )?years?(?:['’]s)?\b|"
    r"year-earlier|\bVorjahr\w*|\bVj\.|(?-i:\bPY\b))"
    r"|(?P<own>\b(?:this year|reporting (?:year|period)|year under review|current (?:financial |fiscal )?year|"
    r"Berichtsjahr)\b)",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:targets?(?! (?:achievement|attainment))|targeted|targeting|goals?|aims? (?:to|of|at|is)|aiming|aim|"
    r"to be (?:finali[sz]ed|completed|commissioned|finished|achieved|reached|built)|is to|are to|wants? to|"
    r"forecasts?|propos\w+|striv\w+|ambitions?|intends? to|in (?:the )?future|going forward|Ziele?|"
    r"we (?:are )?(?:plan|commit)\w*|outlook|once completed)\b",
    re.IGNORECASE,
)
_WILL = re.compile(r"\b(?:will|shall|werden|soll(?:en)?)\b", re.IGNORECASE)
_WEAK = re.compile(
    r"\b(?:plans?|planned|planning|expect\w*|anticipat\w*|project(?:ed|ions?)|estimated to|commit(?:ment|ted|"
    r"s)?|could|would|"
    r"(?<!warming )potential(?:ly)?|possible|pledge\w*|voraussichtlich|geplant\w*)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:achieved|increased|rose|fell|decreased|declined|reached|amounted|accounted|totall?ed|was|were|"
    r"reported|comprised|"
    r"represented|reduced|installed|completed|had|has been|have been|is now|are now)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:regulat(?:ions?|ors?|ory)|legislat\w+|administration|governments?|by law|legal(?:ly)?|limit values?|"
    r"thresholds?|must|required|requires?|requirements?|criteri(?:on|a)|deemed|mandatory|obligat\w+|"
    r"emissions? standards?|statutory|"
    r"permitted|prescribed|taxonomy-aligned if|classified as|qualif(?:y|ies)|minimum standards?|provided that)\b",
    re.IGNORECASE,
)
_RELATIVE_TO = re.compile(  # a result told by a rule: "12 % below the threshold for"
    r"\b(?:below|above|under|than|beyond|exceed\w*|meets?|met|undercut\w*)\s(?:the\s)?(?:[\w-]+\s){0,4}?"
    r"(?:thresholds?|requirements?|limits?|standards?)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:worldwide|globally|the industry|industry average|competitors?|market average|European Union|EU-wide|"
    r"in the EU|"
    r"member states|the IPCC|IEA|national average|other companies)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(  # right before a number
    r"\b(?:no longer|not|never|would be|nicht(?: mehr)?|rather than|instead of|statt|anstatt|anstelle von)\s"
    r"(?:(?:at|be|been|the|around|about|approximately)\s){0,2}\Z",
    re.IGNORECASE,
)
_NONE = re.compile(  # of what is spoken of; up to what is set against it
    r"\b(?:none of|neither of|keine[rsmn]?\s(?:der|unserer|dieser|von)|"
    r"(?<!with )(?<!without )no\s(?:(?!(?:we|our|us|the|it|they)\b)[a-z-]+\s){1,4}?"
    r"(?:(?:had|has|have)(?!\sbeen)|achieved?|reach(?:ed)?|attain(?:ed)?|met))\b"
    r"(?!.*(?:;|\bbut\b|\bsondern\b|\baber\b|,\s(?:and|so|while|whereas|und|während)\b))",
    re.IGNORECASE | re.DOTALL,
)
_SUPPOSED = re.compile(
    r"\bwould(?:\s(?:not|never|still|only))?\shave(?:\sbeen)?\b|\b(?:hätten?|wären?)\b", re.IGNORECASE
)
_CHANGED = re.compile(
    r"\b(?:rose|grew|fell|increas|declin|decreas|reduc|improv|dropp|rais|cut|went|up|down|expand|climb|chang|stieg|wuchs|sank|"
    r"fiel\b|gestiegen|gesunken|gefallen|erhöh|verringer|verbesser)",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|von)\s(?:(?:around|about|approximately|approx\.)\s)?(?:€\s?|EUR\s)?\Z", re.IGNORECASE)
_TO = re.compile(r"\s?%?\s?(?:\([^()]{0,60}\)\s?)?(?:i[nm] [\w ]{3,40} )?(?:to|auf)\b")
_BINDS_NEXT = re.compile(r"\s?[:=]\s?(?:\D{0,12}\d|(?:EPC |class |label ){1,2}[A-G]\b)")  # "(2022: 12 %)"
_TO_NUMBER = (
    r"\s?(?::|\(|=|of|was|were|(?:value|figure)s?:?)?\s?"
    r"(?:approx\.\s|around\s|about\s|rund\s|ca\.\s|€\s?|EUR\s){0,2}"
)
_BEFORE_NUMBER = re.compile(_TO_NUMBER)
_THEN_NUMBER = re.compile(rf"{_TO_NUMBER}\d")  # after a year: "(previous year 12 %)"
_BESIDE = re.compile(r"\b(?:by|since)\s\Z|-\Z|\bthan (?:in )?\Z|\bcompared (?:to|with) \Z")
_BOUND = re.compile(
    r"\d[^.;]{0,24}\b(?:in|of|by|from|since|im|im Jahre?|seit)\s(?:the\s)?\Z"
)  # to the number before it
_JOINED = re.compile(r"\b(?:and|but|while|versus|vs|compared|than|after|or)\b", re.IGNORECASE)
_BREAK = re.compile(r"[;:]|,\s|\s[–—-]\s|\s(?:and|but|while|whereas|which|who|that)\s|[()]")
_NUMBER = re.compile(r"\d")
_TITLES = re.compile(r"\b(?:our )?(?:targets?|goals?|ambitions?|outlook|objectives)\b", re.IGNORECASE)
_DONE = re.compile(r"achieve|status|progress|result|\bactual|performance|\bKPI", re.IGNORECASE)


class Told(NamedTuple):
    """``year`` is None where nothing says it."""

    year: int | None
    role: Role


def told(sentence: str, start: int, end: int, year: int, heads: str = "", title: str = "") -> Told:
    """What a sentence, the ``heads`` over and beside it, and its ``title`` say about the number at ``start``.

    ``year``: the report's financial year.
    """
    about = _own_year(sentence, start, end, year)
    headed = _headed_year(heads, year)
    if headed is not None and headed > year and _FACT.search(sentence) and not _STRONG.search(sentence):
        headed = None  # the year of the goal beside what was reached
    if about is None and (not years_meant(sentence, year) or sentence.endswith("| ")):
        about = headed
    changed = _CHANGED.search(sentence, 0, start) and _FROM.search(sentence, 0, start)
    if about is None and changed and _TO.match(sentence, end):
        return Told(None, "trap_other_year")
    about = about if about is not None else _leading_year(sentence, start, year)
    if _is_intent(sentence, start, end, year, about, heads, title):
        return Told(about if about is not None and about > year else None, "trap_future")
    if about is not None and about != year:
        return Told(about, "trap_future" if about > year else "trap_other_year")
    if _is_denied(sentence, start):
        return Told(about, "context")
    if _RULE.search(_RELATIVE_TO.sub(" ", sentence)) or _OTHERS.search(sentence):
        return Told(about, "context")
    return Told(about, "supports")


def _is_denied(sentence: str, start: int) -> bool:
    """Whether a number is what is not so, or what would be so: "no longer 45 g", "would have been 45 g"."""
    before = sentence[:start]
    if _DENIED.search(before) or _NONE.search(before):
        return True
    supposed = max((match.end() for match in _SUPPOSED.finditer(before)), default=-1)
    return supposed >= 0 and supposed >= max((match.end() for match in _FACT.finditer(before)), default=-1)


def years_meant(text: str, year: int) -> list[tuple[int, int, int]]:
    """(start, end, year) of each year that a text names or means, in its order."""
    found: list[tuple[int, int, int]] = [*years(text)]
    for match in _RELATIVE.finditer(text):
        found.append((match.start(), match.end(), year - 1 if match["before"] else year))
    return sorted(found)


def _headed_year(heads: str, year: int) -> int | None:
    """The year that the heads of a cell name; the latest where they name several."""
    named = [each for _, _, each in years_meant(heads, year)]
    return max(named, default=None) if named else None


def _own_year(sentence: str, start: int, end: int, year: int) -> int | None:
    """The year that stands right at a number: "(2022: 1.8 %)", "(Vorjahr 3 %)", "12.9 % in 2021", "15 % (2022)"."""
    for first, last, named in years_meant(sentence, year):
        if last <= start:
            if _BEFORE_NUMBER.fullmatch(sentence, last, start):
                return named
        elif first >= end:
            between = sentence[end:first]
            then = not between.strip(" (,") and _THEN_NUMBER.match(sentence, last)
            if then or _BINDS_NEXT.match(sentence, last) or _JOINED.search(between):
                return None
            inside = between.strip().lower().lstrip(",")
            if (
                re.fullmatch(r"\s?[%\w/² .]{0,24}\(?", between)
                and not _NUMBER.search(between)
                and len(inside.split()) < 6
            ):
                return (
                    named if not _TO.match(sentence, end) or "(" in between or inside.startswith(("in", "im")) else None
                )
            break
    return None


def _leading_year(sentence: str, start: int, year: int) -> int | None:
    """The year that opens the sentence or its part: "In 2022, ...". A year bound to a number before it counts not."""
    for first, last, named in reversed(years_meant(sentence[:start], year)):
        before, after = sentence[:first], sentence[last:start]
        alone = not re.search(r"\(\s?(?:FY)?\Z", before)
        bound = _BOUND.search(before)
        to_another = bound is not None and not _JOINED.search(bound[0])
        if alone and not to_another and not _BESIDE.search(before):
            return named if len(_BREAK.findall(after)) < 5 else None
    return None


def _is_intent(sentence: str, start: int, end: int, year: int, about: int | None, heads: str, title: str) -> bool:
    """Whether a number is a target, a plan or a forecast."""
    if re.search(
        r"\btargets?\b|\bgoals?\b|\bforecast|\bplan(?:ned)?\b|\bambition|\boutlook\b|\bexpected\b", heads, re.IGNORECASE
    ):
        return not _DONE.search(heads)
    before = sentence[:start]
    later = _BREAK.search(sentence, end)
    after = sentence[end : later.start() if later and later[0] not in "()" else end + 90]
    if any(named > year for _, _, named in years_meant(after, year) if about != year):
        return True
    if any(
        named > year
        and re.search(r"\b(?:by|until|from|through|to)\s(?:the end of\s)?(?:the year\s|fiscal\s|FY)?\Z", after[:first])
        for first, _, named in years_meant(after, year)
    ):
        return True
    last_fact = max((match.end() for match in _FACT.finditer(before)), default=-1)
    strong = max((match.end() for match in _STRONG.finditer(before)), default=-1)
    weak = max((match.end() for match in _WEAK.finditer(before)), default=-1)
    if strong > last_fact or _STRONG.search(after):
        return True
    will = max((match.end() for match in _WILL.finditer(before)), default=-1)
    if about != year and (will > last_fact or _WILL.search(after)):
        return True
    if about != year and (weak > last_fact or _WEAK.search(after)):
        return True
    lone = last_fact < 0 and not _FACT.search(after) and about != year
    return lone and bool(_TITLES.search(title)) and not _DONE.search(title)
