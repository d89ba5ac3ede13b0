"""A server on 127.0.0.1 that records what arrives and goes wrong on command; what it answers, its heirs say."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, cast

from responsa.errors import InputError, suggestion

HIDDEN = "***"
SECRET_HEADERS = ("authorization", "api-key", "x-api-key", "cookie")


@dataclass(frozen=True, slots=True)
class Request:
    """A request that arrived. In ``headers`` (names in lower case) the value of a key is hidden."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered. With ``cut``, the connection ends in the middle of the body, or after so many bytes."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool | int = False


class Scripted:
    """Serves from entering the ``with`` block to leaving it, requests in parallel.

    ``faults`` are the words known; ``port`` 0 is a free one. Of the requests the last ``kept`` are recorded, None for
    all.
    """

    def __init__(self, faults: Mapping[str, str], port: int = 0, kept: int | None = None) -> None:
        self._known = faults
        self._script: deque[tuple[str, str]] = deque()
        self._requests: deque[Request] = deque(maxlen=kept)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
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
    def address(self) -> str:
        """The address of the server without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> list[Request]:
        """What has arrived so far, in order, as far as it is kept."""
        with self._lock:
            return list(self._requests)

    def faults(self, *script: str) -> None:
        """Let the next requests go wrong, one word of the script each; words are added to those not yet used.

        A word is a status ("500"; "429:2" adds ``Retry-After: 2``, which may also be a date), "ok", or one
        of the server's own. "500*3" is the same as "500", "500", "500".
        """
        parsed: list[tuple[str, str]] = []
        for word in script:
            spec, _, times = word.partition("*")
            name, _, argument = spec.partition(":")
            status = name.isdigit() and len(name) == 3
            if not (status or name == "ok" or name in self._known) or not (times or "1").isdigit():
                near = suggestion(name, self._known)
                raise InputError(f"unknown fault {word!r}{near}; a status such as '503' is one too")
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

    def _answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Reply | None:
        """The reply; None to hang up."""
        raise NotImplementedError


class _Server(ThreadingHTTPServer):
    """Knows its open connections, so that leaving the block ends them all and leaves no thread behind."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, owner: Scripted, port: int) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

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

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.owner._answer(method, self.path, headers, raw)
        if reply is None:
            self.close_connection = True
            return
        self.send_response(reply.status, HTTPStatus(reply.status).phrase if reply.status in _STATUSES else "Error")
        for name, value in reply.headers:
            self.send_header(name, value)
        if all(name != "Content-Type" for name, _ in reply.headers):
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        cut = len(reply.body) // 2 if reply.cut is True else reply.cut or len(reply.body)
        self.wfile.write(reply.body[:cut])
        self.wfile.flush()
        self.close_connection = self.close_connection or bool(reply.cut)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: standard error belongs to the test."""


_STATUSES = {status.value for status in HTTPStatus}
