"""The client of APIs: what goes wrong and comes right, limits, money, and where the key goes."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import subprocess
import sys
import threading
import traceback
import warnings
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace

import pytest

from chats import KEY, NOW, Time, chat, model_at
from responsa.cache import Cache
from responsa.errors import InputError, MissingDependency, ModelError
from responsa.models.chat import ChatFailed, Message, Reply, Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.client import ApiChat
from responsa.models.chat.vendors import PLACEHOLDER
from responsa.models.chat.wire import Wire, window_in
from responsa.pacing import Clock, Pace
from responsa.testing import ChatServer
from responsa.testing.completions import FAULTS
from responsa.testing.serving import Reply as HttpReply
from responsa.testing.serving import Request, Scripted


@pytest.fixture
def moment():
    return Time()


@pytest.fixture
def server():
    with ChatServer(reply=lambda asked: "Records are due.") as made:
        yield made


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    for name in ("RESPONSA_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


# --- what may pass is tried again, and nothing else ---------------------------------------------------------------


PASSING = [
    "408",
    "409",
    "429",
    "500",
    "502",
    "503",
    "529",
    "drop",
    "cut",
    "no-body",
    "garbage",
    "invalid",
    "null",
    "shape",
    "empty",
]
FINAL = {
    "refusal": "refuses to answer: I cannot help",
    "filter": "refuses to answer",
    "over-long": "over-long",
    "400": "refused with status 400",
    "422": "refused with status 422",
    "401": "set the environment variable RESPONSA_API_KEY",
    "403": "set the environment variable RESPONSA_API_KEY",
    "404": "the name of the model 'm'",
    "redirect": "final address",
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_may_pass_is_tried_again(server, moment, fault):
    server.faults(fault)
    reply = model_at(server, moment.clock()).reply(chat())
    assert reply.text == "Records are due."
    assert reply.call.attempts == len(server.requests) == 2
    assert moment.slept == [0.5]


@pytest.mark.parametrize("fault", PASSING)
def test_three_times_in_all(server, moment, fault):
    server.faults(f"{fault}*9")
    with pytest.raises(ChatFailed, match=r"tried 3 times") as failure:
        model_at(server, moment.clock()).reply(chat())
    assert failure.value.call.attempts == len(server.requests) == 3
    assert failure.value.call.error
    assert moment.slept == [0.5, 1.0]


@pytest.mark.parametrize("fault", FINAL)
def test_what_comes_back_the_same_is_not_tried_again(server, fault):
    server.faults(fault)
    with pytest.raises(ChatFailed, match=FINAL[fault]) as failure:
        model_at(server).reply(chat())
    assert failure.value.call.attempts == len(server.requests) == 1


def test_a_reply_that_takes_too_long(server):
    server.faults("slow:5*9")
    with pytest.raises(ChatFailed, match=r"no answer within 0.2 seconds .tried 2 times"):
        model_at(server, timeout=0.2, attempts=2).reply(chat())


def test_half_a_character_in_a_reply_is_replaced():
    with ChatServer(reply=lambda asked: "cut \ud83d here") as server:
        assert model_at(server).reply(chat()).text == "cut \ufffd here"
        assert "".join(model_at(server).stream(chat())) == "cut \ufffd here"


def test_fewer_attempts_where_the_chat_says_so(server):
    server.faults("500*9")
    with pytest.raises(ChatFailed) as failure:
        model_at(server).reply(chat(attempts=2))
    assert failure.value.call.attempts == len(server.requests) == 2
    with pytest.raises(ChatFailed) as failure:
        model_at(server, attempts=1).reply(chat(attempts=2))
    assert failure.value.call.attempts == 1


def test_a_server_that_is_not_there():
    with ChatServer() as gone:
        pass
    with pytest.raises(ChatFailed, match="is the server running"):
        model_at(gone, attempts=1).reply(chat())


def test_a_quota_that_is_used_up_does_not_pass():
    class Spent(ChatServer):
        def _answered(self, method, path, headers, raw):
            self._take(Request(path, headers, {}))
            error = {"message": "You exceeded your quota", "code": "insufficient_quota", "type": "insufficient_quota"}
            return HttpReply(429, json.dumps({"error": error}).encode())

    with Spent() as server:
        with pytest.raises(ChatFailed, match="quota is used up"):
            model_at(server).reply(chat())
        assert len(server.requests) == 1


def test_a_reply_larger_than_any(server, monkeypatch):
    monkeypatch.setattr("responsa.models.chat.vendors._LARGEST", 100)
    with pytest.raises(ChatFailed, match="larger than"):
        model_at(server, attempts=1).reply(chat())


def test_a_reply_in_another_language_is_a_reply(server):
    server.faults("language")
    assert model_at(server).reply(chat()).text.startswith("Gli enti")


def test_a_server_that_counts_no_tokens(server):
    server.faults("no-usage")
    call = model_at(server).reply(chat()).call
    assert (call.tokens_in, call.tokens_out) == (8, 4)  # by our count: three words and a mark, and 4 round the message


def test_tokens_and_money_of_replies_that_cannot_be_used_count(server):
    server.faults("empty")
    call = model_at(server, price=(1_000_000.0, 10.0)).reply(chat("x" * 400)).call
    assert (call.tokens_in, call.tokens_out) == (200, 4)
    assert call.cost == pytest.approx(200 + 40 / 1_000_000)
    server.faults("over-long")
    with pytest.raises(ChatFailed) as failure:
        model_at(server, price=(1.0, 1.0)).reply(chat("x" * 400))
    assert failure.value.call.tokens_in == 100
    assert failure.value.call.cost == pytest.approx(102e-6)


# --- streams ---------------------------------------------------------------------------------------------------


def test_a_stream_comes_in_pieces(server):
    text = "Records are kept for five years after the end of the relationship."
    server._reply = lambda asked: text
    pieces = list(model_at(server).stream(chat()))
    assert len(pieces) > 2
    assert "".join(pieces) == text
    assert server.requests[0].body["stream"] is True


@pytest.mark.parametrize("fault", ["429", "500", "drop", "no-body", "garbage", "null", "shape", "empty"])
def test_a_stream_that_does_not_begin_is_tried_again(server, moment, fault):
    server.faults(fault)
    assert "".join(model_at(server, moment.clock()).stream(chat())) == "Records are due."
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", ["cut", "cut-clean", "invalid", "over-long"])
def test_a_stream_that_breaks_off(server, fault):
    server._reply = lambda asked: "Records are kept for five years after the end. " * 20
    server.faults(fault)
    got = []
    with pytest.raises(ChatFailed, match="broke off") as failure:
        got.extend(model_at(server).stream(chat()))
    assert len(server.requests) == failure.value.call.attempts == 1


def test_a_stream_given_up_frees_its_place(server):
    model = model_at(server, threads=1)
    stream = model.stream(chat())
    next(stream)
    stream.close()
    assert model.reply(chat()).text


# --- pauses and limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("after", "slept"), [("7", 7.0), ("Fri, 15 Jan 2027 08:00:09 GMT", 9.0), ("0", None)])
def test_a_server_that_asks_for_a_pause_gets_it(server, moment, after, slept):
    assert NOW == 1_800_000_000.0
    server.faults(f"429:{after}")
    assert model_at(server, moment.clock()).reply(chat()).text
    assert moment.slept == ([slept] if slept else [])


def test_a_pause_too_long_is_not_waited_for(server, moment):
    server.faults("429:600*3")
    with pytest.raises(ChatFailed, match="asks to wait 600 seconds"):
        model_at(server, moment.clock()).reply(chat())
    assert moment.slept == []
    assert len(server.requests) == 1


def test_a_pause_holds_every_thread(server, moment):
    model = model_at(server, moment.clock())
    server.faults("429:10")
    model.reply(chat())
    assert moment.slept == [10.0]
    model._pace.hold(5)
    model.reply(chat())
    assert moment.slept == [10.0, 5.0]


def test_a_pause_holds_threads_that_wait_for_their_turn_already(moment):
    """The second waits for 2 seconds when the first is told to pause for 10."""
    asleep, held = threading.Event(), threading.Event()

    def sleep(seconds):
        asleep.set()
        assert held.wait(30)
        moment.sleep(seconds)

    pace = Pace(30, None, replace(moment.clock(), sleep=sleep))
    pace.turn(1)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(pace.turn, 1)
        assert asleep.wait(30)
        pace.hold(10)
        held.set()
        second.result()
    assert moment.now == 10.0
    pace.turn(1)
    assert moment.now == 12.0


def test_a_storm_of_refusals_ends(server):
    """Every request of a batch is refused twice; each reply comes, with three attempts at most."""
    refused = {}
    lock = threading.Lock()

    class Storm(ChatServer):
        def _drawn(self, raw):
            with lock:
                refused[raw] = refused.get(raw, 0) + 1
                return ("429", "1") if refused[raw] < 3 else ("ok", "")

    with Storm() as storm:
        replies = model_at(storm, threads=8).replies([chat(f"question {number}") for number in range(40)])
        assert all(isinstance(reply, Reply) and reply.call.attempts == 3 for reply in replies)
        assert len(storm.requests) == 120


def test_requests_and_tokens_a_minute(server, moment):
    model = model_at(server, moment.clock(), requests_per_minute=30)
    for _ in range(3):
        model.reply(chat())
    assert moment.slept == [2.0, 2.0]
    moment.slept.clear()
    model = model_at(server, moment.clock(), tokens_per_minute=600)
    model.reply(chat("a b c d e f", settings=Settings(max_tokens=90)))  # 6, 4 round the message, 90 for the reply
    model.reply(chat())
    assert moment.slept == [10.0]


def test_no_more_requests_at_once_than_threads():
    fourth = threading.Barrier(4)

    def slow(asked):
        with contextlib.suppress(threading.BrokenBarrierError):
            fourth.wait(0.5)
        return "yes"

    with ChatServer(reply=slow) as server:
        model = model_at(server, threads=3)
        batches = [[chat(f"{caller} {number}") for number in range(6)] for caller in range(2)]
        callers = [threading.Thread(target=model.replies, args=(batch,)) for batch in batches]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert server.most == 3
        assert len(server.requests) == 12


def test_an_interrupted_batch_leaves_no_request_waiting(monkeypatch):
    given_up, cancel = [], Wire.cancel
    monkeypatch.setattr(Wire, "cancel", lambda wire: (given_up.append(len(wire._made.flying)), cancel(wire)))

    def stop(done, total):
        while len(model.wire._made.flying) < 2:  # until both others are on their way
            threading.Event().wait(0.01)
        raise KeyboardInterrupt

    fast = ChatServer(reply=lambda asked: "fast" if "fast" in asked.prompt else (fast._stopping.wait(30), "late")[1])
    with fast:
        model = model_at(fast, timeout=60.0)
        with pytest.raises(KeyboardInterrupt):
            model.replies([chat("fast"), chat("one"), chat("two")], stop)
        assert given_up == [2]
        assert model.wire._made.flying == set()


@pytest.mark.parametrize("fault", ["429:3600", "500"])
def test_who_waits_for_its_turn_is_given_up_too(server, fault):
    model = model_at(server, Clock(jitter=lambda: 1.0), patience=7200.0)
    server.faults(f"{fault}*9")
    waiting = threading.Event()
    sleep = Pace.sleep

    def told(pace, seconds):
        waiting.set()
        sleep(pace, seconds if fault == "429:3600" else 3600.0)

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(Pace, "sleep", told)
        asked = pool.submit(model.reply, chat())
        assert waiting.wait(30)
        while not asked.done():  # the sleep may be about to begin
            model.cancel()
        with pytest.raises(CancelledError):
            asked.result()
    assert len(server.requests) == 1
    server.reset()
    assert model_at(server).reply(chat()).text == "Records are due."


# --- prompts that are too long ---------------------------------------------------------------------------------


def test_a_prompt_longer_than_the_window_is_not_sent(server):
    model = model_at(server, told_window=1000)
    with pytest.raises(ChatFailed, match=r"about 1,504 tokens, and the model's window has 1,000; give fewer"):
        model.reply(chat("word " * 1500))
    with pytest.raises(ChatFailed, match=r"about 504 tokens and a reply of up to 500"):
        model.reply(chat("word " * 500, settings=Settings(max_tokens=500)))
    assert server.requests == []
    assert model.reply(chat("word " * 900)).text


def test_a_server_with_a_smaller_window_than_told():
    with ChatServer(window=100) as server:
        with pytest.raises(ChatFailed, match=r"longer than the model's window .status 400: this model's maximum"):
            model_at(server).reply(chat("word " * 500))
        assert len(server.requests) == 1


def test_a_window_that_the_server_tells_is_known_from_then_on():
    with ChatServer(window=1000) as server:
        model = model_at(server)
        before = model.window
        with pytest.raises(ChatFailed, match="status 400"):
            model.reply(chat("word " * 1500))
        assert (before, model.window) == (32_768, 900)
        with pytest.raises(ChatFailed, match=r"the model's window has 900"):
            model.reply(chat("word " * 1500))
        assert len(server.requests) == 1
        assert model.reply(chat("word " * 500)).text


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.", 8192),
        ("This model's maximum context length is 4,096 tokens, the messages have 5012", 4096),
        ("request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("the context of question 412 is not known", None),
        ("max_tokens must be at most 4096", None),
        ("", None),
    ],
)
def test_the_window_in_a_refusal(message, window):
    assert window_in(message) == window


# --- what is sent ----------------------------------------------------------------------------------------------


def test_messages_and_settings_arrive(server):
    settings = Settings(temperature=0.5, top_p=0.9, max_tokens=77, seed=3)
    asked = chat("hello", system="Be kind.", settings=settings)
    model_at(server).reply(
        asked.__class__((*asked.messages, Message("assistant", "hi"), Message("user", "bye")), settings)
    )
    body = server.requests[0].body
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "Be kind."), ("user", "hello"), ("assistant", "hi"), ("user", "bye"),
    ]  # fmt: skip
    assert (body["model"], body["temperature"], body["top_p"], body["seed"]) == ("m", 0.5, 0.9, 3)
    assert (body.get("max_completion_tokens") or body.get("max_tokens")) == 77
    assert "stream" not in body or body["stream"] is False


def test_settings_of_the_model_go_before_those_of_a_chat(server):
    model = model_at(server, settings=Settings(temperature=0.9, max_tokens=300, seed=7))
    for asked in (Settings(0.0, 0.5, 500, 0), Settings(1.0, None, 20, 2)):
        model.reply(chat(settings=asked))
    first, second = (request.body for request in server.requests)
    assert (first["temperature"], first["top_p"], first["seed"]) == (0.9, 0.5, 7)
    assert (second["temperature"], second["seed"]) == (0.9, 2)  # a seed of its own tells candidates apart
    limits = [body.get("max_completion_tokens") or body.get("max_tokens") for body in (first, second)]
    assert limits == [300, 20]
    whole = model.complete(chat(settings=Settings(0.0, 0.5, 500, 0)))
    assert model.complete(whole) == whole


def test_this_machine_is_not_asked_through_a_proxy(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert model_at(server, attempts=1).reply(chat()).text


@pytest.mark.parametrize(
    "bad", [{"threads": 0}, {"attempts": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"told_window": 0}]
)
def test_settings_out_of_range(server, bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        model_at(server, **bad)


# --- the key ---------------------------------------------------------------------------------------------------


def trail(error: BaseException) -> str:
    """All that an error and what stands behind it say, with the values of the frames they went through but for the test's."""
    seen, found = set(), []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        found += [str(one), repr(one), repr(vars(one))]
        for frame in traceback.TracebackException.from_exception(one, capture_locals=True).stack:
            if frame.filename != __file__:
                found += [frame.name, repr(frame.locals)]
        waiting += [one.__cause__, one.__context__]
    return "".join(found)


