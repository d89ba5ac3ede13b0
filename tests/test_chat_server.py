"""The server of chats that comes with the package: what it answers, and how it goes wrong on command."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from annotated_types import Gt, MinLen

from responsa.errors import InputError
from responsa.models.chat.fence import fenced
from responsa.models.chat.structured import Reader
from responsa.testing import Asked, ChatServer
from responsa.testing.chat import main
from responsa.testing.replies import best, instance, sensible


def post(server, body, key="", path="/chat/completions"):
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def ask(text="Hello?", **more):
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


PASSAGES = [("p1", "Firms must keep records for five years. Cats sleep."), ("p2", "Banks hold capital against losses.")]


def test_it_quotes_the_passages_that_share_words_with_the_question():
    asked = Asked("m", (("system", "Be brief."), ("user", f"What capital do banks hold?\n\n{fenced(PASSAGES)}")))
    assert asked.question == "What capital do banks hold?"
    assert asked.passages == tuple(PASSAGES)
    assert best(asked)[0] == ("p2", "Banks hold capital against losses.")
    assert sensible(asked).startswith("Banks hold capital against losses. [p2] ")
    assert sensible(Asked("m", (("user", "Why?"),))) == "No passages were given for: Why?"


@dataclass
class Part:
    id: str
    sentence: str
    score: Annotated[float, Gt(2)]


@dataclass
class Shape:
    parts: list[Part]
    citations: list[str]
    kind: Literal["b", "a"]
    pair: tuple[int, bool]
    many: Annotated[list[int], MinLen(3)]
    maybe: str | None
    nothing: None


def test_it_gives_json_that_fits_the_schema_asked_for():
    reader = Reader(Shape)
    text = f"What capital do banks hold?\n\n{fenced(PASSAGES)}\n\nGive one JSON value. JSON schema:\n{reader.schema}"
    asked = Asked("m", (("user", text), ("assistant", "no"), ("user", "Again.")))
    value = reader.read(sensible(asked))
    assert (value.parts[0].id, value.parts[0].sentence) == ("p2", "Banks hold capital against losses.")
    assert len(value.parts) == 3
    assert (value.citations, value.kind, value.pair, value.many) == (["p2"], "b", (1, True), [1, 1, 1])
    assert value.parts[0].score > 2


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": 3}, 3), ({"type": "number", "maximum": 0.5}, 0.5), ({"const": 7}, 7), ({"enum": ["x", "y"]}, "x"),
        ({"type": ["null", "string"]}, "nothing was found"), ({"type": "array", "items": {"type": "boolean"}, "maxItems": 0}, []),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, True), ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "null"}}}, None),
    ],
)  # fmt: skip
def test_values_of_a_schema(schema, value):
    assert instance(schema) == value


def test_a_reply_as_openai_words_it():
    with ChatServer(reply=lambda asked: f"{asked.model}: {asked.prompt}") as server:
        status, text = post(server, ask("Hello?"))
    value = json.loads(text)
    assert status == 200
    assert value["choices"][0]["message"]["content"] == "m: Hello?"
    assert value["choices"][0]["finish_reason"] == "stop"
    assert value["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def test_a_stream_as_openai_sends_it():
    with ChatServer(reply=lambda asked: "x" * 50) as server:
        _, text = post(server, ask(stream=True, stream_options={"include_usage": True}))
    lines = text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events if event["choices"]) == "x" * 50
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    assert events[-1]["usage"]["completion_tokens"] == 12


def test_a_reply_is_cut_where_the_request_says():
    with ChatServer(reply=lambda asked: "x" * 50) as server:
        choice = json.loads(post(server, ask(max_tokens=5))[1])["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("x" * 20, "length")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (ask(), 200), ([], 400), (ask(surprise=1), 400), ({"model": "m", "messages": []}, 400), ({"messages": ask()["messages"]}, 400),
        ({"model": "m", "messages": [{"role": "cook", "content": "x"}]}, 400), ({"model": "m", "messages": [{"role": "user", "content": 5}]}, 400),
        ({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, 200), ({**ask(), "model": "other"}, 404),
        (ask("x" * 4000), 400),
    ],
)  # fmt: skip
def test_requests_that_the_real_one_would_refuse_are_refused(body, status):
    with ChatServer(models=("m",), window=500) as server:
        assert post(server, body)[0] == status


def test_a_key_is_asked_for_and_hidden():
    with ChatServer(key="k-123") as server:
        assert post(server, ask())[0] == 401
        assert post(server, ask(), "k-124")[0] == 401
        assert post(server, ask(), "k-123")[0] == 200
        assert "k-12" not in repr(server.requests)


def test_other_paths_and_the_list_of_models():
    with ChatServer(models=("m", "n")) as server:
        assert post(server, ask(), path="/completions")[0] == 404
        with urllib.request.urlopen(server.url + "/models") as response:
            assert [row["id"] for row in json.load(response)["data"]] == ["m", "n"]


def drawn(server, count=400):
    return [post(server, ask(f"question {number}"))[0] for number in range(count)]


def test_a_share_of_the_requests_goes_wrong_and_always_the_same():
    with ChatServer(share={"429:5": 0.2, "500": 0.1}, seed=1) as server:
        first = drawn(server)
        second = drawn(server)
    with ChatServer(share={"429:5": 0.2, "500": 0.1}, seed=1) as server:
        assert drawn(server) == first
    with ChatServer(share={"429:5": 0.2, "500": 0.1}, seed=2) as server:
        assert drawn(server) != first
    assert first != second  # the same request meets a fault anew each time
    assert 50 < first.count(429) < 110
    assert 20 < first.count(500) < 65


@pytest.mark.parametrize("share", [{"nonsense": 0.1}, {"500": 1.1}, {"500": -0.1}, {"500": 0.6, "429": 0.6}])
def test_shares_that_cannot_be(share):
    with pytest.raises(InputError, match="share"):
        ChatServer(share=share)


def test_a_script_goes_before_the_share():
    with ChatServer(share={"500": 1.0}) as server:
        server.faults("503", "404")
        assert [post(server, ask())[0] for _ in range(3)] == [503, 404, 500]
        with pytest.raises(InputError, match="unknown fault"):
            server.faults("nonsense")


def test_a_server_that_runs_for_long_need_not_keep_every_request():
    with ChatServer(kept=1) as server:
        for text in ("one", "two"):
            assert post(server, ask(text))[0] == 200
        assert [request.body["messages"][-1]["content"] for request in server.requests] == ["two"]


def test_the_command_prints_what_to_set(capsys):
    stop = threading.Event()
    stop.set()
    assert main(["--port", "0", "--share", "429=.1"], stop) == 0
    out = capsys.readouterr().out
    assert "export RESPONSA_CHAT_MODEL='http://127.0.0.1:" in out
    assert "/v1#local'" in out


@pytest.mark.parametrize(
    ("arguments", "status"), [(["--share", "429=much"], 2), (["--share", "nonsense=.1"], 1), (["--port", "99999"], 1)]
)
def test_the_command_says_what_was_wrong(capsys, arguments, status):
    if status == 2:
        with pytest.raises(SystemExit) as end:
            main(arguments, threading.Event())
        assert end.value.code == 2
    else:
        assert main(arguments, threading.Event()) == status
    assert capsys.readouterr().err


def test_a_port_that_is_taken(capsys):
    with ChatServer() as server:
        port = server.address.rsplit(":", 1)[1]
        assert main(["--port", port], threading.Event()) == 1
    said = capsys.readouterr().err
    assert f"port {port}: " in said
    assert "--port" in said
