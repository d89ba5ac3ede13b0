from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import traceback
import warnings
from concurrent.futures import CancelledError

import numpy as np
import pytest

from chats import KEY, Time
from responsa import pacing
from responsa.cache import Cache
from responsa.errors import InputError, MissingDependency, ModelError, ResponsaError
from responsa.models import keys, tokens
from responsa.models.http import (
    CachedEncoder,
    CachedScorer,
    Clock,
    HttpEncoder,
    HttpReranker,
    Service,
)
from responsa.models.http import service as service_module
from responsa.models.load import ENCODERS, RERANKERS, load_encoder, load_reranker
from responsa.models.prompts import BGE_ICL_SUFFIX, NV_EMBED_PREFIX, icl_prefix
from responsa.testing import LocalServer, embed, relevance


@pytest.fixture
def moment():
    return Time()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server():
    with LocalServer(dimension=8) as server:
        yield server


@pytest.fixture
def make(server, moment):
    """An encoder of the local server whose pauses take no time."""

    def make(service=(), **fields):
        settings = {"clock": moment.clock(), "threads": 1, **dict(service)}
        voyage = fields.get("dialect") == "voyage"
        return HttpEncoder(Service(server.voyage_url if voyage else server.url, **settings), "m", **fields)

    return make


@pytest.fixture
def rerank(server, moment):
    def rerank(service=(), **fields):
        settings = {"clock": moment.clock(), "threads": 1, **dict(service)}
        voyage = fields.get("dialect") == "voyage"
        return HttpReranker(Service(server.voyage_url if voyage else server.url, **settings), "m", **fields)

    return rerank


# --- what is asked ---------------------------------------------------------------------------------------------


def test_openai_is_asked_in_its_own_words(make, server):
    vectors = make().encode(["a fund", "gold"], "query")
    (request,) = server.requests
    assert request.body == {"model": "m", "input": ["a fund", "gold"], "encoding_format": "float"}
    assert np.allclose(vectors, [embed("a fund", 8), embed("gold", 8)], atol=1e-6)


def test_voyage_is_asked_in_its_own_words(make, server):
    encoder = make(dialect="voyage", truncate=False, output_dimension=4)
    vectors = encoder.encode(["a fund"], "query")
    encoder.encode(["a fund"], "passage")
    assert [request.body for request in server.requests] == [
        {"model": "m", "input": ["a fund"], "input_type": kind, "truncation": False, "output_dimension": 4}
        for kind in ("query", "document")
    ]
    assert vectors.shape == (1, 4)


def test_openai_shortens_too(make, server):
    assert make(output_dimension=4).encode(["a fund"], "query").shape == (1, 4)
    assert server.requests[0].body["dimensions"] == 4


def test_rerankers_are_asked_in_their_own_words(rerank, server):
    pairs = [("q one", "one"), ("q two", "gold"), ("q one", "q one")]
    scores = rerank().score(pairs)
    assert [request.body for request in server.requests] == [
        {"model": "m", "query": "q one", "documents": ["one", "q one"], "top_n": 2},
        {"model": "m", "query": "q two", "documents": ["gold"], "top_n": 1},
    ]
    assert np.allclose(scores[:, 0], [relevance(*pair) for pair in pairs])
    server.reset()
    assert np.array_equal(rerank(dialect="voyage", truncate=False).score(pairs), scores)
    assert server.requests[0].path == "/voyage/v1/rerank"
    assert server.requests[0].body == {
        "model": "m",
        "query": "q one",
        "documents": ["one", "q one"],
        "truncation": False,
    }


def test_prefixes_go_to_their_role_and_stay_when_the_text_is_cut(make, server):
    encoder = make(query_prefix="Q: ", query_suffix=" !", passage_prefix="P: ", max_tokens=2)
    encoder.encode(["one two three"], "query")
    encoder.encode(["one two three"], "passage")
    assert [request.body["input"] for request in server.requests] == [["Q: one two !"], ["P: one two"]]


def test_the_words_of_the_paper():
    assert NV_EMBED_PREFIX == "Instruct: Given a question, retrieve passages that answer the question\nQuery: "
    task = "Given a financial-regulation query, retrieve relevant passages that answer the query"
    assert icl_prefix() + "Who?" + BGE_ICL_SUFFIX == f"<instruct>{task}\n<query>Who?\n<response>"
    assert icl_prefix([("What?", "That."), ("Why?", "So.")]) == (
        f"<instruct>{task}\n<query>What?\n<response>That.\n\n"
        f"<instruct>{task}\n<query>Why?\n<response>So.\n\n"
        f"<instruct>{task}\n<query>"
    )


def test_blank_texts_are_not_sent(make, rerank, server):
    vectors = make(known_dimension=8, query_prefix="Q: ").encode(["", "a", " \n"], "query")
    assert server.requests[0].body["input"] == ["Q: a"]
    assert not vectors[[0, 2]].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1)
    server.reset()
    rerank().score([("q", " "), ("", "a")])
    assert [request.body["documents"] for request in server.requests] == [["-"], ["a"]]
    assert [request.body["query"] for request in server.requests] == ["q", "-"]


