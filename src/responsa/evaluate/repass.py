"""RePASs of a file of answers: sentences, obligations, probabilities and scores, question by question.

The work of many questions goes to the models together; the arithmetic is that of `responsa.entailment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from responsa.entailment import (
    THRESHOLD,
    Components,
    EntailmentModel,
    Matrix,
    Pair,
    ScoringProtocol,
    components,
    covered,
    order_of_trial,
    shared_words,
)
from responsa.errors import InputError
from responsa.evaluate.agreement import PairedComparison, bootstrap_mean, paired_test
from responsa.evaluate.gaming import Gaming, gaming
from responsa.evaluate.repass_files import SubmittedAnswer, repeated
from responsa.evaluate.repass_sentences import splitter
from responsa.text import folded, words
from responsa.types import Estimate, ObligationDetector

Unanswered = Literal["zero", "skip"]
Measure = Literal["entailment", "contradiction", "coverage", "composite"]
MEASURES: tuple[Measure, ...] = ("entailment", "contradiction", "coverage", "composite")
Progress = Callable[[int, int, str], None]

_GROUP = 100  # questions whose sentences go to the models together
_ROUND = 8  # pairs that are worth a run of the model together
_PAIRS = 4096  # pairs of sentences between two reports of progress


@dataclass(frozen=True)
class ScoringModels:
    """The models of one scoring: ``nli`` for entailment and contradiction, ``coverage`` for obligations, and what tells
    obligations, with its name for the record."""

    nli: EntailmentModel
    coverage: EntailmentModel
    detector: ObligationDetector
    detector_name: str


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One question's scores. ``contradiction`` is None for an unanswered question that counts as zero: what is not
    said contradicts nothing. ``coverage`` is None where the sources hold no obligation; ``reason`` tells each edge
    case.

    ``sentences`` counts those of the answer and of the sources, ``obligations`` those among them called obligations,
    ``covered`` the obligations of the sources that are covered.
    """

    id: str
    entailment: float
    contradiction: float | None
    coverage: float | None
    composite: float
    reason: str = ""
    sentences: tuple[int, int] = (0, 0)
    obligations: tuple[int, int] = (0, 0)
    covered: int = 0
    gaming: Gaming | None = None


@dataclass(frozen=True)
class Scored:
    """A file's scores in the file's order, and the record of what made them.

    ``unanswered`` maps each question without an answer to the reason; by ``policy`` they count as zero in ``scores`` or
    are left out. ``repeated`` are ids that come more than once; each of their answers is scored.
    """

    protocol: ScoringProtocol
    policy: Unanswered
    stamps: Mapping[str, str]
    scores: tuple[AnswerScore, ...]
    unanswered: Mapping[str, str]
    repeated: tuple[str, ...]


class Parts(NamedTuple):
    """An answer's sentences and its sources', each with what the detector said of it."""

    item: SubmittedAnswer
    sources: list[str]
    answers: list[str]
    binding_sources: list[bool]
    binding_answers: list[bool]

    @property
    def obligations(self) -> list[int]:
        """The places of the sources' obligations."""
        return [place for place, binds in enumerate(self.binding_sources) if binds]

    def may_cover(self, protocol: ScoringProtocol) -> list[int]:
        """The places of the answer's sentences that may cover an obligation."""
        return [place for place, binds in enumerate(self.binding_answers) if binds or not protocol.obligations_cover]


class Working(NamedTuple):
    """What an answer's score was made of. The matrices are as in `components`; ``asked`` says of each value of
    ``covers`` whether a model was asked: none is once an obligation is covered, and the value stays 0."""

    parts: Parts
    entails: Matrix
    contradicts: Matrix
    covers: Matrix
    asked: npt.NDArray[np.bool_]
    score: AnswerScore


