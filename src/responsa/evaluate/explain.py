"""Why an answer has its scores: for each of its sentences what supports and what contradicts it, for each obligation of
the sources what covers it. Read off what was scored: no model is asked for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np

from responsa.entailment import THRESHOLD, Matrix, ScoringProtocol, strongest
from responsa.evaluate.repass import AnswerScore, Working, places
from responsa.evaluate.repass_sentences import Splitter

Verdict = Literal["supported", "contradicted", "both", "neither"]
LIKELY = 0.5  # a sentence is supported or contradicted where a source sentence does so with more than this


class Span(NamedTuple):
    """Characters of a passage, which is named by its place in the explanation's ``passages``."""

    passage: int
    start: int
    end: int


class Match(NamedTuple):
    """A source sentence, by its place, and a probability."""

    source: int
    probability: float


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of the sources as it was scored. ``spans`` has several where it runs over from one passage to the
    next, which only joined passages allow; ``repeats`` are other places of the same words, counted with it."""

    text: str
    spans: tuple[Span, ...]
    obligation: bool
    repeats: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedSentence:
    """A sentence of the answer as it was scored. ``spans`` are characters of the answer: where it stands first, then
    its repetitions. ``support`` is the source sentence that entails it most, ``conflict`` the one that contradicts it
    most; None without sources."""

    text: str
    spans: tuple[tuple[int, int], ...]
    obligation: bool
    verdict: Verdict
    support: Match | None
    conflict: Match | None


@dataclass(frozen=True, slots=True)
class ExplainedObligation:
    """An obligation of the sources. ``by`` is the answer's sentence that entails it most of those ``asked``, with that
    ``probability``; None where no sentence may cover. Of a covered obligation not all sentences were asked."""

    source: int
    covered: bool
    by: int | None
    probability: float | None
    asked: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """One answer's scores with what they rest on.

    ``obligations`` has those not covered first, each part in the order of the sources; ``may_cover`` are the answer's
    sentences that may cover one. ``entails`` and ``contradicts`` have a row for each sentence of the answer and a
    column for each of the sources.
    """

    score: AnswerScore
    question: str
    answer: str
    passages: tuple[str, ...]
    ids: tuple[str, ...]
    sentences: tuple[ExplainedSentence, ...]
    sources: tuple[SourceSentence, ...]
    obligations: tuple[ExplainedObligation, ...]
    may_cover: tuple[int, ...]
    entails: Matrix
    contradicts: Matrix

    @property
    def uncovered(self) -> tuple[ExplainedObligation, ...]:
        """The obligations that no sentence of the answer covers."""
        return tuple(each for each in self.obligations if not each.covered)


def explain(working: Working, protocol: ScoringProtocol, split: Splitter) -> Explanation:
    """The explanation of an answer; ``split`` is the splitter that it was scored with."""
    item, parts = working.parts.item, working.parts
    entails, contradicts = working.entails.T, working.contradicts.T
    supports, conflicts = _matches(entails), _matches(contradicts)
    stands = _grouped(protocol, split, item.answer, len(parts.answers))
    return Explanation(
        working.score,
        item.question,
        item.answer,
        item.passages,
        item.ids or tuple(f"#{number}" for number in range(1, len(item.passages) + 1)),
        tuple(
            ExplainedSentence(
                text, stands[at], binds, verdict(supports[at], conflicts[at]), supports[at], conflicts[at]
            )
            for at, (text, binds) in enumerate(zip(parts.answers, parts.binding_answers, strict=True))
        ),
        _sources(working, protocol, split),
        _obligations(working, protocol),
        tuple(parts.may_cover(protocol)),
        entails,
        contradicts,
    )


def verdict(support: Match | None, conflict: Match | None) -> Verdict:
    """Supported, contradicted, both or neither: what is more likely than not."""
    entailed = support is not None and support.probability > LIKELY
    denied = conflict is not None and conflict.probability > LIKELY
    if entailed:
        return "both" if denied else "supported"
    return "contradicted" if denied else "neither"


def _matches(rows: Matrix) -> list[Match | None]:
    """The highest value of each row and where it is, the first of equal ones; None for an empty row."""
    if not rows.shape[1]:
        return [None] * len(rows)
    return [Match(int(at), float(row[at])) for row, at in zip(rows, rows.argmax(axis=1), strict=True)]


def _grouped(protocol: ScoringProtocol, split: Splitter, text: str, count: int) -> list[tuple[tuple[int, int], ...]]:
    """Where each sentence that counts stands in a text."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for place, span in zip(places(protocol, split.split(text)), split.spans(text), strict=True):
        if place is not None:
            found[place].append(span)
    return [tuple(spans) for spans in found]


def _sources(working: Working, protocol: ScoringProtocol, split: Splitter) -> tuple[SourceSentence, ...]:
    parts, passages = working.parts, working.parts.item.passages
    if protocol.joined:
        joined = " ".join(passages)
        stands = [_pieces(span, passages) for span in split.spans(joined)]
        told = split.split(joined)
    else:
        stands = [(Span(at, *span),) for at, text in enumerate(passages) for span in split.spans(text)]
        told = [sentence for text in passages for sentence in split.split(text)]
    found: dict[int, SourceSentence] = {}
    for place, spans in zip(places(protocol, told), stands, strict=True):
        if place is None:
            continue
        if place in found:
            found[place] = replace(found[place], repeats=(*found[place].repeats, *spans))
        else:
            found[place] = SourceSentence(parts.sources[place], spans, parts.binding_sources[place])
    return tuple(found.values())


def _pieces(span: tuple[int, int], passages: Sequence[str]) -> tuple[Span, ...]:
    """A stretch of the passages joined with a space as stretches of each."""
    starts = [0, *accumulate(len(text) + 1 for text in passages)]
    first, last = bisect_right(starts, span[0]) - 1, bisect_right(starts, span[1] - 1) - 1
    pieces = [
        Span(at, max(span[0] - starts[at], 0), min(span[1] - starts[at], len(passages[at])))
        for at in range(first, last + 1)
    ]
    return tuple(piece for piece in pieces if piece.start < piece.end)


def _obligations(working: Working, protocol: ScoringProtocol) -> tuple[ExplainedObligation, ...]:
    candidates = working.parts.may_cover(protocol)
    found = []
    for column, source in enumerate(working.parts.obligations):
        asked = np.flatnonzero(working.asked[:, column])
        values = working.covers[asked, column]
        best = int(values.argmax()) if len(values) else None
        by, probability = (None, None) if best is None else (candidates[asked[best]], float(values[best]))
        covered = probability is not None and probability > THRESHOLD
        found.append(ExplainedObligation(source, covered, by, probability, tuple(candidates[at] for at in asked)))
    return tuple(sorted(found, key=lambda each: each.covered))


def weightiest(explanation: Explanation, most: int) -> list[int]:
    """The source sentences that say most about the answer, in their order: the ``most`` with the highest probability of
    entailing or contradicting one of its sentences; of equal ones the first."""
    weights = np.maximum(strongest(explanation.entails), strongest(explanation.contradicts))
    return sorted(int(at) for at in np.argsort(-weights, kind="stable")[:most])
