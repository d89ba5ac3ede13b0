"""One request to a language model through pydantic-ai, and what came of it in plain values.

The libraries never hold the key: they are made with a placeholder, and the key goes into the header of each request
as it leaves. Their errors, which hold requests and the requests the key, end here, where they are put into words.
All requests of the process run in one event loop, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import os
import queue
import re
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from responsa.models import keys
from responsa.models.chat import Chat, vendors
from responsa.models.checks import readable
from responsa.pacing import LONGEST_LIMIT, Clock, check_limit, retry_after

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.exceptions import ModelAPIError
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

Vendor = Literal["openai", "anthropic", "google", "server", "azure"]

_LEAKED = "the reply repeats the key and is not used"
_WINDOW = re.compile(
    r"context (?:length|size|window)\b\D{0,12}(\d[\d,]{2,8})\b"
    r"|> (\d[\d,]{2,8}) maximum"
    r"|tokens allowed \((\d[\d,]{2,8})",
    re.IGNORECASE,
)
_TAIL = 64  # characters of a stream that a key may have begun in


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request: ``text``, or the ``problem`` in words.

    ``again`` says whether it may pass, ``always`` whether every request meets it, ``busy`` whether the server has too
    much to do, ``wait`` how many seconds it asks for, ``window`` how many tokens it says that the model's window has.
    Tokens are counted where the server said them, also of a reply that cannot be used.
    """

    text: str = ""
    problem: str = ""
    again: bool = False
    always: bool = False
    busy: bool = False
    wait: float | None = None
    window: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0


