"""Replies read as dataclasses: what counts as JSON of the shape, and how often is asked."""

from __future__ import annotations

import enum
import json
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats import Time, chat, model_at
from responsa.answer.generators.base import Traced
from responsa.cache import Cache
from responsa.errors import MissingDependency
from responsa.models.chat import ChatFailed
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.scripted import ScriptedChat
from responsa.models.chat.structured import Parsed, Reader, Unfit, ask, json_in, together
from responsa.testing import ChatServer
from responsa.types import Call


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Cited:
    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    reason: str
    rating: Literal[1, 2, 3, 4]
    sentences: list[Cited]
    note: str | None = None
    colour: Colour = Colour.RED


GOOD = {"reason": "r", "rating": 4, "sentences": [{"text": "t", "citations": ["p"]}]}
VALUE = Verdict("r", 4, [Cited("t", ("p",))])


# --- reading ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD), f"\n\n{json.dumps(GOOD, indent=2)}\n", f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD, indent=1)}\n```", f"Here it is:\n\n```JSON\n{json.dumps(GOOD)}\n```\nGood luck!",
        f"The answer is {json.dumps(GOOD)}.", "\ufeff" + json.dumps(GOOD),
        f"  ```json\n  {json.dumps(GOOD)}\n  ```",
    ],
)  # fmt: skip
def test_json_in_a_reply_is_found(text):
    assert Reader(Verdict).read(text) == VALUE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Yes.", "not JSON"), ("I cannot say {today}.", "not JSON"), ('{"reason": "r", ', "not JSON"),
        (json.dumps(GOOD) + json.dumps(GOOD), "2 JSON values"), ('```json\n{"a": }\n```', "cannot be read"),
        ("```\n{}\n```\n```\n{}\n```", "2 code fences"), ('{"reason": NaN}', "not JSON"), ('{"a": 1, "a": 2}', "not JSON .a field is given twice"),
        ("[" * 100_000, "not JSON"), ("```json\n" + "[" * 100_000 + "\n```", "cannot be read"),
        ('broken {"reason": {"a": 1} and', "not JSON"),
    ],
)  # fmt: skip
def test_nothing_is_guessed(text, problem):
    with pytest.raises(Unfit, match=problem):
        json_in(text)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rating": 5}, "rating: Input should be 1, 2, 3 or 4"), ({"rating": "4"}, "rating"), ({"rating": True}, "rating"),
        ({"reason": 1}, "reason: Input should be a valid string"), ({"reason": None}, "reason"),
        ({"extra": 1}, "extra: Unexpected keyword argument"), ({"colour": "blue"}, "colour"), ({"sentences": {}}, "sentences"),
        ({"sentences": [{"text": "t", "cites": []}]}, "sentences.0.cites"), ({"sentences": [{}]}, "sentences.0.text: Field required"),
    ],
)  # fmt: skip
def test_values_of_another_shape_are_refused(change, problem):
    with pytest.raises(Unfit, match=problem):
        Reader(Verdict).read(json.dumps({**GOOD, **change}))


@dataclass
class Scored:
    score: float
    count: int
    sure: bool


def test_numbers_are_numbers():
    good = {"score": 1, "count": 2, "sure": True}
    assert Reader(Scored).read(json.dumps(good)) == Scored(1.0, 2, True)
    for change in (
        {"score": "1"},
        {"score": True},
        {"count": "2"},
        {"count": 2.5},
        {"count": True},
        {"sure": 1},
        {"sure": "yes"},
    ):
        with pytest.raises(Unfit, match=next(iter(change))):
            Reader(Scored).read(json.dumps({**good, **change}))


def test_many_errors_are_counted():
    with pytest.raises(Unfit, match="and 2 more"):
        Reader(Verdict).read(json.dumps({"a": 1, "b": 2}))


@given(st.text(max_size=200))
def test_any_text_is_read_or_unfit(text):
    try:
        value = json_in(text)
    except Unfit:
        return
    assert json_in(json.dumps(value)) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_comes_back_as_it_is(value):
    assert json_in(json.dumps(value)) == value
    assert json_in(f"```json\n{json.dumps(value, indent=1)}\n```") == value


