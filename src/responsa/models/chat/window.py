"""Prompts that are longer than the model's window: what comes last by rank is left out, and said so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from responsa.models import tokens
from responsa.models.chat import Message

T = TypeVar("T")

_MESSAGE = 4  # tokens round a message, as most chat formats have them


def size(messages: Sequence[Message]) -> int:
    """Tokens of the messages, nearly: see `responsa.models.tokens`."""
    return sum(tokens.estimate(message.text) + _MESSAGE for message in messages)


def fit(best_first: Sequence[T], budget: int, text: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """(kept, dropped): the longest beginning of the list whose texts have at most ``budget`` tokens together.

    A part that does not fit ends it, even where a shorter one behind it would: none is shown before a better one.
    """
    left = budget
    for place, part in enumerate(best_first):
        left -= tokens.estimate(text(part)) + _MESSAGE
        if left < 0:
            return list(best_first[:place]), list(best_first[place:])
    return list(best_first), []
