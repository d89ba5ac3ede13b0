"""Answers to a bank's inquiries as a supervisory authority gives them (Bank of Italy, sections 2.2 to 2.4 and 4.2):
from the model's own knowledge, after examples, and with the provisions that bear on the inquiry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal

from responsa.answer.examples import Example, ExampleBank, Selection, filter_examples, read_examples
from responsa.answer.generators import said, sources
from responsa.answer.generators.base import Generator, Task, Traced, traced
from responsa.answer.generators.passages import CITE, asked, fitted, written
from responsa.answer.generators.provisions import Catalogue, catalogue
from responsa.answer.generators.sources import Source
from responsa.answer.implicit import implicit
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.models.chat import Chat, ChatFailed
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.window import fit, size
from responsa.text import normalise
from responsa.types import Answer, Passage, Query, Ranking

Unit = Literal["article", "passage"]

NO_EXAMPLES = "examples are needed: name a file of them with examples = 'FILE.jsonl' (multi-step: or set shots = 0)"
PLAIN = "Answer the question about regulation."
_READ = "Find out what is asked: its subject, the terms on which it turns, and the provisions that it names."
_CASE = "Read the background, and let the answer fit that case."
_LAW = "Decide which of the provisions given settle the question, and refer to each of them by its article."
_ONLY = "Rest the answer on what is given here alone."
_LIKE = "Keep to the manner of the examples: how they are built, their terms, and how much detail they give."
_WRITE = (
    "Write an answer that covers every part of the question, gives reasons, and says plainly what follows for whoever "
    "asks, in the sober tone of an authority."
)


@dataclass(frozen=True)
class Inquiry(Generator):
    """Settings of the three methods; `ZeroShot` tells what they mean."""

    role: bool = True
    steps: bool = True
    background: bool = True
    authority: str = "the supervisory authority"
    topic: str = ""
    acts: str = ""

    def system(self, *, shots: bool, law: bool, background: bool, cite: bool) -> str:
        """The instructions of a prompt with these parts."""
        parts = [PLAIN]
        if self.role:
            topic = f" about {self.topic}" if self.topic else ""
            acts = f" Most of them concern {self.acts}." if self.acts else ""
            parts = [f"You draft the answers of {self.authority} to inquiries{topic} from supervised firms.{acts}"]
        if self.steps:
            given = [(_READ, True), (_CASE, background), (_LAW, law), (_ONLY, law), (_LIKE, shots), (_WRITE, True)]
            steps = [text for text, wanted in given if wanted]
            parts.append("Go through these steps:\n" + "\n".join(f"{n}. {text}" for n, text in enumerate(steps, 1)))
            parts.append("Reply with the answer alone.")
        parts += [CITE] if cite else []
        parts += [RULE] if law or shots else []
        return "\n\n".join(parts)

    def asked(
        self,
        query: Query,
        examples: Sequence[Example] | None = None,
        given: Sequence[Source] | None = None,
        *,
        cite: bool = False,
    ) -> Chat:
        """The request with these examples and provisions. None for either leaves out what is said of them; an empty
        row is for measuring the request without them."""
        known, law = bool(query.background) and self.background, given is not None
        system = self.system(shots=examples is not None, law=law, background=known, cite=cite and law)
        parts = []
        if examples is not None:
            parts.append(f"Examples:\n\n{_fenced(examples, self._example)}")
        if given is not None:
            parts.append(f"Provisions:\n\n{sources.shown(given)}")
        parts.append(asked(query, background=self.background))
        return self.request("answer", system, "\n\n".join(parts))

    def _example(self, example: Example) -> str:
        known = f"\nBackground: {example.background}" if example.background and self.background else ""
        return f"Question: {example.question}{known}\nAnswer: {example.answer}"

    def fitting(
        self, empty: Chat, examples: Sequence[Example], chat: Traced, share: float
    ) -> tuple[list[Example], list[str]]:
        """The examples that fit into a share of what the request without them leaves of the model's window, and notes
        on the others."""
        room = int((chat.window - self.reserve(chat.window) - size(empty.messages)) * share)
        kept, dropped = fit(examples, max(room, 0), lambda each: _fenced([each], self._example))
        if not dropped:
            return kept, []
        names = ", ".join(each.id or normalise(each.question)[:60] for each in dropped)
        return kept, [f"examples left out, because the model's window ends: {names}"]


def _fenced(examples: Sequence[Example], text: Callable[[Example], str]) -> str:
    return fenced([(f"example {number}", text(each)) for number, each in enumerate(examples, 1)])


@dataclass(frozen=True)
class ZeroShot(Inquiry):
    """A language model answers from what it knows, without passages (Bank of Italy, section 4.2). No sentence is cited
    or grounded: a baseline, not advice.

    ``role`` has the model speak for ``authority``, on inquiries about ``topic`` under ``acts``; ``steps`` has it go
    through instructions step by step; ``background`` gives it what is known of the case. The settings of the model are
    as for `passages`.
    """

    def answer(self, task: Task, corpus: Corpus) -> Answer:  # noqa: ARG002
        """The answer. The passages kept are in its ranking, not in the prompt. AnswerFailed where there is none."""
        (query, kept, confidence), chat = task, Traced(self.chat)
        request = self.asked(query)
        fitted(self, chat, request, ())
        reply = written(chat, request, ())
        return traced(said.compose(query, reply.said, (), kept, confidence), chat, said.note(reply.dropped))


@dataclass(frozen=True)
class FewShot(Inquiry):
    """A language model answers after examples, without passages (Bank of Italy, section 4.2).

    ``examples`` is a file of JSON lines with id, question and answer, and if known background, topic and date. Of those
    on ``topic`` that are not the question itself ``shots`` are shown, chosen for likeness to it and variety; with
    ``example_filter`` the model leaves out those that it finds of no use. Where the day of the question is known, or
    the library is read as of a day, only examples published before it are shown; a caller in Python may give a
    selector. The other settings are as for `zero-shot`.
    """

    examples: str = ""
    shots: int = 5
    example_filter: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shots < 1:
            raise RecipeError(f"shots of at least 1 are needed, got {self.shots}")

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The answer. The passages kept are in its ranking, not in the prompt. AnswerFailed where there is none."""
        (query, kept, confidence), chat = task, Traced(self.chat)
        shots, notes = self.shown(query, query.asked_on or corpus.as_of, chat, self.asked(query, ()), 1.0)
        request = self.asked(query, shots or None)
        fitted(self, chat, request, ())
        reply = written(chat, request, ())
        return traced(said.compose(query, reply.said, (), kept, confidence, notes), chat, said.note(reply.dropped))

    def open(self) -> None:
        """Look up the model, and read the examples."""
        super().open()
        if self.examples and self.tools.examples is None:
            _ = self.bank
        elif self.shots and self.tools.examples is None:
            raise RecipeError(NO_EXAMPLES)

    @cached_property
    def bank(self) -> ExampleBank:
        """The examples in the file."""
        return ExampleBank(read_examples(Path(self.examples)), Selection(self.shots))

    def shown(
        self, query: Query, day: date | None, chat: Traced, empty: Chat, share: float
    ) -> tuple[list[Example], list[str]]:
        """The examples that the prompt has, and notes on those that it has not; see `fitting`."""
        found = list(self.selected(query, day))[: self.shots]
        if not found:
            return [], ["no example may be shown: all are of this question or too late"]
        if self.example_filter and found:
            found = list(filter_examples(chat, query, found).kept)
        return self.fitting(empty, found, chat, share)

    def selected(self, query: Query, day: date | None = None) -> Sequence[Example]:
        """The examples for a question, best first, those of the file from before the day. RecipeError where nothing
        gives any."""
        if self.tools.examples is not None:
            return self.tools.examples(query)
        if not self.examples:
            raise RecipeError(NO_EXAMPLES)
        return self.bank.select(query, day, self.topic)


