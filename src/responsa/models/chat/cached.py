"""A cache as a stage round a language model: what was answered is not paid for again."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from responsa.cache import Cache, key
from responsa.models.chat import Chat, ChatFailed, ChatModel, Progress, Reply
from responsa.models.chat.calls import begun, content
from responsa.models.chat.client import ApiChat, several
from responsa.models.chat.threads import stopper
from responsa.types import Call

VERSION = 1  # of what is stored here


class _Flying:
    """Requests on their way, by key."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.futures: dict[str, Future[Reply]] = {}


@dataclass(frozen=True)
class CachedChat:
    """A `ChatModel` that asks ``inner`` for what the cache does not know, and the same at the same time only once.

    The call of a reply from the cache says so: no attempts, no time; tokens and cost are those of the first time, so
    what was spent now is the cost of the calls that are not ``cached``. Failures are never kept.
    """

    inner: ChatModel
    cache: Cache
    _flying: _Flying = field(default_factory=_Flying, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def window(self) -> int:
        return self.inner.window

    def known(self, chats: Sequence[Chat]) -> list[Reply | None]:
        """What the cache has, in order; None for what would be asked."""
        chats = [self._complete(chat) for chat in chats]
        places = [self.place(chat) for chat in chats]
        stored = self.cache.get_many(places)
        return [self._stored(chat, stored.get(place, b"")) for chat, place in zip(chats, places, strict=True)]

    def reply(self, chat: Chat) -> Reply:
        return self.known([chat])[0] or self._asked(chat)

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        """In order; a failure stands in its place."""
        made: list[Reply | ChatFailed | None] = list(self.known(chats))
        missing = [place for place, reply in enumerate(made) if reply is None]
        known = len(made) - len(missing)

        def counted(done: int, _: int) -> None:
            if progress:
                progress(known + done, len(chats))

        if known:
            counted(0, 0)
        asked = self._several([chats[place] for place in missing], counted)
        for place, reply in zip(missing, asked, strict=True):
            made[place] = reply
        return [reply for reply in made if reply is not None]

    def stream(self, chat: Chat) -> Iterator[str]:
        """The pieces as they come; what the cache knows comes in one. Kept where it comes to its end."""
        known = self.known([chat])[0]
        if known is not None:
            yield known.text
            return
        chat = self._complete(chat)
        whole = yield from _returning(self.inner, chat)
        self._keep(self.place(chat), whole)

    def forget(self, chats: Sequence[Chat]) -> None:
        """Drop what the cache has for them: replies that turned out to be failures."""
        self.cache.drop_many(self.place(chat) for chat in chats)

    def cancel(self) -> None:
        """Give up every request that is on its way."""
        stopper(self.inner)()

    def check(self) -> None:
        """ModelError where the model can answer nothing but what the cache knows."""
        if isinstance(self.inner, ApiChat):
            self.inner.check()

    def _several(self, chats: Sequence[Chat], progress: Progress) -> list[Reply | ChatFailed]:
        threads = self.inner.threads if isinstance(self.inner, ApiChat) else 1
        return several(self._asked, chats, threads, progress, self.cancel)

    def _asked(self, chat: Chat) -> Reply:
        """Asked of the model, or the reply to the same request that is on its way."""
        chat = self._complete(chat)
        place = self.place(chat)
        with self._flying.lock:
            flying = self._flying.futures.get(place)
            first = flying is None
            future: Future[Reply] = flying if flying is not None else Future()
            self._flying.futures[place] = future
        if not first:
            return self._second(chat, future)
        try:
            # It may have come in since it was looked for.
            reply = self._stored(chat, self.cache.get_many([place]).get(place, b"")) or self.inner.reply(chat)
            self._keep(place, reply)
            future.set_result(reply)
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._flying.lock:
                del self._flying.futures[place]
        return reply

    def _second(self, chat: Chat, future: Future[Reply]) -> Reply:
        """The reply that another thread waits for; a failure is told again, with nothing paid a second time."""
        error = future.exception()
        if isinstance(error, ChatFailed):
            told = begun(chat, self.name)
            raise ChatFailed(str(error), replace(told, error=error.call.error))
        reply = future.result()
        return Reply(reply.text, self._again(chat, reply))

    def _again(self, chat: Chat, reply: Reply) -> Call:
        return replace(reply.call, purpose=chat.purpose, seconds=0.0, attempts=0, cached=True)

    def _complete(self, chat: Chat) -> Chat:
        return self.inner.complete(chat) if isinstance(self.inner, ApiChat) else chat

    def place(self, chat: Chat) -> str:
        """The key of the chat's reply."""
        chat = self._complete(chat)
        messages, settings = content(chat)
        fields = {"model": self.name, "messages": messages, "settings": settings, "repetition": chat.repetition}
        return key("chat", VERSION, fields)

    def _keep(self, place: str, reply: Reply) -> None:
        if reply.call.cached:
            return
        call = reply.call
        row = {"text": reply.text, "tokens_in": call.tokens_in, "tokens_out": call.tokens_out, "cost": call.cost}
        self.cache.put_many({place: json.dumps(row).encode()})

    def _stored(self, chat: Chat, value: bytes) -> Reply | None:
        """What `_keep` wrote; None for anything else."""
        try:
            row = json.loads(value)
            text, tokens_in, tokens_out, cost = (row[name] for name in ("text", "tokens_in", "tokens_out", "cost"))
        except (ValueError, TypeError, KeyError):
            return None
        whole = isinstance(tokens_in, int) and isinstance(tokens_out, int)
        if not (isinstance(text, str) and text.strip() and whole and isinstance(cost, float | int | None)):
            return None
        call = begun(chat, self.name)
        return Reply(text, replace(call, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost, cached=True))


def _returning(model: ChatModel, chat: Chat) -> Generator[str, None, Reply]:
    """The model's pieces, and their whole: with what it took where the model says so."""
    pieces: list[str] = []
    stream = model.stream(chat)
    while True:
        try:
            piece = next(stream)
        except StopIteration as end:
            if isinstance(end.value, Reply):
                return end.value
            return Reply("".join(pieces), begun(chat, model.name, attempts=1))
        pieces.append(piece)
        yield piece
