"""An answer made of the rules' own sentences: no language model, every sentence cited to the character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from responsa.analysis import Analysis, Idf
from responsa.corpus.tree import items, lead_ins, leads_in, naming
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError, suggestion
from responsa.obligations import OBLIGATION_DETECTORS
from responsa.text import sentences, tidy
from responsa.types import Answer, AnswerSentence, Citation, Label, Passage, Query, Ranking

_NORMATIVE = ("obligation", "permission", "definition")
_LIMITS = re.compile(
    r"\b(?:(?:do|does|shall|need|is|are) not (?:apply|required|need)|need not|despite|notwithstanding|except|"
    r"exceptions?|exempt from|exempted|exemptions?|unless|disappl\w+)\b",
    re.IGNORECASE,
)
_TABLE_MARK = re.compile(r"[/\\](?:Table|Figure) (Start|End)\b", re.IGNORECASE)
_TABLE_RULE = re.compile(r"\|[\s|:-]+")


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
    the weight (idf) of the question's words that it holds, a lead-in's that of the best of its items where that is
    more. A passage without such a sentence gives its most relevant one, so that each kept passage is cited; a table
    header or a lead-in without its items is not all that is said of a passage that holds anything else.

    A list item brings the lead-ins it depends on, a lead-in the items below it, and an item is labelled by what it
    says together with its lead-ins. A numbered sub-rule such as (1) brings the sentences of its siblings that limit
    it by its number: "Paragraph (1) does not apply to", "Despite (1)", "unless". What is worded the same (but for
    case and the "; and" at the end) is said once and cites every place; lists are the same where all of them is.

    At most ``most`` sentences are said, those that each passage kept needs first, then the most relevant. A list
    too long is cut at its end; lead-ins are never said without an item or left out, so that the first list may
    go beyond ``most`` by its lead-ins.
    """

    relevance: float = 0.5
    most: int = 15
    detector: str = "rules"
    analysis: Analysis = field(default=Analysis(bigrams=False))

    def __post_init__(self) -> None:
        if self.detector not in OBLIGATION_DETECTORS:
            raise RecipeError(
                f"extractive: unknown detector {self.detector!r}{suggestion(self.detector, OBLIGATION_DETECTORS)}"
            )
        if not 0 <= self.relevance <= 1 or self.most < 1:
            raise RecipeError(
                "extractive: relevance from 0 to 1 and most of at least 1 are needed, got "
                f"{self.relevance} and {self.most}"
            )

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer:
        """The answer from the passages kept, best first."""
        passages = list(corpus.read(hit.passage_id for hit in kept.hits).values())
        asked = np.unique(self.analysis([query.text])[0].words)
        reader = _Reader(self, corpus, asked, idf(asked))
        reader.read(passages)
        chosen = self._choose([reader.pieces[passage.id] for passage in passages], reader)
        chosen |= reader.limiting(chosen)
        blocks = _without_repetition(_blocks(_in_order(chosen, reader), reader.lead_in_of))
        text, placed = compose(_limited(blocks, self.most, reader), corpus)
        return Answer(query, text, placed, kept, confidence)

    def _choose(self, kept: Sequence[Sequence[Piece]], reader: _Reader) -> set[Piece]:
        """Of each passage kept the sentences to say, with the lead-ins and items that complete them."""
        bar = self.relevance * max((piece.relevance for own in kept for piece in own), default=0.0)
        chosen: set[Piece] = set()
        for own in filter(None, kept):
            fragments = _fragments(own, reader)
            whole = [piece for piece in own if piece not in fragments] or own
            good = [piece for piece in own if piece.label in _NORMATIVE and piece.relevance >= bar]
            if fragments.issuperset(good):
                good.append(max(whole, key=lambda piece: piece.relevance))
            chosen.update(good)
        return reader.complete(chosen)


