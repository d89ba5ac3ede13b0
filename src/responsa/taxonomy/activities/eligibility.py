"""Which activities a report seems to be about: a first screen, to be looked at by a person.

Kinds of evidence, the surest first: an activity's code ("CCM 7.7"), its number beside its name ("7.7 Acquisition and
ownership of buildings"), its name, a NACE code; then phrases in which reports speak of it ("charging points"), and how
well the report's words fit its name and description. Only the text of pages is read: no tables that are pictures.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from responsa.taxonomy.activities.catalogue import Catalogue
from responsa.taxonomy.activities.phrases import PHRASES
from responsa.taxonomy.values import Activity
from responsa.text import normalise

WEIGHTS: Mapping[str, float] = {
    "code": 10.0,
    "numbered name": 8.0,
    "name": 4.0,
    "NACE code": 1.5,
    "phrase": 1.0,
    "words": 1.5,
}
"""What a page with each kind of evidence adds; further pages add less and less, as the logarithm."""

_CODE = re.compile(r"\b(CCM|CCA|WTR|CE|PPC|BIO)[\s_.-]{0,2}(\d{1,2}\.\d{1,2})(?![\d.]*\d)")
_NUMBER = re.compile(r"(?<![\d.,])(\d{1,2}\.\d{1,2})(?![\d,%]|\.\d)")
_NACE = re.compile(r"\b([A-U]\d{2}(?:\.\d{1,2}){0,2})\b")
_TAG = re.compile(r"</?(?:table|caption|tr|th|td)\b[^<>]{0,200}>")
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "has", "have", "in", "into",
        "is", "it", "its", "of", "on", "or", "other", "such", "that", "the", "their", "them", "these",
        "this", "to", "was", "were", "which", "with", "within", "via", "per", "including", "include",
        "includes", "related", "activities", "activity", "economic", "category", "where", "does", "not",
        "criteria", "section", "article", "regulation", "eu", "ec", "european", "parliament", "council",
        "accordance", "associated", "codes", "nace", "established", "statistical", "classification",
        "could", "several", "particular", "referred",
    }
)  # fmt: skip
_COMMON = 0.85  # share of a name's weight that a window must hold to count as the name
_BESIDE = 14  # words between a number and the name that it belongs to


class Reason(NamedTuple):
    """One kind of evidence: on which pages, and the words of the first of them."""

    kind: str
    pages: tuple[int, ...]
    matched: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An activity that a report may be about. ``others``: the same activity for other objectives."""

    id: str
    name: str
    score: float
    reasons: tuple[Reason, ...]
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class _Profile:
    """One activity name with its ids."""

    ids: list[str]
    name: str
    stems: tuple[str, ...]
    width: int  # words among which a name is sought
    words: Counter[str]
    nace: frozenset[str]
    found: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))


def screen(
    chunks: Iterable[tuple[int, str]], catalogue: Catalogue, year: int | None = None, limit: int = 20
) -> tuple[Candidate, ...]:
    """The activities that the (page, text) of a report speak of, best first; ties by id. Pages count from 1.

    ``year``: the financial year whose activities come into question. Empty where nothing was found.
    """
    profiles = _profiles([each.activity for each in catalogue.activities(year)])
    weights = _weights(profiles)
    by_id = {each: profile for profile in profiles for each in profile.ids}
    phrases = _phrase_index(by_id)
    usage: list[Counter[str]] = []
    for page, text in chunks:
        plain = normalise(_TAG.sub(" ", text))
        words = list(_WORD.finditer(plain))
        stems = [_stem(match[0].lower()) for match in words]
        usage.append(Counter(stems))
        _codes(plain, page, by_id)
        _names(plain, page, words, stems, profiles, weights)
        _nace(plain, page, profiles)
        _phrases(plain, page, words, stems, phrases)
    topics = _topics(usage, profiles, weights)
    found = [_candidate(profile, topic) for profile, topic in zip(profiles, topics, strict=True)]
    ranked = sorted((each for each in found if each.score > 0), key=lambda each: (-each.score, each.id))
    return tuple(ranked[:limit])


def _profiles(activities: Sequence[Activity]) -> list[_Profile]:
    """One profile for all activities of a name, in their order."""
    found: dict[str, _Profile] = {}
    for each in activities:
        key = normalise(each.name).lower()
        held = found.get(key)
        if held is None:
            first = each.description.partition("\n")[0]
            stems = tuple(dict.fromkeys(_content(each.name)))
            width = len(_WORD.findall(each.name)) + len(stems) // 3
            found[key] = _Profile([each.id], each.name, stems, width, Counter(_content(first)), frozenset(each.nace))
        else:
            held.ids.append(each.id)
    return list(found.values())


def _content(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(normalise(text).lower()) if word not in _STOP and len(word) > 1]


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202
    import Stemmer

    return Stemmer.Stemmer("english")


def _weights(profiles: Sequence[_Profile]) -> dict[str, float]:
    """How much a word tells activities apart: the logarithm of in how few names and descriptions it stands."""
    holding = Counter(stem for each in profiles for stem in {*each.stems, *each.words})
    return {stem: math.log(1 + len(profiles) / count) for stem, count in holding.items()}


def _note(profile: _Profile, kind: str, page: int, matched: str) -> None:
    profile.found[kind].setdefault(page, matched)


def _codes(text: str, page: int, by_id: Mapping[str, _Profile]) -> None:
    for match in _CODE.finditer(text):
        profile = by_id.get(f"{match[1]} {match[2]}")
        if profile:
            _note(profile, "code", page, match[0])


