"""The verified answer: a language model writes sentences with citations, and what these do not support is not said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from responsa.analysis import Idf
from responsa.answer.extractive import Extractive
from responsa.answer.generators.base import AnswerFailed, Failed, Generator, Task, Traced, traced
from responsa.answer.generators.sources import Source, kept_passages, of_passages
from responsa.answer.ground import Checked, Contradiction, EntailmentCheck, LeftOut, Place
from responsa.answer.verified import words as lex
from responsa.answer.verified.check import Claim, Reader, Span, Verdict, check
from responsa.answer.verified.draft import Given, draft, repair
from responsa.answer.verified.injected import addressed
from responsa.answer.verified.units import Unit
from responsa.checkers import RULES, detector_name, load_detector, load_entailment
from responsa.corpus.tree import items, leads_in
from responsa.corpus.view import Corpus
from responsa.entailment import EntailmentModel
from responsa.errors import ModelError, RecipeError
from responsa.text import folded, tidy
from responsa.types import Answer, AnswerSentence, Call, Citation, ObligationDetector, Query, Ranking

NOT_ANSWERED = "The passages found do not answer this question, as the language model that read them says."
NEAREST = 3  # passages shown where nothing answers the question
_ITEMS = 20  # items that a lead-in brings
_ALIKE = 0.4  # Jaccard's index of two sentences that may speak of the same
_ASKED = 12  # pairs of sentences of different passages that are asked about


class Withheld(NamedTuple):
    """A sentence that is not said. ``cites`` are the passages it cited, or what it cited instead; ``rewritten`` is what
    the model made of it when told why it failed, "" where it left it out; ``reasons`` are those of the last try."""

    text: str
    cites: tuple[str, ...]
    score: float
    reasons: tuple[str, ...]
    rewritten: str = ""


class Conflict(NamedTuple):
    """Sentences of two passages that seem to contradict one another."""

    first: Place
    second: Place
    probability: float


@dataclass(frozen=True, slots=True)
class VerifiedAnswer(Answer):
    """An answer with what is not in it. ``withheld``: sentences that were not supported; ``not_found``: parts of the
    question that the passages do not answer; ``conflicts`` between passages; ``contradictions`` and ``left_out`` as in
    `Checked`. ``fallback`` says why the answer is not the model's, but in the rules' own sentences."""

    withheld: tuple[Withheld, ...] = ()
    not_found: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    obligations: int = 0
    nli: str = ""
    detector: str = ""
    fallback: str = ""

    @property
    def checked(self) -> Checked | None:
        """The check in the form that other answers have; None where nothing was checked."""
        if not self.nli:
            return None
        return Checked(self, self.contradictions, self.left_out, self.obligations, self.nli, self.detector)


def of_model(made: Answer | Failed) -> Answer | Failed:
    """What the model made of a question: an answer that only stands in for its own is none, and `Failed`."""
    if isinstance(made, VerifiedAnswer) and made.fallback:
        return Failed(made.query, made.fallback, made.trace)
    return made


@dataclass(frozen=True)
class Verified(Generator):
    """A language model writes the answer sentence by sentence, each with the passages it cites; what these do not
    support is rewritten once (``repair``) and else withheld, with the reason. ``keep``: what ``nli`` says is cached.

    A sentence of theirs is supported. Any other has to pass rules on figures, time limits, duty and leave, negation,
    conditions and exceptions, who is bound, provisions and quotes; what they leave is weighed by the words it shares
    with what it cites and by ``nli``. ``obligations`` tells which obligations of the passages cited are left out.
    Passages that contradict one another with more than ``conflict`` both ways are shown.

    Where the model fails, answers in another language or says nothing that is supported, the answer is extractive and
    says so in its notes. Where it says that the passages do not answer the question, the answer abstains.
    """

    nli: str = "embedded:nli"
    obligations: str = "rules"
    repair: bool = True
    keep: bool = True
    conflict: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.conflict <= 1:
            raise RecipeError(f"verified: conflict from 0 to 1 is needed, got {self.conflict}")
        if self.obligations != RULES and ":" not in self.obligations:
            raise RecipeError(f"verified: obligations: {self.obligations!r} is neither {RULES} nor the name of a model")

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer:
        """The answer from the passages kept, best first; extractive where the model gives none."""
        withheld: tuple[Withheld, ...] = ()
        trace: tuple[Call, ...] = ()
        notes: tuple[str, ...] = ()
        try:
            found = self.fitted(Task(query, kept, confidence), corpus)
        except AnswerFailed as failure:
            reason, trace = str(failure), failure.trace
        except ModelError as failure:
            reason = str(failure)
        else:
            assert isinstance(found, VerifiedAnswer)
            if found.abstained or found.sentences:
                return found
            reason = "no sentence of the language model is supported by what it cites"
            trace, withheld, notes = found.trace, found.withheld, found.notes
        plain = Extractive()(query, kept, corpus, idf, confidence)
        told = f"in the rules' own sentences, because {reason}"
        return VerifiedAnswer(
            query, plain.text, plain.sentences, kept, confidence, trace=trace, notes=(told, *notes),
            withheld=withheld, fallback=reason,
        )  # fmt: skip

    def answer(self, task: Task, corpus: Corpus) -> VerifiedAnswer:
        """The answer, without a sentence where none is supported. AnswerFailed where the model gives no draft."""
        chat, reader = Traced(self.chat), Reader(corpus)
        sources = _given(task.kept, corpus)
        if not sources:
            raise AnswerFailed("the passages found hold no text")
        notes = _addressed(sources)
        claims, not_found, given, told = draft(self, chat, task.query, sources, reader)
        notes += told
        if not claims:
            nearest = Ranking(task.kept.query_id, task.kept.hits[:NEAREST], task.kept.scale)
            text = _missing(NOT_ANSWERED, not_found)
            return _traced(
                VerifiedAnswer(task.query, text, (), nearest, task.confidence, True, not_found=tuple(not_found)),
                chat,
                notes,
            )
        kept, withheld, told = self._judged(claims, given, chat, corpus)
        notes += told
        text, said = _composed(kept, not_found)
        made = VerifiedAnswer(
            task.query, text, said, task.kept, task.confidence, withheld=tuple(withheld), not_found=tuple(not_found)
        )
        dropped = list(dict.fromkeys(name for claim in claims for name in claim.unknown))
        if dropped:
            notes.append(f"citations of what was not given to the model, dropped: {', '.join(dropped)}")
        return _traced(self._completed(made, sources, reader, corpus), chat, notes)

    @cached_property
    def nli_model(self) -> EntailmentModel:
        """The model of entailment; looked up at its first use. NotFound and ModelError as from it."""
        return load_entailment(self.nli, self.keep)

    @cached_property
    def detector(self) -> ObligationDetector:
        """What tells obligations; looked up at its first use."""
        return load_detector(self.obligations, self.keep)

    def open(self) -> None:
        super().open()
        _ = self.nli_model, self.detector

    def _judged(
        self, claims: Sequence[Claim], given: Given, chat: Traced, corpus: Corpus
    ) -> tuple[list[tuple[Claim, Verdict]], list[Withheld], list[str]]:
        """What is kept, in the order of the draft, what is withheld, and notes."""
        found = list(zip(claims, check(claims, corpus, self.nli_model), strict=True))
        failed = [place for place, (_, verdict) in enumerate(found) if not verdict.supported]
        mended: dict[int, tuple[Claim, Verdict]] = {}
        notes: list[str] = []
        if failed and self.repair:
            new, notes = repair(self, chat, [(found[place][0], found[place][1].reasons) for place in failed], given)
            verdicts = check(list(new.values()), corpus, self.nli_model)
            mended = {
                failed[place]: (claim, verdict) for (place, claim), verdict in zip(new.items(), verdicts, strict=True)
            }
        kept, withheld = [], []
        for place, (claim, verdict) in enumerate(found):
            last, outcome = mended.get(place, (claim, verdict))
            if outcome.supported:
                kept.append((last, outcome))
            else:
                cites = tuple(dict.fromkeys([each.source.passage.id for each in claim.evidence] + list(claim.unknown)))
                again = last.text if place in mended else ""
                withheld.append(Withheld(claim.text, cites, outcome.score, outcome.reasons, again))
        return kept, withheld, notes

    def _completed(
        self, answer: VerifiedAnswer, sources: Sequence[Source], reader: Reader, corpus: Corpus
    ) -> VerifiedAnswer:
        """With what speaks against it and what it leaves out; the grounding of its sentences stays."""
        found = EntailmentCheck(self.nli, self.obligations)(
            answer, corpus, self.nli_model, self.detector, detector_name(self.obligations)
        )
        return replace(
            answer,
            conflicts=tuple(_conflicts(sources, reader, self.nli_model, self.conflict)),
            contradictions=found.contradictions,
            left_out=found.left_out,
            obligations=found.obligations,
            nli=found.nli,
            detector=found.detector,
        )


def _given(kept: Ranking, corpus: Corpus) -> list[Source]:
    """The passages kept, and behind them the items of those that are lead-ins."""
    sources = kept_passages(kept, corpus)
    known = {source.passage.id for source in sources}
    below = [
        item
        for source in sources
        if leads_in(source.passage)
        for item, _ in list(items(source.passage, corpus))[:_ITEMS]
    ]
    return sources + of_passages([each for each in dict.fromkeys(below) if each.id not in known], corpus)


def _addressed(sources: Sequence[Source]) -> list[str]:
    """A note where a passage holds words that give orders to a language model."""
    found = [source.label for source in sources if addressed(source.passage.text)]
    return [f"words addressed to a language model, taken for data, stand in {', '.join(found)}"] if found else []


def _composed(
    kept: Sequence[tuple[Claim, Verdict]], not_found: Sequence[str]
) -> tuple[str, tuple[AnswerSentence, ...]]:
    """A sentence a line, each wording once, with what it rests on; then what was not found."""
    text, said, seen = "", [], set[str]()
    labels = load_detector(RULES)([claim.text for claim, _ in kept])
    for (claim, verdict), label in zip(kept, labels, strict=True):
        if folded(claim.text) in seen:
            continue
        seen.add(folded(claim.text))
        text += "\n" if text else ""
        start, end = len(text), len(text) + len(claim.text)
        citations = tuple(_citation(span, start, end) for span in verdict.spans)
        said.append(AnswerSentence(claim.text, start, end, citations, label.label, verdict.score))
        text += " ".join([claim.text, *dict.fromkeys(span.source.label for span in verdict.spans)])
    return _missing(text, not_found), tuple(said)


def _citation(span: Span, start: int, end: int) -> Citation:
    return Citation(span.source.passage.id, span.source.version, span.start, span.end, start, end)


def _missing(text: str, not_found: Sequence[str]) -> str:
    return f"{text}\n\nNot answered by the passages found: {'; '.join(not_found)}" if not_found else text


def _traced(answer: VerifiedAnswer, chat: Traced, notes: Sequence[str]) -> VerifiedAnswer:
    made = traced(answer, chat, notes)
    assert isinstance(made, VerifiedAnswer)
    return made


def _conflicts(sources: Sequence[Source], reader: Reader, model: EntailmentModel, least: float) -> list[Conflict]:
    """Sentences of different passages that speak of the same and contradict one another, whichever is read first."""
    units = [(source, unit) for source in sources for unit in reader.units(source)]
    words = [frozenset(lex.content(unit.text)) for _, unit in units]
    pairs = []
    for first in range(len(units)):
        for second in range(first + 1, len(units)):
            if units[first][0].passage.id == units[second][0].passage.id or len(words[first] & words[second]) < 2:
                continue
            alike = len(words[first] & words[second]) / len(words[first] | words[second])
            same = folded(units[first][1].text) == folded(units[second][1].text)
            if alike >= _ALIKE and not same:
                pairs.append((-alike, first, second))
    nearest = sorted(pairs)[:_ASKED]
    asked = list(dict.fromkeys(
        pair
        for _, one, two in nearest
        for pair in ((units[one][1].text, units[two][1].text), (units[two][1].text, units[one][1].text))
    ))  # fmt: skip
    rows = dict(zip(asked, model(asked).tolist(), strict=True)) if asked else {}
    found = []
    for _, one, two in nearest:
        a, b = units[one][1].text, units[two][1].text
        chance = min(rows[a, b][2], rows[b, a][2])
        if chance > least:
            found.append(Conflict(_place(*units[one]), _place(*units[two]), chance))
    return sorted(found, key=lambda each: -each.probability)


def _place(source: Source, unit: Unit) -> Place:
    return Place(
        unit.passage_id, source.version, unit.start, unit.end, tidy(source.passage.text[unit.start : unit.end])
    )