def test_no_request_for_nothing(make, rerank, server):
    assert make(known_dimension=8).encode([], "query").shape == (0, 8)
    assert make(known_dimension=8).encode(["", " "], "query").shape == (2, 8)
    assert rerank().score([]).shape == (0, 1)
    assert server.requests == []


def test_the_dimension_is_found_out_once(make, server):
    encoder = make()
    assert encoder.dimension == 8
    assert encoder.dimension == 8
    encoder.encode(["a"], "query")
    assert len(server.requests) == 2
    assert make(known_dimension=9).dimension == 9
    assert make(known_dimension=9, output_dimension=4).dimension == 4


def test_vectors_are_brought_to_length_one_unless_told(make, monkeypatch):
    monkeypatch.setattr("responsa.testing.embed", lambda text, _: [3.0, 4.0] if text != "zero" else [0, 0])
    assert make().encode(["a", "zero"], "query").tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    assert make(normalise=False).encode(["a"], "query").tolist() == [[3, 4]]


def test_batches(make, server):
    texts = [f"w{n} " * (n + 1) for n in range(7)]  # 1 to 7 tokens
    encoder = make({"batch_texts": 3, "batch_tokens": 8})
    vectors = encoder.encode(texts, "query")
    assert [len(request.body["input"]) for request in server.requests] == [3, 1, 1, 1, 1]
    assert np.allclose(vectors, [embed(text, 8) for text in texts], atol=1e-6)
    assert tokens.batches([9, 1, 1, 1, 9], 2, 8) == [range(0, 1), range(1, 3), range(3, 4), range(4, 5)]
    assert tokens.batches([], 2, 8) == []


def test_a_query_counts_with_each_of_its_passages(rerank, server):
    rerank({"batch_tokens": 10}).score([("one two three", "four five")] * 4)
    assert [len(request.body["documents"]) for request in server.requests] == [2, 2]


def test_threads_keep_the_order(make, server):
    server.faults("slow:0.03", "ok", "slow:0.02")
    texts = [f"text {n}" for n in range(12)]
    seen = []
    encoder = make({"batch_texts": 2, "threads": 4, "clock": Clock()}, progress=lambda *step: seen.append(step))
    assert np.allclose(encoder.encode(texts, "query"), [embed(text, 8) for text in texts], atol=1e-6)
    assert seen == [(n, 6) for n in range(1, 7)]
    assert len(server.requests) == 6


def test_progress_in_one_thread(rerank):
    seen = []
    rerank({"batch_texts": 2}, progress=lambda *step: seen.append(step)).score([("q", str(n)) for n in range(5)])
    assert seen == [(1, 3), (2, 3), (3, 3)]


# --- tokens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a fund", 2), ("authorisation", 2), ("(a) 3.1.2", 8), ("客户资产", 4), ("x" * 95, 10), ("a_b", 1)],
)
def test_tokens_are_counted_nearly(text, expected):
    assert tokens.estimate(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", None, "one two three"),
        ("one two three", 3, "one two three"),
        ("one two three", 2, "one two"),
        ("one, two", 2, "one,"),
        ("one authorisation", 2, "one"),
        ("x" * 95, 4, "x" * 40),
        ("客户资产客户", 4, "客户资产"),
        ("  " + "x" * 95, 4, "  " + "x" * 40),
    ],
)
def test_texts_are_cut_between_words(text, limit, expected):
    cut = tokens.truncate(text, limit)
    assert cut == expected
    assert limit is None or tokens.estimate(cut) <= limit


def test_the_512_tokens_of_the_paper():
    assert tokens.truncate("rule " * 1000, 512) == ("rule " * 512).strip()