def _names(
    text: str,
    page: int,
    words: Sequence[re.Match[str]],
    stems: Sequence[str],
    profiles: Sequence[_Profile],
    weights: Mapping[str, float],
) -> None:
    """Names, and numbers beside names."""
    where: dict[str, list[int]] = defaultdict(list)
    for index, stem in enumerate(stems):
        if stem in weights:
            where[stem].append(index)
    numbers: dict[str, list[int]] = defaultdict(list)
    for match in _NUMBER.finditer(text):
        numbers[match[1]].append(match.start())
    for profile in profiles:
        total = sum(weights[stem] for stem in profile.stems)
        if sum(weights[stem] for stem in profile.stems if stem in where) < 0.6 * total:
            continue
        span = _densest(profile.stems, where, weights, profile.width)
        if span is None:
            continue
        share, first, last = span
        shown = text[words[first].start() : words[last].end()]
        if share >= 0.6 * total and _numbered(profile, numbers, words, first, last):
            _note(profile, "numbered name", page, shown)
        elif share >= _COMMON * total and len(profile.stems) >= 2:
            _note(profile, "name", page, shown)


def _densest(
    stems: Sequence[str], where: Mapping[str, list[int]], weights: Mapping[str, float], width: int
) -> tuple[float, int, int] | None:
    """The window of at most ``width`` words with most of the weight of the stems, and its first and last word."""
    places = sorted((index, stem) for stem in stems for index in where.get(stem, ()))
    best: tuple[float, int, int] | None = None
    left = 0
    held: Counter[str] = Counter()
    weight = 0.0
    for right, (index, stem) in enumerate(places):
        held[stem] += 1
        weight += weights[stem] if held[stem] == 1 else 0.0
        while index - places[left][0] >= width:
            gone = places[left][1]
            held[gone] -= 1
            weight -= weights[gone] if not held[gone] else 0.0
            left += 1
        if best is None or weight > best[0] + 1e-9:
            best = (weight, places[left][0], places[right][0])
    return best


def _numbered(
    profile: _Profile, numbers: Mapping[str, list[int]], words: Sequence[re.Match[str]], first: int, last: int
) -> bool:
    """Whether a number of the activity stands within a few words of its name."""
    start = words[max(0, first - _BESIDE)].start()
    end = words[min(len(words) - 1, last + _BESIDE)].end()
    return any(start <= offset <= end for each in profile.ids for offset in numbers.get(each.partition(" ")[2], ()))


_Phrases = dict[str, list[tuple[tuple[str, ...], _Profile]]]


def _phrase_index(by_id: Mapping[str, _Profile]) -> _Phrases:
    """The phrases of the activities in question, as stems, by the first of them."""
    found: _Phrases = defaultdict(list)
    for activity_id, phrases in PHRASES.items():
        profile = by_id.get(activity_id)
        for phrase in phrases.split(",") if profile else ():
            stems = tuple(_stem(word) for word in _WORD.findall(phrase.lower()))
            if profile:
                found[stems[0]].append((stems, profile))
    return found


def _phrases(text: str, page: int, words: Sequence[re.Match[str]], stems: Sequence[str], phrases: _Phrases) -> None:
    for index, stem in enumerate(stems):
        for sought, profile in phrases.get(stem, ()):
            if tuple(stems[index : index + len(sought)]) == sought:
                last = index + len(sought) - 1
                _note(profile, "phrase", page, text[words[index].start() : words[last].end()])


def _nace(text: str, page: int, profiles: Sequence[_Profile]) -> None:
    if "NACE" not in text:
        return
    codes = set(_NACE.findall(text))
    for profile in profiles:
        for code in sorted(codes & profile.nace):
            _note(profile, "NACE code", page, code)


def _topics(usage: Sequence[Counter[str]], profiles: Sequence[_Profile], weights: Mapping[str, float]) -> list[float]:
    """From 0 to 1: how well the chunks that fit best hold the words of the name, and half as much the description."""
    holding = Counter(stem for each in usage for stem in each)
    rare = {stem: math.log(1 + len(usage) / holding[stem]) for stem in weights if holding[stem]}
    scores = []
    for profile in profiles:
        value = {
            stem: weights[stem] * (1.0 if stem in profile.stems else 0.4) for stem in {*profile.stems, *profile.words}
        }
        total = sum(value.values()) or 1.0
        best = sorted(
            (sum(v * min(rare[s], 3.0) / 3.0 * n[s] / (n[s] + 0.5) for s, v in value.items() if n[s]) for n in usage),
            reverse=True,
        )[:5]
        scores.append(sum(best) / (5 * total) * min(1.0, len(profile.stems) / 2))
    return scores


def _candidate(profile: _Profile, topic: float) -> Candidate:
    reasons = []
    score = WEIGHTS["words"] * topic
    for kind in ("code", "numbered name", "name", "NACE code", "phrase"):
        pages = profile.found.get(kind)
        if pages:
            score += WEIGHTS[kind] * math.log2(1 + len(pages))
            reasons.append(Reason(kind, tuple(sorted(pages)), pages[min(pages)]))
    named = Counter(
        f"{match[1]} {match[2]}" for each in profile.found.get("code", {}).values() for match in _CODE.finditer(each)
    )
    best = max(profile.ids, key=lambda each: (named[each], -profile.ids.index(each)))
    return Candidate(best, profile.name, round(score, 4), tuple(reasons), tuple(i for i in profile.ids if i != best))
