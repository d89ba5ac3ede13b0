"""Answers chosen among several and then mended, by what RePASs measures (VRR: AUEB, section 4.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from responsa.answer.generators import said, sources
from responsa.answer.generators.base import AnswerFailed, Failed, Task, Traced, traced
from responsa.answer.generators.concatenated import Behaviour
from responsa.answer.generators.passages import CITE, Obligations, fitted, something
from responsa.answer.generators.said import Said
from responsa.answer.generators.sources import Source
from responsa.answer.generators.verifier import Against, Measured, Verifier, load_verifier
from responsa.corpus.view import Corpus
from responsa.entailment import PROTOCOLS
from responsa.errors import ModelError, NotFound, RecipeError
from responsa.models.chat import Chat, ChatFailed, Reply, Settings
from responsa.models.chat.fence import RULE, defused
from responsa.models.chat.threads import in_order, stopper
from responsa.text import folded, sentences
from responsa.types import Answer, Query

INSERT = (
    "You help with regulatory compliance. The answer below leaves out the obligations given. Work them into it: change "
    "sentences or add new ones until each of them is stated. Change nothing else, and write nothing that contradicts "
    "the answer or the obligations. Reply with the whole new answer alone."
)
EMPTIED = "the removal of contradictions left no sentence of the answer; the published program stops here"


@dataclass
class Draft:
    """An answer at work. ``text`` is its words, ``said`` its sentences; ``history`` has its words after each step."""

    task: Task
    chat: Traced
    given: list[Source]
    against: Against
    duties: dict[str, Source]
    notes: list[str]
    text: str = ""
    said: list[Said] = field(default_factory=list)
    measured: Measured | None = None
    dropped: list[str] = field(default_factory=list)
    history: list[tuple[str, str]] = field(default_factory=list)

    @property
    def now(self) -> Measured:
        """The score of the answer as it is."""
        assert self.measured is not None
        return self.measured

    def take(self, text: str, told: list[Said], measured: Measured, dropped: list[str] | None = None) -> None:
        """Go on with this answer."""
        self.text, self.said, self.measured = text, told, measured
        self.dropped = self.dropped if dropped is None else dropped

    def step(self, name: str) -> None:
        """Keep the answer's words under the name of a step."""
        self.history.append((name, self.text))


