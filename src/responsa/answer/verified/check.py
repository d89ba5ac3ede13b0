"""Whether what a sentence cites supports it: found word for word, or held by rules and by a model of entailment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from responsa.answer.generators.sources import Source
from responsa.answer.verified import words as lex
from responsa.answer.verified.guards import DECISIVE, against
from responsa.answer.verified.injected import addressed
from responsa.answer.verified.support import Weighed, least, support
from responsa.answer.verified.units import Cited, Unit
from responsa.corpus.tree import lead, lead_ins
from responsa.corpus.view import Corpus
from responsa.entailment import EntailmentModel
from responsa.text import folded, normalise, sentences, tidy

# Words and figures; and the signs that change what they say: currencies, shares, comparisons, a minus.
_WORD = r"[^\W_]+(?:[.,](?=\d)\d+)*"
_TOKEN = re.compile(rf"{_WORD}|[<>]=|[%‰<>≤≥=±+×÷$¢-¥\u20a0-\u20c0]|(?<![\w)])[-−–](?=\d)")
_SPELLED = {">=": "≥", "<=": "≤"}
_ITEM = re.compile(r"^[ \t\u200e]*(?:\((?:[a-z]{1,4}|\d{1,3})\)|[-–•*]|\d{1,2}[.)])\s", re.MULTILINE)
_WITHIN = re.compile(r"([:;,—–-]|\b(?:and|or)\b)?\s+(?=\(([a-z]|[ivx]{2,4}|\d{1,2})\)\s)")  # an item within a line
_LABELS = ("a b c d e f g h i j k l m n o p", "i ii iii iv v vi vii viii ix x xi xii", "1 2 3 4 5 6 7 8 9 10 11 12")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\.\.\.|…)\s*")
_FEW = 6  # words that are found word for word or not at all
_NEAR = 0.9  # the share of words that a quote has in common with the place it is of
_LEAST_WORDS = 3  # that carry meaning, of a part of a sentence that is a rule by itself
_IDLE = 0.25  # a passage that holds less of a sentence's words is not what it rests on
_NEAREST = 4  # units that the model is asked about one by one
_DENIED = 0.7  # a probability of contradiction that is told as the reason


class Evidence(NamedTuple):
    """Words of a passage given as support; ``quote`` may be empty."""

    source: Source
    quote: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence and what it cites. ``unknown`` are citations of what was not given, as written."""

    text: str
    evidence: tuple[Evidence, ...]
    unknown: tuple[str, ...] = ()


class Span(NamedTuple):
    """Characters of the stored text of a passage."""

    source: Source
    start: int
    end: int


