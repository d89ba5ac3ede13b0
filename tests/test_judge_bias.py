"""Probes of judges that are known to be biased, and of one that is not."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pydantic", reason="needs responsa[llm]")
pytest.importorskip("scipy", reason="needs responsa[eval]")

from responsa.evaluate.judge import Case, Judge, Rating
from responsa.evaluate.judge_bias import (
    PROBES,
    Pair,
    constant,
    length_bias,
    length_flag,
    positions,
    probe,
)
from responsa.evaluate.judge_files import calibration
from responsa.models.chat.scripted import ScriptedChat
from responsa.testing.replies import Asked

CASES = [each.case for each in calibration()][::6]


def judge(rate, name="scripted"):
    """A judge whose rating is a function of official answer, candidate answer and prompt."""

    def answer(chat):
        asked = Asked("", tuple((message.role, message.text) for message in chat.messages))
        given = dict(asked.passages)
        return json.dumps({"reason": "x", "rating": rate(given["official_answer"], given["candidate_answer"], asked.prompt)})  # fmt: skip

    return Judge(ScriptedChat(answer, name))


def fair(official, candidate, _):
    """4 for the official answer with anything behind it, 1 for anything else."""
    return 4 if candidate.startswith(official) else 1


def always(value):
    return lambda *_: value


def longer(_, candidate, __):
    return 4 if len(candidate) > 450 else 2


def first_wins(official, candidate, prompt):
    return 4 if prompt.index(candidate) < prompt.index(official) else 2


def probed(rate, kind):
    asked = judge(rate)
    return probe(asked, CASES, asked.rate(CASES), kind)


@pytest.mark.parametrize("kind", PROBES)
def test_a_fair_judge_passes(kind):
    found = probed(fair, kind)
    assert (found.n, found.wrong, found.unscored, found.flag) == (10, 0, 0, "")
    assert found.shift.mean == 0
    assert len(found.calls) == 10


def test_a_judge_that_always_says_4():
    asked = judge(always(4))
    ratings = asked.rate(CASES)
    assert constant(ratings) == "scripted always says 4 (10 ratings): it may not tell answers apart"
    found = probed(always(4), "unrelated")
    assert (found.wrong, found.shift.mean) == (10, 3.0)
    assert found.flag == "scripted rates the official answer to another question above 1 (10 of 10)"
    assert probed(always(4), "identical").flag == ""


def test_constant_only_of_enough_ratings_and_of_those_scored():
    def given(*values):
        return [Rating(("", str(place)), "a", 0, value) for place, value in enumerate(values)]

    assert constant(given(4, 4, 4, 4)) == ""
    assert constant(given(4, 4, 4, 4, None, 4)).startswith("a always says 4 (5 ratings)")
    assert constant(given(4, 4, 4, 4, 3)) == ""
    assert constant([]) == ""


def test_a_judge_that_is_too_strict():
    found = probed(always(2), "identical")
    assert (found.wrong, found.shift.mean) == (10, -2.0)
    assert found.flag == "scripted rates the official answer itself below 4 (10 of 10)"


def test_padding():
    short = [case for case in CASES if len(case.answer) <= 450]
    found = probed(longer, "padded")
    assert found.wrong == len(short) > 5
    assert found.shift.mean == pytest.approx(2 * len(short) / 10)
    assert "when empty sentences are added" in found.flag


def test_the_order_of_the_two_answers():
    found = probed(first_wins, "swapped")
    assert (found.wrong, found.shift.mean) == (10, 2.0)
    assert "with the order" in found.flag


def test_what_was_not_rated_before_is_not_compared():
    asked = judge(fair)
    before = [Rating(CASES[0].key, "scripted", 0, 4), Rating(CASES[1].key, "scripted", 0, None), Rating(CASES[2].key, "b", 0, 4)]  # fmt: skip
    assert probe(asked, CASES, before, "padded").n == 1


def test_replies_to_a_probe_that_cannot_be_read():
    def answer(_):
        return "4"

    ratings = [Rating(case.key, "scripted", 0, 4) for case in CASES]
    found = probe(Judge(ScriptedChat(answer)), CASES, ratings, "swapped")
    assert (found.n, found.unscored, found.shift, found.flag) == (0, 10, None, "")


def test_unrelated_is_the_answer_with_fewest_words_in_common():
    cases = [
        Case("a", "Which fee?", "The harbour fee.", "x"), Case("b", "Which harbour?", "The old harbour.", "y"),
        Case("c", "When?", "On Monday.", "z"), Case("a", "Which fee?", "The harbour fee.", "w", approach="other"),
    ]  # fmt: skip
    asked = judge(fair)
    probe(asked, cases, [], "unrelated")
    texts = [chat.messages[1].text for chat in asked.model.asked]
    assert len(texts) == 3  # a question is asked about once
    assert ["On Monday." in texts[0], "On Monday." in texts[1]] == [True, True]
    assert probe(asked, cases[:1], [], "unrelated").n == 0
    assert len(asked.model.asked) == 3


def test_length():
    cases = [Case(str(n), "q", "r", "word " * n) for n in range(1, 11)]

    def given(values):
        return [Rating(("", str(n)), "a", 0, value) for n, value in enumerate(values, 1)]

    up = length_bias(cases, given([1, 1, 2, 2, 2, 3, 3, 3, 4, 4]))
    assert up.tau > 0.9
    assert length_flag("a", up).startswith("a rates longer answers higher (tau +0.9")
    down = length_bias(cases, given([4, 4, 3, 3, 3, 2, 2, 2, 1, None]))
    assert (down.n, length_flag("a", down).startswith("a rates shorter answers higher")) == (9, True)
    assert length_flag("a", length_bias(cases, given([1, 4, 2, 3, 1, 4, 2, 3, 1, 4]))) == ""
    assert length_flag("a", length_bias(cases, given([3] * 10))) == ""


# Pairs

PAIRS = [Pair("1", "q?", "the rule", "the rule", "no rule"), Pair("2", "q?", "a rule", "nothing", "a rule")]


def prefers(choose):
    def answer(chat):
        asked = Asked("", tuple((message.role, message.text) for message in chat.messages))
        given = dict(asked.passages)
        return json.dumps({"reason": "x", "better": choose(given["official_answer"], given["first_answer"], given["second_answer"])})  # fmt: skip

    return ScriptedChat(answer, "judge")


def test_a_fair_preference():
    found = positions(prefers(lambda rule, one, _: "first" if one == rule else "second"), PAIRS)
    assert (found.n, found.a, found.b, found.equal, found.inconsistent) == (2, 1, 1, 0, 0)
    assert (found.first, found.second, found.flag) == (2, 2, "")
    assert len(found.calls) == 4


def test_a_preference_for_the_first_place():
    found = positions(prefers(lambda *_: "first"), PAIRS)
    assert (found.n, found.inconsistent, found.first, found.second) == (2, 2, 4, 0)
    assert found.flag == "judge prefers what it reads first (2 of 2 pairs turn with the order)"


def test_no_preference_and_no_reply():
    assert positions(prefers(lambda *_: "equal"), PAIRS).equal == 2
    found = positions(prefers(lambda rule, one, _: "both" if one == "nothing" else "equal"), PAIRS)
    assert (found.n, found.unscored, found.equal) == (1, 1, 1)
    assert positions(prefers(lambda *_: "both"), PAIRS).flag == ""