class _Made:
    """What is made at the first request, and what is known of the server since."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.model: Model[Any] | None = None
        self.flying: set[Future[Outcome]] = set()
        self.answered = False
        self.refusal = ""


@dataclass(frozen=True)
class Wire:
    """Where a model is and how it is spoken to. ``variables`` may hold the key: the first that is set does."""

    vendor: Vendor
    model: str
    url: str
    variables: tuple[str, ...]
    key_required: bool = True
    api_version: str = ""
    timeout: float = 120.0
    patience: float = 120.0
    clock: Clock = field(default=Clock(), repr=False, compare=False)
    _made: _Made = field(default_factory=_Made, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("timeout", "patience"):
            check_limit(name, getattr(self, name), LONGEST_LIMIT)

    def prepare(self) -> None:
        """Load what the first request needs. ModelError without a key, MissingDependency without the library."""
        self._secret()
        self._model()

    def send(self, chat: Chat) -> Outcome:
        """Ask once and wait."""
        future = asyncio.run_coroutine_threadsafe(self._complete(self._model(), chat), _loop())
        with self._made.lock:
            self._made.flying.add(future)
        try:
            return future.result()
        finally:
            future.cancel()  # where the waiting was interrupted
            with self._made.lock:
                self._made.flying.discard(future)

    @property
    def refusal(self) -> str:
        """Why every request fails: the key or the model's name was refused before anything was answered. Else ""."""
        return self._made.refusal

    def cancel(self) -> None:
        """Give up every request that waits for its reply."""
        with self._made.lock:
            flying = list(self._made.flying)
        for future in flying:
            future.cancel()

    def stream(self, chat: Chat) -> Iterator[str | Outcome]:
        """Ask once: the pieces as they come, and at the end the outcome."""
        pieces: queue.SimpleQueue[str | Outcome] = queue.SimpleQueue()
        future = asyncio.run_coroutine_threadsafe(self._stream(self._model(), chat, pieces.put), _loop())
        try:
            while True:
                piece = pieces.get()
                yield piece
                if isinstance(piece, Outcome):
                    return
        finally:
            future.cancel()

    def _secret(self) -> str:
        """The key; empty where there is none and none is needed."""
        return keys.secret(vendors.variable(self.variables), self.url, self.key_required)

    def _held(self) -> str:
        """The same, or what there is in its place."""
        return os.environ.get(vendors.variable(self.variables), "").strip()

    def _shown(self, said: object) -> str:
        return keys.shown(str(said), self._held())

    async def _complete(self, model: Model[Any], chat: Chat) -> Outcome:
        from pydantic_ai.direct import model_request

        try:
            async with asyncio.timeout(self.timeout):
                settings, messages = self._settings(chat), _messages(chat)
                response = await model_request(model, messages, model_settings=settings, instrument=False)
            return self._noted(self._read(response))
        except Exception as error:
            return self._noted(self._failed(error))

    async def _stream(self, model: Model[Any], chat: Chat, put: Callable[[str | Outcome], None]) -> None:
        from pydantic_ai.direct import model_request_stream

        outcome = Outcome(problem="the stream was given up")
        try:
            async with asyncio.timeout(self.timeout):
                settings, messages = self._settings(chat), _messages(chat)
                async with model_request_stream(model, messages, model_settings=settings, instrument=False) as response:
                    tail = ""
                    async for event in response:
                        piece = _text(event)
                        tail = (tail + piece)[-len(piece) - _TAIL :]
                        if keys.leaks(tail, self._held()):
                            outcome = Outcome(problem=_LEAKED)
                            return
                        put(piece)
                    outcome = self._read(response.get())
        except Exception as error:
            outcome = self._failed(error)
        finally:
            put(self._noted(outcome))

    def _noted(self, outcome: Outcome) -> Outcome:
        """The outcome, after what it tells of the requests to come was kept."""
        with self._made.lock:
            self._made.answered |= bool(outcome.text)
            if self._made.answered or outcome.always:
                self._made.refusal = "" if self._made.answered else outcome.problem
        return outcome

    def _settings(self, chat: Chat) -> ModelSettings:
        # The library's own retries are off: those of two layers multiply.
        settings: ModelSettings = {"max_retries": 0, "timeout": self.timeout}
        wanted = chat.settings
        if wanted.temperature is not None:
            settings["temperature"] = wanted.temperature
        if wanted.top_p is not None:
            settings["top_p"] = wanted.top_p
        if wanted.max_tokens is not None:
            settings["max_tokens"] = wanted.max_tokens
        if wanted.seed is not None:
            settings["seed"] = wanted.seed
        return settings

    def _read(self, response: ModelResponse) -> Outcome:
        """The outcome of what the library took for a reply."""
        usage = response.usage
        counted = Outcome(tokens_in=usage.input_tokens, tokens_out=usage.output_tokens)
        text = readable(response.text or "")
        if response.finish_reason == "content_filter":
            said = self._shown((response.provider_details or {}).get("refusal", ""))
            return replace(counted, problem="the model refuses to answer" + (f": {said}" if said else ""))
        if response.finish_reason == "length":
            told = "the reply is over-long: it was cut at its greatest length"
            return replace(counted, problem=f"{told}; allow more tokens (max_tokens) or ask for less")
        if not text.strip():
            return replace(counted, problem="the reply is empty", again=True)
        if keys.leaks(text, self._held()):
            return replace(counted, problem=_LEAKED)
        return replace(counted, text=text)

    def _failed(self, error: Exception) -> Outcome:
        """The outcome of an error, in words that hold nothing of the request."""
        from pydantic_ai import exceptions

        if isinstance(error, TimeoutError | exceptions.ModelTimeoutError | exceptions.ModelRequestTimeout):
            if getattr(error, "phase", None) == "connect":
                told = f"no connection within {min(vendors.CONNECT, self.timeout):g} seconds"
                return Outcome(problem=f"{told}; is the server running, is the address right?", again=True)
            return Outcome(problem=f"no answer within {self.timeout:g} seconds", again=True)
        status = getattr(error, "status_code", None) or getattr(error.__cause__, "status_code", None)
        if isinstance(error, exceptions.ModelAPIError) and isinstance(status, int):
            return self._refused(error, status)
        said = self._shown(_reason(error))
        if isinstance(error, exceptions.ModelConnectionError):
            told = f"the connection failed: {said}; is the server running, is the address right?"
            return Outcome(problem=told, again=True)
        if isinstance(error, exceptions.ContentFilterError):
            return Outcome(problem=f"the model refuses to answer: {said}")
        if isinstance(error, exceptions.UserError):
            return Outcome(problem=f"the request cannot be made: {said}")
        if not isinstance(error, exceptions.AgentRunError | Warning):  # the library trips over what it did not expect
            said = "it has another shape than a reply of this API"
        return Outcome(problem=f"the reply cannot be used: {said}", again=True)

    def _refused(self, error: ModelAPIError, status: int) -> Outcome:
        from pydantic_ai import exceptions

        body = error.body
        told = body.get("message", body) if isinstance(body, dict) else body
        message = self._shown(told or "")
        said = f"status {status}" + (f": {message}" if message else "")
        if isinstance(error, exceptions.ModelQuotaExceededError):
            return Outcome(problem=f"the account's quota is used up ({said})")
        if status in (408, 409, 429) or status >= 500:
            headers = getattr(error, "headers", None) or {}
            wait = retry_after(headers.get("retry-after"), self.clock)
            wait = error.retry_after if wait is None else wait
            if wait is not None and wait > self.patience:
                return Outcome(problem=f"status {status}; it asks to wait {wait:.0f} seconds: try again then")
            told = f"{said}; try again later or set lower limits per minute"
            return Outcome(problem=told, again=True, busy=status in (429, 503, 529), wait=wait)
        if status in (401, 403):
            names = " or ".join(self.variables)
            has = "the key in" if self._held() else "a request without a key; set"
            told = f"refuses {has} the environment variable {names} (status {status})"
            return Outcome(problem=told, always=status == 401)  # 403 may be of this prompt alone
        if 300 <= status < 400:
            return Outcome(problem=f"sends on to another address (status {status}); give the final address")
        if status == 404:
            return Outcome(problem=f"{said}; check the address and the name of the model {self.model!r}", always=True)
        window = window_in(message)
        if window or isinstance(error, exceptions.ModelContextWindowExceededError):
            return Outcome(problem=f"the prompt is longer than the model's window ({said})", window=window)
        return Outcome(problem=f"the request was refused with {said}")

    def _model(self) -> Model[Any]:
        """The library's model with a client of its own, made at the first request and closed with this."""
        with self._made.lock:
            if self._made.model is None:
                client = vendors.client(self)
                self._made.model = vendors.make(self, client)
                weakref.finalize(self, _close, client).atexit = False  # the process ends them by itself
            return self._made.model


