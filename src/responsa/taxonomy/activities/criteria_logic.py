"""How the words of a criterion join its parts, and when and to what it applies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from responsa.taxonomy.values import Logic

_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}
_NOT_ANY = re.compile(r"\b(?:not|no|nor)\b[^.:;]{0,60}\b(?:one|any|either) of (?:the )?following", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:at least )?(two|three|four) of the following", re.IGNORECASE)
_ANY = re.compile(
    r"\b(?:ones?(?: or (?:more|both|several|multiple))? (?:of )?(?:the |of )?(?:following|these)|one of following"
    r"|at least one of|either of the following|either one of|any of the following|one or (?:more|both) of"
    r"|most ambitious of the following|in one of the following|following alternatives|is either|are either"
    r"|one of the (?:\w+ ){1,3}(?:below|following)|the one of following)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|both|each|every one)(?: of)? (?:the )?(?:\w+ )?(?:following|these|criteria)", re.IGNORECASE
)
_LISTED = re.compile(  # "The activity manufactures:" and its objects, any of which makes the activity
    r"^(?:the )?(?:economic )?activit(?:y|ies) (?:(?:\w+s|and|or)(?:, | )?)+\s?:$", re.IGNORECASE
)
_CHECKED = re.compile(
    r"\bmay (?:be checked|use|take into account)\b[^:]{0,80}:$|\b(?:specifically|that include|that are)\s?:$"
    r"|\bfor the following (?:vehicles|technologies|products)\s?:$"
)
_OR_END = re.compile(r"(?:[;,]|\b)\s?or[;,]?$")
_AND_END = re.compile(r"(?:[;,]|\b)\s?and[;,]?$")

ALTERNATIVE = re.compile(r"(?:As an alternative|Alternatively)\b\s?[,;:]?\s?", re.IGNORECASE)
"""What begins a sentence that is another way to meet the one before it."""

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
)  # fmt: skip
_DAY = rf"(?:(\d{{1,2}}) ({_MONTHS}) )?(20\d\d)"
_UNTIL = re.compile(rf"\b(?:until|up to|to)(?: the end of)? {_DAY}\b", re.IGNORECASE)
_AFTER = re.compile(rf"\b(?<!sold )(?:after) {_DAY}\b", re.IGNORECASE)
_FROM = re.compile(rf"\b(?:from|as of|as from|starting from) {_DAY}\b", re.IGNORECASE)
_NO_TERM = re.compile(  # what stands before a date that is not the term of the criterion
    r"(?:built|delivered|granted|opened|constructed|permit\w*|certified|published|sold in the secondary market|"
    r"operation|commence\w*|adopted|place)\s\Z",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:For(?! the purposes)|Where|When|If|In (?:the )?case of|In the event that|In cases? where)\b",
    re.IGNORECASE,
)
_LONGEST_CONDITION = 400
_SHORT = 120  # characters of a text that a date anywhere in it governs
_MAIN = re.compile(  # how the clause after a condition begins
    r"\s(?:the|an?|it|its|at|all|each|such|no|they|this|these|those|life-cycle|only|there|where)\b", re.IGNORECASE
)
_IT_IS = re.compile(r"\s(?:it|the building) (?:is|has)\b")


class Term(NamedTuple):
    """From when to when a criterion applies, both inclusive; None is open."""

    start: date | None = None
    end: date | None = None


def joined(lead: str, items: Sequence[str]) -> tuple[Logic, int]:
    """How the items that a lead-in introduces are joined, and how many of them where that is a number."""
    lead = lead.strip()
    several = _AT_LEAST.search(lead)
    if several:
        return "at_least", _COUNTS[several[1].lower()]
    if _NOT_ANY.search(lead):
        return "all", 0
    any_, all_ = _last(_ANY, lead), _last(_ALL, lead)
    if any_ and (not all_ or any_.end() > all_.start()):  # "one or both of the following" is any
        return "any", 0
    if all_:
        return "all", 0
    if _LISTED.match(lead) or _CHECKED.search(lead):
        return "any", 0
    if _dated_alternatives(items):
        return "any", 0
    ends = [item.strip() for item in items[:-1]]
    if any(_OR_END.search(each) for each in ends) and not any(_AND_END.search(each) for each in ends):
        return "any", 0
    return "all", 0


def _dated_alternatives(items: Sequence[str]) -> bool:
    """Whether some items hold only until a day and others always: the first then ease what the others ask."""
    stated = [term(item) for item in items]
    return any(each.end and not each.start for each in stated) and any(each == Term() for each in stated)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.start(), default=None)


def _date(match: re.Match[str], last: bool) -> date:
    if match[1]:
        return date(int(match[3]), _MONTHS.split("|").index(match[2].capitalize()) + 1, int(match[1]))
    return date(int(match[3]), 12, 31) if last else date(int(match[3]), 1, 1)


def terms(text: str) -> list[tuple[int, Term]]:
    """The terms that a text states, each with the offset where it is stated, in order."""
    found: list[tuple[int, Term]] = []
    taken: set[int] = set()
    for match in _FROM.finditer(text):
        if _other(text, match):
            continue
        end = _UNTIL.match(text, match.end() + 1)
        if end:
            taken.add(end.start())
        found.append((match.start(), Term(_date(match, False), _date(end, True) if end else None)))
    for match in _UNTIL.finditer(text):
        if match.start() not in taken and match[0].lower().startswith("until") and not _other(text, match):
            next_from = match[1] is None and re.search(rf"\bfrom {match[3]}\b", text, re.IGNORECASE)
            end_of = date(int(match[3]) - 1, 12, 31) if next_from else _date(match, True)
            found.append((match.start(), Term(None, end_of)))
    for match in _AFTER.finditer(text):
        if not _other(text, match) and match[1] is None and "until" in text[: match.start()].lower():
            found.append((match.start(), Term(date(int(match[3]) + 1, 1, 1), None)))
    return sorted(found, key=lambda each: each[0])


def _other(text: str, match: re.Match[str]) -> bool:
    """Whether a date is that of something else, or an aside in brackets."""
    if text.count("(", 0, match.start()) > text.count(")", 0, match.start()):
        return True
    return _NO_TERM.search(text, max(0, match.start() - 40), match.start()) is not None


def term(text: str) -> Term:
    """The one term of a criterion: stated at its beginning, after a comma, or in a short text; else an open one."""
    stated = terms(text)
    if len(stated) != 1:
        return Term()
    offset, found = stated[0]
    governs = offset <= 5 or text[:offset].rstrip().endswith(",") or len(text) <= _SHORT
    return found if governs else Term()


def condition(text: str) -> str:
    """What a criterion applies to, in its own words: "For buildings larger than 5000 m2". "" where it applies always.

    The clause runs to the colon, or to the comma after which another clause begins.
    """
    if not _CONDITION.match(text):
        return ""
    depth, first = 0, ""
    for index, sign in enumerate(text[:_LONGEST_CONDITION]):
        depth += (sign in "([") - (sign in ")]")
        if depth > 0:
            continue
        if sign == ":" or (sign == "," and _MAIN.match(text, index + 1)):
            return text[:index]
        if sign == "," and not first and not text[index + 1 : index + 2].isdigit():
            first = text[:index]
        if sign == ")" and _IT_IS.match(text, index + 1):
            return text[: index + 1]
        if sign == "." and text[index + 1 : index + 2] == " ":
            break
    return first