@pytest.mark.parametrize("fault", [*FAULTS, "400", "401", "404", "429", "500"])
@pytest.mark.parametrize("way", ["reply", "stream"])
def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path, monkeypatch, caplog, capfd, fault, way):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RESPONSA_API_KEY", KEY)
    cache = Cache(tmp_path / "c.sqlite")
    shown = []
    with ChatServer(key=KEY) as server:
        model = CachedChat(model_at(server, timeout=1.0 if fault == "slow" else 20.0, attempts=2), cache)
        model.reply(chat("first"))
        server.faults(*([f"{fault}:3" if fault == "slow" else fault] * 2))
        pieces, told = [], ""
        try:
            pieces.extend([model.reply(chat()).text] if way == "reply" else [])
            for piece in model.stream(chat()) if way == "stream" else []:
                pieces.append(piece)
        except ChatFailed as failure:
            told = str(failure)
            shown += [trail(failure), repr(failure.call)]
        assert ("status 401" in told) == (fault == "401")
        shown += ["".join(pieces)]
        shown += [repr(model), repr(server.requests), caplog.text, *capfd.readouterr()]
        made = model.inner.wire._made.model
        shown += [repr(made), repr(made.client.api_key), repr(vars(made.client))]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    everything = "\n".join(shown)
    assert KEY not in everything
    assert KEY[:12] not in everything
    assert KEY.encode() not in stored
    assert KEY[:12].encode() not in stored


