"""A chat model without a model: its replies come from a function, for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from responsa.errors import ModelError
from responsa.models.chat import Chat, ChatFailed, Progress, Reply
from responsa.models.chat.calls import begun, one_by_one


@dataclass(frozen=True)
class ScriptedChat:
    """``answer`` makes the text of each reply; where it raises `ModelError` or gives blank text, the chat fails.

    ``asked`` keeps every chat in the order asked. Tokens are counted as a quarter of the characters.
    """

    answer: Callable[[Chat], str]
    name: str = "scripted"
    window: int = 128_000
    asked: list[Chat] = field(default_factory=list, compare=False)

    def reply(self, chat: Chat) -> Reply:
        self.asked.append(chat)
        tokens = sum(len(message.text) for message in chat.messages) // 4
        call = replace(begun(chat, self.name, attempts=1), tokens_in=tokens)
        try:
            text = self.answer(chat)
        except ModelError as error:
            raise ChatFailed(str(error), call) from error
        if not text.strip():
            raise ChatFailed("the reply is empty", call)
        return Reply(text, replace(call, tokens_out=len(text) // 4))

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        return one_by_one(self.reply, chats, progress)

    def stream(self, chat: Chat) -> Iterator[str]:
        for word in self.reply(chat).text.split(" "):
            yield word + " "
