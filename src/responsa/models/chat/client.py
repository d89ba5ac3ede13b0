"""A language model behind an API: limits, retries, time-outs, tokens and money."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property

from responsa.errors import ModelError
from responsa.models.chat import Chat, ChatFailed, Progress, Reply, Settings, prices
from responsa.models.chat.calls import begun
from responsa.models.chat.threads import give_up
from responsa.models.chat.window import size
from responsa.models.chat.wire import Outcome, Wire
from responsa.models.tokens import estimate
from responsa.pacing import Clock, Pace, check_limit, pause
from responsa.types import Call

_SURE = 0.9  # of the window that a server tells: our count of tokens is near, not exact
_WINDOW = {"openai": 128_000, "anthropic": 200_000, "google": 1_000_000, "azure": 128_000, "server": 32_768}


@dataclass(frozen=True)
class ApiChat:
    """A `ChatModel` behind an API.

    At most ``threads`` requests run at once, however many threads ask, and together they keep to the limits per minute
    (None: no limit). What may pass (status 408, 429 and 5xx, time-outs, lost connections, streams cut off, replies that
    are empty or cannot be read) is sent ``attempts`` times in all; refusals and replies cut at their greatest length
    are not sent again, since the same comes back. A server that asks for a pause is given it, up to the wire's
    patience. ``settings`` go before those of a chat. ``price`` is in US dollars for a
    million tokens in and out; without it the price list says. ``told_window`` goes before the window of that list; a
    server that refuses a prompt and says that the window is smaller is believed from then on.
    """

    wire: Wire
    name: str
    settings: Settings = field(default=Settings())
    threads: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 3
    told_window: int | None = None
    price: tuple[float, float] | None = None
    clock: Clock = field(default=Clock(), repr=False, compare=False)
    _pace: Pace = field(init=False, repr=False, compare=False)
    _slots: threading.Semaphore = field(init=False, repr=False, compare=False)
    _learned: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("threads", "attempts", "requests_per_minute", "tokens_per_minute", "told_window"):
            check_limit(name, getattr(self, name))
        pace = Pace(self.requests_per_minute, self.tokens_per_minute, self.clock)
        object.__setattr__(self, "_pace", pace)
        object.__setattr__(self, "_slots", threading.Semaphore(self.threads))

    @property
    def window(self) -> int:
        return min(self._assumed, *self._learned) if self._learned else self._assumed

    @cached_property
    def _assumed(self) -> int:
        vendor = self.wire.vendor
        return self.told_window or prices.window(vendor, self.wire.model) or _WINDOW[vendor]

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """US dollars; None where no price is known."""
        return prices.cost(self.wire.vendor, self.wire.model, tokens_in, tokens_out, self.price)

    def complete(self, chat: Chat) -> Chat:
        """The chat with the settings that the model's name gives, which go before those of the prompt: a seed in
        place of none or 0, since others tell candidates apart; of two limits of a reply the lower."""
        asked, named = chat.settings, self.settings
        limits = [limit for limit in (asked.max_tokens, named.max_tokens) if limit is not None]
        settings = Settings(
            temperature=asked.temperature if named.temperature is None else named.temperature,
            top_p=asked.top_p if named.top_p is None else named.top_p,
            max_tokens=min(limits, default=None),
            seed=asked.seed if named.seed is None or asked.seed else named.seed,
        )
        return replace(chat, settings=settings)

    def reply(self, chat: Chat) -> Reply:
        chat = self.complete(chat)
        call = begun(chat, self.name)
        tokens = self.fitting(chat, call)
        limit = min(self.attempts, chat.attempts or self.attempts)
        while True:
            call, outcome = self._attempt(chat, call, tokens)
            if outcome.text:
                return Reply(outcome.text, call)
            if not outcome.again or call.attempts >= limit:
                raise self.failed(outcome.problem, call)
            self._rest(outcome, call.attempts)

    def replies(self, chats: Sequence[Chat], progress: Progress | None = None) -> list[Reply | ChatFailed]:
        """In order; a failure stands in its place."""
        return several(self.reply, chats, self.threads, progress, self.cancel)

    def cancel(self) -> None:
        """Give up every request that is on its way or waits for its turn."""
        self._pace.give_up()
        self.wire.cancel()

    def check(self) -> None:
        """ModelError where no request can succeed: there is no key, or the server has refused it, or does not know the
        model, and has answered nothing yet."""
        self.wire.prepare()
        if self.wire.refusal:
            raise ModelError(f"{self.name}: {self.wire.refusal}")

    def stream(self, chat: Chat) -> Generator[str, None, Reply]:
        """The pieces as they come, and as the generator's value the whole.

        What fails before the first piece is tried again; what breaks off later is not.
        """
        chat = self.complete(chat)
        call = begun(chat, self.name)
        tokens = self.fitting(chat, call)
        limit = min(self.attempts, chat.attempts or self.attempts)
        while True:
            started, outcome = False, Outcome()
            self._prepare(call)
            with self._slots:
                self._pace.turn(tokens)
                begin = self.clock.monotonic()
                for piece in self.wire.stream(chat):
                    if isinstance(piece, Outcome):
                        outcome = piece
                    elif piece:
                        started = True
                        yield piece
            call = self._counted(chat, call, outcome, self.clock.monotonic() - begin)
            if outcome.text:
                return Reply(outcome.text, call)
            if started or not outcome.again or call.attempts >= limit:
                raise self.failed(("it broke off: " if started else "") + outcome.problem, call)
            self._rest(outcome, call.attempts)

    def fitting(self, chat: Chat, call: Call) -> int:
        """Tokens of prompt and longest reply, nearly. ChatFailed where that is more than the window has."""
        prompt, reply = size(chat.messages), chat.settings.max_tokens or 0
        if prompt + reply >= self.window:
            told = f"{prompt:,} tokens" + (f" and a reply of up to {reply:,}" if reply else "")
            raise self.failed(
                f"the prompt is too long: about {told}, and the model's window has {self.window:,}; "
                "give fewer or shorter passages, or set window= in the model's name if it has more",
                call,
            )
        return prompt + reply

    def failed(self, problem: str, call: Call) -> ChatFailed:
        tried = f" (tried {call.attempts} times)" if call.attempts > 1 else ""
        return ChatFailed(f"{self.name}: {problem}{tried}", replace(call, error=problem))

    def _attempt(self, chat: Chat, call: Call, tokens: int) -> tuple[Call, Outcome]:
        """Ask once; the call with what that took."""
        self._prepare(call)
        with self._slots:
            self._pace.turn(tokens)
            begin = self.clock.monotonic()
            outcome = self.wire.send(chat)
            seconds = self.clock.monotonic() - begin
        return self._counted(chat, call, outcome, seconds), outcome

    def _prepare(self, call: Call) -> None:
        problem = ""
        try:
            self.wire.prepare()
        except ModelError as error:
            problem = str(error)
        if problem:  # no key: nothing is sent; raised here, since the error before holds what was no key
            raise self.failed(problem, call)

    def _counted(self, chat: Chat, call: Call, outcome: Outcome, seconds: float) -> Call:
        """The call with what an attempt took: tokens as the server says, or of a reply without them by our count."""
        if outcome.window:
            self._learned.append(int(outcome.window * _SURE))
        tokens_in, tokens_out = outcome.tokens_in, outcome.tokens_out
        if outcome.text and not tokens_in and not tokens_out:
            tokens_in, tokens_out = size(chat.messages), estimate(outcome.text)
        tokens_in, tokens_out = call.tokens_in + tokens_in, call.tokens_out + tokens_out
        return replace(
            call,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=self.cost(tokens_in, tokens_out),
            seconds=call.seconds + seconds,
            attempts=call.attempts + 1,
        )

    def _rest(self, outcome: Outcome, attempts: int) -> None:
        """Wait before the next attempt: all threads where the server is busy or says how long, else this one."""
        seconds = pause(attempts, self.clock) if outcome.wait is None else outcome.wait
        if outcome.busy or outcome.wait is not None:
            self._pace.hold(seconds)
        else:
            self._pace.sleep(seconds)


def several(
    reply: Callable[[Chat], Reply],
    chats: Sequence[Chat],
    threads: int,
    progress: Progress | None,
    stop: Callable[[], None],
) -> list[Reply | ChatFailed]:
    """The ``reply`` to each chat, ``threads`` at a time; in order, failures in their places.

    ``stop`` is called where it ends before its time, as by Ctrl-C, so that nobody waits for what is on its way.
    """

    def one(chat: Chat) -> Reply | ChatFailed:
        try:
            return reply(chat)
        except ChatFailed as failure:
            return failure

    pool = ThreadPoolExecutor(max(1, min(threads, len(chats))))
    futures = [pool.submit(one, chat) for chat in chats]
    try:
        for done, _ in enumerate(as_completed(futures), 1):
            if progress:
                progress(done, len(futures))
        return [future.result() for future in futures]
    finally:
        give_up(pool, futures, stop)
