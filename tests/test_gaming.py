"""Figures beside a score, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.evaluate.gaming import copied_share, gaming, question_relevance, readability

SOURCE = "A firm must keep a record of each complaint that it receives for at least five years."


def test_runs_of_eight_words_count_as_copied():
    assert copied_share(SOURCE, [SOURCE]) == 1
    assert copied_share("a firm must keep a record of each. Penguins swim.", [SOURCE]) == pytest.approx(8 / 10)
    assert copied_share("A firm must keep a record of all complaints.", [SOURCE]) == 0  # seven words in a row
    assert copied_share("A firm must keep a record of all complaints.", []) == 0
    assert copied_share("", [SOURCE]) == 0


def test_a_short_sentence_is_copied_whole_or_not():
    assert copied_share("It receives five years.", [SOURCE]) == 0
    assert copied_share("At least five years!", [SOURCE]) == 1


def test_a_run_does_not_cross_from_passage_to_passage():
    first, second = "A firm must keep", "a record of each complaint"
    assert copied_share("A firm must keep a record of each complaint.", [first, second]) == 0
    assert copied_share("A firm must keep a record of each complaint.", [f"{first} {second}"]) == 1


def test_relevance_is_the_share_of_the_questions_terms():
    assert question_relevance("How long must complaints be recorded?", SOURCE) == pytest.approx(3 / 4)  # not: long
    assert question_relevance("", SOURCE) is None
    assert question_relevance("the of", SOURCE) is None


def test_readability_by_the_printed_formulas():
    grade, ease = readability("The cat sat. The dog ran.")  # three words a sentence, one syllable each
    assert grade == pytest.approx(0.39 * 3 + 11.8 - 15.59)
    assert ease == pytest.approx(206.835 - 1.015 * 3 - 84.6)
    assert readability("...") is None
    assert readability("Regulatory authorisation requires documentation.")[0] > grade


def test_a_high_score_from_copying_is_flagged_and_a_low_one_is_not():
    question = "How long must complaints be recorded?"
    assert gaming(SOURCE, [SOURCE], question, 0.9, ([True], [True])).flags == ("copied",)
    assert gaming(SOURCE, [SOURCE], question, 0.59, ([True], [True])).flags == ()
    assert gaming("Banks keep notes.", [SOURCE], question, 0.9, ([False], [True])).flags == ("beside the question",)


def test_a_detector_that_calls_nearly_all_an_obligation_is_flagged():
    assert gaming("x", [SOURCE], "", 0.1, ([], [True] * 4 + [False])).flags == ("nearly all obligations",)
    assert gaming("x", [SOURCE], "", 0.1, ([], [True] * 3 + [False] * 2)).flags == ()
    assert gaming("x", [SOURCE], "", 0.1, ([], [True] * 4)).flags == ()  # too few to tell


def test_figures_without_anything_to_measure():
    found = gaming("", [], "", 0.0, ([], []))
    assert (found.copied, found.relevance, found.length, found.grade, found.ease) == (0, None, None, None, None)
    assert (found.obligations_answer, found.obligations_sources, found.flags) == (None, None, ())
    assert gaming("one two", ["a b c d"], "", 0.0, ([True, False], [])).length == 0.5


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_what_is_copied_is_a_share(answer, passages):
    assert 0 <= copied_share(answer, passages) <= 1
    assert copied_share(answer, [answer]) in (0, 1)
