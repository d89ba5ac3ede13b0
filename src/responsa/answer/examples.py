"""Answered questions as examples for a prompt: those on the same topic, varied, and from before the question.

Bank of Italy, section 2.3: five examples of the topic show format, language and detail, and differ from one another.
What was published on the day of the question or later is never used, nor is the question itself or one much like it: an
example must not give the answer away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysis, Terms
from responsa.errors import InputError
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.structured import ask
from responsa.models.load import load_encoder
from responsa.storage import read_json_lines
from responsa.text import folded, words
from responsa.types import Call, Query

Floats = npt.NDArray[np.float64]
_ANALYSIS = Analysis(bigrams=False)
# Keys of the archive of the EBA's Q&A, and of a plain file.
_KEYS = {
    "id": ("id", "qa_id"),
    "question": ("question",),
    "answer": ("answer",),
    "background": ("background",),
    "topic": ("topic",),
    "date": ("date", "date_final_publishing_date_iso"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its official answer. ``date`` is the day on which the answer was published, None where nobody
    knows."""

    id: str
    question: str
    answer: str
    background: str = ""
    topic: str = ""
    date: date | None = None


def read_examples(path: Path) -> tuple[Example, ...]:
    """The examples in a JSONL file: ``id``, ``question``, ``answer`` and, if wanted, ``background``, ``topic`` and
    ``date``; or the archive of the EBA's Q&A, of which the date of publication counts.

    InputError names the line and the key of what cannot be used, and an id that is given twice.
    """
    found: dict[str, Example] = {}
    for place, row in read_json_lines(path):
        example = _example(row, place)
        if example.id in found:
            raise InputError(f"{place}: the id {example.id!r} is given twice; remove one")
        found[example.id] = example
    if not found:
        raise InputError(f"{path}: holds no example; write one a line, with id, question and answer")
    return tuple(found.values())


def _example(row: object, place: str) -> Example:
    if not isinstance(row, dict):
        raise InputError(f"{place}: expected an object, found {type(row).__name__}")
    values = {name: next((row[key] for key in keys if key in row), "") for name, keys in _KEYS.items()}
    values = {name: "" if value is None else value for name, value in values.items()}
    for name, value in values.items():
        if not isinstance(value, str) or (name in ("id", "question", "answer") and not value.strip()):
            raise InputError(f"{place}: {name!r} is {value!r}; expected text")
    try:
        day = date.fromisoformat(values["date"]) if values["date"] else None
    except ValueError as error:
        raise InputError(f"{place}: 'date' is {values['date']!r}; write it as 2020-01-31") from error
    given = {name: value.strip() for name, value in values.items() if name != "date"}
    return Example(**given, date=day)


@dataclass(frozen=True)
class Selection:
    """Which examples a question gets: maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    ``most`` examples; ``relevance`` (0 to 1) weighs likeness to the question against unlikeness to the examples already
    taken. Texts are compared by the vectors of ``encoder`` where one is named, else by their words weighted by idf over
    all the examples. Examples on the question's topic come first; those on others follow where the topic has too few
    (with ``other_topics``). A question as like as ``copy`` (Jaccard index of the words, 0 to 1) counts as the same one.
    """

    most: int = 5
    relevance: float = 0.5
    encoder: str = ""
    other_topics: bool = True
    copy: float = 0.6

    def __post_init__(self) -> None:
        if self.most < 1 or not 0 <= self.relevance <= 1 or not 0 < self.copy <= 1:
            raise InputError(
                "examples: most of at least 1, relevance from 0 to 1 and copy above 0 up to 1 are needed, got "
                f"{self.most}, {self.relevance} and {self.copy}"
            )