@dataclass(frozen=True)
class _Reader:
    """Reads passages with the lists they belong to: their sentences, labelled and weighed.

    ``pieces`` are the sentences by passage id, ``lead_in_of`` the id of the lead-in of an item, ``leading`` the ids
    of lead-ins of which an item is known.
    """

    settings: Extractive
    corpus: Corpus
    asked: np.ndarray
    weight: np.ndarray
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    known: dict[str, Passage] = field(default_factory=dict)
    lead_in_of: dict[str, str] = field(default_factory=dict)
    leading: set[str] = field(default_factory=set)

    def read(self, passages: Iterable[Passage]) -> None:
        """Read the passages, their lead-ins and, of those that are lead-ins, the items."""
        for passage in passages:
            row = [*lead_ins(passage, self.corpus), passage]
            self.known.update((each.id, each) for each in row)
            pairs = [(item, above) for above, item in pairwise(row)]
            if leads_in(passage):
                pairs += items(passage, self.corpus)
            for item, above in pairs:
                self.known[item.id] = item
                self.lead_in_of.setdefault(item.id, above.id)
            self.leading.update(above.id for _, above in pairs)
        self._weigh([each for each in self.known.values() if each.id not in self.pieces])
        for item_id in reversed([name for name in self.known if name in self.lead_in_of]):
            self._raise(item_id)

    def _weigh(self, passages: Sequence[Passage]) -> None:
        spans = [(each, *span) for each in passages for span in sentences(each.text) if tidy(each.text[slice(*span)])]
        texts = [each.text[start:end] for each, start, end in spans]
        read = []
        for at, text in enumerate(texts):
            first = at == 0 or spans[at - 1][0] is not spans[at][0]
            read.append(" ".join([*self._above(spans[at][0]), text]) if first else text)
        detections = OBLIGATION_DETECTORS[self.settings.detector]()(read)
        total = float(self.weight.sum()) or 1.0
        self.pieces.update({each.id: [] for each in passages})
        for (each, start, end), detection, words in zip(spans, detections, self.settings.analysis(texts), strict=True):
            held = float(self.weight[np.isin(self.asked, words.words)].sum()) / total
            self.pieces[each.id].append(Piece(each, start, end, detection.label, held))

    def _above(self, passage: Passage) -> list[str]:
        """The lead-ins of an item, outermost first, each its last sentence."""
        above: list[str] = []
        name = self.lead_in_of.get(passage.id)
        while name is not None:
            text = self.known[name].text
            above.append(text[slice(*sentences(text)[-1])])
            name = self.lead_in_of.get(name)
        return above[::-1]

    def _raise(self, item_id: str) -> None:
        """A lead-in is as relevant as its best item."""
        best = max((piece.relevance for piece in self.pieces[item_id]), default=0.0)
        own = self.pieces[self.lead_in_of[item_id]]
        if own and own[-1].relevance < best:
            own[-1] = own[-1]._replace(relevance=best)

    def complete(self, pieces: Iterable[Piece]) -> set[Piece]:
        """The pieces with the lead-ins that items depend on, and the items that lead-ins announce."""
        found = set(pieces)
        for piece in pieces:
            name = self.lead_in_of.get(piece.passage.id)
            while name is not None:
                found.update(self.pieces[name][-1:])
                name = self.lead_in_of.get(name)
            if self.announces(piece):
                for item, _ in items(piece.passage, self.corpus):
                    found.update(self.pieces[item.id])
        return found

    def announces(self, piece: Piece) -> bool:
        """Whether items of the piece have been read: it is the lead-in of a list."""
        name = piece.passage.id
        return name in self.leading and piece.start == self.pieces[name][-1].start

    def limiting(self, pieces: Iterable[Piece]) -> set[Piece]:
        """What sibling sub-rules say to limit the sub-rules that the pieces are of, as relevant as what they limit."""
        said = {(piece.passage.id, piece.start) for piece in pieces}
        weights: dict[str, float] = {}
        for piece in pieces:
            weights[piece.passage.id] = max(weights.get(piece.passage.id, 0.0), piece.relevance)
        found: dict[tuple[str, int], Piece] = {}
        for name, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            for beside, number in naming(self.known[name], self.corpus):
                if not number.search(beside.text) or not _LIMITS.search(beside.text):
                    continue
                self.read([beside])
                for piece in self.pieces[beside.id]:
                    if number.search(piece.text) and _LIMITS.search(piece.text):
                        limit = piece._replace(relevance=max(weight, piece.relevance))
                        found.setdefault((beside.id, piece.start), limit)
        new = {(piece.passage.id, piece.start): piece for piece in self.complete(found.values())}
        return {piece for place, piece in (new | found).items() if place not in said}