def test_the_shape_is_told_at_the_end_of_the_prompt():
    reader = Reader(Verdict)
    asked = reader.dressed(chat("Judge.", system="Be strict."))
    assert asked.messages[0].text == "Be strict."
    assert asked.messages[1].text.startswith("Judge.\n\nReply with one JSON value")
    schema = json.loads(asked.messages[1].text.splitlines()[-1])
    assert schema["required"] == ["reason", "rating", "sentences"]
    assert schema["properties"]["rating"]["enum"] == [1, 2, 3, 4]


def test_a_field_named_title_stays_in_the_schema():
    @dataclass
    class Book:
        title: str

    assert json.loads(Reader(Book).schema)["properties"] == {"title": {"type": "string"}}


def test_a_missing_library_names_the_fix(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pydantic", None)
    with pytest.raises(MissingDependency, match=r"responsa\[llm\]"):
        Reader(Verdict)


# --- asking ----------------------------------------------------------------------------------------------------


def scripted(*texts):
    """A model that gives these replies in turn."""
    turn = iter(texts)
    return ScriptedChat(lambda asked: next(turn))


def test_a_reply_that_fits_is_asked_once():
    model = scripted(json.dumps(GOOD))
    (made,) = ask(model, [chat()], Verdict)
    assert isinstance(made, Parsed)
    assert made.value == VALUE
    assert len(made.calls) == len(model.asked) == 1


def test_what_is_wrong_is_told_and_asked_again():
    model = scripted("Four.", json.dumps({**GOOD, "rating": 9}), json.dumps(GOOD))
    (made,) = ask(model, [chat()], Verdict)
    assert made.value == VALUE
    assert len(made.calls) == 3
    assert [message.role for message in model.asked[2].messages] == ["user", "assistant", "user", "assistant", "user"]
    assert model.asked[1].messages[1].text == "Four."
    assert "it is not JSON" in model.asked[1].messages[2].text
    assert "rating: Input should be 1, 2, 3 or 4" in model.asked[2].messages[4].text


@pytest.mark.parametrize(
    ("bad", "problem"), [("Four.", "it is not JSON"), ('{"rating": 4}', "does not fit the schema: reason")]
)
def test_after_three_tries_it_fails_with_what_was_wrong(bad, problem):
    model = scripted(*[bad] * 9)
    (failure,) = ask(model, [chat(purpose="judge")], Verdict)
    assert isinstance(failure, ChatFailed)
    assert problem in str(failure)
    assert "asked 3 times" in str(failure)
    assert problem in failure.call.error
    assert failure.call.attempts == len(model.asked) == 3
    assert failure.call.purpose == "judge"


def test_order_failures_and_progress():
    answers = {"a": json.dumps(GOOD), "b": "no", "c": json.dumps({**GOOD, "reason": "c"})}
    seen = []
    model = ScriptedChat(lambda asked: answers[asked.messages[0].text[0]])
    made = ask(model, [chat(word) for word in "abc"], Verdict, tries=2, progress=lambda *step: seen.append(step))
    assert [one.value.reason if isinstance(one, Parsed) else "-" for one in made] == ["r", "-", "c"]
    assert seen == [(1, 3), (2, 3), (3, 3), (3, 3)]
    assert ask(model, [], Verdict) == []


def test_requests_and_questions_are_bounded_together():
    with ChatServer() as server:
        model = model_at(server)
        server.faults("500", "prose", "wrong-shape")
        (failure,) = ask(model, [chat()], Verdict)
        assert isinstance(failure, ChatFailed)
        assert failure.call.attempts == len(server.requests) == 3
        assert "does not fit the schema" in str(failure)
        server.reset()
        server.faults("prose", "500*5")
        (failure,) = ask(model, [chat()], Verdict)
        assert failure.call.attempts == len(server.requests) == 3
        assert "status 500" in str(failure)
        server.reset()
        server.faults("500", "prose")
        (made,) = ask(model, [chat()], Verdict)
        assert len(server.requests) == sum(call.attempts for call in made.calls) == 3


def test_a_reply_in_another_language_is_told_in_words():
    with ChatServer() as server:
        server.faults("language*3")
        (failure,) = ask(model_at(server), [chat()], Verdict)
        assert "it is not JSON" in str(failure)


LISTED = [
    "429:0",
    "500",
    "slow:30",
    "cut",
    "drop",
    "invalid",
    "shape",
    "refusal",
    "empty",
    "over-long",
    "prose",
    "wrong-shape",
]


def test_five_hundred_questions_a_tenth_of_which_meet_a_fault(tmp_path):
    """All are answered or listed as failed with the reason, three requests each at most, and nothing is paid twice."""
    chats = [chat(f"question {number}", purpose="judge") for number in range(500)]
    cache = Cache(tmp_path / "c.sqlite")
    with ChatServer(share={fault: 0.1 / len(LISTED) for fault in LISTED}, seed=5) as server:
        model = CachedChat(model_at(server, Time().clock(), threads=8, timeout=2.0), cache)
        made = ask(model, chats, Verdict)
        assert len(made) == 500
        answered = [one for one in made if isinstance(one, Parsed)]
        failed = [one for one in made if isinstance(one, ChatFailed)]
        assert len(answered) > 450
        assert failed
        assert all(one.call.error for one in failed)
        sent = Counter(request.body["messages"][0]["content"] for request in server.requests)
        assert len(sent) == 500
        assert max(sent.values()) <= 3
        assert max(sent.values()) > 1
        counted = sum(call.attempts for one in answered for call in one.calls) + sum(
            one.call.attempts for one in failed
        )
        assert counted == len(server.requests)
        first = len(server.requests)
        again = ask(model, chats, Verdict)
        repeated = {request.body["messages"][0]["content"] for request in server.requests[first:]}
    for one, other in zip(made, again, strict=True):
        if isinstance(one, Parsed):
            assert isinstance(other, Parsed)
            assert other.value == one.value
            assert all(call.cached for call in other.calls)
    assert len(repeated) <= len(failed)


def test_calls_add_up():
    one = Call("p", "m", "d", tokens_in=1, tokens_out=2, cost=0.5, seconds=1.0, attempts=1)
    two = Call("p", "m", "e", tokens_in=10, tokens_out=20, cost=None, seconds=2.0, attempts=2, cached=True)
    both = together([one, two], "why")
    assert (both.prompt, both.tokens_in, both.tokens_out, both.cost, both.seconds) == ("d", 11, 22, 0.5, 3.0)
    assert (both.attempts, both.cached, both.error) == (3, False, "why")
    assert together([two]).cost is None


@pytest.mark.parametrize("around", [lambda model: model, Traced, lambda model: Traced(Traced(model))])
def test_replies_that_never_fit_are_asked_anew_in_another_run(tmp_path, around):
    """They are a failure, and failures are not kept; the reply to another chat is."""
    cache = Cache(tmp_path / "cache.sqlite")
    good, bad = chat("good"), chat("bad")
    script = ScriptedChat(lambda each: json.dumps(GOOD) if "good" in each.messages[0].text else "no JSON")
    for _ in range(2):
        found = ask(around(CachedChat(script, cache)), [good, bad], Verdict)
        assert isinstance(found[0], Parsed)
        assert isinstance(found[1], ChatFailed)
    assert Counter(each.messages[0].text[:4] for each in script.asked) == {"good": 1, "bad\n": 6}


def test_a_model_without_a_cache_has_nothing_to_forget():
    script = ScriptedChat(lambda _: "no JSON")
    for model in (script, Traced(script)):
        assert isinstance(ask(model, [chat("bad")], Verdict)[0], ChatFailed)
    assert len(script.asked) == 6


def test_a_reply_mended_when_asked_again_is_kept_with_what_led_to_it(tmp_path):
    cache = Cache(tmp_path / "cache.sqlite")
    script = ScriptedChat(lambda each: json.dumps(GOOD) if len(each.messages) > 1 else "no JSON")
    for _ in range(2):
        assert isinstance(ask(CachedChat(script, cache), [chat("q")], Verdict)[0], Parsed)
    assert len(script.asked) == 2
