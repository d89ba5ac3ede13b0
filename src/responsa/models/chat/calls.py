"""What a trace keeps of a request, before it is sent."""

from __future__ import annotations

from dataclasses import asdict

from responsa.models.chat import Chat
from responsa.text import digest
from responsa.types import Call


def begun(chat: Chat, model: str, attempts: int = 0) -> Call:
    """The call of the chat to the model of that name, with nothing counted yet."""
    return Call(chat.purpose, model, digest(content(chat)), chat.settings.seed, chat.repetition, attempts=attempts)


def content(chat: Chat) -> list[object]:
    """Messages and settings as JSON values; a setting that is None is left out."""
    settings = {name: value for name, value in asdict(chat.settings).items() if value is not None}
    return [[[message.role, message.text] for message in chat.messages], settings]
