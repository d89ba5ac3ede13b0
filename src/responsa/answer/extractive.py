"""An answer made of the rules' own sentences: no language model, every sentence cited to the character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from responsa.analysis import Analysis, Rarity
from responsa.corpus.tree import leads_in
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError, suggestion
from responsa.obligations import OBLIGATION_DETECTORS
from responsa.text import normalise, sentences, words
from responsa.types import Answer, AnswerSentence, Citation, Label, Passage, Query, Ranking

_NORMATIVE = ("obligation", "permission", "definition")


class Piece(NamedTuple):
    """A sentence of a passage that may go into the answer; offsets are into the passage's text."""

    passage: Passage
    start: int
    end: int
    label: Label
    relevance: float

    @property
    def text(self) -> str:
        """The sentence as stored."""
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True)
class Extractive:
    """Picks from the kept passages the sentences that oblige, permit or define and bear on the question.

    ``relevance`` is the share of the best sentence's relevance that a sentence needs; a sentence's relevance is
    the weight (idf) of the question's words that it holds. A passage without such a sentence gives its most
    relevant one, so that each kept passage is cited. A list item brings the lead-in it depends on, a lead-in
    the items below it. ``repetition`` is the share of common words (Jaccard) from which of two sentences only
    the first is said; where they are the same, both are cited. At most ``most`` sentences are said, those that
    each passage kept needs first, then the most relevant.
    """

    relevance: float = 0.5
    repetition: float = 0.9
    most: int = 15
    detector: str = "rules"
    analysis: Analysis = field(default=Analysis(bigrams=False))

    def __post_init__(self) -> None:
        if self.detector not in OBLIGATION_DETECTORS:
            raise RecipeError(
                f"extractive: unknown detector {self.detector!r}{suggestion(self.detector, OBLIGATION_DETECTORS)}"
            )
        if not 0 <= self.relevance <= 1 or not 0 < self.repetition <= 1 or self.most < 1:
            raise RecipeError(
                "extractive: relevance from 0 to 1, repetition above 0 up to 1 and most of at least 1 are needed, got "
                f"{self.relevance}, {self.repetition} and {self.most}"
            )

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, rarity: Rarity, confidence: float) -> Answer:
        """The answer from the passages kept, best first."""
        passages = corpus.read(hit.passage_id for hit in kept.hits)
        pieces = self._pieces(query, list(passages.values()), rarity)
        chosen = self._choose(pieces)
        complete = _complete(chosen, corpus)
        said = _limited(_without_repetition(_in_order(complete, corpus), self.repetition), self.most)
        text, placed = compose(said, corpus)
        return Answer(query, text, placed, kept, confidence)

    def _pieces(self, query: Query, passages: Sequence[Passage], rarity: Rarity) -> list[Piece]:
        spans = [(passage, start, end) for passage in passages for start, end in sentences(passage.text)]
        texts = [passage.text[start:end] for passage, start, end in spans]
        detections = OBLIGATION_DETECTORS[self.detector]()(texts)
        asked = np.unique(self.analysis([query.text])[0].words)
        weight = rarity(asked)
        total = float(weight.sum()) or 1.0
        pieces = []
        for (passage, start, end), detection, analysed in zip(spans, detections, self.analysis(texts), strict=True):
            held = float(weight[np.isin(asked, analysed.words)].sum()) / total
            pieces.append(Piece(passage, start, end, detection.label, held))
        return pieces

    def _choose(self, pieces: Sequence[Piece]) -> list[Piece]:
        bar = self.relevance * max((piece.relevance for piece in pieces), default=0.0)
        chosen = []
        for own in _by_passage(pieces):
            good = [piece for piece in own if piece.label in _NORMATIVE and piece.relevance >= bar]
            chosen.extend(good or [max(own, key=lambda piece: piece.relevance)])
        return chosen


def _by_passage(pieces: Iterable[Piece]) -> list[list[Piece]]:
    groups: dict[str, list[Piece]] = {}
    for piece in pieces:
        groups.setdefault(piece.passage.id, []).append(piece)
    return list(groups.values())