def score_answers(
    items: Sequence[SubmittedAnswer],
    protocol: ScoringProtocol,
    models: ScoringModels,
    unanswered: Unanswered | None = None,
    progress: Progress = lambda _done, _total, _label: None,
    show: Callable[[Working], None] = lambda _working: None,
) -> Scored:
    """Score every answer. ``unanswered`` None: as the protocol has it. ``show`` is given the working of each answer in
    order, those without an answer left out.

    InputError for an id that comes twice, but by ``reference``, which scores each of its answers as the published
    script does.
    """
    twice, policy = repeated(items), unanswered or protocol.unanswered
    if twice and protocol.name != "reference":
        raise InputError(f"question id {twice[0]!r} comes more than once; keep one answer for each question")
    split = splitter(protocol.splitter)
    stamps = {
        "protocol": protocol.name,
        "unanswered": policy,
        "splitter": split.name,
        "nli": models.nli.name,
        "coverage": models.coverage.name,
        "obligations": models.detector_name,
    }
    answered = [item for item in items if not item.reason]
    scores: list[AnswerScore] = []
    for start in range(0, len(answered), _GROUP):
        group = answered[start : start + _GROUP]
        parts = list(_parts(group, protocol, split.split, models.detector))
        label = f"questions {start + 1}-{start + len(group)} of {len(answered)}"
        workings = _score(parts, protocol, models, lambda done, total, name=label: progress(done, total, name))  # type: ignore[misc]
        for working in workings:
            scores.append(working.score)
            show(working)
    missing = {item.id: item.reason for item in items if item.reason}
    made = iter(scores)
    listed = [_zero(item) if item.reason else next(made) for item in items if policy == "zero" or not item.reason]
    return Scored(protocol, policy, stamps, tuple(listed), missing, twice)


def means(scored: Scored, seed: int = 0) -> dict[Measure, Estimate]:
    """The mean of each measure with its 95 % bootstrap interval; a measure without a value is left out.

    A coverage of None counts as 0 in ``reference`` and ``paper``, as published, and is left out in ``strict``.
    """
    found = {name: [value for value in values(scored, name) if value is not None] for name in MEASURES}
    return {name: bootstrap_mean(row, seed) for name, row in found.items() if row}


def values(scored: Scored, measure: Measure) -> list[float | None]:
    """One measure of each score, in order; None where it has no value."""
    found = [cast("float | None", getattr(score, measure)) for score in scored.scores]
    if measure == "coverage" and not scored.protocol.once:
        return [0.0 if value is None else value for value in found]
    return found


def compare(first: Scored, second: Scored, seed: int = 0) -> dict[Measure, PairedComparison]:
    """First minus second on the questions that both score, by id; a measure that no question has in both is left out.

    InputError where the protocols, the handling of unanswered questions or the models differ, and where no id is
    common. Of a repeated id the first answer counts.
    """
    differing = [name for name in first.stamps if first.stamps[name] != second.stamps[name]]
    if differing:
        raise InputError(f"results differ in {', '.join(differing)}; score both files in the same way to compare them")
    found: dict[Measure, PairedComparison] = {}
    for measure in MEASURES:
        one, other = (_by_id(scored, measure) for scored in (first, second))
        both = [name for name in one if name in other]
        if both:
            found[measure] = paired_test([one[name] for name in both], [other[name] for name in both], seed)
    if not found:
        raise InputError("the two files have no scored question in common")
    return found


def _by_id(scored: Scored, measure: Measure) -> dict[str, float]:
    table: dict[str, float] = {}
    for score, value in zip(scored.scores, values(scored, measure), strict=True):
        if value is not None:
            table.setdefault(score.id, value)
    return table


def _zero(item: SubmittedAnswer) -> AnswerScore:
    return AnswerScore(item.id, 0.0, None, 0.0, 0.0, item.reason)


def _parts(
    items: Iterable[SubmittedAnswer],
    protocol: ScoringProtocol,
    split: Callable[[str], list[str]],
    detector: ObligationDetector,
) -> Iterator[Parts]:
    halves = [
        (
            item,
            _once(protocol, [s for text in _texts(item, protocol) for s in split(text)]),
            _once(protocol, split(item.answer)),
        )
        for item in items
    ]
    seen = list(dict.fromkeys(text for _, sources, answers in halves for text in (*sources, *answers)))
    binding = {text: found.label == "obligation" for text, found in zip(seen, detector(seen), strict=True)}
    for item, sources, answers in halves:
        yield Parts(item, sources, answers, [binding[text] for text in sources], [binding[text] for text in answers])


def _texts(item: SubmittedAnswer, protocol: ScoringProtocol) -> Sequence[str]:
    return [" ".join(item.passages)] if protocol.joined else item.passages


def places(protocol: ScoringProtocol, sentences: Sequence[str]) -> list[int | None]:
    """The place of each sentence among those that count; None for one that does not.

    By ``strict`` a sentence counts once, however it is written in capitals and spaces, and one without a letter not at
    all: twins have one place.
    """
    if not protocol.once:
        return list(range(len(sentences)))
    known: dict[str, int] = {}
    return [
        known.setdefault(folded(sentence), len(known)) if any(map(str.isalpha, sentence)) else None
        for sentence in sentences
    ]


