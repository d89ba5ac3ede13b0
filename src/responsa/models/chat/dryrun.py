"""What a run would send: a model that counts calls, tokens and cost, and sends nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from responsa.models.chat import Chat, ChatFailed, ChatModel, Progress, Reply
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.calls import begun, one_by_one
from responsa.models.chat.client import ApiChat
from responsa.models.chat.load import load_chat
from responsa.models.chat.window import size
from responsa.testing.replies import Asked, sensible
from responsa.types import Call

REPLY = 500  # tokens of a reply whose greatest length is not set


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be sent for one purpose. ``known`` calls are in the cache, or will be, and cost nothing again.

    Tokens and cost are those of the calls to be sent: of prompts nearly, of replies the most that is allowed, or 500.
    ``cost`` in US dollars, None where no price is known. ``failing`` prompts are longer than the window.
    """

    purpose: str
    calls: int = 0
    known: int = 0
    failing: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None


class Foreseen:
    """The requests that dry runs would send: what one of those that share it would ask, is known to the others. For
    several threads."""

    def __init__(self) -> None:
        self._places: set[str] = set()
        self._lock = threading.Lock()

    def again(self, place: str) -> bool:
        """Whether a request, by its place in the cache, was foreseen before; from now on it is."""
        with self._lock:
            before = place in self._places
            self._places.add(place)
        return before


@dataclass(frozen=True)
class DryRun:
    """A `ChatModel` that answers what the cache knows, and else with a placeholder: quotes, or JSON of the shape asked.

    Prompts that are made of replies are as near as the placeholders; what is asked again is not foreseen.
    """

    inner: ChatModel
    foreseen: Foreseen = field(default_factory=Foreseen, repr=False, compare=False)
    _calls: list[tuple[Call, str]] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def window(self) -> int:
        return self.inner.window

    def reply(self, chat: Chat) -> Reply:
        known = self.inner.known([chat])[0] if isinstance(self.inner, CachedChat) else None
        if known is not None:
            self._note(known.call, "known")
            return known
        repeated = isinstance(self.inner, CachedChat) and self.foreseen.again(self.inner.place(chat))
        api = self.inner.inner if isinstance(self.inner, CachedChat) else self.inner
        if isinstance(api, ApiChat):
            chat = api.complete(chat)
        call = replace(
            begun(chat, self.name), tokens_in=size(chat.messages), tokens_out=chat.settings.max_tokens or REPLY
        )
        if isinstance(api, ApiChat):
            try:
                api.fitting(chat, call)
            except ChatFailed:
                self._note(call, "failing")
                raise
            call = replace(call, cost=api.cost(call.tokens_in, call.tokens_out))
        self._note(call, "known" if repeated else "sent")
        asked = Asked(self.name, tuple((message.role, message.text) for message in chat.messages))
        return Reply(sensible(asked), call)

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        return one_by_one(self.reply, chats, progress)

    def stream(self, chat: Chat) -> Iterator[str]:
        yield self.reply(chat).text

    def planned(self) -> list[Planned]:
        """A row for each purpose, in the order first asked."""
        rows: dict[str, Planned] = {}
        with self._lock:
            calls = list(self._calls)
        for call, state in calls:
            row = rows.setdefault(call.purpose, Planned(call.purpose))
            sent = state == "sent"
            rows[call.purpose] = replace(
                row,
                calls=row.calls + sent,
                known=row.known + (state == "known"),
                failing=row.failing + (state == "failing"),
                tokens_in=row.tokens_in + sent * call.tokens_in,
                tokens_out=row.tokens_out + sent * call.tokens_out,
                cost=row.cost if not sent or call.cost is None else (row.cost or 0.0) + call.cost,
            )
        return list(rows.values())

    def _note(self, call: Call, state: str) -> None:
        with self._lock:
            self._calls.append((call, state))


@dataclass(frozen=True)
class DryRuns:
    """A dry run for each model that a system asks, made when its name first comes; what they would send as one plan.
    Without ``keep`` the cache is passed over. What ``foreseen`` has is known to them."""

    keep: bool = True
    made: dict[str, DryRun] = field(default_factory=dict)
    foreseen: Foreseen = field(default_factory=Foreseen)

    def __call__(self, name: str) -> DryRun:
        """The dry run of the model of that name, as for `load_chat`."""
        if name not in self.made:
            self.made[name] = DryRun(load_chat(name, self.keep), self.foreseen)
        return self.made[name]

    def planned(self) -> list[Planned]:
        """The rows of each model after those of the one before."""
        return [row for each in self.made.values() for row in each.planned()]