# --- what goes wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    ["429", "500", "503", "408", "drop", "cut", "empty", "garbage", "null", "half", "twice", "no-index", "nan", "strings",
     "wrong-dimension"],
)  # fmt: skip
def test_what_passes_is_tried_again(make, rerank, server, moment, fault):
    server.faults(f"{fault}*2")
    vectors = make(known_dimension=8).encode(["a fund", "gold"], "passage")
    assert np.allclose(vectors, [embed("a fund", 8), embed("gold", 8)], atol=1e-6)
    assert len(server.requests) == 3
    assert moment.slept == [0.5, 1.0]
    server.faults(f"{fault}*2")
    assert np.allclose(rerank().score([("a", "a"), ("a", "b")])[:, 0], [relevance("a", "a"), 0])
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("429", "status 429: told to answer 429; try again later"),
        ("500", "status 500"),
        ("drop", "connection failed"),
        ("cut", "connection failed"),
        ("empty", "not JSON"),
        ("garbage", "not JSON"),
        ("null", "no list 'data'"),
        ("half", "1 results for 2 texts"),
        ("twice", "each once"),
        ("no-index", "which text"),
        ("nan", "not finite"),
        ("strings", "several lengths"),
        ("wrong-dimension", "7 numbers instead of 8"),
    ],
)
def test_what_does_not_pass_is_said(make, server, fault, said):
    server.faults(f"{fault}*9")
    with pytest.raises(ModelError, match=said) as caught:
        make(known_dimension=8).encode(["a fund", "gold"], "query")
    assert str(caught.value).startswith(f"{server.url}/embeddings: ")
    assert str(caught.value).endswith("(tried 3 times)")
    assert len(server.requests) == 3
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("400", "refused with status 400: told to answer 400"),
        ("401", "refuses a request without a key; set the environment variable RESPONSA_API_KEY"),
        ("403", "status 403"),
        ("404", "check the address and the name of the model"),
        ("413", "status 413"),
        ("redirect", "sends on to another address"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(make, server, moment, fault, said):
    server.faults(fault)
    with pytest.raises(ModelError, match=said):
        make().encode(["a"], "query")
    assert len(server.requests) == 1
    assert moment.slept == []


REPLIES = [
    b'{"data": [{"index": true, "embedding": [1]}]}',
    b'{"data": [{"index": 1, "embedding": [1]}]}',
    b'{"data": [{"index": -1, "embedding": [1]}]}',
    b'{"data": [{"index": 0.0, "embedding": [1]}]}',
    b'{"data": [{"index": 0}]}',
    b'{"data": ["x"]}',
    b'{"data": {}}',
    b"[]",
    b'{"data": [{"index": 0, "embedding": []}]}',
    b'{"data": [{"index": 0, "embedding": null}]}',
    b'{"data": [{"index": 0, "embedding": [null]}]}',
    b'{"data": [{"index": 0, "embedding": ["1.0"]}]}',
    b'{"data": [{"index": 0, "embedding": [true]}]}',
    b'{"data": [{"index": 0, "embedding": [[1]]}]}',
    b'{"data": [{"index": 0, "embedding": [1, [1]]}]}',
    b'{"data": [{"index": 0, "embedding": [1e39]}]}',
    b'{"data": [{"index": 0, "embedding": [1e999]}]}',
    b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}",
    b'{"data": [{"index": 0, "embedding": [1' + b"0" * 5000 + b"]}]}",
    b"[" * 100_000,
    b"\xff\xfe\x00",
    b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}',
]


@pytest.mark.parametrize("raw", REPLIES, ids=range(len(REPLIES)))
def test_replies_that_cannot_be_used(make, monkeypatch, raw):
    class Response:
        status_code = 200

    monkeypatch.setattr(Service, "_post", lambda *_: (Response, raw))
    with pytest.raises(ModelError, match="cannot be used"):
        make({"attempts": 1}).encode(["a"], "query")


def test_vectors_of_several_lengths_in_one_run(make, server):
    encoder = make()
    encoder.encode(["a"], "query")
    server.faults("wrong-dimension*3")
    with pytest.raises(ModelError, match="7 numbers instead of 8"):
        encoder.encode(["a"], "query")


def test_order_is_restored(make, server):
    server.faults("shuffled")
    assert np.allclose(make().encode(["a", "b"], "query"), [embed("a", 8), embed("b", 8)], atol=1e-6)


def test_a_server_that_is_too_slow(make, server):
    server.faults("slow:5*2")
    with pytest.raises(ModelError, match=r"no answer within 0.05 seconds \(tried 2 times\)"):
        make({"timeout": 0.05, "attempts": 2}).encode(["a"], "query")


def test_a_reply_that_trickles_or_never_ends(make, monkeypatch):
    later = iter([0.0, 100.0, 100.0])
    monkeypatch.setattr(service_module.time, "monotonic", lambda: next(later))
    with pytest.raises(ModelError, match="no answer within"):
        make({"attempts": 1}).encode(["a"], "query")
    monkeypatch.undo()
    monkeypatch.setattr(service_module, "_LARGEST", 10)
    with pytest.raises(ModelError, match="larger than"):
        make({"attempts": 1}).encode(["a"], "query")


def test_nobody_there(moment):
    with LocalServer() as server:
        url = server.url
    with pytest.raises(ModelError, match="is the server running") as caught:
        HttpEncoder(Service(url, clock=moment.clock()), "m").encode(["a"], "query")
    assert len(moment.slept) == 2
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("after", "slept"),
    [
        ("2", [2.0]),
        ("1.5", [1.5]),
        ("0", []),
        ("Fri, 15 Jan 2027 08:00:07 GMT", [7.0]),
        ("Fri, 15 Jan 2027 07:00:00 GMT", []),
        ("soon", [0.5]),
        ("-5", []),
        ("nan", [0.5]),
        ("inf", [0.5]),
        ("Fri, 99 Jan 2027 08:00:07 GMT", [0.5]),
    ],
)
def test_retry_after(make, server, moment, after, slept):
    server.faults(f"429:{after}")
    make().encode(["a"], "query")
    assert moment.slept == slept