@dataclass(frozen=True)
class Verdict:
    """``score`` from 0 to 1; ``reasons`` why the sentence is not supported, none where it is. ``spans`` are what it
    rests on."""

    score: float
    reasons: tuple[str, ...]
    spans: tuple[Span, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether it may be said."""
        return not self.reasons


def check(claims: Sequence[Claim], corpus: Corpus, model: EntailmentModel) -> list[Verdict]:
    """A verdict on each claim, in order. The model is asked once, for all of them together."""
    reader = Reader(corpus)
    plain = [_by_rules(claim, reader) for claim in claims]
    weighed = iter(
        weigh([claim for claim, verdict in zip(claims, plain, strict=True) if verdict is None], corpus, model)
    )
    return [
        _by_model(claim, reader, next(weighed)) if verdict is None else verdict
        for claim, verdict in zip(claims, plain, strict=True)
    ]


def undecided(claims: Sequence[Claim], corpus: Corpus) -> list[bool]:
    """Which claims no rule decides."""
    reader = Reader(corpus)
    return [_by_rules(claim, reader) is None for claim in claims]


def weigh(claims: Sequence[Claim], corpus: Corpus, model: EntailmentModel) -> list[Weighed]:
    """What there is to weigh of each claim; claims cite text."""
    reader = Reader(corpus)
    asked = [_asked(claim, reader) for claim in claims]
    pairs = list(dict.fromkeys(pair for each in asked for pair in each))
    known = dict(zip(pairs, map(tuple, model(pairs).tolist()), strict=True)) if pairs else {}
    found = []
    for claim, own in zip(claims, asked, strict=True):
        cited, words = reader.cited(claim), lex.content(claim.text)
        found.append(
            Weighed(
                tuple(known[pair] for pair in own[1:]),
                lex.share(words, cited.meanings),
                max((lex.share(words, unit.meanings) for unit in cited.units), default=0.0),
                len(set(words) - cited.meanings),
                against(claim.text, cited),
                *(known[pair] for pair in own[:1]),
            )
        )
    return found


class Reader:
    """The units of passages, each read once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._units: dict[str, list[Unit]] = {}
        self._leads: dict[str, str] = {}

    def units(self, source: Source) -> list[Unit]:
        """The sentences of a passage, its lists item by item, with the lead-ins they depend on.

        From the first that gives orders to a language model on, the passage is evidence of nothing.
        """
        name = source.passage.id
        if name not in self._units:
            text = source.passage.text
            lead = self.lead(source)
            pieces = list(_pieces(text))
            orders = (
                place for place, (before, one, two) in enumerate(pieces) if addressed(f"{before} {text[one:two]}")
            )
            cut = next(orders, len(pieces))
            self._units[name] = [
                Unit(name, start, end, tidy(f"{lead} {before} {text[start:end]}"))
                for before, start, end in pieces[:cut]
                if any(map(str.isalpha, text[start:end]))
            ]
        return self._units[name]

    def lead(self, source: Source) -> str:
        """The last sentences of the lead-ins above a list item, outermost first."""
        name = source.passage.id
        if name not in self._leads:
            self._leads[name] = lead(lead_ins(source.passage, self.corpus))
        return self._leads[name]

    def cited(self, claim: Claim) -> Cited:
        """What a claim cites."""
        sources = list({each.source.passage.id: each.source for each in claim.evidence}.values())
        around = " ".join(f"{source.label} {source.passage.title} {source.passage.number}" for source in sources)
        return Cited(tuple(unit for source in sources for unit in self.units(source)), around)


def _pieces(text: str) -> Iterable[tuple[str, int, int]]:
    """(lead-in, start, end) of each sentence; the items of a list one by one, with what stands before them."""
    for start, end in sentences(text):
        items = [match.start() for match in _ITEM.finditer(text, start, end) if match.start() > start]
        if items and not text[start : items[0]].rstrip().endswith((":", "-", "—", "–")):
            items = []
        items = items or _in_a_line(text, start, end) or _unmarked(text, start, end)
        if not items or addressed(text[start : items[0]]):
            yield from (("", *part) for part in _parts(text, start, end))
            continue
        for place, stop in zip(items, [*items[1:], end], strict=True):
            yield text[start : items[0]], place, place + len(text[place:stop].rstrip())


def _in_a_line(text: str, start: int, end: int) -> list[int]:
    """Where the items of a list begin that is not broken into lines: "must: (a) keep records; and (b) report"."""
    runs = []
    for labels in map(str.split, _LABELS):
        found: list[int] = []
        for match in _WITHIN.finditer(text, start, end):
            if len(found) < len(labels) and match[2] == labels[len(found)] and (match[1] or not found):
                found.append(match.end())
        if len(found) > 1 and _leads(text[start : found[0]], text[found[-2] : found[-1]], text[found[-1] : end]):
            runs.append(found)
    return min(runs, default=[])  # the outermost begins first


def _leads(lead: str, before_last: str, last: str) -> bool:
    """Whether what stands before a list is the lead-in of each of its items. Without a colon it is not where it names
    parts ("points (a) and (b)"), where the last item goes on with the rule ("who (a) sells or (b) lends shall ..."),
    and where all of several conditions have to hold: each alone would say too much."""
    if lead.rstrip().endswith((":", "-", "—", "–")):
        return True
    if _NAMED.search(lead) or (not lex.modals(lead) and lex.modals(last)):
        return False
    return not _SUFFICES.search(lead) or re.search(r"\bor\s+\Z", before_last) is not None


_NAMED = re.compile(
    r"(?:\b(?:points?|paragraphs?|subparagraphs?|items?|letters?|conditions?|cases?|groups?|classes|class|"
    r"under|either|both|and|or|in|by|of)|\d|[;,])\s*\Z",
    re.IGNORECASE,
)
_SUFFICES = re.compile(r"\b(?<!only )(?:if|where|when|provided(?: that)?)\b[^,;.]*\Z", re.IGNORECASE)


def _unmarked(text: str, start: int, end: int) -> list[int]:
    """Where the items of a list begin that semicolons part after a colon: "must: keep records; and report"."""
    colon = _COLON.search(text, start, end)
    lead = text[start : colon.start() + 1] if colon else ""
    if not colon or (len(lex.content(lead)) < _LEAST_WORDS and not lex.modals(lead)):
        return []
    places = [colon.end(), *(match.end() for match in _SEMICOLON.finditer(text, colon.end(), end))]
    return places if len(places) > 1 else []


_COLON = re.compile(r"\w:\s+(?=\S)")
_SEMICOLON = re.compile(r";\s+(?:(?:and|or)\s+)?(?=\S)")


def _parts(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """The rules of a sentence that a semicolon parts; the whole where a part of it is none."""
    cuts = [match.start() for match in re.finditer(r";\s|,\s(?=(?:while|whereas|but)\s)", text[start:end])]
    places = [start, *(start + cut + 1 for cut in cuts)]
    parts = list(zip(places, [*(start + cut for cut in cuts), end], strict=True))
    if len(parts) < 2 or not all(len(lex.content(text[one:two])) >= _LEAST_WORDS for one, two in parts):
        return [(start, end)]
    return [(one + len(text[one:two]) - len(text[one:two].lstrip()), two) for one, two in parts]


# --- quotes ----------------------------------------------------------------------------------------------


def located(quote: str, text: str) -> tuple[int, int] | None:
    """Where words stand in a text: the same words but for case, marks and blanks, or nearly the same, figures and
    negations unchanged. Dots may stand for words left out."""
    spans = [_found(piece, text) for piece in _ELLIPSIS.split(quote) if _TOKEN.search(piece)]
    if not spans or None in spans:
        return None
    known = [span for span in spans if span]
    if any(one[1] > other[0] for one, other in pairwise(known)):
        return None
    return known[0][0], known[-1][1]


def _found(quote: str, text: str) -> tuple[int, int] | None:
    wanted = _tokens(quote)
    if not wanted:
        return None
    places = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]
    held = [_levelled(word) for word, _, _ in places]
    size = len(wanted)
    for at in range(len(held) - size + 1):
        if held[at] == wanted[0] and held[at : at + size] == wanted:
            return _whole(text, places[at][1], places[at + size - 1][2])
    size = min(size, len(held))
    if size < _FEW:
        return None
    best, place, count = 0, 0, Counter(wanted)
    window = Counter(held[:size])
    for at in range(len(held) - size + 1):
        if at:
            window[held[at - 1]] -= 1
            window[held[at + size - 1]] += 1
        shared = sum(min(times, window[word]) for word, times in count.items())
        if shared > best:
            best, place = shared, at
    there = held[place : place + size]
    if SequenceMatcher(None, wanted, there, autojunk=False).ratio() < _NEAR or _fixed(wanted) != _fixed(there):
        return None
    return _whole(text, places[place][1], places[place + size - 1][2])


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """With the mark that ends the words."""
    return start, end + (1 if text[end : end + 1] in (".", ";", ")", "%") else 0)


def _fixed(words: Sequence[str]) -> list[str]:
    """What a quote may not change."""
    return [word for word in words if any(map(str.isdigit, word)) or word in _FIXED or not word[0].isalnum()]


_FIXED_WORDS = """
not no never must shall may should cannot unless except only all any before after least most more less one two three
four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred
"""
_FIXED = frozenset(_FIXED_WORDS.split())


# --- verdicts --------------------------------------------------------------------------------------------


def _by_rules(claim: Claim, reader: Reader) -> Verdict | None:
    """The verdict where no model is needed."""
    if not claim.evidence:
        told = f"it cites {', '.join(claim.unknown)}, which was not given" if claim.unknown else "it cites nothing"
        return Verdict(0.0, (told,))
    if not lex.content(claim.text):
        return Verdict(0.0, ("it says nothing that could be checked",))
    if addressed(claim.text):
        return Verdict(0.0, ("it gives orders to a language model",))
    for evidence in claim.evidence:
        if evidence.quote and located(evidence.quote, _said(evidence.source, reader)) is None:
            return Verdict(0.0, (f"the words quoted as support do not stand in {evidence.source.label}",))
    said, signs = _tokens(claim.text), ""
    for evidence in claim.evidence:
        for unit in reader.units(evidence.source):
            held = _tokens(unit.text)
            if held == said:
                return Verdict(1.0, (), (Span(evidence.source, unit.start, unit.end),))
            if _words_of(held) == _words_of(said):
                signs = f"it has the words of {evidence.source.label} with other signs, such as those of a currency"
    if signs:
        return Verdict(0.0, (signs,))
    reasons = against(claim.text, reader.cited(claim))
    return Verdict(0.0, tuple(reasons.values())) if DECISIVE & reasons.keys() else None


def _tokens(text: str) -> list[str]:
    return [_levelled(token) for token in _TOKEN.findall(normalise(text))]


def _levelled(token: str) -> str:
    """A word without case, a sign in one spelling."""
    return _SPELLED.get(token) or folded(token)


def _words_of(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token[0].isalnum()]


def _said(source: Source, reader: Reader) -> str:
    """What may be quoted, in the order that the model is shown it in: a quote may run from a lead-in into its item."""
    return f"{source.label}\n{reader.lead(source)}\n{source.passage.text}\n{source.passage.title}"


def _asked(claim: Claim, reader: Reader) -> list[tuple[str, str]]:
    """The sentence as the premise of the nearest unit; then as the hypothesis of each of the nearest, of the two
    nearest together, and of all. Nothing where there is no unit."""
    cited = reader.cited(claim)
    if not cited.units:
        return []
    words = lex.content(claim.text)
    ranked = sorted(cited.units, key=lambda unit: -lex.share(words, unit.meanings))[:_NEAREST]
    premises = [unit.text for unit in ranked]
    if len(cited.units) > 1:
        premises.append(" ".join(unit.text for unit in sorted(ranked[:2], key=cited.units.index)))
    if len(cited.units) > 2:
        premises.append(cited.text.replace("\n", " "))
    return [(claim.text, ranked[0].text), *((premise, claim.text) for premise in premises)]


def _by_model(claim: Claim, reader: Reader, weighed: Weighed) -> Verdict:
    """The verdict by what speaks for and against a claim."""
    cited, words = reader.cited(claim), lex.content(claim.text)
    if not cited.units:
        return Verdict(0.0, ("what it cites holds no text",))
    value = support(weighed)
    if value >= least():
        return Verdict(value, (), tuple(_spans(claim, words, reader)))
    if weighed.reasons:
        return Verdict(value, tuple(weighed.reasons.values()))
    if weighed.judged and weighed.judged[0][2] > _DENIED:
        return Verdict(value, ("the text cited seems to contradict it",))
    new = [word for word in dict.fromkeys(words) if word not in cited.meanings]
    told = f" (not in it: {', '.join(new[:5])})" if new else ""
    return Verdict(value, (f"the text cited does not say this{told}",))


def _spans(claim: Claim, words: tuple[str, ...], reader: Reader) -> list[Span]:
    """What a supported claim rests on: of each passage the words quoted, or the units that hold its parts; passages
    that hold next to nothing of it are left out."""
    found: list[tuple[float, Span]] = []
    for evidence in claim.evidence:
        units = reader.units(evidence.source)
        shares = [lex.share(words, unit.meanings) for unit in units]
        place = located(evidence.quote, evidence.source.passage.text) if evidence.quote else None
        if place:
            found.append((max(shares, default=0.0), Span(evidence.source, *place)))
            continue
        for piece in lex.clauses(claim.text) or [claim.text]:
            near = Cited(tuple(units)).near(piece)
            if near and lex.content(piece):
                share = lex.share(words, near[0].meanings)
                found.append((share, Span(evidence.source, near[0].start, near[0].end)))
    best = max((share for share, _ in found), default=0.0)
    kept = [span for share, span in found if share >= min(_IDLE, best)]
    return list(dict.fromkeys(kept))
