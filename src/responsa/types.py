"""The values that cross module boundaries. All are frozen; work is done by functions and stages on them.

A *document* is a rulebook or an act. What a reader finds in a file is an `Edition` of a document: its
passages in reading order, with the dates between which it is in force. The library keeps each edition as
a `Version`, named by the digest of its content, so that a `Citation` can always be read again.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, NamedTuple, Protocol

Kind = Literal["text", "heading", "guidance", "table", "figure"]
Label = Literal["obligation", "permission", "definition", "other"]
Scale = Literal["raw", "minmax", "probability"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page: page from 1, points from the top left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Passage:
    """One clause, paragraph or heading of a document: the unit that is searched and cited.

    ``id`` is unique in a library among the versions in force and stays the same from version to version.
    ``number`` is the clause number as printed and need not be unique. ``text`` is stored exactly as read;
    offsets of citations count its characters. It is empty (or blank) where the document has a bare
    heading. ``path`` holds the headings above the passage, outermost first.
    """

    id: str
    document_id: str
    number: str
    text: str
    title: str = ""
    parent_id: str | None = None
    path: tuple[str, ...] = ()
    kind: Kind = "text"
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a document's text. ``digest`` (sha256, hex) names its content.

    In force from ``valid_from`` to ``valid_to``, both inclusive; None means open.
    """

    document_id: str
    digest: str
    title: str = ""
    valid_from: date | None = None
    valid_to: date | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The file a version was read from, as it was then. ``mtime_ns`` as `os.stat` gives it."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Edition:
    """What a reader finds in a file: one document's passages in reading order."""

    document_id: str
    title: str
    passages: tuple[Passage, ...]
    valid_from: date | None = None
    valid_to: date | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question as asked. ``background`` is what the asker adds about the case; ``asked_on`` the day, where it is
    known."""

    id: str
    text: str
    background: str = ""
    asked_on: date | None = None

    @property
    def full_text(self) -> str:
        """Question and background, as search and the models that rank read them."""
        return f"{self.text} {self.background}".strip()


class Hit(NamedTuple):
    """A passage and its score for a query."""

    passage_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages found for one query, best first.

    Put in order by `Ranking.of` alone, which keeps the order that trec_eval reads: score descending as a 32-bit
    float, ties by passage id descending. ``scale`` says what the scores mean, so that a filter can refuse
    scores it was not made for: ``raw`` (any number), ``minmax`` (0 to 1 within the query), ``probability``.
    """

    query_id: str
    hits: tuple[Hit, ...]
    scale: Scale = "raw"

    @classmethod
    def of(
        cls, query_id: str, scores: Iterable[tuple[str, float]], scale: Scale = "raw", k: int | None = None
    ) -> Ranking:
        """Order (passage id, score) pairs; keep the first ``k``.

        ValueError for a score that is not finite and for a passage that comes twice.
        """
        pairs = list(scores)
        singles = array("f", [score for _, score in pairs])
        hits = []
        for (passage_id, score), single in zip(pairs, singles, strict=True):
            if not math.isfinite(single):
                raise ValueError(f"score {score!r} of passage {passage_id!r} for query {query_id!r} is not finite")
            hits.append(Hit(passage_id, single))
        if len({hit.passage_id for hit in hits}) < len(hits):
            raise ValueError(f"a passage comes twice in the ranking for query {query_id!r}")
        hits.sort(key=lambda hit: hit.passage_id, reverse=True)
        hits.sort(key=lambda hit: hit.score, reverse=True)
        return cls(query_id, tuple(hits[:k]), scale)


@dataclass(frozen=True, slots=True)
class Run:
    """Rankings of many queries by one system, keyed by query id, in the order asked.

    ``trace`` has the requests to a language model that a stage made, by query id, in the order sent.
    """

    name: str
    rankings: Mapping[str, Ranking]
    trace: Mapping[str, tuple[Call, ...]] = field(default_factory=dict, compare=False)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The requests of the trace, question after question."""
        return tuple(call for calls in self.trace.values() for call in calls)


@dataclass(frozen=True, slots=True)
class Judgement:
    """How relevant a passage is to a query; 0 is not relevant.

    Several ``alternatives`` count as one gold item: a printed number that names several passages, any of
    which may be meant. The first found is credited, once.
    """

    query_id: str
    passage_id: str
    grade: int = 1
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a stretch of an answer comes from.

    ``start`` and ``end`` are characters of the stored text of the passage in the version of that digest;
    ``answer_start`` and ``answer_end`` are characters of the answer's text.
    """

    passage_id: str
    version: str
    start: int
    end: int
    answer_start: int
    answer_end: int


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, at ``answer_start`` to ``answer_end`` of its text, with what it rests on.

    ``grounding`` is the support that the cited text gives it, from 0 to 1; None where it was not checked.
    """

    text: str
    answer_start: int
    answer_end: int
    citations: tuple[Citation, ...]
    label: Label = "other"
    grounding: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """What a trace keeps of a request to a language model: never its words.

    ``prompt`` is the digest of messages and settings. ``seconds`` is the model's own time, 0 from the cache; ``cost``
    in US dollars, None where no price is known; ``attempts`` the requests sent, 0 from the cache. ``error`` says why no
    reply came.
    """

    purpose: str
    model: str
    prompt: str
    seed: int | None = None
    repetition: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    cached: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A drafted answer. ``confidence`` (0 to 1) is how likely the library answers the question at all.

    Where ``abstained``, ``text`` says so, there are no sentences, and ``ranking`` holds the nearest passages.
    ``trace`` has the requests to a language model, in the order sent; none where no model wrote it. ``notes`` say what
    its reader should know of how it was made: passages left out, citations dropped, requests that failed.
    """

    query: Query
    text: str
    sentences: tuple[AnswerSentence, ...]
    ranking: Ranking
    confidence: float
    abstained: bool = False
    trace: tuple[Call, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detection:
    """What a sentence does. ``obligation`` is the probability that it binds somebody.

    ``soft`` marks guidance ("should", "expects") that does not bind, so that it can be counted either way.
    """

    label: Label
    obligation: float
    soft: bool = False


class ObligationDetector(Protocol):
    """Sorts sentences into obligation, permission, definition and other; one `Detection` each, in order."""

    def __call__(self, sentences: Sequence[str]) -> list[Detection]: ...


@dataclass(frozen=True, slots=True)
class Score:
    """One measure of one query. ``value`` is None where it could not be scored; ``reason`` says why."""

    query_id: str
    measure: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` queries with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int = field(default=0)