def test_a_long_pause_is_not_waited_for(make, server, moment):
    server.faults("429:3600")
    with pytest.raises(ModelError, match="asks to wait 3600 seconds"):
        make().encode(["a"], "query")
    assert moment.slept == []


def test_pauses_grow_and_vary():
    low, high = Time().clock(jitter=0.0), Time().clock(jitter=1.0)
    assert [pacing.pause(n, low) for n in (1, 2, 3, 20)] == [0.25, 0.5, 1.0, 15.0]
    assert [pacing.pause(n, high) for n in (1, 2, 3, 20)] == [0.5, 1.0, 2.0, 30.0]


def test_limits_per_minute(make, moment, server):
    make({"requests_per_minute": 60, "batch_texts": 1}).encode(["a", "b", "c"], "query")
    assert moment.slept == [1.0, 1.0]
    moment.slept.clear()
    make({"tokens_per_minute": 120, "requests_per_minute": 600, "batch_texts": 1}).encode(
        ["a b c d", "a", "b"], "query"
    )
    assert moment.slept == [2.0, 0.5]


def test_a_limit_that_lets_nothing_more_through_waits_as_long_as_can_be():
    pace = pacing.Pace(1e-300, None, Clock())
    pace.turn(1)
    ended = []

    def wait():
        with pytest.raises(CancelledError):
            pace.turn(1)
        ended.append(True)

    done = threading.Thread(target=wait)
    done.start()
    while done.is_alive():
        pace.give_up()
        done.join(0.01)
    assert ended


def test_a_pause_holds_every_thread(server, moment):
    service = Service(server.url, clock=moment.clock())
    server.faults("429:10")
    HttpEncoder(service, "m").encode(["a"], "query")
    service._pace.hold(5)
    HttpReranker(service, "m").score([("a", "b")])
    assert moment.slept == [10.0, 5.0]


def test_an_error_ends_the_work(make, server):
    server.faults("400*50")
    with pytest.raises(ModelError):
        make({"batch_texts": 1, "threads": 3}).encode([f"{n}" for n in range(50)], "query")
    assert len(server.requests) < 20


# --- the key ---------------------------------------------------------------------------------------------------


def everything_about(error):
    """All text that hangs on an exception: messages, chain, arguments, attributes, as a debugger would find it."""
    found, todo = [], [error]
    while todo:
        one = todo.pop()
        found += [repr(one), str(one), repr(one.args), repr(vars(one)), *(getattr(one, "__notes__", []))]
        found += [repr(vars(value)) for value in vars(one).values() if hasattr(value, "__dict__")]
        found += [repr(getattr(value, "headers", "")) for value in vars(one).values()]
        todo += [other for other in (one.__cause__, one.__context__) if other is not None]
    found += traceback.format_exception(error)
    frames = error.__traceback__
    while frames:
        if "/responsa/" in frames.tb_frame.f_code.co_filename:
            found.append(repr(frames.tb_frame.f_locals))
        frames = frames.tb_next
    return "\n".join(found)


@pytest.mark.parametrize(
    "fault", ["echo", "401", "500", "429:9999", "drop", "cut", "garbage", "half", "redirect", "slow:5"]
)
def test_the_key_goes_to_the_server_and_nowhere_else(server, tmp_path, monkeypatch, caplog, capfd, moment, fault):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_API_KEY", f" {KEY}\n")
    service = Service(server.url, key="MY_API_KEY", clock=moment.clock(), timeout=0.5, attempts=2)
    cache = Cache(tmp_path / "cache.sqlite")
    encoder = CachedEncoder(HttpEncoder(service, "m"), cache)
    reranker = CachedScorer(HttpReranker(service, "m"), cache)
    server.faults(*[fault] * 2)
    with pytest.raises(ModelError) as caught:
        HttpEncoder(service, "m", known_dimension=8).encode(["a", "b"], "query")
    server.reset()
    encoder.encode(["a"], "query")
    reranker.score([("a", "b")])
    said = [everything_about(caught.value), caplog.text, *capfd.readouterr()]
    said += [repr(thing) for thing in (service, encoder, reranker, vars(service), server.requests)]
    said += [
        encoder.name,
        reranker.name,
        *(path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()),
    ]
    for part in (KEY, KEY[:12], KEY[-12:]):
        assert part not in "\n".join(said)
    assert not any(isinstance(value, str) and KEY in value for value in (caught.value.args))