@dataclass(frozen=True)
class Vrr(Obligations):
    """A language model writes ``candidates`` answers from the obligations; the best by RePASs is kept and mended in
    ``rounds``: sentences that a passage contradicts are removed, obligations left out are inserted by the model (VRR:
    AUEB, section 4.5). One candidate and no rounds is an answer from obligations; no rounds is verification alone.

    What scores is named by ``verifier_nli``, ``verifier_coverage`` ("" is the same) and ``verifier_obligations``, with
    ``one_string`` for coverage read from one text; answers are then judged by other models.

    ``behaviour`` "corrected": a sentence goes where a passage contradicts it with more than ``conflict``, the worst
    first; every removal and every insertion is taken only where the score rises, the last sentence is never removed,
    and what changes nothing ends the rounds. It works for one question as for many. To be cheap, a sentence is compared
    with the ``nearest`` sentences of the passages, those that share most words with it; 0 is all of them.

    "published", as the code has it: the bar is the mean contradiction of all the questions' answers, taken once a round
    (of a question alone, its own mean); all above it go, except those that cover an obligation, with every copy of
    their words; what the model makes of the insertion is taken in any case; after the rounds the last question alone is
    cleared once more, by the bar of the last round; an answer emptied by this has failed.

    The settings of the model are as for `passages`, those of the obligations as for `obligations`.
    """

    temperature: float = 1.0
    cite: bool = False
    candidates: int = 5
    rounds: int = 3
    behaviour: Behaviour = "corrected"
    conflict: float = 0.5
    nearest: int = 10
    verifier_nli: str = "embedded:nli"
    verifier_coverage: str = ""
    verifier_obligations: str = "rules"
    one_string: bool = False

    def __post_init__(self) -> None:
        if self.candidates < 1 or min(self.rounds, self.nearest) < 0 or not 0 <= self.conflict <= 1:
            raise RecipeError(
                "candidates of at least 1, rounds and nearest of at least 0 and conflict from 0 to 1 are needed, got "
                f"{self.candidates}, {self.rounds}, {self.nearest} and {self.conflict}"
            )
        if self.cite and self.behaviour == "published":
            raise RecipeError("the published behaviour has no citations; leave out cite or behaviour")
        super().__post_init__()

    def open(self) -> None:
        """Look up the models."""
        super().open()
        _ = self.verifier

    @cached_property
    def verifier(self) -> Verifier:
        """What scores; its models are looked up at its first use."""
        if self.tools.verifier is not None:
            return self.tools.verifier
        protocol = PROTOCOLS["reference" if self.behaviour == "published" else "strict"]
        protocol = replace(protocol, one_string=self.one_string)
        found = load_verifier(self.verifier_nli, self.verifier_coverage, self.verifier_obligations, protocol)
        return found if self.behaviour == "published" else replace(found, nearest=self.nearest)

    @property
    def settings(self) -> Settings:
        """As published: nothing is cut from what may be said."""
        return replace(super().settings, top_p=1.0)

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The answer mended. AnswerFailed where no candidate came, or where it was emptied as published."""
        (found,) = self._run([task], corpus, 1)
        if isinstance(found, Failed):
            raise AnswerFailed(found.reason, found.trace)
        return self.finished(found)

    def many(self, tasks: Sequence[Task], corpus: Corpus, threads: int) -> list[Answer | Failed] | None:
        """The answers to many questions, whose rounds go together as published; None where each is by itself."""
        if self.behaviour == "corrected":
            return None
        return [each if isinstance(each, Failed) else self.finished(each) for each in self._run(tasks, corpus, threads)]

    def steps(
        self, tasks: Sequence[Task], corpus: Corpus, threads: int = 8
    ) -> list[tuple[Answer | Failed, list[tuple[str, str]]]]:
        """The answers with their words after each step (AUEB, table 7): none of a question that failed."""
        return [
            (each, []) if isinstance(each, Failed) else (self.finished(each), each.history)
            for each in self._run(tasks, corpus, threads)
        ]

    def finished(self, draft: Draft) -> Answer:
        """The answer of a draft."""
        published = self.behaviour == "published"
        told, dropped = said.read(draft.text, draft.given) if published else said.Read(draft.said, draft.dropped)
        query, kept, confidence = draft.task
        made = said.compose(query, told, draft.given, kept, confidence, draft.notes, labelled=self.cite)
        return traced(made, draft.chat, said.note(dropped))

    # --- steps

    def _run(self, tasks: Sequence[Task], corpus: Corpus, threads: int) -> list[Draft | Failed]:
        """The drafts after all steps. As published every question waits for the others at each step."""
        stop = stopper(self.chat)
        if self.behaviour == "corrected":
            return list(in_order(partial(self._whole, corpus=corpus), tasks, threads, stop))
        made = list(in_order(partial(self._begun, corpus=corpus), tasks, threads, stop))
        bar = 0.0
        for number in range(1, self.rounds + 1):
            bar = self._bar(made)
            made = list(in_order(partial(self._published, bar=bar, number=number), made, threads, stop))
        if made and self.rounds:
            made[-1] = _kept(made[-1], partial(_last, bar=bar))
        return made

    def _whole(self, task: Task, corpus: Corpus) -> Draft | Failed:
        made = self._begun(task, corpus)
        for number in range(1, self.rounds + 1):
            if isinstance(made, Failed):
                break
            before = made.text
            made = _kept(made, partial(self._corrected, number=number))
            if not isinstance(made, Failed) and made.text == before:
                break
        return made

    def _begun(self, task: Task, corpus: Corpus) -> Draft | Failed:
        """The best of the candidates."""
        chat = Traced(self.chat)
        try:
            passages = sources.kept_passages(task.kept, corpus)
            found = sources.obligations(passages, self.detector, self.fallback)
            given, notes = fitted(self, chat, self.asked(task.query, ()), something(found))
            parts = [part for passage in passages for part in sources.split(passage)]
            against = self.verifier.against([part.text for part in parts])
            duties: dict[str, Source] = {}
            for part in parts:
                duties.setdefault(folded(part.text), part)
            draft = Draft(task, chat, given, against, duties, notes)
            self._choose(draft, chat.replies(self._candidates(task.query, given)))
        except (ModelError, NotFound) as error:
            return Failed(task.query, str(error), tuple(chat.calls))
        return draft

    def _candidates(self, query: Query, given: Sequence[Source]) -> list[Chat]:
        asked = self.asked(query, given)
        return [
            replace(asked, settings=replace(asked.settings, seed=self.seed + number), repetition=number)
            for number in range(self.candidates)
        ]

    def _choose(self, draft: Draft, replies: Sequence[Reply | ChatFailed]) -> None:
        failures = [reply for reply in replies if isinstance(reply, ChatFailed)]
        made = [self._read(draft, reply.text) for reply in replies if isinstance(reply, Reply)]
        scored = [(text, told, _measure(draft, told), dropped) for text, told, dropped in made if told]
        if not scored:
            raise AnswerFailed(str(failures[0]) if failures else "no candidate holds a word", draft.chat.calls)
        if failures:
            draft.notes.append(f"{len(failures)} of {len(replies)} candidates failed: {failures[0]}")
        draft.take(*scored[0])
        draft.step("first candidate")
        draft.take(*max(scored, key=lambda each: each[2].score.composite))
        draft.step("verified")
        draft.against.only([each.text for each in draft.said])

    def _read(self, draft: Draft, reply: str) -> tuple[str, list[Said], list[str]]:
        """The words and sentences of a reply, and the citations dropped; as published no mark is read."""
        if self.behaviour == "published":
            return reply, _plain(reply), []
        found = said.read(reply, draft.given)
        return said.joined(found.said), found.said, found.dropped

    def _published(self, made: Draft | Failed, bar: float, number: int) -> Draft | Failed:
        def work(draft: Draft) -> None:
            _cleared(draft, bar)
            draft.step(f"contradictions removed, {number}")
            reply = self._inserted(draft, number)
            if reply is not None:
                text, told, _ = self._read(draft, reply)
                draft.take(text, told, _measure(draft, told))
            draft.step(f"obligations inserted, {number}")

        return _kept(made, work)

    def _bar(self, made: Sequence[Draft | Failed]) -> float:
        """The mean over questions of the mean over sentences, unrounded: equal ones are not above their mean."""
        found = [each.now.contradictions.tolist() for each in made if isinstance(each, Draft)]
        return math.fsum(math.fsum(row) / len(row) for row in found) / len(found) if found else 0.0

    def _corrected(self, draft: Draft, number: int) -> None:
        self._remove(draft)
        draft.step(f"contradictions removed, {number}")
        reply = self._inserted(draft, number)
        if reply is not None:
            text, told, dropped = self._read(draft, reply)
            measured = _measure(draft, told)
            if told and measured.score.composite > draft.now.score.composite:
                draft.take(text, told, measured, dropped)
        draft.step(f"obligations inserted, {number}")

    def _remove(self, draft: Draft) -> None:
        """Take out one sentence after the other, the most contradicted first, while the score rises."""
        refused: set[str] = set()
        while len(draft.said) > 1:
            worst = [
                place
                for place in np.argsort(-draft.now.contradictions, kind="stable").tolist()
                if draft.now.contradictions[place] > self.conflict and draft.said[place].text not in refused
            ]
            if not worst:
                return
            rest = _without(draft.said, worst[0])
            measured = _measure(draft, rest)
            if measured.score.composite > draft.now.score.composite:
                draft.take(said.joined(rest), rest, measured)
            else:
                refused.add(draft.said[worst[0]].text)

    def _inserted(self, draft: Draft, number: int) -> str | None:
        """The model's answer with the obligations that are missing; None where none is, or where it gives none."""
        places = [self._place(draft, draft.against.obligations[duty]) for duty in draft.now.missing]
        if not places:
            return None
        try:
            bare = self._insertion(draft, (), (), number)
            fits, notes = fitted(self, draft.chat, bare, [draft.given[place] for place in places])
            draft.notes += notes
            return draft.chat.reply(self._insertion(draft, fits, places[: len(fits)], number)).text if fits else None
        except (ChatFailed, AnswerFailed) as failure:
            draft.notes.append(f"obligations left out were not inserted: {failure}")
            return None

    def _insertion(self, draft: Draft, missing: Sequence[Source], places: Sequence[int], number: int) -> Chat:
        """The request to insert these obligations, which have these places among the sources given."""
        text = draft.text
        if self.cite:
            text = "".join(each.before + each.text + _mark(each.cites) for each in draft.said)
        shown = sources.shown(missing, [place + 1 for place in places])
        system = " ".join([INSERT, *([CITE] if self.cite else []), RULE])
        settings = replace(self.settings, seed=self.seed + number)
        user = f"Obligations:\n\n{shown}\n\nAnswer:\n{defused(text)}"
        return self.request("insert", system, user, settings=settings, repetition=number)

    @staticmethod
    def _place(draft: Draft, duty: str) -> int:
        """The place of an obligation among the sources given, where it is put if it is not there."""
        source = draft.duties[folded(duty)]
        for place, each in enumerate(draft.given):
            if (each.passage.id, each.start, each.end) == (source.passage.id, source.start, source.end):
                return place
        draft.given.append(replace(source, binds=True))
        return len(draft.given) - 1


