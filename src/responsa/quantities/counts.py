"""How many of what: "386 electric vehicle charging stations", "37 of our locations", "the number of plants to 451"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from responsa.quantities.figures import Mark, figure
from responsa.quantities.measures import Measure, bound_before
from responsa.quantities.money import SCALE_WORDS

_COUNT = r"\d{1,3}(?:[,.\u00a0\u202f ]\d{3}(?!\d))+|\d{1,7}"
_NUMBER = rf"(?<![\w.,/$€£%-])(?P<n>{_COUNT})(?![\d%]|[.,]\d|\s?[%€$£]|[/–-]\d|:)"
_WORD = r"[A-Za-zÄÖÜäöüß][\w’'&/-]*"
_AFTER = re.compile(rf"{_NUMBER}\s(?:of\s(?:our|its|the|their|these|all)\s)?(?P<words>{_WORD}(?:\s{_WORD}){{0,5}})")
_CHANGE = (
    r"increased|rose|grew|fell|decreased|dropped|declined|reduced|expanded|raised|went|was|were|came|amounted|totalled"
)
_TO = re.compile(
    rf"(?P<words>(?:{_WORD}\s){{1,3}}?)(?:(?:{_CHANGE})\s)?(?:from|to|at)\s(?:around\s|about\s|over\s|"
    rf"more than\s|approximately\s|"
    rf"nearly\s|almost\s)?{_NUMBER}"
)
_ON = re.compile(rf"\s?(?:\([^()]{{0,60}}\)\s?)?to\s(?:around\s|about\s|over\s|more than\s)?{_NUMBER}")
_CITED = re.compile(
    r"\b(?:articles?|notes?|sections?|pages?|figures?|tables?|annex|scopes?|items?|goals?|level)\s\Z", re.IGNORECASE
)
_SCOPES = re.compile(r"\bscopes? \d[\d ,&+/-]*(?:and |und )?\Z", re.IGNORECASE)
_SCALED = re.compile(rf"{SCALE_WORDS}(?!\w)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_STOPS = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "from", "with", "without", "and", "or", "but", "as",
    "than", "that", "which", "who", "where", "when", "are", "is", "was", "were", "be", "been", "being", "have", "has",
    "had", "will", "would", "can", "could", "may", "should", "shall", "do", "does", "did", "not", "no", "we", "our",
    "its", "their", "his", "her", "this", "these", "those", "it", "they", "per", "each", "every", "all", "also",
    "more", "less", "most", "least", "so", "if", "into", "over", "under", "between", "among", "during", "since",
    "until", "after", "before", "while", "compared", "including", "such", "about", "around", "up", "out", "plus",
    "only", "both", "other",
})  # fmt: skip
_NO_COUNTS = frozenset({
    "percent", "years", "months", "days", "weeks", "hours", "minutes", "tonnes", "tons", "metres", "meters", "miles",
    "kilometres", "litres", "euros", "dollars", "degrees", "times", "basis", "cents", "grams", "watts", "joules",
    "hectares", "acres", "feet", "sales", "earnings", "thousands", "millions", "billions", "was", "is", "this",
    "less", "has", "its", "plus", "status", "focus", "process", "business", "analysis", "access", "progress", "gas",
})  # fmt: skip
_PEOPLE = frozenset({"people", "staff", "women", "men", "children"})


def counts(text: str, decimal: Mark = ".") -> Iterator[Measure]:
    """The numbers of things in a text, in its order; ``unit`` is the noun with what stands before it, in lower case.

    Whole numbers only, and none that may be a year or has a unit. Linear in the length of the text.
    """
    found: dict[int, Measure] = {}
    for match in _AFTER.finditer(text):
        noun = _noun(match["words"])
        if noun:
            _add(found, text, match, noun, match.start("words") + len(noun), decimal)
    for match in _TO.finditer(text):
        noun = _last_noun(match["words"])
        if noun:
            _add(found, text, match, noun, match.end("n"), decimal)
            further = _ON.match(text, match.end("n"))
            if further and match["words"]:
                _add(found, text, further, noun, further.end("n"), decimal)
    yield from (found[start] for start in sorted(found))


def _add(found: dict[int, Measure], text: str, match: re.Match[str], noun: str, end: int, decimal: Mark) -> None:
    start = match.start("n")
    cited = _CITED.search(text, max(0, start - 12), start) or _SCOPES.search(text, max(0, start - 24), start)
    if (
        start in found
        or _YEAR.match(match["n"])
        or cited
        or noun.lower() in ("points", "percentage points")
        or _SCALED.match(noun)
    ):
        return
    value = float(figure(match["n"].replace(" ", "\u00a0"), decimal))
    if value == int(value):
        found[start] = Measure(
            start, max(end, match.end("n")), value, noun.lower(), value, noun, bound_before(text, start)
        )


def _noun(words: str) -> str:
    """The words up to the last in the plural before the noun phrase ends; "" where none is."""
    taken: list[str] = []
    plural = 0
    for word in words.split():
        if word.lower() in _STOPS:
            break
        taken.append(word)
        if _is_plural(word):
            plural = len(taken)
    return " ".join(taken[:plural])


def _last_noun(words: str) -> str:
    """The noun at the end, with what stands right before it."""
    taken: list[str] = []
    for word in reversed(words.split()):
        if word.lower() in _STOPS:
            break
        taken.insert(0, word)
    return " ".join(taken) if taken and _is_plural(taken[-1]) else ""


def _is_plural(word: str) -> bool:
    low = word.lower()
    ends = len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is", "’s", "'s"))
    return (ends and low not in _NO_COUNTS) or low in _PEOPLE