def test_the_key_arrives(monkeypatch):
    with LocalServer(key=KEY) as server:
        monkeypatch.setenv("RESPONSA_API_KEY", KEY)
        assert HttpEncoder(Service(server.url), "m").dimension == 64
        monkeypatch.setenv("RESPONSA_API_KEY", "another")
        with pytest.raises(ModelError, match="refuses the key in the environment variable RESPONSA_API_KEY"):
            HttpEncoder(Service(server.url), "m").encode(["a"], "query")
        monkeypatch.delenv("RESPONSA_API_KEY")
        with pytest.raises(ModelError, match="set the environment variable RESPONSA_API_KEY"):
            HttpEncoder(Service(server.url), "m").encode(["a"], "query")


def test_no_header_without_a_key(make, server, monkeypatch):
    monkeypatch.delenv("RESPONSA_API_KEY", raising=False)
    make().encode(["a"], "query")
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("name", ["voyage:voyage-law-2", "openai:text-embedding-3-small"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_the_variable(monkeypatch, name, value):
    variable = name.split(":")[0].upper() + "_API_KEY"
    if value is None:
        monkeypatch.delenv(variable, raising=False)
    else:
        monkeypatch.setenv(variable, value)
    with pytest.raises(ModelError, match=f"set the environment variable {variable}"):
        load_encoder(name).encode(["a"], "query")


@pytest.mark.parametrize("value", ["two words", "sk-\x07bell", "schlüssel-geheim", "line\nbreak"])
def test_a_key_that_cannot_be_sent_is_not_repeated(make, server, monkeypatch, value):
    monkeypatch.setenv("RESPONSA_API_KEY", value)
    with pytest.raises(ModelError, match="holds no key") as caught:
        make().encode(["a"], "query")
    assert value not in everything_about(caught.value).replace(repr(value)[1:-1], value).split("Traceback")[0]
    assert server.requests == []


def test_a_key_in_the_wrong_place_is_not_repeated():
    for bad in (
        {"key": KEY},
        {"url": f"https://user:{KEY}@example.org/v1"},
        {"url": f"https://example.org/v1?key={KEY}"},
    ):
        with pytest.raises(InputError) as caught:
            Service(**{"url": "https://example.org/v1", **bad})
        assert KEY not in str(caught.value)


def test_what_a_server_says_is_shown_in_one_short_line(make, server, monkeypatch):
    shown = keys.shown
    assert shown("a\n\x1b[31mred\x00  b", "") == "a [31mred b"
    assert len(shown("x" * 999, "")) == 200
    assert KEY[:8] not in shown(f"you sent {KEY[:9]}...", KEY)
    assert shown("the key x is wrong", "x") == "(its message repeats the key and is left out)"
    for raw, expected in [
        (b'{"error": {"message": "m"}}', "m"), (b'{"error": "e"}', "e"), (b'{"detail": "d"}', "d"),
        (b'{"detail": [1]}', '{"detail": [1]}'), (b"\xff", "\ufffd"), (b"[" * 100_000, "[" * 100_000),
    ]:  # fmt: skip
        assert keys.message(raw) == expected


# --- settings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [{"url": "example.org"}, {"url": "ftp://example.org"}, {"url": "http://"}, {"url": "http://[::1"}, {"url": "http://a b/"},
     {"url": "http://h:99999"}, {"url": ""}, {"url": "http://h/#m"}, {"batch_texts": 0}, {"threads": 0}, {"attempts": 0},
     {"timeout": 0.0}, {"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": 1e7}, {"patience": float("inf")},
     {"requests_per_minute": float("inf")}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"key": "my key"}],
)  # fmt: skip
def test_settings_of_a_service_out_of_range(bad):
    with pytest.raises(InputError):
        Service(**{"url": "https://example.org/v1", **bad})


@pytest.mark.parametrize(
    "bad",
    [{"model": ""}, {"dialect": "klingon"}, {"known_dimension": 0}, {"output_dimension": -1}, {"max_tokens": 0}],
)
def test_settings_of_a_model_out_of_range(bad):
    service = Service("https://example.org/v1")
    with pytest.raises(InputError):
        HttpEncoder(service, **{"model": "m", **bad})
    if "known_dimension" not in bad and "output_dimension" not in bad:
        with pytest.raises(InputError):
            HttpReranker(service, **{"model": "m", **bad})


def test_an_unknown_role(make):
    with pytest.raises(InputError, match="'document'"):
        make().encode(["a"], "document")


CHANGES = {"dialect": "voyage", "output_dimension": 8, "truncate": False, "max_tokens": 512, "query_prefix": "q",
           "query_suffix": "q", "passage_prefix": "q", "normalise": False}  # fmt: skip


