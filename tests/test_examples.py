"""Examples for prompts: which are allowed, which are taken, and the filter by a language model."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic", reason="needs responsa[llm]")

from responsa.answer import examples
from responsa.answer.examples import (
    Example,
    ExampleBank,
    Selection,
    filter_chat,
    filter_examples,
    is_copy,
    read_examples,
)
from responsa.errors import InputError, ModelError
from responsa.models.chat.scripted import ScriptedChat
from responsa.types import Query

ON = date(2020, 1, 1)
BEFORE = date(2019, 1, 1)


def example(name, question, topic="", day=BEFORE, answer="Yes."):
    return Example(name, question, answer, "", topic, day)


def chosen(bank, text="harbour fee", on=ON, topic="", **settings):
    return [each.id for each in ExampleBank(tuple(bank), Selection(**settings)).select(Query("q", text), on, topic)]


def test_what_is_published_on_the_day_or_later_is_never_used():
    bank = [
        example("a", "fee one", day=date(2019, 12, 31)), example("b", "fee two", day=ON),
        example("c", "fee three", day=date(2021, 1, 1)), example("d", "fee four", day=None),
    ]  # fmt: skip
    assert chosen(bank) == ["a"]
    assert sorted(chosen(bank, on=None)) == ["a", "b", "c", "d"]


def test_neither_the_question_nor_one_like_it():
    bank = [example("q", "pilots"), example("a", "Harbour FEE?"), example("b", "harbour fee again"), example("c", "fee of pilots")]  # fmt: skip
    assert chosen(bank) == ["c"]
    assert chosen(bank, copy=1.0) == ["b", "c"]


def test_copies():
    assert is_copy("Is rule v0682_m correct?", "is rule V0682_m correct")
    assert is_copy("a b c", "a b c d e", 0.6)
    assert not is_copy("a b c", "a b c d e", 0.61)
    assert not is_copy("", "")


def test_the_topic_comes_first_and_others_follow():
    bank = [example("a", "harbour fee of boats", "Other"), example("b", "pilots", "Liquidity Risk"), example("c", "goats", "liquidity  risk")]  # fmt: skip
    assert chosen(bank, topic="Liquidity risk") == ["b", "c", "a"]
    assert chosen(bank, topic="Liquidity risk", other_topics=False) == ["b", "c"]
    assert chosen(bank, topic="Liquidity risk", most=1) == ["b"]
    assert chosen(bank)[0] == "a"
    assert chosen(bank, topic="Unheard of")[0] == "a"


VECTORS = {"q": (1, 0, 0), "near": (0.9, 0.1, 0), "nearer": (0.95, 0.1, 0), "apart": (0.5, 0.8, 0), "far": (0, 0, 1)}


class Toy:
    """Vectors by text."""

    name, dimension = "toy", 3

    def encode(self, texts, role):
        assert role == ("query" if texts == ["q"] else "passage")
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [
        (1.0, ["nearer", "near", "apart", "far"]),  # likeness alone
        (0.5, ["nearer", "far", "near", "apart"]),  # 0 - 0 for far; .994 - .99.. for near; .53 - .62 for apart
        (0.0, ["apart", "far", "near", "nearer"]),  # unlikeness alone; ties by id
    ],
)
def test_relevance_against_variety_by_vectors(monkeypatch, relevance, expected):
    monkeypatch.setattr(examples, "load_encoder", lambda _: Toy())
    bank = [example(name, name) for name in ("far", "near", "apart", "nearer")]
    found = chosen(bank, "q", relevance=relevance, encoder="toy")
    assert found[0] == expected[0]
    assert found == order_by_hand(relevance)


def order_by_hand(relevance):
    """Maximal marginal relevance in plain Python, over the toy's vectors."""

    def cosine(one, other):
        a, b = VECTORS[one], VECTORS[other]
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return dot / (sum(x * x for x in a) ** 0.5 * sum(x * x for x in b) ** 0.5)

    left, taken = sorted(["far", "near", "apart", "nearer"]), []
    while left:
        value = {n: relevance * cosine("q", n) - (1 - relevance) * max([cosine(n, t) for t in taken], default=0) for n in left}  # fmt: skip
        best = max(left, key=lambda name: (round(value[name], 6), [-ord(letter) for letter in name]))
        taken.append(best)
        left.remove(best)
    return taken


def test_variety_by_words():
    bank = [
        example("a", "harbour fee boats"), example("b", "harbour fee boats rope"),
        example("c", "harbour goats"), example("d", "nothing shared"),
    ]  # fmt: skip
    asked = "harbour fee of tugs in winter"
    assert chosen(bank, asked, relevance=1.0, most=2) == ["a", "c"]  # b is a copy of a
    assert chosen(bank, asked, relevance=1.0, copy=1.0, most=2) == ["a", "b"]
    assert chosen(bank, asked, relevance=0.3, copy=1.0, most=2) == ["a", "d"]