def _text(event: ModelResponseStreamEvent) -> str:
    """The text that an event of a stream brings."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return readable(event.part.content)
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return readable(event.delta.content_delta)
    return ""


def window_in(message: str) -> int | None:
    """How many tokens the model's window has, where a refusal says it: OpenAI, vLLM, llama.cpp, Anthropic, Google."""
    found = _WINDOW.search(message)
    return int(next(filter(None, found.groups())).replace(",", "")) or None if found else None


def _reason(error: BaseException) -> str:
    """What the error says; of a connection's, what the first cause says that says anything."""
    said = str(error)
    while said == "Connection error." and error.__cause__ is not None:
        error = error.__cause__
        said = str(error) or said
    return said or type(error).__name__


def _messages(chat: Chat) -> list[ModelMessage]:
    """The chat as the library writes it: system and user in requests, the assistant's turns between."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[ModelMessage] = []
    for message in chat.messages:
        text = readable(message.text)
        if message.role == "assistant":
            made.append(ModelResponse(parts=[TextPart(content=text)]))
            continue
        part = SystemPromptPart(content=text) if message.role == "system" else UserPromptPart(content=text)
        if made and isinstance(made[-1], ModelRequest):
            made[-1] = ModelRequest(parts=[*made[-1].parts, part])
        else:
            made.append(ModelRequest(parts=[part]))
    return made


class _Running:
    """The event loop of this process and the thread that runs it."""

    lock = threading.Lock()
    loop: asyncio.AbstractEventLoop | None = None
    process = 0


def _loop() -> asyncio.AbstractEventLoop:
    """Made at the first request, and again in a process that was forked: threads do not live on in it."""
    with _Running.lock:
        if _Running.loop is None or _Running.process != os.getpid():
            _Running.loop, _Running.process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_Running.loop.run_forever, name="responsa-chat", daemon=True).start()
        return _Running.loop


def _close(client: httpx2.AsyncClient) -> None:
    loop = _Running.loop
    if loop is not None and _Running.process == os.getpid() and not loop.is_closed():
        asyncio.run_coroutine_threadsafe(client.aclose(), loop)
