"""The cache round a language model: what is in its key, what is kept, and one request for the same at the same time."""

from __future__ import annotations

import hashlib
import threading

import pytest

from chats import chat, model_at
from responsa.cache import Cache
from responsa.errors import ModelError
from responsa.models.chat import Chat, ChatFailed, Message, Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.scripted import ScriptedChat
from responsa.testing import ChatServer


@pytest.fixture
def cache(tmp_path):
    def fail(message):
        raise AssertionError(message)

    return Cache(tmp_path / "cache.sqlite", warn=fail)


def test_what_was_answered_is_not_asked_again(cache):
    with ChatServer() as server:
        model = CachedChat(model_at(server, price=(1.0, 2.0)), cache)
        first = model.reply(chat(purpose="a"))
        again = CachedChat(model_at(server, price=(1.0, 2.0)), cache).reply(chat(purpose="b"))
        assert len(server.requests) == 1
    assert again.text == first.text
    assert (again.call.cached, again.call.attempts, again.call.seconds, again.call.purpose) == (True, 0, 0.0, "b")
    assert (again.call.tokens_in, again.call.tokens_out) == (first.call.tokens_in, first.call.tokens_out)
    assert again.call.cost == first.call.cost > 0
    assert again.call.prompt == first.call.prompt
    assert not first.call.cached


def test_the_golden_key(cache):
    """A key that changes makes everybody pay again: raise VERSION only where a reply means something else."""
    asked = Chat(
        (Message("system", "Antworte höflich."), Message("user", "Why?")), Settings(temperature=0.0, seed=1), "x", 2
    )
    model = CachedChat(ScriptedChat(lambda chat: "x", name="golden"), cache)
    written = (
        '["chat",1,{"messages":[["system","Antworte höflich."],["user","Why?"]],"model":"golden",'
        '"repetition":2,"settings":{"seed":1,"temperature":0.0}}]'
    )
    assert model.place(asked) == hashlib.sha256(written.encode()).hexdigest() == GOLDEN


GOLDEN = "3751f6ced82f57f8282364d422734bf7f4f6f9a4d84921ea353778c5242d97a0"