@dataclass(frozen=True)
class ExampleBank:
    """Examples to select from. Their texts are analysed or encoded once, at the first question."""

    examples: tuple[Example, ...]
    selection: Selection = field(default=Selection())

    def select(self, question: Query, on: date | None = None, topic: str = "") -> tuple[Example, ...]:
        """The examples for a question asked ``on`` a day, in the order taken; ties go to the lower id.

        With a day, examples without a date are left out, for they may be later. Without a topic all are alike on topic.
        """
        asked = frozenset(words(question.text))
        allowed = [
            place
            for place, each in enumerate(self.examples)
            if _may(each, question, on) and not _copies(self._asked[place], asked, self.selection.copy)
        ]
        allowed.sort(key=lambda place: self.examples[place].id)
        if not allowed:
            return ()
        near, vectors = self._likeness(question)
        wanted = folded(topic)
        same = [place for place in allowed if not wanted or folded(self.examples[place].topic) == wanted]
        others = [place for place in allowed if place not in set(same)] if self.selection.other_topics else []
        taken: list[int] = []
        for group in (same, others):
            self._take(taken, group, near, vectors)
        return tuple(self.examples[place] for place in taken)

    def selector(
        self, asked: Mapping[str, date] | None = None, topics: Mapping[str, str] | None = None
    ) -> Callable[[Query], tuple[Example, ...]]:
        """`select` for questions by id: the day on which each was asked and its topic, none where they are not told."""
        days, named = asked or {}, topics or {}
        return lambda question: self.select(question, days.get(question.id), named.get(question.id, ""))

    def _take(self, taken: list[int], group: Sequence[int], near: Floats, vectors: Floats) -> None:
        """Add examples of a group to those taken until there are enough; one much like another taken is left out."""
        left, relevance = list(group), self.selection.relevance
        while left and len(taken) < self.selection.most:
            alike = (vectors[left] @ vectors[taken].T).max(axis=1) if taken else np.zeros(len(left))
            # Rounded, so that equal texts tie whatever the order of summing was on this machine.
            values = np.round(relevance * near[left] - (1 - relevance) * np.maximum(alike, 0), 9)
            best = left.pop(int(np.argmax(values)))
            if not any(_copies(self._asked[best], self._asked[place], self.selection.copy) for place in taken):
                taken.append(best)

    def _likeness(self, question: Query) -> tuple[Floats, Floats]:
        """The cosine of each example to the question, and the examples as rows of length 1."""
        asked = question.full_text
        if self.selection.encoder:
            query = load_encoder(self.selection.encoder).encode([asked], "query").astype(np.float64)
            return self._vectors @ _unit(query)[0], self._vectors
        vocabulary, idf = self._terms
        return self._vectors @ _unit(_counts([asked], vocabulary) * idf)[0], self._vectors

    @cached_property
    def _asked(self) -> list[frozenset[str]]:
        """The words of each question."""
        return [frozenset(words(each.question)) for each in self.examples]

    @cached_property
    def _texts(self) -> list[str]:
        return [f"{each.question} {each.background}".strip() for each in self.examples]

    @cached_property
    def _terms(self) -> tuple[Terms, Floats]:
        """The words of the examples, sorted, and their idf: ln((n + 1) / (df + .5))."""
        own = [np.unique(each.words) for each in _ANALYSIS(self._texts)]
        vocabulary, df = np.unique(np.concatenate(own), return_counts=True)
        return vocabulary, np.log((len(own) + 1) / (df + 0.5))

    @cached_property
    def _vectors(self) -> Floats:
        if self.selection.encoder:
            encoded = load_encoder(self.selection.encoder).encode(self._texts, "passage")
            return _unit(encoded.astype(np.float64))
        vocabulary, idf = self._terms
        return _unit(_counts(self._texts, vocabulary) * idf)


def _counts(texts: Sequence[str], vocabulary: Terms) -> Floats:
    """1 + ln of how often each term of the vocabulary comes in each text, 0 where it does not."""
    counted = np.zeros((len(texts), len(vocabulary)))
    for row, analysed in enumerate(_ANALYSIS(texts)):
        terms, counts = np.unique(analysed.words, return_counts=True)
        column = np.searchsorted(vocabulary, terms)
        known = column < len(vocabulary)
        known[known] = vocabulary[column[known]] == terms[known]
        counted[row, column[known]] = 1 + np.log(counts[known])
    return counted


def _unit(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), dtype=np.float64)


def _may(example: Example, question: Query, on: date | None) -> bool:
    """Whether an example is not the question itself, and known to be from before the day."""
    return example.id != question.id and (on is None or (example.date is not None and example.date < on))


def is_copy(one: str, other: str, likeness: float = 0.6) -> bool:
    """Whether two questions share that much of their words (Jaccard index of the sets); blank texts are no copies."""
    return _copies(frozenset(words(one)), frozenset(words(other)), likeness)


def _copies(one: frozenset[str], other: frozenset[str], likeness: float) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) >= likeness * union


# The filter by a language model

_TASK = """\
You decide whether an answered question would help to answer another question about financial regulation. It helps if it
deals with the same provisions or the same matter, if its situation is close enough to the asker's for its reasoning to
carry over, and if it belongs to the same body of rules. It does not help merely because it shares a topic's name.
Compare the two first, in at most 60 words, and then say whether it helps."""
_SETTINGS = Settings(temperature=0.0)


@dataclass(frozen=True, slots=True)
class Usefulness:
    """How the example compares with the question, and then whether it helps."""

    reason: str
    helps: bool


@dataclass(frozen=True, slots=True)
class Filtered:
    """The examples that help. ``reasons`` has those of each example by id; ``unread`` are the ids without a readable
    reply, which are kept: a filter that fails filters nothing."""

    kept: tuple[Example, ...]
    reasons: Mapping[str, str]
    unread: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()


def filter_examples(
    model: ChatModel, question: Query, examples: Iterable[Example], settings: Settings = _SETTINGS
) -> Filtered:
    """Leave out the examples that a language model says do not help with the question: Bank of Italy, section 4.2.

    Each is asked about by itself, so that its verdict does not depend on the others.
    """
    given = tuple(examples)
    replies = ask(model, [filter_chat(question, each, settings) for each in given], Usefulness)
    kept, reasons, unread, calls = [], dict[str, str](), [], list[Call]()
    for example, reply in zip(given, replies, strict=True):
        if isinstance(reply, ChatFailed):
            unread.append(example.id)
            kept.append(example)
            reasons[example.id] = str(reply)
            calls.append(reply.call)
            continue
        calls += reply.calls
        reasons[example.id] = reply.value.reason
        if reply.value.helps:
            kept.append(example)
    return Filtered(tuple(kept), reasons, tuple(unread), tuple(calls))


def filter_chat(question: Query, example: Example, settings: Settings = _SETTINGS) -> Chat:
    """The request about one example."""
    texts = (
        ("question", question.text),
        ("background", question.background),
        ("example_question", example.question),
        ("example_background", example.background),
        ("example_answer", example.answer),
    )
    text = fenced([(name, each) for name, each in texts if each.strip()])
    return Chat((Message("system", f"{_TASK}\n\n{RULE}"), Message("user", text)), settings, "example-filter")