def _fragments(pieces: Sequence[Piece], reader: _Reader) -> set[Piece]:
    """Header rows and marks of tables, and lead-ins that nothing follows: they say nothing by themselves."""
    found = set()
    texts = [tidy(piece.text) for piece in pieces]
    for piece, text, before, after in zip(pieces, texts, ["", *texts], [*texts[1:], ""], strict=False):
        rule = text.startswith("|") and (_TABLE_RULE.fullmatch(text) or _TABLE_RULE.fullmatch(after))
        opened = _TABLE_MARK.match(before)
        header = rule or _TABLE_MARK.match(text) or (opened and opened[1].lower() == "start")
        if header or (text.endswith(":") and not reader.announces(piece)):
            found.add(piece)
    return found


def _in_order(pieces: Iterable[Piece], reader: _Reader) -> list[Piece]:
    """Documents in the order of their most relevant piece, within them reading order."""
    best: dict[str, float] = {}
    pieces = list(pieces)
    for piece in pieces:
        document_id = piece.passage.document_id
        best[document_id] = max(best.get(document_id, 0.0), piece.relevance)
    place = reader.corpus.places({piece.passage.id for piece in pieces})
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


def _blocks(pieces: Sequence[Piece], lead_in_of: Mapping[str, str]) -> list[list[Piece]]:
    """The pieces of a list together, every other piece by itself; in the order of their first pieces."""
    blocks: dict[tuple[str, int], list[Piece]] = {}
    lists = {lead_in_of[piece.passage.id] for piece in pieces if piece.passage.id in lead_in_of}
    last = {piece.passage.id: piece.start for piece in pieces}
    for piece in pieces:
        top = piece.passage.id
        while top in lead_in_of:
            top = lead_in_of[top]
        listed = top != piece.passage.id or (top in lists and piece.start == last[top])
        blocks.setdefault((top, -1) if listed else (top, piece.start), []).append(piece)
    return list(blocks.values())


def _without_repetition(blocks: Iterable[Sequence[Piece]]) -> list[list[Said]]:
    """Blocks worded the same as one. Not a character may differ: a sentence is what each of its citations holds."""
    same: dict[tuple[str, ...], list[list[Piece]]] = {}
    for block in blocks:
        places = same.setdefault(tuple(tidy(piece.text) for piece in block), [[] for _ in block])
        for place, piece in zip(places, block, strict=True):
            place.append(piece)
    return [[tuple(place) for place in places] for places in same.values()]


def _limited(blocks: Sequence[Sequence[Said]], most: int, reader: _Reader) -> list[Said]:
    """The ``most`` that matter, in the order given: of each passage the best first, then by relevance."""
    seen: set[str] = set()
    turns: tuple[list[int], list[int]] = ([], [])
    for at in sorted(range(len(blocks)), key=lambda at: -max(said[0].relevance for said in blocks[at])):
        passages = {said[0].passage.id for said in blocks[at]}
        turns[passages <= seen].append(at)
        seen |= passages
    taken = dict.fromkeys(range(len(blocks)), 0)
    left = most
    for turn in turns:
        for at in turn:  # of each list the lead-ins and an item, then the rest of it
            least = next((n for n, said in enumerate(blocks[at], 1) if not reader.announces(said[0])), 1)
            if least <= left or left == most:
                taken[at] = least
                left -= least
        for at in turn:
            more = max(0, min(len(blocks[at]) - taken[at], left)) if taken[at] else 0
            taken[at] += more
            left -= more
    return [said for at, block in enumerate(blocks) for said in _cut(block, taken[at], reader)]


def _cut(block: Sequence[Said], size: int, reader: _Reader) -> Sequence[Said]:
    """The beginning of a block, without lead-ins whose items are cut off."""
    while 0 < size < len(block) and reader.announces(block[size - 1][0]):
        size -= 1
    return block[:size]


def compose(said: Sequence[Said], corpus: Corpus) -> tuple[str, tuple[AnswerSentence, ...]]:
    """The text of an answer and its sentences: one a line with its citations, a blank line between documents."""
    text = ""
    placed = []
    previous = ""
    for same in said:
        sentence = tidy(same[0].text)
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
    return f"[{title or passage.document_id}, {tidy(passage.number) or passage.id}]"