def test_the_name_tells_what_changes_the_numbers_and_only_that():
    url = "https://example.org/v1"
    base = HttpEncoder(Service(url), "m")
    same = [
        HttpEncoder(Service(url + "/", key="OTHER", batch_texts=1, threads=9, timeout=1.0, attempts=9), "m"),
        HttpEncoder(Service(url, requests_per_minute=1), "m", known_dimension=8, progress=print),
    ]
    others = [
        HttpEncoder(Service("https://example.org/v2"), "m"),
        HttpEncoder(Service(url), "n"),
        *(HttpEncoder(Service(url), "m", **{field: value}) for field, value in CHANGES.items()),
    ]
    assert {one.name for one in same} == {base.name}
    assert len({base.name, *(other.name for other in others)}) == len(others) + 1
    rerankers = [
        HttpReranker(Service(url), "m"), HttpReranker(Service(url), "n"), HttpReranker(Service(url), "m", "voyage"),
        HttpReranker(Service(url), "m", max_tokens=9), HttpReranker(Service(url), "m", truncate=False),
    ]  # fmt: skip
    assert len({reranker.name for reranker in rerankers}) == 5
    assert rerankers[0].labels == ("relevance",)


def test_this_machine_is_not_asked_through_a_proxy(make, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert make({"attempts": 1}).encode(["a"], "query").shape == (1, 8)


def test_connections_are_closed_with_the_service(server):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = HttpEncoder(Service(server.url), "m")
        encoder.encode(["a"], "query")
        encoder.encode(["b"], "query")
        del encoder
        gc.collect()


def test_a_missing_library_names_the_fix(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingDependency, match=r"responsa\[llm\]"):
        make().encode(["a"], "query")


def test_importing_loads_no_http_client():
    code = "import sys; import responsa.models.load, responsa.models.http; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


# --- the cache -------------------------------------------------------------------------------------------------


class Exploding:
    """A model that must not be asked."""

    name = "boom"
    labels = ("relevance",)

    def __init__(self, dimension=None):
        self._dimension = dimension

    @property
    def dimension(self):
        if self._dimension is None:
            raise AssertionError("asked for its dimension")
        return self._dimension

    def encode(self, texts, role):
        raise AssertionError(f"asked for {texts!r} as {role}")

    def score(self, pairs):
        raise AssertionError(f"asked for {pairs!r}")


class Recording(Exploding):
    """A model that remembers what it was asked; ``fail_on`` makes it fail."""

    def __init__(self, dimension=3, fail_on=None):
        super().__init__(dimension)
        self.asked = []
        self.fail_on = fail_on

    def encode(self, texts, role):
        self.asked.append((list(texts), role))
        if self.fail_on in texts:
            raise ModelError("told to fail")
        return np.array([[len(text), index, role == "query"] for index, text in enumerate(texts)], dtype=np.float32)

    def score(self, pairs):
        self.asked.append(list(pairs))
        return np.array([[len(query) + len(text)] for query, text in pairs], dtype=np.float32)


@pytest.fixture
def cache(tmp_path):
    def fail(message):
        raise AssertionError(message)

    return Cache(tmp_path / "cache.sqlite", warn=fail)


def test_only_what_is_not_known_is_asked_and_each_text_once(cache):
    inner = Recording()
    encoder = CachedEncoder(inner, cache)
    first = encoder.encode(["aa", "b", "aa"], "query")
    assert inner.asked == [(["aa", "b"], "query")]
    assert first.tolist() == [[2, 0, 1], [1, 1, 1], [2, 0, 1]]
    second = encoder.encode(["ccc", "b", "d", "aa"], "query")
    assert inner.asked[1:] == [(["ccc", "d"], "query")]
    assert second.tolist() == [[3, 0, 1], [1, 1, 1], [1, 1, 1], [2, 0, 1]]
    encoder.encode(["aa"], "passage")
    assert inner.asked[2:] == [(["aa"], "passage")]


def test_what_is_all_known_asks_nothing(cache):
    known = CachedEncoder(Recording(), cache)
    expected = known.encode(["aa", "b"], "query")
    again = CachedEncoder(Exploding(), cache)
    assert np.array_equal(again.encode(["b", "aa"], "query"), expected[::-1])
    assert again.dimension == 3
    assert again.encode([], "query").shape == (0, 3)
    pairs = [("q", "a"), ("q", "bb"), ("q", "a")]
    expected = CachedScorer(Recording(), cache).score(pairs)
    assert expected.tolist() == [[2], [3], [2]]
    scorer = CachedScorer(Exploding(), cache)
    assert np.array_equal(scorer.score(pairs), expected)
    assert scorer.labels == ("relevance",)


def test_over_http_what_is_known_makes_no_request(server, cache):
    pairs = [("q", "a"), ("q", "b")]
    for _ in range(2):
        service = Service(server.url)
        vectors = CachedEncoder(HttpEncoder(service, "m"), cache).encode(["a", "b"], "query")
        scores = CachedScorer(HttpReranker(service, "m"), cache).score(pairs)
    assert len(server.requests) == 3  # the dimension, the vectors, the scores
    assert np.allclose(vectors, [embed("a", 8), embed("b", 8)], atol=1e-6)
    assert scores.shape == (2, 1)


def test_another_name_shares_nothing(cache):
    CachedEncoder(Recording(), cache).encode(["a"], "query")
    other = Recording()
    other.name = "other"
    CachedEncoder(other, cache).encode(["a"], "query")
    assert other.asked == [(["a"], "query")]
    assert CachedEncoder(other, cache).name == CachedScorer(other, cache).name == "other"


def test_an_error_keeps_what_was_done_and_is_not_kept_itself(cache):
    inner, seen = Recording(fail_on="e"), []
    texts = ["a", "b", "c", "d", "e", "f"]
    with pytest.raises(ModelError, match="told to fail"):
        CachedEncoder(inner, cache, chunk=2, progress=lambda *step: seen.append(step)).encode(texts, "query")
    assert seen == [(2, 6), (4, 6)]
    healed = Recording()
    CachedEncoder(healed, cache, chunk=2).encode(texts, "query")
    assert healed.asked == [(["e", "f"], "query")]


def test_a_server_that_fails_leaves_nothing_in_the_cache(make, server, cache):
    encoder = CachedEncoder(make(known_dimension=8), cache)
    server.faults("half*3")
    with pytest.raises(ModelError):
        encoder.encode(["a", "b"], "query")
    assert encoder.encode(["a", "b"], "query").shape == (2, 8)
    assert len(server.requests) == 4


def test_a_model_that_changed_behind_its_name(cache):
    CachedEncoder(Recording(), cache).encode(["a"], "query")

    class Changed(Recording):
        def encode(self, texts, role):
            return np.ones((len(texts), 5), dtype=np.float32)

    with pytest.raises(
        ModelError, match="gave vectors of 5 numbers, before they had 3: the model behind this name has"
    ):
        CachedEncoder(Changed(), cache).encode(["b"], "query")
    assert CachedEncoder(Changed(5), cache).encode(["b", "a"], "query").shape == (2, 5)  # what was known is asked again
    assert CachedEncoder(Exploding(), cache).dimension == 5


def test_one_wrong_reply_does_not_settle_the_dimension(make, server, cache):
    server.faults("wrong-dimension")
    with pytest.raises(ModelError, match="its vectors have 8 numbers instead of 7"):
        CachedEncoder(make(), cache).encode(["a"], "query")
    expected = CachedEncoder(make(), cache).encode(["a"], "query")
    assert expected.shape == (1, 8)
    server.faults("wrong-dimension")
    with pytest.raises(ModelError, match="gave vectors of 7 numbers, before they had 8"):
        CachedEncoder(make(), cache).encode(["b"], "query")
    asked = len(server.requests)
    assert np.array_equal(CachedEncoder(make(), cache).encode(["a"], "query"), expected)
    assert len(server.requests) == asked + 1  # the dimension alone: the row is still kept


def test_blank_texts_do_not_settle_the_dimension(make, server, cache):
    server.faults("wrong-dimension")
    assert CachedEncoder(make(), cache).encode([" "], "query").shape == (1, 7)
    assert CachedEncoder(make(), cache).encode(["a"], "query").shape == (1, 8)


def test_an_array_of_another_shape_is_no_score(cache):
    class Wrong(Recording):
        def score(self, pairs):
            return np.zeros((len(pairs), 2), dtype=np.float32)

    with pytest.raises(ModelError, match=r"boom: gave an array of shape \(1, 2\), expected \(1, 1\); try again"):
        CachedScorer(Wrong(), cache).score([("a", "b")])


def test_rows_of_the_wrong_length_are_asked_again(cache):
    CachedEncoder(Recording(), cache).encode(["a"], "query")
    with cache._create() as db:
        db.execute("UPDATE entries SET value = zeroblob(8), sum = ?", (0x6522DF69,))  # the crc32 of eight zeros
    inner = Recording()
    assert CachedEncoder(inner, cache).encode(["a"], "query").tolist() == [[1, 0, 1]]
    assert inner.asked == [(["a"], "query")]


def test_without_a_cache_that_works_the_work_goes_on(tmp_path):
    (tmp_path / "diary").write_text("not a cache")
    warned = []
    encoder = CachedEncoder(Recording(), Cache(tmp_path / "diary", warn=warned.append), chunk=1)
    assert encoder.encode(["a", "b"], "query").shape == (2, 3)
    assert len(warned) == 1


# --- by name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dimension", "dialect", "variable"),
    [
        ("voyage:voyage-law-2", 1024, "voyage", "VOYAGE_API_KEY"),
        ("voyage:voyage-finance-2", 1024, "voyage", "VOYAGE_API_KEY"),
        ("openai:text-embedding-3-large", 3072, "openai", "OPENAI_API_KEY"),
        ("openai:text-embedding-3-small", 1536, "openai", "OPENAI_API_KEY"),
        ("openai:text-embedding-3-large?dimensions=256", 256, "openai", "OPENAI_API_KEY"),
    ],
)
def test_encoders_known_by_name(name, dimension, dialect, variable):
    assert load_encoder(name).dimension == dimension
    encoder = load_encoder(name).inner
    assert encoder.dialect == dialect
    assert encoder.service.key == variable
    assert encoder.service.key_required
    assert encoder.service.url.startswith("https://api.")
    assert encoder.model in name