def _plain(text: str) -> list[Said]:
    return [Said("", text[slice(*span)]) for span in sentences(text)]


def _measure(draft: Draft, told: Sequence[Said]) -> Measured:
    return draft.against([each.text for each in told])


def _mark(cites: Sequence[int]) -> str:
    return f" [{', '.join(str(place + 1) for place in cites)}]" if cites else ""


def _without(told: Sequence[Said], place: int) -> list[Said]:
    rest = [*told[:place], *told[place + 1 :]]
    return [rest[0]._replace(before=""), *rest[1:]]


def _kept(made: Draft | Failed, work: Callable[[Draft], None]) -> Draft | Failed:
    """The draft after the work, or why there is none."""
    if isinstance(made, Failed):
        return made
    try:
        work(made)
    except ModelError as error:
        return Failed(made.task.query, str(error), tuple(made.chat.calls))
    return made


def _last(draft: Draft, bar: float) -> None:
    _cleared(draft, bar)
    draft.step("contradictions removed, last")


def _cleared(draft: Draft, bar: float) -> None:
    """Remove as published: each sentence above the bar that covers nothing, and every copy of its words."""
    text = draft.text
    for each, against, covers in zip(draft.said, draft.now.contradictions, draft.now.covering, strict=True):
        if against > bar and not covers:
            text = text.replace(each.text, "")
    told = _plain(text)
    if not any(map(str.isalpha, "".join(each.text for each in told))):  # a mark such as "[1]" says nothing
        raise AnswerFailed(EMPTIED, draft.chat.calls)
    draft.take(text, told, _measure(draft, told))