@given(st.permutations(["fee boats", "fee goats", "pilots", "harbour", "law of the harbour", "fee pilots", "rope"]))
def test_the_order_of_the_file_does_not_matter(questions):
    bank = [example(text, text) for text in questions]
    assert chosen(bank) == chosen(sorted(bank, key=lambda each: each.id))


def test_ties_go_to_the_lower_id():
    bank = [example(name, f"word{name}") for name in ("c", "a", "b")]
    assert chosen(bank, "unknown") == ["a", "b", "c"]


def test_a_selector_knows_day_and_topic_by_id():
    bank = ExampleBank((example("a", "rope", "A", date(2018, 1, 1)), example("b", "pilots", "B", date(2019, 5, 1))), Selection(most=1))  # fmt: skip
    select = bank.selector({"q1": date(2019, 1, 1), "q2": ON}, {"q2": "B"})
    assert [each.id for name in ("q1", "q2") for each in select(Query(name, "harbour"))] == ["a", "b"]


def test_no_examples():
    assert chosen([]) == []
    assert chosen([example("a", "the")], "the of") == ["a"]  # stop words alone: no words to compare


@pytest.mark.parametrize("field", [{"most": 0}, {"relevance": 1.1}, {"relevance": -0.1}, {"copy": 0}])
def test_settings_out_of_range(field):
    with pytest.raises(InputError, match="examples: most of at least 1"):
        Selection(**field)


# Files


def write(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_both_forms(tmp_path):
    archived = {
        "qa_id": "2013_1", "question": " Why? ", "background": "", "answer": "So.", "topic": "Own funds",
        "date_submission_date_iso": "2013-01-01", "date_final_publishing_date_iso": "2014-02-03",
    }  # fmt: skip
    path = write(tmp_path / "e.jsonl", archived, "", {"id": "b", "question": "When?", "answer": "Now.", "date": None})
    assert read_examples(path) == (
        Example("2013_1", "Why?", "So.", "", "Own funds", date(2014, 2, 3)),
        Example("b", "When?", "Now."),
    )


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": "a", "question": "", "answer": "b"}], "line 1: 'question' is ''; expected text"),
        ([{"id": "a", "question": "b"}], "line 1: 'answer' is ''; expected text"),
        ([{"question": "b", "answer": "c"}], "line 1: 'id' is ''; expected text"),
        ([{"id": "a", "question": "b", "answer": "c", "date": "3 May"}], "line 1: 'date' is '3 May'; write it as"),
        ([{"id": "a", "question": "b", "answer": "c"}] * 2, "line 2: the id 'a' is given twice"),
        (["[]"], "line 1: expected an object, found list"),
        (["{"], "line 1: not valid JSON"),
        ([], "holds no example"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, rows, told):
    with pytest.raises(InputError) as error:
        read_examples(write(tmp_path / "e.jsonl", *rows))
    assert told in str(error.value)


def test_the_archive_of_the_eba(data):
    bank = ExampleBank(read_examples(data / "eba_qa" / "train.jsonl"))
    assert len(bank.examples) == 828
    asked, day = next(each for each in bank.examples if each.id == "2016_2642"), date(2016, 2, 24)
    question = Query(asked.id, asked.question, asked.background)
    found = bank.select(question, day, asked.topic)
    assert len(found) == len({each.id for each in found}) == 5
    assert {each.topic for each in found} == {"Liquidity risk"}
    assert all(each.date < day and not is_copy(each.question, asked.question) for each in found)
    assert found == bank.select(question, day, asked.topic)


# The filter

BANK = [example("a", "fee of boats", answer="Ten."), example("b", "goats", answer="None."), example("c", "pilots")]


def test_the_filter():
    def answer(chat):
        return json.dumps({"reason": "compared", "helps": "fee of boats" in chat.messages[1].text})

    model = ScriptedChat(answer)
    found = filter_examples(model, Query("q", "harbour fee"), BANK)
    assert [each.id for each in found.kept] == ["a"]
    assert (found.reasons, found.unread) == ({"a": "compared", "b": "compared", "c": "compared"}, ())
    assert len(found.calls) == len(model.asked) == 3
    assert all("Ten." in chat.messages[1].text for chat in model.asked[:1])


def test_a_filter_that_fails_filters_nothing():
    def answer(chat):
        if "goats" in chat.messages[1].text:
            raise ModelError("status 500")
        return "yes" if "boats" in chat.messages[1].text else '{"reason": "x", "helps": false}'

    found = filter_examples(ScriptedChat(answer), Query("q", "harbour fee"), BANK)
    assert [each.id for each in found.kept] == ["a", "b"]
    assert found.unread == ("a", "b")
    assert "status 500" in found.reasons["b"]
    assert sum(call.purpose == "example-filter" for call in found.calls) == len(found.calls) >= 3


def test_the_request_of_the_filter():
    text = filter_chat(Query("q", "harbour fee"), BANK[0]).messages[1].text
    assert text.count("<passage id=") == 3  # no background on either side
    assert text.index("harbour fee") < text.index("fee of boats") < text.index("Ten.")
    assert filter_examples(ScriptedChat(lambda _: ""), Query("q", "x"), []).kept == ()