def _once(protocol: ScoringProtocol, sentences: list[str]) -> list[str]:
    """The sentences that count, each as it comes first."""
    kept: dict[int, str] = {}
    for place, sentence in zip(places(protocol, sentences), sentences, strict=True):
        if place is not None:
            kept.setdefault(place, sentence)
    return list(kept.values())


def _score(
    parts: Sequence[Parts], protocol: ScoringProtocol, models: ScoringModels, progress: Callable[[int, int], None]
) -> Iterator[Working]:
    pairs = [(source, answer) for part in parts for source in part.sources for answer in part.answers]
    found = _asked(models.nli, pairs, progress)
    tasks = [
        ([part.answers[each] for each in part.may_cover(protocol)], [part.sources[each] for each in part.obligations])
        for part in parts
    ]
    place = 0
    for part, (cover, asked) in zip(parts, _covers(tasks, models.coverage), strict=True):
        shape = (len(part.sources), len(part.answers))
        rows = found[place : place + shape[0] * shape[1]]
        place += shape[0] * shape[1]
        entails, contradicts = rows[:, 0].reshape(shape), rows[:, 2].reshape(shape)
        score = _told(part, components(protocol, entails, contradicts, cover), int(covered(cover).sum()))
        yield Working(part, entails, contradicts, cover, asked, score)


def _asked(model: EntailmentModel, pairs: Sequence[Pair], progress: Callable[[int, int], None]) -> Matrix:
    """Shape (pairs, 3). Each different pair is asked once, similar lengths together."""
    unique = sorted(dict.fromkeys(pairs), key=lambda pair: -len(pair[0]) - len(pair[1]))
    known: dict[Pair, Matrix] = {}
    for start in range(0, len(unique), _PAIRS):
        block = unique[start : start + _PAIRS]
        known.update(zip(block, np.asarray(model(block), dtype=np.float64), strict=True))
        progress(len(known), len(unique))
    return np.stack([known[pair] for pair in pairs]) if pairs else np.zeros((0, 3))


def _covers(
    tasks: Sequence[tuple[list[str], list[str]]], model: EntailmentModel
) -> list[tuple[Matrix, npt.NDArray[np.bool_]]]:
    """For each (answer sentences, obligations) the probability that the sentence entails the obligation, shape
    (sentences, obligations), and whether that was asked.

    The sentences that share most words with an obligation are asked first, one in each round, those of all questions
    together; several where few obligations are left. Once one covers it, its other sentences are not asked and stay 0.
    """
    tables = [np.zeros((len(answers), len(obligations))) for answers, obligations in tasks]
    known = [np.zeros(table.shape, dtype=np.bool_) for table in tables]
    orders = []
    for answers, obligations in tasks:
        told = [[frozenset(words(text)) for text in texts] for texts in (answers, obligations)]
        orders.append(order_of_trial(shared_words(told[0], told[1])))
    first, size = 0, 1
    while True:
        open_places = [
            (task, int(row), column)
            for task, order in enumerate(orders)
            for column, rows in enumerate(order)
            if not (tables[task][:, column] > THRESHOLD).any()
            for row in rows[first : first + size]
        ]
        if not open_places:
            return list(zip(tables, known, strict=True))
        asked = [(tasks[task][0][row], tasks[task][1][column]) for task, row, column in open_places]
        for (task, row, column), found in zip(
            open_places, _asked(model, asked, lambda _done, _total: None), strict=True
        ):
            tables[task][row, column], known[task][row, column] = found[0], True
        left = sum(int((table.max(axis=0, initial=0.0) <= THRESHOLD).sum()) for table in tables)
        first, size = first + size, max(1, _ROUND // max(1, left))


def _told(part: Parts, made: Components, covered_count: int) -> AnswerScore:
    score = AnswerScore(
        part.item.id,
        made.entailment,
        made.contradiction,
        made.coverage,
        made.composite,
        made.reason,
        (len(part.answers), len(part.sources)),
        (sum(part.binding_answers), sum(part.binding_sources)),
        covered_count,
    )
    called = (part.binding_answers, part.binding_sources)
    beside = gaming(part.item.answer, part.item.passages, part.item.question, made.composite, called)
    return replace(score, gaming=beside)
