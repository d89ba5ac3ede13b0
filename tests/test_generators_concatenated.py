"""Obligations one by one: as they stand, and each told by a model, as published and corrected."""

from __future__ import annotations

import pytest

from generating import DOWN, FACT, KEEP, TELL, ask, model, tools, verifier
from responsa.answer.generators.base import AnswerFailed
from responsa.answer.generators.concatenated import Loc, Noc

PLAIN = "Nothing here binds anybody."


@pytest.fixture(scope="session")
def rules(corpus_of):
    rows = [("a", f"{FACT} {KEEP}", "1.1"), ("b", TELL, "1.2"), ("c", PLAIN, "1.3")]
    return corpus_of(*({"id": name, "text": text, "number": number, "document": "R"} for name, text, number in rows))


def loc(chat, told=None, protocol="strict", **settings):
    judge = verifier(told or {}, protocol=protocol)
    return Loc(tools=tools(chat, verifier=judge), **settings)


def test_noc_joins_what_binds(rules):
    made = ask(Noc(), rules)
    assert made.text == f"{KEEP} [R, 1.1] {TELL} [R, 1.2] {PLAIN} [R, 1.3]"
    assert [(each.passage_id, each.start) for one in made.sentences for each in one.citations] == [("a", 20), ("b", 0), ("c", 0)]  # fmt: skip
    assert [each.label for each in made.sentences] == ["obligation", "obligation", "other"]
    plain = ask(Noc(cite=False, fallback="question"), rules)
    assert plain.text == f"{KEEP} {TELL}"
    assert all(each.citations for each in plain.sentences)
    assert made.trace == ()


def test_loc_asks_for_each_obligation_until_it_is_covered(rules):
    chat = model("No.", "Tell the regulator.", "Nobody is bound.", "Firms keep records.")
    told = {("Firms keep records.", KEEP): (0.8, 0), ("Tell the regulator.", TELL): (0.71, 0)}
    made = ask(loc(chat, told), rules)
    assert made.text == "Firms keep records. [R, 1.1] Tell the regulator. [R, 1.2] Nobody is bound. [R, 1.3]"
    assert [call.repetition for call in made.trace] == [0, 0, 0, 1]  # of the passage without one nothing can be covered
    assert made.notes == ()
    first, *_, last = chat.asked
    assert KEEP in first.messages[1].text
    assert TELL not in first.messages[1].text
    assert (first.settings.seed, last.settings.seed) == (0, 1)
    assert KEEP in last.messages[1].text


def test_corrected_the_best_try_is_kept_and_published_the_last(rules):
    replies = ("Firms store records.", "Records exist.", "Whatever.")
    told = {("Firms store records.", KEEP): (0.6, 0), ("Records exist.", KEEP): (0.7, 0)}  # .7 does not cover yet
    made = ask(loc(model(*replies), told), rules, "a")
    assert (made.text, len(made.trace)) == ("Records exist. [R, 1.1]", 3)
    made = ask(loc(model(*replies), told, "reference", behaviour="published", cite=False), rules, "a")
    assert (made.text, len(made.trace)) == ("Whatever.", 3)


def test_published_only_an_obligation_covers(rules):
    told = {("Records stay.", KEEP): (0.9, 0), ("Records must stay.", KEEP): (0.9, 0)}
    assert len(ask(loc(model("Records stay."), told), rules, "a").trace) == 1
    published = loc(model("Records stay.", "Records must stay."), told, "reference", behaviour="published")
    assert [call.repetition for call in ask(published, rules, "a").trace] == [0, 1]


def test_published_a_passage_without_obligation_takes_every_try(rules):
    told = {("All are free, none must.", PLAIN): (0.9, 0)}
    assert len(ask(loc(model("All are free, none must."), told), rules, "c").trace) == 1
    published = loc(model("All are free, none must."), told, "reference", behaviour="published", tries=3)
    assert len(ask(published, rules, "c").trace) == 3


def test_a_try_that_fails_is_made_again_and_what_is_lost_is_told(rules):
    told = {("Keep.", KEEP): (0.9, 0)}
    made = ask(loc(model(DOWN, "Keep."), told), rules, "a")
    assert (made.text, made.notes) == ("Keep. [R, 1.1]", ())
    assert [call.error for call in made.trace] == ["", ""]
    replies = model("Keep.", DOWN, DOWN, DOWN)
    made = ask(loc(replies, told), rules, "a", "b")
    assert made.text == "Keep. [R, 1.1]"
    assert made.notes == ("nothing was said of [R, 1.2]: the server is down",)
    with pytest.raises(AnswerFailed, match=r"nothing was said of \[R, 1.2\]: the server is down") as caught:
        ask(loc(model(DOWN)), rules, "b")
    assert len(caught.value.trace) == 3


def test_replies_of_several_sentences_all_cite_their_obligation(rules):
    told = {("Keep them.", KEEP): (0.9, 0)}
    made = ask(loc(model("Hear this.\n\nKeep them."), told), rules, "a", "b")
    assert made.text == "Hear this. [R, 1.1]\n\nKeep them. [R, 1.1] Hear this. [R, 1.2]\n\nKeep them. [R, 1.2]"
