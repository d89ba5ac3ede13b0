"""What holds for every language model: the scripted one, the real client on a local server, and each with a cache."""

from __future__ import annotations

import threading

import pytest

from chats import chat, model_at
from responsa.cache import Cache
from responsa.errors import ModelError
from responsa.models.chat import Chat, ChatFailed, Message, Reply, Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.dryrun import DryRun
from responsa.models.chat.scripted import ScriptedChat
from responsa.testing import ChatServer


def answer(text: str) -> str:
    """Replies by the last word of what is asked; nothing for "nothing"."""
    return "" if text.endswith("nothing") else f"heard {text.split()[-1]}"


@pytest.fixture(params=["scripted", "server", "scripted, cached", "server, cached"])
def model(request, tmp_path):
    with ChatServer(reply=lambda asked: answer(asked.prompt)) as server:
        if request.param.startswith("scripted"):
            made = ScriptedChat(lambda chat: answer(chat.messages[-1].text))
        else:
            made = model_at(server, attempts=2)
        yield CachedChat(made, Cache(tmp_path / "c.sqlite")) if "cached" in request.param else made


def test_a_reply(model):
    reply = model.reply(chat("say one", purpose="test", settings=Settings(seed=7), repetition=2))
    assert reply.text == "heard one"
    call = reply.call
    assert (call.purpose, call.model, call.seed, call.repetition, call.attempts) == ("test", model.name, 7, 2, 1)
    assert call.tokens_in > 0
    assert call.tokens_out > 0
    assert call.error == ""
    assert not call.cached


def test_replies_come_in_order_and_failures_in_their_places(model):
    seen = []
    chats = [chat(f"say {word}") for word in ("a", "nothing", "b", "c", "a")]
    replies = model.replies(chats, lambda *step: seen.append(step))
    assert [reply.text if isinstance(reply, Reply) else "-" for reply in replies] == [
        "heard a", "-", "heard b", "heard c", "heard a",
    ]  # fmt: skip
    assert isinstance(replies[1], ChatFailed)
    assert "the reply is empty" in str(replies[1])
    assert seen[-1] == (5, 5)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_no_chats(model):
    assert model.replies([]) == []


def test_a_failure_says_what_was_tried(model):
    with pytest.raises(ChatFailed, match="empty") as failure:
        model.reply(chat("say nothing", purpose="test"))
    assert isinstance(failure.value, ModelError)
    assert failure.value.call.purpose == "test"
    assert failure.value.call.attempts >= 1


def test_a_stream(model):
    assert "".join(model.stream(chat("say it"))).strip() == "heard it"
    with pytest.raises(ChatFailed):
        list(model.stream(chat("say nothing")))


def test_the_prompt_is_told_by_its_digest(model):
    calls = [model.reply(one).call for one in (chat("say a"), chat("say a", purpose="x"), chat("say b"))]
    calls.append(model.reply(chat("say a", settings=Settings(temperature=0.5))).call)
    assert calls[0].prompt == calls[1].prompt
    assert len({call.prompt for call in calls}) == 3
    assert all(len(call.prompt) == 64 for call in calls)


def test_turns_of_a_conversation(model):
    turns = (
        Message("system", "Be brief."),
        Message("user", "say a"),
        Message("assistant", "heard a"),
        Message("user", "say b"),
    )
    assert model.reply(Chat(turns)).text == "heard b"


def test_text_that_no_tokenizer_takes(model):
    assert model.reply(chat("\ud800 say a")).text == "heard a"


def test_several_threads_at_once(model):
    found = {}

    def ask(number):
        found[number] = model.reply(chat(f"say {number}")).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"heard {number}" for number in range(8)}


def test_a_dry_run_of_each_sends_nothing():
    scripted = ScriptedChat(lambda chat: "x")
    dry = DryRun(scripted)
    assert (dry.name, dry.window) == (scripted.name, scripted.window)
    assert dry.reply(chat()).call.attempts == 0
    assert scripted.asked == []