def test_a_key_that_is_a_word_stops_no_reply(server, monkeypatch):
    monkeypatch.setenv("RESPONSA_API_KEY", "EMPTY")
    server._reply = lambda asked: "The register is empty."
    assert model_at(server).reply(chat()).text == "The register is empty."
    assert "".join(model_at(server).stream(chat())) == "The register is empty."


def test_the_placeholder_does_not_arrive(monkeypatch):
    with Wires() as server:
        model = model_at(server)
        model.reply(chat())
        assert "authorization" not in server.headers
        monkeypatch.setenv("RESPONSA_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
        model.reply(chat())  # the key is read at each request
        assert server.headers["authorization"] == f"Bearer {KEY}"
        assert "openai-organization" not in server.headers
        assert PLACEHOLDER not in str(server.headers)


def test_a_wrong_key(monkeypatch):
    monkeypatch.setenv("RESPONSA_API_KEY", "wrong-key-4711-xyz")
    with ChatServer(key=KEY) as server:
        with pytest.raises(
            ChatFailed, match=r"refuses the key in the environment variable RESPONSA_API_KEY .status 401"
        ) as failure:
            model_at(server).reply(chat())
        assert "wrong-key" not in trail(failure.value)
        assert len(server.requests) == 1


def test_an_unknown_model():
    with ChatServer(models=("known",)) as server:
        with pytest.raises(ChatFailed, match="'m' does not exist; check the address and the name of the model"):
            model_at(server).reply(chat())
        assert len(server.requests) == 1


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_the_variable_and_nothing_is_sent(server, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("RESPONSA_API_KEY", value)
    with pytest.raises(ChatFailed, match="set the environment variable RESPONSA_API_KEY") as failure:
        model_at(server, required=True).reply(chat())
    assert failure.value.call.attempts == 0
    assert server.requests == []


def test_what_every_request_would_meet_is_known_until_one_is_answered(monkeypatch):
    monkeypatch.setenv("RESPONSA_API_KEY", "wrong-key-4711-xyz")
    with ChatServer(key=KEY) as server:
        model = model_at(server)
        model.check()  # nothing is known yet
        assert isinstance(model.replies([chat()])[0], ChatFailed)
        with pytest.raises(ModelError, match="local: refuses the key in the environment variable RESPONSA_API_KEY"):
            model.check()
        monkeypatch.setenv("RESPONSA_API_KEY", KEY)
        model.reply(chat())
        model.check()
        monkeypatch.setenv("RESPONSA_API_KEY", "wrong-key-4711-xyz")
        assert isinstance(model.replies([chat()])[0], ChatFailed)
        model.check()  # it did answer: each failure is told by itself


@pytest.mark.parametrize("fault", ["403", "400", "429*3", "refusal"])
def test_what_one_request_meets_another_may_not(server, moment, fault):
    model = model_at(server, moment.clock())
    server.faults(fault)
    assert isinstance(model.replies([chat()])[0], ChatFailed)
    model.check()


def test_without_a_key_that_is_needed_no_request_can_succeed(server, tmp_path):
    model = CachedChat(model_at(server, required=True), Cache(tmp_path / "c.sqlite"))
    with pytest.raises(ModelError, match="set the environment variable RESPONSA_API_KEY"):
        model.check()


@pytest.mark.parametrize("value", ["two words", "k\u00e9y", "a\nb"])
def test_a_key_that_cannot_be_sent_is_not_repeated(server, monkeypatch, value):
    monkeypatch.setenv("RESPONSA_API_KEY", value)
    with pytest.raises(ChatFailed, match="holds no key") as failure:
        model_at(server).reply(chat())
    assert value not in trail(failure.value)
    assert server.requests == []


# --- the vendors -----------------------------------------------------------------------------------------------


class Wires(Scripted):
    """Speaks as each vendor does, as far as one reply needs it, and keeps the headers as they came. Only the first
    ``failing`` requests have another status than 200. ``ends`` says why replies end: "stop", "length" or "refusal"."""

    def __init__(self, status=200, *, failing=99, after="", ends="stop"):
        super().__init__({})
        self.status, self.failing, self.after, self.ends = status, failing, after, ends
        self.headers, self.path = {}, ""

    @property
    def url(self):
        return f"{self.address}/v1"

    def _answer(self, method, path, headers, raw):
        self.headers, self.path, body = dict(headers), path, json.loads(raw)
        self._take(Request(path, {}, body))
        if self.status != 200 and len(self.requests) <= self.failing:
            asked = (("Retry-After", self.after),) if self.after else ()
            return HttpReply(self.status, b'{"error": {"message": "no"}}', asked)
        of_anthropic, of_google, of_openai = ENDS[self.ends]
        if "messages" in path:
            if body.get("stream"):
                events = ANTHROPIC.replace("end_turn", of_anthropic).encode()
                return HttpReply(200, events, (("Content-Type", "text/event-stream"),))
            value = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": of_anthropic,
                     "content": [{"type": "text", "text": "from anthropic"}], "usage": {"input_tokens": 5, "output_tokens": 2}}  # fmt: skip
        elif "generateContent" in path:
            value = {"candidates": [{"content": {"role": "model", "parts": [{"text": "from google"}]}, "finishReason": of_google}],
                     "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}, "modelVersion": "m"}  # fmt: skip
        else:
            value = {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                     "choices": [{"index": 0, "message": {"role": "assistant", "content": "from openai"}, "finish_reason": of_openai}],
                     "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}  # fmt: skip
        return HttpReply(200, json.dumps(value).encode())


EVENTS = [
    {"type": "message_start", "message": {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": [],
     "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "from anthropic"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]  # fmt: skip
ANTHROPIC = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in EVENTS)

ENDS = {
    "stop": ("end_turn", "STOP", "stop"),
    "length": ("max_tokens", "MAX_TOKENS", "length"),
    "refusal": ("refusal", "SAFETY", "content_filter"),
}
VENDORS = {
    "openai": ("OPENAI_API_KEY", "authorization", f"Bearer {KEY}", "gpt-5.6-luna"),
    "anthropic": ("ANTHROPIC_API_KEY", "x-api-key", KEY, "claude-haiku-5-5"),
    "google": ("GEMINI_API_KEY", "x-goog-api-key", KEY, "gemini-3.8-flash"),
    "azure": ("RESPONSA_API_KEY", "api-key", KEY, "deployment"),
}


def vendor_model(vendor, url, clock, variable):
    variables = ("GOOGLE_API_KEY", variable) if vendor == "google" else (variable,)
    version = "2024-10-21" if vendor == "azure" else ""
    return ApiChat(Wire(vendor, VENDORS[vendor][3], url, variables, True, version, clock=clock), vendor, clock=clock)


@pytest.mark.parametrize("limit", [50, None])  # without a limit, Anthropic is asked for a stream
@pytest.mark.parametrize("vendor", VENDORS)
def test_each_vendor_is_asked_once_with_its_own_header(monkeypatch, moment, vendor, limit):
    variable, header, value, name = VENDORS[vendor]
    monkeypatch.setenv(variable, KEY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody")
    with Wires() as server:
        url = server.url if vendor == "openai" else server.address
        model = vendor_model(vendor, url, moment.clock(), variable)
        reply = model.reply(chat("hello", system="Be kind.", settings=Settings(seed=1, max_tokens=limit)))
        assert reply.text == f"from {'openai' if vendor == 'azure' else vendor}"
        assert server.headers[header] == value
        assert [each for each in server.headers.values() if KEY in each] == [value]
        assert "token-of-somebody" not in str(server.headers)
        assert PLACEHOLDER not in str(server.headers)
        assert KEY not in server.path
        assert name in server.path or server.requests[0].body["model"] == name
        assert (reply.call.tokens_in, reply.call.tokens_out) == (5, 2)
        assert (reply.call.cost is None) == (vendor == "azure")
        assert len(server.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_no_vendor_tries_again_by_itself(monkeypatch, moment, vendor):
    variable = VENDORS[vendor][0]
    monkeypatch.setenv(variable, KEY)
    with Wires(status=500) as server:
        url = server.url if vendor == "openai" else server.address
        with pytest.raises(ChatFailed, match="status 500"):
            vendor_model(vendor, url, moment.clock(), variable).reply(chat())
        assert len(server.requests) == 3


def vendor_asked(monkeypatch, moment, vendor, server, limit=50):
    monkeypatch.setenv(VENDORS[vendor][0], KEY)
    url = server.url if vendor == "openai" else server.address
    model = vendor_model(vendor, url, moment.clock(), VENDORS[vendor][0])
    return model.reply(chat(settings=Settings(max_tokens=limit)))


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_that_asks_for_a_pause_gets_it(monkeypatch, moment, vendor):
    with Wires(429, failing=1, after="7") as server:
        assert vendor_asked(monkeypatch, moment, vendor, server).text.startswith("from ")
        assert len(server.requests) == 2
    assert moment.slept == [7.0]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_key_that_a_vendor_refuses_is_named_and_not_told(monkeypatch, moment, vendor):
    with Wires(401) as server:
        with pytest.raises(ChatFailed, match=VENDORS[vendor][0]) as failure:
            vendor_asked(monkeypatch, moment, vendor, server)
        assert len(server.requests) == 1
    assert KEY not in trail(failure.value)


@pytest.mark.parametrize("limit", [50, None])
@pytest.mark.parametrize(
    ("ends", "told"), [("length", "the reply is over-long"), ("refusal", "the model refuses to answer")]
)
@pytest.mark.parametrize("vendor", VENDORS)
def test_why_a_vendors_reply_is_none(monkeypatch, moment, vendor, ends, told, limit):
    with Wires(ends=ends) as server:
        with pytest.raises(ChatFailed, match=told) as failure:
            vendor_asked(monkeypatch, moment, vendor, server, limit)
        assert len(server.requests) == 1
    assert failure.value.call.tokens_out == 2  # what was paid for is counted


@pytest.mark.parametrize(
    ("vendor", "module", "extra"),
    [("anthropic", "anthropic", "llm-anthropic"), ("google", "google.genai", "llm-google")],
)
def test_a_vendor_that_is_not_installed_names_the_fix(monkeypatch, moment, vendor, module, extra):
    monkeypatch.setenv(VENDORS[vendor][0], KEY)
    for name in [
        name
        for name in sys.modules
        if name.startswith((f"pydantic_ai.models.{vendor}", f"pydantic_ai.providers.{vendor}"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency, match=rf"responsa\[{extra}\]"):
        vendor_model(vendor, "https://example.org", moment.clock(), VENDORS[vendor][0]).reply(chat())


def test_a_missing_library_names_the_fix(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingDependency, match=r"responsa\[llm\]"):
        model_at(server).reply(chat())


def test_importing_loads_nothing_heavy():
    code = (
        "import sys; import responsa.models.chat.load, responsa.models.chat.structured, responsa.models.chat.dryrun; "
        "sys.exit(bool({'httpx', 'httpx2', 'openai', 'pydantic', 'pydantic_ai', 'asyncio.sslproto'} & set(sys.modules) "
        "- {'asyncio.sslproto'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_connections_are_closed_with_the_model(server):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_at(server)
        model.replies([chat("a"), chat("b")])
        del model
        gc.collect()