@dataclass(frozen=True)
class MultiStep(FewShot):
    """A language model answers from the provisions that bear on an inquiry, after examples (Bank of Italy, section 2).

    It is given the provisions that the inquiry cites (``explicit``), those that it means without citing them
    (``implicit``, named by the model), and the ``top`` of those found; each once, in that order. With ``unit``
    "article" a provision of an EU act brings the whole of its article, and ``top`` counts articles. ``passages`` false
    leaves out those found, ``shots`` 0 the examples. Provisions that do not fit into the model's window are left out,
    the last first. At most ``most`` provisions are taken from the inquiry's own words. The other settings are as for
    `few-shot`.
    """

    shots: int = 5
    top: int = 5
    explicit: bool = True
    implicit: bool = True
    passages: bool = True
    unit: Unit = "article"
    most: int = 20
    cite: bool = True

    def __post_init__(self) -> None:
        if self.shots < 0 or self.top < 1 or self.most < 1:
            raise RecipeError(
                "shots of at least 0 and top and most of at least 1 are needed, got "
                f"{self.shots}, {self.top} and {self.most}"
            )
        Generator.__post_init__(self)

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The answer; its ranking has the provisions given, in their order. AnswerFailed where there is none."""
        (query, kept, confidence), chat = task, Traced(self.chat)
        empty = self.asked(query, (), ())
        shots, notes = self.shown(query, query.asked_on or corpus.as_of, chat, empty, 0.5) if self.shots else ([], [])
        found, more = self.gathered(query, kept, corpus, chat)
        given, left_out = fitted(self, chat, self.asked(query, shots or None, (), cite=self.cite), found)
        request = self.asked(query, shots or None, given or None, cite=self.cite)
        reply = written(chat, request, given)
        ranking = Ranking.of(query.id, [(source.passage.id, 1 / rank) for rank, source in enumerate(given, 1)])
        made = said.compose(query, reply.said, given, ranking, confidence, [*notes, *more, *left_out])
        return traced(made, chat, said.note(reply.dropped))

    def gathered(self, query: Query, kept: Ranking, corpus: Corpus, chat: Traced) -> tuple[list[Source], list[str]]:
        """The provisions for a question, each once, and notes on those that could not be had."""
        known, notes = catalogue(corpus), []
        query = query if self.background else replace(query, background="")
        own = known.cited(f"{query.text}\n{query.background}") if self.explicit else []
        if self.implicit:
            try:
                meant, invented = self._meant(query, known, corpus, chat)
                own += meant
                if invented:
                    named = ", ".join(each if len(each) <= 80 else f"{each[:79]}…" for each in invented)
                    notes.append(f"provisions that the model named and no act has: {named}")
            except ChatFailed as failure:
                notes.append(f"the provisions that the question does not name are not known: {failure}")
        own = list({passage.id: passage for passage in own}.values())
        if len(own) > self.most:
            notes.append(f"of {len(own)} provisions that the question names the first {self.most} were taken")
        units = self._units(own[: self.most], known, corpus)
        if self.passages:
            ranked = self._units(corpus.read(hit.passage_id for hit in kept.hits).values(), known, corpus)
            for key in list(ranked)[: self.top]:
                units.setdefault(key, ranked[key])
        return list(units.values()), notes

    def _meant(
        self, query: Query, known: Catalogue, corpus: Corpus, chat: Traced
    ) -> tuple[list[Passage], Sequence[str]]:
        """The provisions that a question means without citing them, and those that the model invented."""
        if self.tools.implicit is not None:
            return known.labelled(self.tools.implicit(query, chat)), ()
        found = implicit(chat, query, corpus)
        ids = [name for each in found.provisions if not each.explicit for name in each.passages]
        return list(corpus.read(ids).values()), found.invented

    def _units(self, passages: Iterable[Passage], known: Catalogue, corpus: Corpus) -> dict[str, Source]:
        """The sources by what they show: an article by its first passage."""
        units: dict[str, Source] = {}
        for passage in passages:
            whole = known.article(passage) if self.unit == "article" else [passage]
            cited = passage if passage.text.strip() else next(iter(whole), passage)
            for source in sources.of_passages([cited], corpus):
                key = whole[0].id if whole else cited.id
                units.setdefault(key, source if len(whole) < 2 else replace(source, text=_text(whole)))
        return units


def _text(article: Sequence[Passage]) -> str:
    return "\n".join(f"{passage.number}: {passage.text.strip()}" for passage in article)
