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
from collections.abc import Callable, Mapping
from typing import cast

from responsa.testing.cellar import CellarServer
from responsa.testing.completions import ChatServer
from responsa.testing.replies import Asked
from responsa.testing.serving import HIDDEN, SECRET_HEADERS, Reply, Request, Scripted
from responsa.text import words

__all__ = ["FAULTS", "HIDDEN", "Asked", "CellarServer", "ChatServer", "LocalServer", "Request", "embed", "relevance"]

Json = dict[str, object]

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


class LocalServer(Scripted):
    """Embeddings and reranking over HTTP at 127.0.0.1, from entering the ``with`` block to leaving it.

    ``url`` speaks as OpenAI does for embeddings and as Jina and Cohere do for reranking; ``voyage_url`` as
    Voyage does. With a ``key``, requests without it are refused (401). ``dimension`` is the length of the
    vectors unless a request asks for another. Requests are answered in parallel.
    """

    def __init__(self, *, dimension: int = 64, key: str | None = None) -> None:
        super().__init__(FAULTS)
        self.dimension = dimension
        self._key = key

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    @property
    def voyage_url(self) -> str:
        return f"{self.address}/voyage/v1"

    def _answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Reply | None:
        """The reply; None to hang up."""
        if method != "POST":
            return _error(405, "services are asked by POST")
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        shown = {name: HIDDEN if name in SECRET_HEADERS else value for name, value in headers.items()}
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


def _error(status: int, message: str) -> Reply:
    return Reply(status, json.dumps({"error": {"message": message}}).encode())


def _early_fault(name: str, argument: str, headers: Mapping[str, str]) -> Reply | None:
    """The replies that do not depend on what was asked."""
    if name.isdigit():
        after = (("Retry-After", argument),) if argument else ()
        return Reply(int(name), _error(int(name), f"told to answer {name}").body, after)
    fixed = {
        "empty": Reply(200, b""),
        "garbage": Reply(200, b"<html><body>It works!</body></html>"),
        "null": Reply(200, b"null"),
        "redirect": Reply(307, b"", (("Location", "http://elsewhere.invalid/v1/embeddings"),)),
        "echo": _error(400, f"you sent {headers.get('authorization')!r} and {dict(headers)}"),
    }
    return fixed.get(name)


def _spoil(name: str, reply: Json) -> Reply:
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
    return Reply(200, body, cut=name == "cut")


def _with_nan(value: object) -> object:
    return [math.nan, *value[1:]] if isinstance(value, list) else math.nan


def _shorter(value: object) -> object:
    return value[:-1] if isinstance(value, list) else [value]
