"""What a model says that a report states, checked: whether the words stand there, on which page, and of what year."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from responsa.answer.verified.check import located
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.numbers.figures import text_figures
from responsa.taxonomy.numbers.grid import years
from responsa.taxonomy.numbers.roles import told
from responsa.taxonomy.values import Claim, Evidence, Quote, Role, Support
from responsa.text import folded, normalise, sentences, words

LEAST_WORDS = 3
"""Words that a quote needs to be one: fewer stand on any page."""

_TOKEN = re.compile(r"[^\W_]+(?:[.,](?=\d)\d+)*")
_TRAPS: tuple[Role, ...] = ("trap_future", "trap_other_year")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_TIMES: dict[str, Role] = {"a target or plan": "trap_future", "another year": "trap_other_year"}
_SAID = {
    "trap_future": "the words are of a target, a plan or a forecast",
    "trap_other_year": "the words are of another year",
}
NOT_FOUND = "the words quoted do not stand in the report's text that the model was shown"
NO_QUOTE = "no words of the report are quoted"


def check(text: str, quote: str, passage: str, shown: Sequence[Evidence], labels: Sequence[str], report: Report,
          year: int, generation: int, time: str = "") -> Claim:  # fmt: skip
    """A claim with what the report says of it.

    ``labels`` are the ids of ``shown`` as the model saw them, ``passage`` is the one that it names. ``time`` is
    when the model says it is of; a target or another year by its word or by the rules is one.
    """
    named = labels.index(passage) if passage in labels else -1
    page = shown[named].page if named >= 0 else 0
    if len(words(quote)) < LEAST_WORDS:
        said = "the quote is too short to be looked for" if quote.strip() else NO_QUOTE
        return Claim(text, quote, page, "not_found", None, "supports", (generation,), (said,))
    order = [named, *(at for at in range(len(shown)) if at != named)] if named >= 0 else list(range(len(shown)))
    for at in order:
        span = located(quote, shown[at].text)
        if span is None or not _same_figures(quote, shown[at].text[span[0] : span[1]]):
            continue
        place = placed(report, shown[at], *span)
        exact = _levelled(quote) in _levelled(place.text)
        support: Support = "found" if exact and at == named else "near"
        role = _TIMES.get(time) or role_of(shown[at].text, span, year, shown[at].page)
        flags: tuple[str, ...] = () if at == named else (f"stands on page {place.page}, not in the passage named",)
        if role in _TRAPS:
            flags = (*flags, _SAID[role])
        return Claim(text, quote, page, support, place, role, (generation,), flags)
    return Claim(text, quote, page, "not_found", None, "supports", (generation,), (NOT_FOUND,))


def _same_figures(quote: str, text: str) -> bool:
    """Whether all numbers of the quote stand in the text: a near quote may differ in words, never in figures."""
    return not set(_FIGURE.findall(normalise(quote))) - set(_FIGURE.findall(normalise(text)))


def placed(report: Report, chunk: Evidence, start: int, end: int) -> Quote:
    """Words of a chunk with the boxes of the passages that they stand in; what is no chunk of the report, such as lines
    of a table in words, has its own."""
    text = chunk.text[start:end]
    boxes = report.boxes(chunk.page, text) if report.parts(chunk.passage_id) else chunk.boxes
    return Quote(chunk.page, text, chunk.passage_id, start, end, boxes)


def role_of(text: str, span: tuple[int, int], year: int, page: int = 1) -> Role:
    """What words of a text are about: those of their figures where they have any, else those of their sentences.

    A fact of the year among them counts more than what is not.
    """
    start, end = _whole(text, span)
    inside = text[start:end]
    quoted = set(_TOKEN.findall(normalise(text[span[0] : span[1]])))
    figures = [each for each in text_figures(page, inside, year) if _printed(each.printed, quoted)]
    if figures:
        roles = [each.role for each in figures]
        return next((each for each in ("supports", "contradicts", "context") if each in roles), roles[0])
    said = [_of_words(inside[a:b], year) for a, b in sentences(inside)]
    facts = [each for each in said if each not in _TRAPS]
    return (facts or said or ["supports"])[0]


def _of_words(sentence: str, year: int) -> Role:
    """What a sentence without figures is about: the years that it names, and its words of intent."""
    named = {each.year for each in years(sentence)}
    if named and year not in named:
        return "trap_future" if max(named) > year else "trap_other_year"
    return told(sentence, len(sentence), len(sentence), year).role


def _printed(value: float | None, quoted: set[str]) -> bool:
    return value is not None and any(_number(each) == value for each in quoted)


def _number(word: str) -> float | None:
    for each in (word.replace(",", ""), word.replace(".", "").replace(",", ".")):
        try:
            return float(each)
        except ValueError:
            continue
    return None


def _whole(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The sentences that the span touches."""
    touched = [(a, b) for a, b in sentences(text) if a < span[1] and span[0] < b]
    return (touched[0][0], touched[-1][1]) if touched else span


def _levelled(text: str) -> str:
    return " ".join(_TOKEN.findall(folded(text)))


def merged(found: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims that rest on the same words as one, with all the generations that make them; those that most make first,
    then those that stand in the report. Of their texts the first is kept."""
    kept: list[Claim] = []
    for claim in found:
        at = next((at for at, each in enumerate(kept) if _same(each, claim)), -1)
        if at < 0:
            kept.append(claim)
            continue
        old = kept[at]
        generations = tuple(sorted({*old.generations, *claim.generations}))
        best = old if old.support == "found" or claim.support != "found" else claim
        kept[at] = Claim(
            old.text, best.quote, best.page, best.support, best.place, best.role, generations, best.flags
        )  # fmt: skip
    return tuple(sorted(kept, key=lambda each: (-len(each.generations), each.support == "not_found")))


def _same(one: Claim, other: Claim) -> bool:
    if one.place is None or other.place is None:
        return one.place is other.place and _levelled(one.quote or one.text) == _levelled(other.quote or other.text)
    if one.place.page != other.place.page or one.place.passage_id != other.place.passage_id:
        return one.place.page == other.place.page and _levelled(one.place.text) == _levelled(other.place.text)
    return one.place.start < other.place.end and other.place.start < one.place.end


def is_held(claim: Claim) -> bool:
    """Whether a verdict may rest on it: the words stand there and are of the year."""
    return claim.support != "not_found" and claim.role not in _TRAPS


def is_trap(claim: Claim) -> bool:
    return claim.support != "not_found" and claim.role in _TRAPS