def test_the_reranker_known_by_name():
    reranker = load_reranker("voyage:rerank-2?rpm=3&max_tokens=512").inner
    assert (reranker.model, reranker.dialect, reranker.max_tokens) == ("rerank-2", "voyage", 512)
    assert reranker.service.requests_per_minute == 3
    assert reranker.service.key == "VOYAGE_API_KEY"


def test_a_server_of_ones_own_by_name(server):
    encoder = load_encoder(
        f"{server.url}#BAAI/bge-m3?max_tokens=2&query_prefix=Q%3A+&batch=1&threads=1&tpm=1e9&cache=off"
    )
    assert encoder.encode(["one two three", "four"], "query").shape == (2, 8)
    assert [request.body for request in server.requests] == [
        {"model": "BAAI/bge-m3", "input": [text], "encoding_format": "float"} for text in ("Q: one two", "Q: four")
    ]
    reranker = load_reranker(f"{server.voyage_url}#m?dialect=voyage&cache=no")
    assert reranker.score([("a", "a")]).shape == (1, 1)
    assert not encoder.service.key_required
    assert load_encoder("https://example.org/v1#m").inner.service.url == "https://example.org/v1"
    assert load_reranker("https://example.org/v1#m").inner.service.url == "https://example.org/v1"


def test_the_prompts_of_the_paper_by_name():
    assert load_encoder("http://localhost:8000/v1#NV-Embed-v2?prompt=nv-embed-v2").inner.query_prefix == NV_EMBED_PREFIX
    icl = load_encoder("http://localhost:8000/v1#bge-en-icl?prompt=bge-en-icl&max_tokens=512").inner
    assert (icl.query_prefix, icl.query_suffix, icl.passage_prefix) == (icl_prefix(), BGE_ICL_SUFFIX, "")


