"""From the words of a model to an answer: its sentences, and the sources that they cite by number or id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from responsa.answer.generators.sources import Source
from responsa.obligations import OBLIGATION_DETECTORS
from responsa.text import folded, sentences
from responsa.types import Answer, AnswerSentence, Citation, Query, Ranking

_BRACKET = re.compile(r"[ \t]*\[([^\[\]\n]{1,200})\](?:[ \t]*[,;](?=[ \t]*\[))?")
_NUMBER = re.compile(r"(?:(?:passage|source|obligation|no\.?)s? )?#?(\d{1,3})", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})\s?[-–]\s?(\d{1,3})")
_SHAPE = re.compile(r"[^\W_]+")
OTHER_LANGUAGE = "the answer seems to be in another language than the passages and the question"

_COMMON = "the of and to a an in is are be that for must shall may not by with on at or as it its their"
_ENGLISH = frozenset(_COMMON.split())
_LEAST_ENGLISH = 0.12  # of the words of a text


class Said(NamedTuple):
    """A sentence of a reply with what it cites: places in the list of sources. ``before`` is what stands between it and
    the sentence before it."""

    before: str
    text: str
    cites: tuple[int, ...] = ()


class Read(NamedTuple):
    """A reply read: its sentences, and the citations of what was not given, as written."""

    said: list[Said]
    dropped: list[str]


def read(reply: str, sources: Sequence[Source]) -> Read:
    """The sentences of a reply, without its marks of citation.

    A mark is a number, a range of numbers, an id or a printed number of a source in square brackets; several may stand
    in one. It belongs to the sentence that it stands in or behind, at the start of a line to the one that follows. A
    number or an id that was not given is dropped; other words in brackets are text.
    """
    names = _names(sources)
    shapes = {_SHAPE.sub("x", source.passage.id) for source in sources} - {"x"}
    plain, marks, dropped, end = "", [], [], 0
    for match in _BRACKET.finditer(reply):
        parts = [number for part in re.split(r"[,;]| and ", match[1]) for number in _spelt(part.strip(), names)]
        found = [_meant(part, names, shapes) for part in parts]
        if any(each is None for each in found):
            whole = names.get(folded(match[1]))
            if whole is None:
                continue
            found = [whole]
        plain += reply[end : match.start()]
        end = match.end()
        marks.append((len(plain), tuple(place for place in found if place is not None and place >= 0)))
        if -1 in found:
            dropped.append(match[0].strip().rstrip(",;"))
    plain += reply[end:]
    return Read(_placed(plain, marks), dropped)


def _names(sources: Sequence[Source]) -> Mapping[str, int]:
    """The place of each source by what it may be cited by; a printed number only where one source alone has it."""
    names = {str(number): number - 1 for number in range(1, len(sources) + 1)}
    printed: dict[str, set[str]] = {}
    for place, source in enumerate(sources):
        names.setdefault(folded(source.passage.id), place)
        names.setdefault(folded(source.label[1:-1]), place)
        printed.setdefault(folded(source.passage.number), set()).add(source.passage.id)
    for place, source in enumerate(sources):
        number = folded(source.passage.number)
        if number and len(printed[number]) == 1:
            names.setdefault(number, place)
    return names


def _spelt(part: str, names: Mapping[str, int]) -> list[str]:
    """The numbers of a range; else the part itself."""
    span = _RANGE.fullmatch(part)
    if span is None or part.casefold() in names or not int(span[1]) < int(span[2]):
        return [part]
    return [str(number) for number in range(int(span[1]), int(span[2]) + 1)]


def _meant(part: str, names: Mapping[str, int], shapes: Iterable[str]) -> int | None:
    """The place of the source that a mark names; -1 for one that was not given, None where it is no mark."""
    number = _NUMBER.fullmatch(part)
    key = number[1].lstrip("0") if number else folded(part)
    if key in names:
        return names[key]
    named = any(map(str.isdigit, part)) and _SHAPE.sub("x", part) in shapes
    return -1 if number or named else None


def _placed(plain: str, marks: Sequence[tuple[int, tuple[int, ...]]]) -> list[Said]:
    spans = [span for span in sentences(plain) if any(map(str.isalnum, plain[slice(*span)]))]
    cited: list[dict[int, None]] = [{} for _ in spans]
    for at, places in marks:
        begins = not plain[plain.rfind("\n", 0, at) + 1 : at].strip()
        own = [number for number, span in enumerate(spans) if (span[1] > at if begins else span[0] < at)]
        if own:
            cited[own[0] if begins else own[-1]].update(dict.fromkeys(places))
    said: list[Said] = []
    last = 0
    for (start, end), own_places in zip(spans, cited, strict=True):
        said.append(Said(plain[last:start] if said else "", plain[start:end], tuple(own_places)))
        last = end
    return said


def joined(said: Sequence[Said]) -> str:
    """The words of sentences, without marks."""
    return "".join(each.before + each.text for each in said)


def compose(
    query: Query,
    said: Sequence[Said],
    sources: Sequence[Source],
    ranking: Ranking,
    confidence: float,
    notes: Sequence[str] = (),
    *,
    labelled: bool = True,
) -> Answer:
    """The answer of sentences. Behind each stands what it cites, as ``[Document, clause]``, unless ``labelled`` is
    false; nothing is grounded yet. A note is added where it is in another language than what it was made from."""
    text, placed = "", []
    labels = OBLIGATION_DETECTORS["rules"]()([each.text for each in said])
    for each, found in zip(said, labels, strict=True):
        text += each.before
        start, end = len(text), len(text) + len(each.text)
        cited = [sources[place] for place in each.cites]
        citations = tuple(
            Citation(source.passage.id, source.version, source.start, source.end, start, end) for source in cited
        )
        placed.append(AnswerSentence(each.text, start, end, citations, found.label))
        text += " ".join([each.text, *(dict.fromkeys(source.label for source in cited) if labelled else ())])
    if foreign(joined(said)) and not foreign(" ".join(source.text for source in sources) or query.text):
        notes = (*notes, OTHER_LANGUAGE)
    return Answer(query, text, tuple(placed), ranking, confidence, notes=tuple(notes))


def foreign(text: str) -> bool:
    """Whether a text has hardly a word that every English text has."""
    told = re.findall(r"[^\W\d_]+", text.casefold())
    return len(told) >= 6 and sum(word in _ENGLISH for word in told) / len(told) < _LEAST_ENGLISH


def note(dropped: Sequence[str]) -> list[str]:
    """What to say of citations that were dropped."""
    if not dropped:
        return []
    return [f"citations of what was not given to the model, dropped: {', '.join(dict.fromkeys(dropped))}"]