def _complete(pieces: Sequence[Piece], corpus: Corpus) -> list[Piece]:
    """The pieces with the lead-ins that list items depend on, and the items that lead-ins announce."""
    found = {(piece.passage.id, piece.start): piece for piece in pieces}
    for piece in pieces:
        parent_id = piece.passage.parent_id
        while parent_id is not None:
            parent = corpus[parent_id]
            if not leads_in(parent):
                break
            _include(found, parent, sentences(parent.text)[-1:], piece)
            parent_id = parent.parent_id
        if leads_in(piece.passage) and piece.end == len(piece.passage.text.rstrip()):
            for item in _items(piece.passage, corpus):
                _include(found, item, sentences(item.text), piece)
    return list(found.values())


def _items(passage: Passage, corpus: Corpus) -> Iterator[Passage]:
    """The items below a lead-in, and theirs where they are lead-ins themselves."""
    for child in corpus.children(passage.id):
        if child.kind != "guidance":
            yield child
            if leads_in(child):
                yield from _items(child, corpus)


def _include(
    found: dict[tuple[str, int], Piece], passage: Passage, spans: Iterable[tuple[int, int]], piece: Piece
) -> None:
    for start, end in spans:
        found.setdefault((passage.id, start), Piece(passage, start, end, piece.label, piece.relevance))


def _in_order(pieces: Sequence[Piece], corpus: Corpus) -> list[Piece]:
    """Documents in the order of their most relevant piece, within them reading order."""
    best: dict[str, float] = {}
    for piece in pieces:
        document_id = piece.passage.document_id
        best[document_id] = max(best.get(document_id, 0.0), piece.relevance)
    place = corpus.places({piece.passage.id for piece in pieces})
    return sorted(
        pieces,
        key=lambda piece: (
            -best[piece.passage.document_id],
            piece.passage.document_id,
            place[piece.passage.id],
            piece.start,
        ),
    )


Said = tuple[Piece, ...]
"""Pieces of the same wording: the first is said, all are cited."""


def _without_repetition(pieces: Sequence[Piece], share: float) -> list[Said]:
    kept: list[tuple[list[Piece], frozenset[str]]] = []
    for piece in pieces:
        own = frozenset(words(piece.text))
        twin = next((same for same, other in kept if len(own & other) >= share * len(own | other)), None)
        if twin is None:
            kept.append(([piece], own))
        elif normalise(twin[0].text) == normalise(piece.text):
            twin.append(piece)
    return [tuple(same) for same, _ in kept]


def _limited(said: Sequence[Said], most: int) -> list[Said]:
    """The ``most`` that matter, in the order given: the best of each passage first, then by relevance."""
    first: set[str] = set()
    ranked = []
    for place, same in sorted(enumerate(said), key=lambda item: -item[1][0].relevance):
        ranked.append((same[0].passage.id in first, place))
        first.add(same[0].passage.id)
    return [said[place] for place in sorted(place for _, place in sorted(ranked, key=lambda item: item[0])[:most])]


def compose(said: Sequence[Said], corpus: Corpus) -> tuple[str, tuple[AnswerSentence, ...]]:
    """The text of an answer and its sentences: one a line with its citations, a blank line between documents."""
    text = ""
    placed = []
    previous = ""
    for same in said:
        sentence = normalise(same[0].text)
        versions = [corpus.version(piece.passage.document_id) for piece in same]
        known = [(piece, version) for piece, version in zip(same, versions, strict=True) if version is not None]
        if not known or not sentence:  # removed by another process since it was found; nothing but invisible marks
            continue
        document_id = known[0][0].passage.document_id
        if text:
            text += "\n\n" if document_id != previous else "\n"
        previous = document_id
        start, end = len(text), len(text) + len(sentence)
        citations = tuple(
            Citation(piece.passage.id, version.digest, piece.start, piece.end, start, end) for piece, version in known
        )
        placed.append(AnswerSentence(sentence, start, end, citations, same[0].label, grounding=1.0))  # verbatim
        text += " ".join([sentence, *(cite(piece.passage, version.title) for piece, version in known)])
    return text, tuple(placed)


def cite(passage: Passage, title: str) -> str:
    """``[Document, clause]`` as people write it; the passage id where the clause has no number."""
    return f"[{title or passage.document_id}, {normalise(passage.number) or passage.id}]"