@pytest.mark.parametrize(
    ("load", "name", "said"),
    [
        (load_encoder, "voyag:voyage-law-2", "did you mean 'voyage'"),
        (load_encoder, "voyage-law-2", "expected scheme:model"),
        (load_encoder, "", "expected scheme:model"),
        (load_encoder, "voyage:", "expected scheme:model"),
        (load_encoder, "voyage:?rpm=1", "name of the model"),
        (load_encoder, "voyage:rerank-2", "is a reranker"),
        (load_reranker, "voyage:voyage-law-2", "is an encoder"),
        (load_reranker, "openai:text-embedding-3-large", "unknown scheme 'openai' of a reranker"),
        (load_encoder, "http://localhost/v1", "names no model"),
        (load_encoder, "http:#m", "expected an address"),
        (load_encoder, "voyage:voyage-law-2?rmp=3", "did you mean 'rpm'"),
        (load_encoder, "voyage:voyage-law-2?rpm=many", "setting 'rpm': expected a finite number, got 'many'"),
        (load_encoder, "voyage:voyage-law-2?rpm=0", "above 0"),
        (load_encoder, "http://localhost/v1#m?timeout=inf", "setting 'timeout': expected a finite number, got 'inf'"),
        (load_reranker, "http://localhost/v1#m?tpm=nan", "setting 'tpm': expected a finite number, got 'nan'"),
        (
            load_encoder,
            "http://localhost/v1#m?timeout=1e10",
            "timeout: expected a finite number above 0 and up to 1,000,",
        ),
        (load_encoder, "http://localhost/v1#m?threads=1.5", "setting 'threads': expected a whole number, got '1.5'"),
        (load_encoder, "voyage:voyage-law-2?rpm=1&rpm=2", "given twice"),
        (load_encoder, "voyage:voyage-law-2?cache=maybe", "setting 'cache': expected yes or no, got 'maybe'"),
        (load_encoder, "voyage:voyage-law-2?prompt=nv-embed-v2", "unknown setting 'prompt'"),
        (load_encoder, "voyage:voyage-law-2?dialect=openai", "unknown setting 'dialect'"),
        (load_encoder, "http://localhost/v1#m?key=OPENAI_API_KEY", "unknown setting 'key'"),
        (load_encoder, "http://localhost/v1#m?dialect=cohere", "'cohere' is not one of"),
        (load_encoder, "http://localhost/v1#m?prompt=bge", "unknown prompt 'bge'"),
    ],
)
def test_names_that_cannot_be_used(load, name, said):
    with pytest.raises(ResponsaError, match=said):
        load(name)


def test_every_scheme_is_in_the_table():
    assert {"voyage", "openai", "http", "https"} <= set(ENCODERS)
    assert {"voyage", "http", "https"} <= set(RERANKERS)
