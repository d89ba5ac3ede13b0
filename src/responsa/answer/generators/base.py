"""What the generators share: their model and its settings, the record of what it was asked, and how they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from responsa.analysis import Idf
from responsa.answer.examples import Example
from responsa.answer.generators.verifier import Verifier
from responsa.corpus.view import Corpus
from responsa.errors import ModelError, RecipeError
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Progress, Reply, Settings, forget
from responsa.types import Answer, Call, Query, Ranking

ExampleSelector = Callable[[Query], Sequence[Example]]
Implicit = Callable[[Query, ChatModel], Sequence[str]]


class Failed(NamedTuple):
    """A question that got no answer, why, and what was asked for it."""

    query: Query
    reason: str
    trace: tuple[Call, ...] = ()


class AnswerFailed(ModelError):
    """A question got no answer. ``trace`` has the requests that were made for it."""

    def __init__(self, message: str, trace: Sequence[Call] = ()) -> None:
        super().__init__(message)
        self.trace = tuple(trace)


class Task(NamedTuple):
    """A question to answer: the passages kept for it, best first, and how likely the library answers it."""

    query: Query
    kept: Ranking
    confidence: float


@dataclass(frozen=True)
class Tools:
    """What a caller in Python gives a generator; None is what its settings name.

    ``examples`` selects examples for a question, best first; ``implicit`` names provisions that a question means
    without citing them ("CRR Article 412"), asking the model that it is given; ``verifier`` scores answers.
    """

    chat: ChatModel | None = None
    examples: ExampleSelector | None = None
    implicit: Implicit | None = None
    verifier: Verifier | None = None


@dataclass
class Traced:
    """A chat model that keeps the call of every request, in the order sent. For one question: not for threads."""

    model: ChatModel
    calls: list[Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    @property
    def window(self) -> int:
        """The model's."""
        return self.model.window

    def reply(self, chat: Chat) -> Reply:
        """The model's reply. ChatFailed as from the model."""
        try:
            found = self.model.reply(chat)
        except ChatFailed as failure:
            self.calls.append(failure.call)
            raise
        self.calls.append(found.call)
        return found

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        """The model's replies, failures in their places."""
        found = self.model.replies(chats, progress)
        self.calls += [each.call for each in found]
        return found

    def forget(self, chats: Sequence[Chat]) -> None:
        """Have the model's cache, if it has one, drop the replies to them."""
        forget(self.model, chats)

    def stream(self, chat: Chat) -> Iterator[str]:
        """Refused: a stream has no call to keep."""
        raise NotImplementedError("a reply in pieces leaves no trace; ask for it whole")


@dataclass(frozen=True)
class Generator:
    """Settings of every generator. ``model`` "" is the one that RESPONSA_CHAT_MODEL names; a ``temperature`` below 0
    and ``max_tokens`` of 0 are left to the model."""

    model: str = ""
    temperature: float = 0.0
    max_tokens: int = 0
    seed: int = 0
    tools: Tools = field(default=Tools())

    def __post_init__(self) -> None:
        if self.temperature > 2 or self.max_tokens < 0:
            raise RecipeError(
                "temperature of at most 2 and max_tokens of at least 0 are needed, got "
                f"{self.temperature} and {self.max_tokens}"
            )

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer:  # noqa: ARG002
        """The answer from the passages kept, best first. AnswerFailed where there is none."""
        return self.fitted(Task(query, kept, confidence), corpus)

    def fitted(self, task: Task, corpus: Corpus) -> Answer:
        """`answer`, once more with less where it fails because the server says that the model's window is smaller than
        was assumed. AnswerFailed as there."""
        assumed = self.chat.window
        try:
            return self.answer(task, corpus)
        except (AnswerFailed, ChatFailed) as failure:
            if self.chat.window >= assumed:
                raise
            before = failure.trace if isinstance(failure, AnswerFailed) else (failure.call,)
        made = self.answer(task, corpus)
        return replace(made, trace=(*before, *made.trace))

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The answer to a question. AnswerFailed where there is none."""
        raise NotImplementedError

    @cached_property
    def chat(self) -> ChatModel:
        """The model; looked up at its first use."""
        if self.tools.chat is not None:
            return self.tools.chat
        from responsa.models.chat.load import load_chat

        return load_chat(self.model)

    def open(self) -> None:
        """Look up the models, so that what is wrong with their names shows before the first question."""
        _ = self.chat

    def check(self) -> None:
        """ModelError where no question can get an answer, because the model has no key, or the server refuses it."""
        check: Callable[[], None] = getattr(self.chat, "check", lambda: None)
        check()

    @property
    def settings(self) -> Settings:
        """As the model takes them."""
        temperature = self.temperature if self.temperature >= 0 else None
        return Settings(temperature, max_tokens=self.max_tokens or None, seed=self.seed)

    def request(
        self, purpose: str, system: str, user: str, *, settings: Settings | None = None, repetition: int = 0
    ) -> Chat:
        """A request of two messages."""
        messages = (Message("system", system), Message("user", user))
        return Chat(messages, settings or self.settings, purpose, repetition)

    def reserve(self, window: int) -> int:
        """Tokens of the model's window that are kept for its reply."""
        return self.max_tokens or min(4096, window // 4)


def traced(answer: Answer, chat: Traced, notes: Sequence[str] = ()) -> Answer:
    """The answer with what was asked for it, and with the notes behind its own."""
    return replace(answer, trace=tuple(chat.calls), notes=tuple(dict.fromkeys((*answer.notes, *notes))))
