"""The local server, asked with the standard library alone."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from urllib.parse import urlsplit

import pytest

from responsa.errors import InputError
from responsa.testing import FAULTS, HIDDEN, LocalServer, embed, relevance


@pytest.fixture
def server():
    with LocalServer(dimension=16) as server:
        yield server


def post(url, body, path="/embeddings", timeout=5, **headers):
    """(status, headers, body)"""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", parts.path + path, raw, headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


ASK = {"model": "m", "input": ["A Fund must report.", "A Fund reports."]}


def test_embeddings(server):
    status, _, body = post(server.url, {**ASK, "dimensions": 8})
    reply = json.loads(body)
    assert status == 200
    assert [row["index"] for row in reply["data"]] == [0, 1]
    assert [len(row["embedding"]) for row in reply["data"]] == [8, 8]
    assert json.loads(post(server.url, {**ASK, "dimensions": 8})[2]) == reply
    assert len(json.loads(post(server.url, ASK)[2])["data"][0]["embedding"]) == 16


def test_similar_texts_have_similar_vectors():
    asked, near, far = (embed(text, 64) for text in ("Who must report?", "A Fund must report.", "Gold is heavy."))
    assert dot(asked, asked) == pytest.approx(1)
    assert dot(asked, near) > dot(asked, far) + 0.2
    assert embed("A Fund must report.", 64) == near
    assert embed("a fund must report", 64) != near  # no two texts are the same to it
    assert dot(embed("...", 64), embed("...", 64)) == pytest.approx(1)


def test_voyage_tells_queries_from_documents(server):
    vectors = [
        json.loads(post(server.voyage_url, {**ASK, "input_type": kind, "truncation": True})[2])["data"][0]["embedding"]
        for kind in ("query", "document", None)
    ]
    assert len({tuple(vector) for vector in vectors}) == 3


@pytest.mark.parametrize("voyage", [False, True])
def test_rerank(server, voyage):
    ask = {"model": "m", "query": "report fund", "documents": ["gold", "the fund must report", "a fund"]}
    reply = json.loads(post(server.voyage_url if voyage else server.url, ask, "/rerank")[2])
    rows = reply["data" if voyage else "results"]
    assert [row["index"] for row in rows] == [1, 2, 0]  # best first, as the real ones do
    assert [row["relevance_score"] for row in rows] == [
        relevance("report fund", ask["documents"][index]) for index in (1, 2, 0)
    ]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/embeddings", {**ASK, "input_type": "query"}, 400),  # a field of the other dialect
        ("/embeddings", {**ASK, "input": []}, 400),
        ("/embeddings", {**ASK, "input": ["a", ""]}, 400),
        ("/embeddings", {**ASK, "input": ["a", 1]}, 400),
        ("/embeddings", {**ASK, "dimensions": "many"}, 400),
        ("/embeddings", {"model": "m"}, 400),
        ("/embeddings", [], 400),
        ("/embeddings", b"{", 400),
        ("/rerank", {"model": "m", "query": "", "documents": ["a"]}, 400),
        ("/chats", {}, 404),
    ],
)
def test_bad_requests(server, path, body, status):
    answered, _, raw = post(server.url, body, path)
    assert answered == status
    assert json.loads(raw)["error"]["message"]


def test_requests_are_recorded_without_the_key():
    with LocalServer(key="sesame") as server:
        assert post(server.url, ASK)[0] == 401
        assert post(server.url, ASK, Authorization="Bearer wrong")[0] == 401
        assert post(server.url, ASK, Authorization="Bearer sesame", **{"X-Other": "1"})[0] == 200
        assert [request.path for request in server.requests] == ["/v1/embeddings"] * 3
        assert server.requests[2].body == ASK
        assert server.requests[2].headers["authorization"] == HIDDEN
        assert server.requests[2].headers["x-other"] == "1"
        assert "sesame" not in repr(server.requests)
        server.reset()
        assert server.requests == []


def reply_to(server, fault, body=ASK):
    server.faults(fault)
    return post(server.url, body)


def test_statuses(server):
    assert reply_to(server, "500")[0] == 500
    assert reply_to(server, "599")[0] == 599
    assert reply_to(server, "429:2")[1]["Retry-After"] == "2"
    assert reply_to(server, "503:Wed, 21 Oct 2026 07:28:00 GMT")[1]["Retry-After"] == "Wed, 21 Oct 2026 07:28:00 GMT"
    assert reply_to(server, "redirect")[0] == 307
    status, _, body = post(server.url, ASK)
    assert (status, len(json.loads(body)["data"])) == (200, 2)


def test_spoilt_replies(server):
    def rows(fault):
        return json.loads(reply_to(server, fault)[2])["data"]

    assert reply_to(server, "empty")[2] == b""
    assert reply_to(server, "null")[2] == b"null"
    assert reply_to(server, "garbage")[2].startswith(b"<html>")
    assert len(rows("half")) == 1
    assert [row["index"] for row in rows("twice")] == [0, 0]
    assert all("index" not in row for row in rows("no-index"))
    assert [row["index"] for row in rows("shuffled")] == [1, 0]
    assert str(rows("nan")[0]["embedding"][0]) == "nan"
    assert rows("strings")[0]["embedding"] == "many"
    assert len(rows("wrong-dimension")[0]["embedding"]) == 15
    server.faults("echo")
    assert b"Bearer open" in post(server.url, ASK, Authorization="Bearer open")[2]


def test_broken_connections(server):
    with pytest.raises(http.client.RemoteDisconnected):
        reply_to(server, "drop")
    with pytest.raises(http.client.IncompleteRead):
        reply_to(server, "cut")
    server.faults("slow:0.05")
    began = time.monotonic()
    assert post(server.url, ASK)[0] == 200
    assert time.monotonic() - began > 0.05


def test_the_script_is_followed_once(server):
    server.faults("500*2", "ok", "404")
    server.faults("503")
    assert server.pending == 5
    assert [post(server.url, ASK)[0] for _ in range(6)] == [500, 500, 200, 404, 503, 200]
    server.faults("500")
    server.reset()
    assert post(server.url, ASK)[0] == 200


@pytest.mark.parametrize("word", ["", "50", "5000", "garbge", "half*many"])
def test_unknown_faults(server, word):
    with pytest.raises(InputError, match="unknown fault"):
        server.faults("500", word)
    assert server.pending == 0


def test_every_fault_is_known_by_name(server):
    server.faults(*FAULTS)
    assert server.pending == len(FAULTS)


def test_leaving_ends_connections_and_threads():
    before = threading.active_count()
    with LocalServer() as server:
        parts = urlsplit(server.url)
        idle = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        idle.request("POST", "/v1/embeddings", json.dumps(ASK))
        idle.getresponse().read()  # and the connection is kept
        server.faults("slow:60")

        def wait() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):  # cut off, sooner or later
                post(server.url, ASK)

        waiting = threading.Thread(target=wait)
        waiting.start()
        while len(server.requests) < 2:
            time.sleep(0.001)
    waiting.join(30)  # far less than the fault would take
    assert not waiting.is_alive()
    idle.close()
    assert threading.active_count() == before