DIFFERENT = {
    "text": chat("other"),
    "role": Chat((Message("system", "q"),)),
    "turns": Chat((Message("user", "q"), Message("user", "q"))),
    "temperature": chat("q", settings=Settings(temperature=0.0)),
    "top_p": chat("q", settings=Settings(top_p=0.0)),
    "max_tokens": chat("q", settings=Settings(max_tokens=1)),
    "seed": chat("q", settings=Settings(seed=0)),
    "repetition": chat("q", repetition=1),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_changes_the_reply_is_in_the_key(cache, what):
    model = CachedChat(ScriptedChat(lambda chat: "x"), cache)
    model.reply(chat("q"))
    assert not model.reply(DIFFERENT[what]).call.cached
    assert model.reply(DIFFERENT[what]).call.cached


def test_the_model_is_in_the_key_and_what_does_not_change_the_reply_is_not(cache):
    CachedChat(ScriptedChat(lambda chat: "x", name="a"), cache).reply(chat("q"))
    assert not CachedChat(ScriptedChat(lambda chat: "x", name="b"), cache).reply(chat("q")).call.cached
    known = CachedChat(ScriptedChat(lambda chat: "x", name="a"), cache)
    assert known.reply(chat("q", purpose="p", attempts=1)).call.cached


def test_defaults_of_the_model_are_in_the_key(cache):
    with ChatServer() as server:
        CachedChat(model_at(server, settings=Settings(temperature=0.0)), cache).reply(chat())
        assert not CachedChat(model_at(server), cache).reply(chat()).call.cached
        told = chat(settings=Settings(temperature=0.0))
        assert CachedChat(model_at(server), cache).reply(told).call.cached


@pytest.mark.parametrize("fault", ["500", "refusal", "empty", "over-long", "cut", "invalid", "401"])
def test_failures_are_never_kept(cache, fault):
    with ChatServer() as server:
        model = CachedChat(model_at(server, attempts=1), cache)
        server.faults(fault, fault)
        with pytest.raises(ChatFailed):
            model.reply(chat())
        assert isinstance(model.replies([chat()])[0], ChatFailed)
        assert model.known([chat()]) == [None]
        assert not model.reply(chat()).call.cached
        assert len(server.requests) == 3


def test_a_batch_asks_for_what_is_missing_and_each_once(cache):
    with ChatServer(reply=lambda asked: asked.prompt.upper()) as server:
        model = CachedChat(model_at(server), cache)
        model.reply(chat("b"))
        seen = []
        replies = model.replies([chat(word) for word in "abcabc"], lambda *step: seen.append(step))
        assert [reply.text for reply in replies] == list("ABCABC")
        assert sorted(request.body["messages"][0]["content"] for request in server.requests) == ["a", "b", "c"]
        assert seen[0] == (2, 6)
        assert seen[-1] == (6, 6)
        assert [reply.call.cached for reply in replies].count(False) == 2


def test_the_same_at_the_same_time_is_sent_once(cache):
    entered, gate, calls = threading.Event(), threading.Event(), []

    def slow(asked):
        calls.append(asked)
        entered.set()
        gate.wait(10)
        return "done"

    model = CachedChat(ScriptedChat(slow), cache)
    found = []
    threads = [threading.Thread(target=lambda: found.append(model.reply(chat("same")))) for _ in range(5)]
    threads[0].start()
    entered.wait(10)
    for thread in threads[1:]:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert [reply.text for reply in found] == ["done"] * 5
    assert sorted(reply.call.cached for reply in found) == [False, True, True, True, True]


def test_who_waits_for_a_request_that_fails_is_told_so(cache, monkeypatch):
    entered, gate, waiting, calls = threading.Event(), threading.Event(), threading.Event(), []
    second_of = CachedChat._second
    monkeypatch.setattr(CachedChat, "_second", lambda *given: (waiting.set(), second_of(*given))[1])

    def failing(asked):
        calls.append(asked)
        entered.set()
        gate.wait(10)
        raise ModelError("it broke")

    model = CachedChat(ScriptedChat(failing), cache)
    found = []

    def ask():
        try:
            model.reply(chat("same"))
        except ChatFailed as failure:
            found.append(failure)

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    entered.wait(10)
    second.start()
    waiting.wait(10)
    gate.set()
    first.join()
    second.join()
    assert [str(failure) for failure in found] == ["it broke"] * 2
    assert len({id(failure) for failure in found}) == 2
    assert sorted(failure.call.attempts for failure in found) == [0, 1]
    assert len(calls) == 1
    assert model._flying.futures == {}


def test_a_stream_is_kept_when_it_is_whole(cache):
    with ChatServer(reply=lambda asked: "one two three four five six seven eight") as server:
        model = CachedChat(model_at(server, price=(1.0, 1.0)), cache)
        stream = model.stream(chat())
        next(stream)
        stream.close()
        assert model.known([chat()]) == [None]
        assert len(list(model.stream(chat()))) > 1
        assert list(model.stream(chat())) == ["one two three four five six seven eight"]
        assert model.reply(chat()).call.cost > 0
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "value",
    [b"", b"null", b"[]", b"{}", b'{"text": "x"}', b'{"text": 1, "tokens_in": 1, "tokens_out": 1, "cost": 1}',
     b'{"text": " ", "tokens_in": 1, "tokens_out": 1, "cost": null}', b'{"text": "x", "tokens_in": "1", "tokens_out": 1, "cost": null}', b"\xff"],
)  # fmt: skip
def test_what_is_no_reply_is_asked_for_again(cache, value):
    model = CachedChat(ScriptedChat(lambda chat: "fresh"), cache)
    cache.put_many({model.place(chat()): value})
    assert model.reply(chat()).text == "fresh"
    assert model.reply(chat()).call.cached
