"""What models of every kind share: what a trace keeps of a request before it is sent, and chats asked in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from responsa.models.chat import Chat, ChatFailed, Progress, Reply
from responsa.text import digest
from responsa.types import Call


def begun(chat: Chat, model: str, attempts: int = 0) -> Call:
    """The call of the chat to the model of that name, with nothing counted yet."""
    return Call(chat.purpose, model, digest(content(chat)), chat.settings.seed, chat.repetition, attempts=attempts)


def content(chat: Chat) -> list[object]:
    """Messages and settings as JSON values; a setting that is None is left out."""
    settings = {name: value for name, value in asdict(chat.settings).items() if value is not None}
    return [[[message.role, message.text] for message in chat.messages], settings]


def one_by_one(
    reply: Callable[[Chat], Reply], chats: Sequence[Chat], progress: Progress | None
) -> list[Reply | ChatFailed]:
    """The replies of a model that asks nobody and need not wait: in order, failures in their places."""
    made: list[Reply | ChatFailed] = []
    for chat in chats:
        try:
            made.append(reply(chat))
        except ChatFailed as failure:
            made.append(failure)
        if progress:
            progress(len(made), len(chats))
    return made


def spent(trace: Sequence[Call]) -> str:
    """Requests sent, tokens and cost in words; what came from the cache costs nothing."""
    paid = [call for call in trace if not call.cached]
    sent = sum(call.attempts for call in paid)
    tokens = sum(call.tokens_in + call.tokens_out for call in paid)
    costs = [call.cost for call in paid if call.cost is not None]
    price = f", {sum(costs):.4f} US dollars" if costs else ""
    return f"{sent:,} requests sent, {tokens:,} tokens{price}"
