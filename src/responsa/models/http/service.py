"""One request to an API: key, pace, retries, and errors that say what to do.

The key is read from the environment for each request and leaves it in one header only. Errors are raised
outside of ``except`` blocks: an exception of the HTTP library holds the request, and the request the key.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from responsa.errors import MissingDependency, ModelError
from responsa.models import keys
from responsa.pacing import LONGEST_LIMIT, Clock, Pace, check_limit, pause, retry_after

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
Item = TypeVar("Item")
Progress = Callable[[int, int], None]

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_LARGEST = 256 << 20  # bytes of a reply; 2,048 vectors of 3,072 numbers are about 130 MB of JSON


@dataclass(frozen=True)
class _Failure:
    """Why an attempt came to nothing. ``wait`` is what the server asked for, in seconds."""

    message: str
    again: bool = False
    wait: float | None = None


class _State:
    """What the requests of one service share: connections."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.client: httpx.Client | None = None


@dataclass(frozen=True)
class Service:
    """Where an API is and how to treat it.

    ``key`` names the environment variable that holds the key. A request carries at most ``batch_texts``
    texts and about ``batch_tokens`` tokens; ``threads`` requests run at once, and together they keep to the
    limits per minute (None: no limit). What may pass (status 408, 429 and 5xx, time-outs, lost connections,
    replies that cannot be used) is tried ``attempts`` times in all; a server that asks for a pause
    (``Retry-After``) of more than ``patience`` seconds is not waited for.
    """

    url: str
    key: str = "RESPONSA_API_KEY"
    key_required: bool = False
    batch_texts: int = 64
    batch_tokens: int = 50_000
    threads: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 60.0
    attempts: int = 3
    patience: float = 120.0
    clock: Clock = field(default=Clock(), repr=False, compare=False)
    _state: _State = field(default_factory=_State, init=False, repr=False, compare=False)
    _pace: Pace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keys.check_url(self.url)
        object.__setattr__(self, "url", self.url.rstrip("/"))
        keys.check_variable(self.key)
        limits = ("batch_texts", "batch_tokens", "threads", "attempts", "requests_per_minute", "tokens_per_minute")
        for name in limits:
            check_limit(name, getattr(self, name))
        for name in ("timeout", "patience"):
            check_limit(name, getattr(self, name), LONGEST_LIMIT)
        pace = Pace(self.requests_per_minute, self.tokens_per_minute, self.clock)
        object.__setattr__(self, "_pace", pace)

    def ask(self, path: str, payload: object, tokens: int, read: Callable[[object], T]) -> T:
        """POST the payload and return what ``read`` makes of the reply's JSON.

        ``read`` raises ValueError for a reply that cannot be used, in words that quote nothing of it.
        ModelError when no attempt succeeds.
        """
        body = json.dumps(payload, allow_nan=False).encode("ascii")
        attempt = 0
        while True:
            attempt += 1
            self._pace.turn(tokens)
            outcome = self._attempt(path, body, read)
            if not isinstance(outcome, _Failure):
                return outcome
            if not outcome.again or attempt >= self.attempts:
                tried = f" (tried {attempt} times)" if attempt > 1 else ""
                raise ModelError(f"{self.url}{path}: {outcome.message}{tried}")
            self._pace.hold(pause(attempt, self.clock) if outcome.wait is None else outcome.wait)

    def map(self, work: Callable[[Item], T], items: Sequence[Item], progress: Progress | None = None) -> list[T]:
        """``work`` on each item, ``threads`` at a time; the results in order. The first error ends it."""
        if self.threads == 1 or len(items) < 2:
            results = []
            for done, item in enumerate(items, 1):
                results.append(work(item))
                if progress:
                    progress(done, len(items))
            return results
        with ThreadPoolExecutor(min(self.threads, len(items))) as pool:
            futures = [pool.submit(work, item) for item in items]
            try:
                for done, future in enumerate(as_completed(futures), 1):
                    future.result()
                    if progress:
                        progress(done, len(items))
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        return [future.result() for future in futures]

    def _attempt(self, path: str, body: bytes, read: Callable[[object], T]) -> T | _Failure:
        client, secret = self._client(), self._secret()
        import httpx

        try:
            response, content = self._post(client, path, body, secret)
        except httpx.TimeoutException:
            return _Failure(f"no answer within {self.timeout:g} seconds", again=True)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            reason = keys.shown(str(error), secret) or type(error).__name__
            return _Failure(
                f"the connection failed: {reason}; is the server running, is the address right?", again=True
            )
        if response.status_code != 200:
            return self._refusal(response, content, secret)
        try:
            return read(json.loads(content))
        except (ValueError, RecursionError) as error:
            reason = "not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
            return _Failure(f"the reply cannot be used: {keys.shown(reason, secret)}", again=True)

    def _post(self, client: httpx.Client, path: str, body: bytes, secret: str) -> tuple[httpx.Response, bytes]:
        """The response and its body. The time-out holds for the whole, not for each piece that arrives."""
        import httpx

        headers = {"Content-Type": "application/json"}
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        deadline, content = time.monotonic() + self.timeout, bytearray()
        with client.stream("POST", self.url + path, content=body, headers=headers) as response:
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the reply comes too slowly")
                if len(content) > _LARGEST:
                    raise httpx.RemoteProtocolError(f"the reply is larger than {_LARGEST >> 20} MB")
        return response, bytes(content)

    def _refusal(self, response: httpx.Response, content: bytes, secret: str) -> _Failure:
        status = response.status_code
        message = keys.shown(keys.message(content), secret)
        told = f"status {status}" + (f": {message}" if message else "")
        if status in (408, 429) or status >= 500:
            wait = retry_after(response.headers.get("Retry-After"), self.clock)
            if wait is not None and wait > self.patience:
                return _Failure(f"status {status}; it asks to wait {wait:.0f} seconds: try again then")
            return _Failure(f"{told}; try again later or set lower limits per minute", again=True, wait=wait)
        if status in (401, 403):
            has = "the key in" if secret else "a request without a key; set"
            return _Failure(f"refuses {has} the environment variable {self.key} (status {status})")
        if 300 <= status < 400:
            return _Failure(f"sends on to another address (status {status}); give the final address")
        if status == 404:
            return _Failure(f"{told}; check the address and the name of the model")
        return _Failure(f"the request was refused with {told}")

    def _secret(self) -> str:
        """The key; empty where there is none and none is needed."""
        return keys.secret(self.key, self.url, self.key_required)

    def _client(self) -> httpx.Client:
        """The connections, made at the first request and closed with the service."""
        try:
            import httpx
        except ImportError as error:
            raise MissingDependency("a model behind an API", "llm") from error
        state = self._state
        with state.lock:
            if state.client is None:
                local = urlsplit(self.url).hostname in _LOOPBACK  # never through a proxy
                plain = local and self.url.startswith("http:")  # no certificates: loading them takes 25 ms
                # The library's own retries are 0 unless asked for: those of two layers multiply. No redirects:
                # they would carry the texts, and with some servers the key, to an address nobody chose.
                state.client = httpx.Client(
                    timeout=self.timeout,
                    trust_env=not local,
                    follow_redirects=False,
                    verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
                )
                weakref.finalize(state, state.client.close)
            return state.client
