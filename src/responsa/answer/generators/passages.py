"""Answers from passages (RIRAG, section 5.2) or from their obligations alone (AUEB, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from responsa.answer.generators import said, sources
from responsa.answer.generators.base import AnswerFailed, Generator, Task, Traced, traced
from responsa.answer.generators.said import Read
from responsa.answer.generators.sources import Fallback, Source
from responsa.checkers import load_detector
from responsa.corpus.view import Corpus
from responsa.models.chat import Chat, ChatFailed
from responsa.models.chat.fence import RULE
from responsa.models.chat.window import size
from responsa.types import Answer, ObligationDetector, Query, Ranking

FROM_PASSAGES = (
    "You help with regulatory compliance. Answer the question in detail from the numbered passages. Work every "
    "obligation and every good practice that they state into the answer, address the question directly, and bring what "
    "the passages say together into one coherent text."
)
FROM_OBLIGATIONS = (
    "You help with regulatory compliance. Answer the question from the numbered obligations, briefly but with every "
    "detail that matters. State each of them outright; leave none out and leave none to be guessed. Add nothing that "
    "they do not say, and name a rule where they name one. Keep to their own terms and sentence structure as far as "
    "you can, so that the answer follows from them. The answer must be well ordered and must not contradict itself."
)
CITE = (
    "Behind each sentence cite what it rests on by its number in square brackets, such as [2] or [1, 3]. Cite nothing "
    "that was not given."
)


def prompt(generator: Generator, task: str, query: Query, given: Sequence[Source], *, cite: bool, heading: str) -> Chat:
    """The request for an answer to a question from sources."""
    system = " ".join([task, *([CITE] if cite else []), RULE])
    return generator.request("answer", system, f"{heading}:\n\n{sources.shown(given)}\n\n{asked(query)}")


def asked(query: Query, *, background: bool = True) -> str:
    """The question for a prompt, with what is known of the case."""
    known = f"\n\nBackground:\n{query.background}" if query.background and background else ""
    return f"Question:\n{query.text}{known}"


def fitted(generator: Generator, chat: Traced, empty: Chat, given: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """The sources that fit into the model's window beside the request without them, and notes on the others.

    AnswerFailed where the request alone does not fit.
    """
    budget = room(generator, chat, empty)
    if budget < 0:
        raise AnswerFailed(
            f"the question is too long for the model: its window has {chat.window:,} tokens, "
            f"{-budget:,} less than are needed; shorten the question or its background",
            chat.calls,
        )
    return sources.fitting(given, budget)


def room(generator: Generator, chat: Traced, empty: Chat) -> int:
    """Tokens that the model's window has for sources, beside the request without them and the reply; may be below 0."""
    return chat.window - generator.reserve(chat.window) - size(empty.messages)


def something(found: list[Source]) -> list[Source]:
    """The sources. AnswerFailed where there is none: a model would then answer from what it knows."""
    if not found:
        raise AnswerFailed("no passage kept has text: there is nothing to answer from")
    return found


def written(chat: Traced, request: Chat, given: Sequence[Source]) -> Read:
    """The model's reply, read. AnswerFailed with all that was asked where there is none, or no word in it."""
    try:
        reply = said.read(chat.reply(request).text, given)
    except ChatFailed as failure:
        raise AnswerFailed(str(failure), chat.calls) from failure
    if not reply.said:
        raise AnswerFailed(f"{chat.name}: the reply holds no word", chat.calls)
    return reply


@dataclass(frozen=True)
class Passages(Generator):
    """A language model answers from the passages kept (RIRAG, section 5.2). Which are kept is for [select].

    With ``cite`` it is asked to cite them by number; citations of what was not given are dropped. Passages that do not
    fit into the model's window are left out, the last first, and the answer's notes name them.

    ``model`` names a language model; where it is "" RESPONSA_CHAT_MODEL does. A ``temperature`` below 0 and
    ``max_tokens`` of 0 are left to the model.
    """

    cite: bool = True

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The answer from the passages kept, best first. AnswerFailed where the model gives none."""
        (query, kept, confidence), chat = task, Traced(self.chat)
        found = something(self.sources(kept, corpus))
        given, notes = fitted(self, chat, self.asked(query, ()), found)
        reply = written(chat, self.asked(query, given), given)
        made = said.compose(query, reply.said, given, kept, confidence, notes)
        return traced(made, chat, said.note(reply.dropped))

    def sources(self, kept: Ranking, corpus: Corpus) -> list[Source]:
        """What the model is given, best first."""
        return sources.kept_passages(kept, corpus)

    def asked(self, query: Query, given: Sequence[Source]) -> Chat:
        """The request."""
        return prompt(self, FROM_PASSAGES, query, given, cite=self.cite, heading="Passages")


@dataclass(frozen=True)
class Obligations(Passages):
    """A language model answers from the obligations of the passages kept (AUEB, section 4.2).

    ``obligations`` is what tells them: rules, or a classifier. A passage without one is given as it is; with
    ``fallback`` "question" passages are given only where none of them has one, as in the published code. ``tailored``
    asks with the prompt made for obligations, otherwise with that for passages. The other settings are as for
    `passages`.
    """

    obligations: str = "rules"
    fallback: Fallback = "passage"
    tailored: bool = True

    def open(self) -> None:
        """Look up the models."""
        super().open()
        _ = self.detector

    @cached_property
    def detector(self) -> ObligationDetector:
        """What tells obligations; a model is looked up at its first use."""
        return load_detector(self.obligations)

    def sources(self, kept: Ranking, corpus: Corpus) -> list[Source]:
        """The obligations, in the order of the passages."""
        return sources.obligations(sources.kept_passages(kept, corpus), self.detector, self.fallback)

    def asked(self, query: Query, given: Sequence[Source]) -> Chat:
        """The request."""
        if not self.tailored:
            return prompt(self, FROM_PASSAGES, query, given, cite=self.cite, heading="Passages")
        return prompt(self, FROM_OBLIGATIONS, query, given, cite=self.cite, heading="Obligations")
