"""Chat models behind one protocol: messages in, a reply with what it took out.

The values are all that the rest of the package knows of a language model. `load.load_chat` makes a model by name;
`structured.ask` reads replies as dataclasses; `responsa.testing` has a scripted model and a local server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from responsa.errors import ModelError
from responsa.types import Call

ChatRole = Literal["system", "user", "assistant"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation."""

    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What changes a reply; None leaves it to the model. ``max_tokens`` is the longest reply."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Chat:
    """A request. ``purpose`` names the prompt's work in traces ("answer", "judge") and never reaches the model.

    ``repetition`` tells requests that are the same on purpose apart: a sample each, also in the cache. ``attempts``
    is how often it may be sent at most, where that is less than the model's own limit.
    """

    messages: tuple[Message, ...]
    settings: Settings = field(default=Settings())
    purpose: str = ""
    repetition: int = 0
    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said. ``text`` is never blank: an empty reply, a refusal and a cut one are failures."""

    text: str
    call: Call


class ChatFailed(ModelError):
    """No usable reply. ``call`` is what was tried."""

    def __init__(self, message: str, call: Call) -> None:
        super().__init__(message)
        self.call = call


class ChatModel(Protocol):
    """A language model. Safe for threads; each call blocks."""

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int:
        """How many tokens prompt and reply may have together."""
        ...

    def reply(self, chat: Chat) -> Reply:
        """ChatFailed where no attempt gives a usable reply."""
        ...

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        """The replies in order, several at a time; a failure stands in its place and stops none of the others."""
        ...

    def stream(self, chat: Chat) -> Iterator[str]:
        """The reply in pieces as they come. ChatFailed where it breaks off."""
        ...


def forget(model: ChatModel, chats: Sequence[Chat]) -> None:
    """Have a model that keeps replies drop those to these chats; others keep none."""
    drop: Callable[[Sequence[Chat]], None] | None = getattr(model, "forget", None)
    if drop:
        drop(chats)
