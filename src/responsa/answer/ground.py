"""What an answer rests on: whether what it cites supports each sentence, whether a passage contradicts one, and which
obligations of what it cites it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from responsa.corpus.tree import items, lead, lead_ins, leads_in
from responsa.corpus.view import Corpus
from responsa.entailment import THRESHOLD, EntailmentModel, Pair, order_of_trial, shared_words
from responsa.errors import RecipeError
from responsa.text import folded, sentences, tidy, words
from responsa.types import Answer, AnswerSentence, ObligationDetector, Passage


class Place(NamedTuple):
    """A sentence of a passage: characters of the stored text in the version of that digest."""

    passage_id: str
    version: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence of a passage found that contradicts a sentence of the answer, named by its place in it."""

    sentence: int
    source: Place
    probability: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An obligation that the answer does not cover, and the highest probability that one of its sentences entails it,
    of those asked; None where none shares a word with it."""

    source: Place
    probability: float | None


@dataclass(frozen=True)
class Checked:
    """An answer with the grounding of its sentences, and what speaks against it.

    ``contradictions`` by sentence, the surest first; ``left_out`` in the order cited, items after what leads to them,
    of so many ``obligations``. ``nli`` and ``detector`` name what judged.
    """

    answer: Answer
    contradictions: tuple[Contradiction, ...]
    left_out: tuple[LeftOut, ...]
    obligations: int
    nli: str
    detector: str


@dataclass(frozen=True)
class EntailmentCheck:
    """Checks an answer by a model of entailment, ``nli``; ``obligations`` is what tells obligations: rules, or a model.

    The grounding of a sentence is the highest probability that a sentence of what it cites entails it, as the strict
    protocol of RePASs has it. One that stands there word for word has 1, one that cites nothing 0; no model is asked
    for either. A sentence of any passage found contradicts it with a probability above ``conflict``; of what is quoted
    word for word that is not asked, for there rule would stand against rule.

    An obligation of a passage cited is covered where a sentence of the answer says it word for word or entails it with
    more than 0.7. Of a passage that ends in "must:" the items below it are obligations, each read with what leads to
    it; quoted, an item is covered where it is cited. To be cheap, of the sentences that may contradict or cover only
    the ``nearest`` are asked: those that share most words; `responsa score answers` asks them all.
    """

    nli: str = "embedded:nli"
    obligations: str = "rules"
    nearest: int = 3
    conflict: float = 0.8

    def __post_init__(self) -> None:
        if self.nearest < 1 or not 0 <= self.conflict <= 1:
            raise RecipeError(
                f"entailment: nearest of at least 1 and conflict from 0 to 1 are needed, got {self.nearest} and "
                f"{self.conflict}"
            )

    def __call__(
        self, answer: Answer, corpus: Corpus, model: EntailmentModel, detector: ObligationDetector, detector_name: str
    ) -> Checked:
        """The check of an answer, which may have no sentence: then nothing is asked."""
        said = [sentence.text for sentence in answer.sentences]
        cited = dict.fromkeys(each.passage_id for sentence in answer.sentences for each in sentence.citations)
        found = [hit.passage_id for hit in answer.ranking.hits] if said else []
        passages = corpus.read(dict.fromkeys([*cited, *found]))
        places = [place for passage in passages.values() for place in _places(passage, corpus)]
        duties = _duties([passages[name] for name in cited], corpus, detector)
        copied = {folded(text) for text in said}
        quoted = {(each.passage_id, folded(one.text)) for one in answer.sentences for each in one.citations}
        unsaid = [
            duty
            for duty in duties
            if folded(duty.read) not in copied and (duty.place.passage_id, folded(duty.place.text)) not in quoted
        ]
        support = [_cited(sentence, passages) for sentence in answer.sentences]
        own = [
            text if folded(text) not in map(folded, texts) else "" for text, texts in zip(said, support, strict=True)
        ]
        against = _nearest([place.text for place in places], own, self.nearest)
        covering = _nearest(said, [duty.read for duty in unsaid], self.nearest)
        known = _asked(
            model,
            [
                *((text, sentence) for texts, sentence in zip(support, said, strict=True) for text in texts),
                *((places[row].text, sentence) for rows, sentence in zip(against, said, strict=True) for row in rows),
                *((said[row], duty.read) for rows, duty in zip(covering, unsaid, strict=True) for row in rows),
            ],
        )
        denied = [
            Contradiction(at, places[row], known[places[row].text, said[at]].contradiction)
            for at, rows in enumerate(against)
            for row in rows
        ]
        entailed = [
            LeftOut(duty.place, max((known[said[row], duty.read].entailment for row in rows), default=None))
            for rows, duty in zip(covering, unsaid, strict=True)
        ]
        return Checked(
            replace(answer, sentences=tuple(_grounded(answer.sentences, support, known))),
            tuple(sorted((each for each in denied if each.probability > self.conflict), key=_surest)),
            tuple(each for each in entailed if (each.probability or 0.0) <= THRESHOLD),
            len(duties),
            model.name,
            detector_name,
        )


def _surest(found: Contradiction) -> tuple[int, float]:
    return found.sentence, -found.probability


class _Chances(NamedTuple):
    entailment: float
    contradiction: float


def _places(passage: Passage, corpus: Corpus) -> list[Place]:
    """The sentences of a passage, those without a letter left out."""
    version = corpus.version(passage.document_id)
    spans = sentences(passage.text) if version else []
    found = [Place(passage.id, version.digest, *span, tidy(passage.text[slice(*span)])) for span in spans if version]
    return [place for place in found if any(map(str.isalpha, place.text))]


class _Duty(NamedTuple):
    """Where an obligation stands, and how it reads: an item of a list with what leads to it."""

    place: Place
    read: str


# A lead-in that its items complete, each to a duty of its own: "A firm must:", "A firm shall, in writing, not:". Those
# of alternatives, definitions and what counts as something are not.
_OBLIGES = re.compile(
    r"\b(?:must|shall)(?:[\s,]+(?!(?:be|apply|mean|constitute|one|either|any|or)\b)[\w-]+){0,4}[\s,]*[:—–-]\s*\Z",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\(\w{1,5}\)\W*\Z")  # the number of an item; closing words have none


def _duties(cited: Iterable[Passage], corpus: Corpus, detector: ObligationDetector) -> list[_Duty]:
    """The obligations of passages, each wording once, and of the items below those that end in a duty without an
    object ("must:"); such a lead-in is none by itself then."""
    once: dict[str, _Duty] = {}
    for passage in cited:
        below = _completing(passage, corpus)
        for each in (passage, *below):
            before = _before(each, corpus)
            for at, place in enumerate(_places(each, corpus)):
                if each is passage and below and _OBLIGES.search(place.text):
                    continue
                read = f"{before} {place.text}" if before and not at else place.text
                once.setdefault(folded(read), _Duty(place, read))
    found = detector([duty.read for duty in once.values()])
    return [duty for duty, each in zip(once.values(), found, strict=True) if each.label == "obligation"]


def _before(passage: Passage, corpus: Corpus) -> str:
    """What makes a duty of an item; empty for any other passage."""
    above = lead_ins(passage, corpus) if _ITEM.search(passage.number) else []
    return lead(above) if any(_OBLIGES.search(each.text) for each in above) else ""


def _completing(passage: Passage, corpus: Corpus) -> list[Passage]:
    """The items that make duties of a lead-in: those without items of their own."""
    if not _OBLIGES.search(passage.text):
        return []
    return [
        item
        for item, above in items(passage, corpus)
        if item.parent_id == above.id and item.kind == "text" and _ITEM.search(item.number) and not leads_in(item)
    ]


def _cited(sentence: AnswerSentence, passages: Mapping[str, Passage]) -> list[str]:
    """The sentences that a sentence of an answer cites; what has its wording alone, where there is such."""
    texts = [passages[each.passage_id].text[each.start : each.end] for each in sentence.citations]
    found = [tidy(text[start:end]) for text in texts for start, end in sentences(text)]
    same = [text for text in [*map(tidy, texts), *found] if folded(text) == folded(sentence.text)]
    return same[:1] or found


def _nearest(candidates: Sequence[str], texts: Sequence[str], most: int) -> list[list[int]]:
    """For each text the places of the candidates that share most words with it, each wording once; none of its own
    wording and none that shares no word."""
    told = [[frozenset(words(text)) for text in row] for row in (candidates, texts)]
    shared = shared_words(told[0], told[1])
    keys, found = [folded(text) for text in candidates], []
    for column, (order, text) in enumerate(zip(order_of_trial(shared), texts, strict=True)):
        rows: dict[str, int] = {}
        for row in order.tolist():
            if shared[row, column] > 0 and keys[row] != folded(text):
                rows.setdefault(keys[row], row)
        found.append(list(rows.values())[:most])
    return found


def _asked(model: EntailmentModel, pairs: Iterable[Pair]) -> dict[Pair, _Chances]:
    """What has the same wording entails itself, and is not asked."""
    known, todo = {}, []
    for pair in dict.fromkeys(pairs):
        if folded(pair[0]) == folded(pair[1]):
            known[pair] = _Chances(1.0, 0.0)
        else:
            todo.append(pair)
    if todo:
        rows = model(todo).tolist()
        known |= {pair: _Chances(row[0], row[2]) for pair, row in zip(todo, rows, strict=True)}
    return known


def _grounded(
    said: Sequence[AnswerSentence], support: Sequence[Sequence[str]], known: Mapping[Pair, _Chances]
) -> Iterator[AnswerSentence]:
    for sentence, texts in zip(said, support, strict=True):
        best = max((known[text, sentence.text].entailment for text in texts), default=0.0)
        yield replace(sentence, grounding=best)
