"""A model server on this machine, for tests: real sockets, no model, faults on command.

    with LocalServer() as server:
        server.faults("429:1", "half")
        encoder = HttpEncoder(Service(server.url), "any-model")

The first two requests go wrong as told; what comes after is answered well. Vectors are made from the words
of a text and scores from the words that two texts share, so that what is similar comes out similar.
"""

from __future__ import annotations

import hashlib
import json
import math
import socket
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import cast

from responsa.errors import InputError, suggestion
from responsa.text import words

Json = dict[str, object]

HIDDEN = "***"
_SECRET_HEADERS = ("authorization", "api-key", "x-api-key", "cookie")

# What each service takes, beside the field that is required: others are refused, as the real ones do.
_FIELDS = {
    "/v1/embeddings": {"input", "model", "encoding_format", "dimensions", "user"},
    "/voyage/v1/embeddings": {"input", "model", "input_type", "truncation", "output_dimension"},
    "/v1/rerank": {"model", "query", "documents", "top_n", "return_documents"},
    "/voyage/v1/rerank": {"model", "query", "documents", "top_k", "return_documents", "truncation"},
}

FAULTS = {
    "slow": "answers well after SECONDS (slow:0.5)",
    "drop": "hangs up without an answer",
    "cut": "hangs up in the middle of the answer",
    "empty": "status 200 and an empty body",
    "garbage": "status 200 and a page of HTML",
    "null": "status 200 and the JSON value null",
    "half": "answers for the first half of the batch only",
    "twice": "answers for the first item twice and for the last one not at all",
    "no-index": "answers without saying which item is which",
    "shuffled": "answers well, in reverse order",
    "nan": "puts NaN into the first vector or score",
    "strings": "answers with words where numbers belong",
    "wrong-dimension": "leaves out the last number of each vector",
    "redirect": "status 307 to another host",
    "echo": "status 400; the body repeats the headers of the request, the key among them",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request that arrived. In ``headers`` (names in lower case) the value of a key is hidden."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False


class LocalServer:
    """Embeddings and reranking over HTTP at 127.0.0.1, from entering the ``with`` block to leaving it.

    ``url`` speaks as OpenAI does for embeddings and as Jina and Cohere do for reranking; ``voyage_url`` as
    Voyage does. With a ``key``, requests without it are refused (401). ``dimension`` is the length of the
    vectors unless a request asks for another. Requests are answered in parallel.
    """

    def __init__(self, *, dimension: int = 64, key: str | None = None) -> None:
        self.dimension = dimension
        self._key = key
        self._script: deque[tuple[str, str]] = deque()
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> LocalServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def voyage_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/voyage/v1"

    @property
    def requests(self) -> list[Request]:
        """What has arrived so far, in order."""
        with self._lock:
            return list(self._requests)

    def faults(self, *script: str) -> None:
        """Let the next requests go wrong, one word of the script each; words are added to those not yet used.

        A word is a status ("500"; "429:2" adds ``Retry-After: 2``, which may also be a date), "ok", or one
        of `FAULTS`. "500*3" is the same as "500", "500", "500".
        """
        parsed: list[tuple[str, str]] = []
        for word in script:
            spec, _, times = word.partition("*")
            name, _, argument = spec.partition(":")
            status = name.isdigit() and len(name) == 3
            if not (status or name == "ok" or name in FAULTS) or not (times or "1").isdigit():
                raise InputError(f"unknown fault {word!r}{suggestion(name, FAULTS)}; a status such as '503' is one too")
            parsed += [(name, argument)] * int(times or 1)
        with self._lock:
            self._script.extend(parsed)

    @property
    def pending(self) -> int:
        """How many words of the script are still to come."""
        with self._lock:
            return len(self._script)

    def reset(self) -> None:
        """Forget the requests and the rest of the script."""
        with self._lock:
            self._requests.clear()
            self._script.clear()

    def _take(self, request: Request) -> tuple[str, str]:
        with self._lock:
            self._requests.append(request)
            return self._script.popleft() if self._script else ("ok", "")

    def _answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> _Reply | None:
        """The reply; None to hang up."""
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        shown = {name: HIDDEN if name in _SECRET_HEADERS else value for name, value in headers.items()}
        name, argument = self._take(Request(path, shown, body if isinstance(body, dict) else {}))
        if name == "drop":
            return None
        if name == "slow":
            self._stopping.wait(float(argument or 1))
        early = _early_fault(name, argument, headers)
        if early is not None:
            return early
        if self._key is not None and headers.get("authorization") != f"Bearer {self._key}":
            return _error(401, "no valid key")
        if path not in _FIELDS:
            return _error(404, f"no service at {path}; known: {', '.join(_FIELDS)}")
        if not isinstance(body, dict):
            return _error(400, "the body is not a JSON object")
        try:
            reply = self._reply(path, body)
        except (TypeError, ValueError, KeyError) as error:
            return _error(400, f"bad request: {error}")
        return _spoil(name, reply)

    def _reply(self, path: str, body: Json) -> Json:
        unknown = sorted(set(body) - _FIELDS[path])
        if unknown:
            raise ValueError(f"unknown field {unknown[0]!r}")
        if path.endswith("/embeddings"):
            return self._embeddings(body)
        return _rerank(body, "data" if "voyage" in path else "results")

    def _embeddings(self, body: Json) -> Json:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        dimension = body.get("dimensions") or body.get("output_dimension") or self.dimension
        if not isinstance(dimension, int):
            raise TypeError("the dimension is not a number")
        role = {"query": "?", "document": "!"}.get(str(body.get("input_type")), "")
        rows = [
            {"object": "embedding", "index": index, "embedding": embed(role + text, dimension)}
            for index, text in enumerate(_texts(texts))
        ]
        return {"object": "list", "data": rows, "model": body["model"], "usage": {"total_tokens": 1}}


def embed(text: str, dimension: int) -> list[float]:
    """A vector of length 1: each word, and its capitals and punctuation a little, adds to a few numbers."""
    numbers = [0.0] * dimension
    for feature, weight in [*((word, 1.0) for word in words(text)), (f"={text}", 0.1)]:
        hashed = hashlib.sha256(feature.encode("utf-8", "replace")).digest()
        for place in (0, 5, 10):
            index = int.from_bytes(hashed[place : place + 4], "big") % dimension
            numbers[index] += weight if hashed[place + 4] % 2 else -weight
    length = math.sqrt(math.fsum(number * number for number in numbers))
    return [number / length for number in numbers] if length else [1.0] + [0.0] * (dimension - 1)


def relevance(query: str, document: str) -> float:
    """The share of the query's words that the document has, from 0 to 1; longer documents a little less."""
    asked, there = set(words(query)), words(document)
    return len(asked & set(there)) / (len(asked) + 0.001 * len(there)) if asked else 0.0


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise ValueError("expected a list of texts, none of them empty")
    return cast("list[str]", value)


def _rerank(body: Json, field: str) -> Json:
    query, documents = body["query"], _texts(body["documents"])
    if not isinstance(query, str) or not query:
        raise ValueError("the query is empty")
    scored = [{"index": index, "relevance_score": relevance(query, text)} for index, text in enumerate(documents)]
    scored.sort(key=lambda row: row["relevance_score"], reverse=True)
    return {field: scored, "model": body["model"], "usage": {"total_tokens": 1}}


def _error(status: int, message: str) -> _Reply:
    return _Reply(status, json.dumps({"error": {"message": message}}).encode())


def _early_fault(name: str, argument: str, headers: Mapping[str, str]) -> _Reply | None:
    """The replies that do not depend on what was asked."""
    if name.isdigit():
        after = (("Retry-After", argument),) if argument else ()
        return _Reply(int(name), _error(int(name), f"told to answer {name}").body, after)
    fixed = {
        "empty": _Reply(200, b""),
        "garbage": _Reply(200, b"<html><body>It works!</body></html>"),
        "null": _Reply(200, b"null"),
        "redirect": _Reply(307, b"", (("Location", "http://elsewhere.invalid/v1/embeddings"),)),
        "echo": _error(400, f"you sent {headers.get('authorization')!r} and {dict(headers)}"),
    }
    return fixed.get(name)


def _spoil(name: str, reply: Json) -> _Reply:
    """The reply, with the fault in it."""
    field = next(key for key in ("data", "results") if key in reply)
    rows = cast("list[Json]", reply[field])
    number = "embedding" if "embedding" in rows[0] else "relevance_score"
    spoilers: dict[str, Callable[[], list[Json]]] = {
        "half": lambda: rows[: len(rows) // 2],
        "twice": lambda: [*rows[:-1], rows[0]] if len(rows) > 1 else [rows[0], rows[0]],
        "no-index": lambda: [{key: value for key, value in row.items() if key != "index"} for row in rows],
        "shuffled": lambda: rows[::-1],
        "nan": lambda: [{**rows[0], number: _with_nan(rows[0][number])}, *rows[1:]],
        "strings": lambda: [{**row, number: "many"} for row in rows],
        "wrong-dimension": lambda: [{**row, number: _shorter(row[number])} for row in rows],
    }
    spoilt = {**reply, field: spoilers[name]()} if name in spoilers else reply
    body = json.dumps(spoilt).encode()
    return _Reply(200, body, cut=name == "cut")


def _with_nan(value: object) -> object:
    return [math.nan, *value[1:]] if isinstance(value, list) else math.nan


def _shorter(value: object) -> object:
    return value[:-1] if isinstance(value, list) else [value]


class _Server(ThreadingHTTPServer):
    """Knows its open connections, so that leaving the block ends them all and leaves no thread behind."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, owner: LocalServer) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: object, client_address: object) -> None:
        with self._guard:
            self._open.add(cast("socket.socket", request))
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def shutdown_request(self, request: object) -> None:
        with self._guard:
            self._open.discard(cast("socket.socket", request))
        super().shutdown_request(request)  # type: ignore[arg-type]

    def hang_up(self) -> None:
        """End every connection, so that the threads that wait for a next request return."""
        with self._guard:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # gone already

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up first is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one write for head and body
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.owner._answer(self.path, headers, raw)
        if reply is None:
            self.close_connection = True
            return
        self.send_response(reply.status, HTTPStatus(reply.status).phrase if reply.status in _STATUSES else "Error")
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
        self.wfile.flush()
        self.close_connection = self.close_connection or reply.cut

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: standard error belongs to the test."""


_STATUSES = {status.value for status in HTTPStatus}
