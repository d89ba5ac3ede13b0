"""Inquiries: what stands in each prompt, which provisions are given, and the parts that can be left out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from generating import DOWN, ask, model, ranked, tools
from responsa.answer.examples import Example
from responsa.answer.generators.base import AnswerFailed, Traced
from responsa.answer.generators.inquiry import FewShot, MultiStep, ZeroShot
from responsa.answer.generators.provisions import catalogue
from responsa.errors import ModelError, RecipeError
from responsa.models.chat.window import size
from responsa.types import Query

ASKED = Query("q", "Does Article 425(1) of the CRR apply to a bank?", "See Article 10 of the LCR DA.")
EXAMPLES = [Example(f"e{n}", f"May case {n} report?", f"Yes, case {n} may.", f"Case {n}.") for n in range(1, 8)]


def row(number, text, document="32013R0575", name=None):
    return {
        "id": name or f"{document[-4:]}:{number.removeprefix('Article ')}",
        "text": text,
        "number": number,
        "document": document,
    }


@pytest.fixture(scope="session")
def law(corpus_of):
    return corpus_of(
        row("Article 412", "", name="412"),
        row("Article 412(1)", "Institutions shall hold liquid assets."),
        row("Article 425", "", name="425"),
        row("Article 425(1)", "Inflows are capped at 75 %."),
        row("Article 425(2)", "Inflows are measured over 30 days."),
        row("Article 425(2)(a)", "Monies due are halved."),
        row("Article 10", "A cap of the act itself."),
        row("Article 10", "Covered bonds are of Level 1.", "32015R0061"),
    )


def prompts(chat):
    return [message.text for message in chat.asked[-1].messages]


# --- from the model's own knowledge, and after examples


def test_zero_shot_gives_no_passage(law):
    chat = model("It does [1]. So it is.")
    made = ask(ZeroShot(tools=tools(chat)), law, query=ASKED)
    system, user = prompts(chat)
    assert user == f"Question:\n{ASKED.text}\n\nBackground:\n{ASKED.background}"
    assert "provisions given" not in system
    assert "examples" not in system
    assert made.text == "It does. So it is."
    assert made.notes == ("citations of what was not given to the model, dropped: [1]",)
    assert [one.citations for one in made.sentences] == [(), ()]
    assert made.ranking.hits == ranked(law).hits


def test_parts_of_the_prompt_can_be_left_out(law):
    chat = model("Yes.")
    ask(ZeroShot(tools=tools(chat), background=False, authority="the EBA", topic="liquidity", acts="the CRR"), law, query=ASKED)  # fmt: skip
    system, user = prompts(chat)
    assert "the EBA" in system
    assert "liquidity" in system
    assert "the CRR" in system
    assert "background" not in system
    assert user == f"Question:\n{ASKED.text}"
    ask(ZeroShot(tools=tools(chat), role=False, steps=False), law, query=ASKED)
    assert prompts(chat)[0] == "Answer the question about regulation."


def test_few_shot_shows_as_many_examples_as_are_wanted(law):
    chat = model("Yes.")
    made = ask(FewShot(tools=tools(chat, examples=lambda _query: EXAMPLES)), law, query=ASKED)
    system, user = prompts(chat)
    assert [f"Yes, case {n} may." in user for n in range(1, 8)] == [True] * 5 + [False] * 2
    assert "Background: Case 1." in user
    assert "examples" in system
    assert made.notes == ()
    ask(FewShot(tools=tools(chat, examples=lambda _query: EXAMPLES), shots=2, background=False), law, query=ASKED)
    assert "Case 1." not in prompts(chat)[1]
    assert "case 3" not in prompts(chat)[1]


def test_examples_fill_the_window_and_no_more(law):
    chat = model("Yes.")
    ask(FewShot(tools=tools(chat, examples=lambda _query: EXAMPLES)), law, query=ASKED)
    chat = model("Yes.", window=size(chat.asked[0].messages) + 100 - 10)
    made = ask(FewShot(tools=tools(chat, examples=lambda _query: EXAMPLES), max_tokens=100), law, query=ASKED)
    assert "case 4" in prompts(chat)[1]
    assert made.notes == ("examples left out, because the model's window ends: e5",)
    assert size(chat.asked[0].messages) + 100 <= chat.window


def test_examples_of_a_file_are_selected_by_topic_and_never_the_question(tmp_path, law):
    rows = [{"id": "same", "question": ASKED.text.upper(), "answer": "Itself.", "topic": "Liquidity"}]
    rows += [{"id": "q", "question": "Of the same id?", "answer": "Same id.", "topic": "Liquidity"}]
    words = ["Which bank reports inflows?", "Who may waive caps?", "When are losses booked?"]
    rows += [{"id": f"e{n}", "question": text, "answer": f"A{n}.", "topic": "Liquidity"} for n, text in enumerate(words[:2])]  # fmt: skip
    rows += [{"id": "e2", "question": words[2], "answer": "A2.", "topic": "Other"}]
    path = tmp_path / "examples.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    chat = model("Yes.")
    stage = FewShot(tools=tools(chat), examples=str(path), shots=2, topic="liquidity")
    stage.open()
    ask(stage, law, query=ASKED)
    user = prompts(chat)[1]
    assert [text in user for text in ("A0.", "A1.", "A2.", "Itself", "Same id")] == [True, True, False, False, False]


@pytest.mark.parametrize("kind", [FewShot, MultiStep])
def test_as_of_a_day_no_example_is_of_that_day_or_later(tmp_path, law, kind):
    days = {"before": "2019-12-31", "same": "2020-01-01", "after": "2021-01-01", "unknown": ""}
    words = ["Which bank reports inflows?", "Who may waive caps?", "When are losses booked?", "How is gold held?"]
    rows = [{"id": name, "question": text, "answer": f"Said {name}.", "date": days[name]} for name, text in zip(days, words, strict=True)]  # fmt: skip
    path = tmp_path / "examples.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def said(day, asked_on=None):
        chat = model("Yes.")
        stage = kind(tools=tools(chat, implicit=lambda _query, _chat: []), examples=str(path))
        made = ask(stage, replace(law, as_of=day), query=replace(ASKED, asked_on=asked_on))
        return [name for name in days if f"Said {name}." in prompts(chat)[1]], made.notes

    assert said(date(2020, 1, 1)) == (["before"], ())
    assert said(None) == (list(days), ())
    assert said(None, asked_on=date(2020, 1, 1)) == (["before"], ())
    assert said(date(2024, 1, 1), asked_on=date(2020, 1, 1)) == (["before"], ())
    assert said(date(2019, 1, 1)) == ([], ("no example may be shown: all are of this question or too late",))


def test_the_model_filters_examples(law):
    chat = model('{"reason": "near", "helps": true}', '{"reason": "far", "helps": false}', "Yes.")
    made = ask(FewShot(tools=tools(chat, examples=lambda _query: EXAMPLES), shots=2, example_filter=True), law)
    assert [call.purpose for call in made.trace] == ["example-filter", "example-filter", "answer"]
    assert "Yes, case 1 may." in prompts(chat)[1]
    assert "case 2" not in prompts(chat)[1]


def test_without_examples_there_is_no_few_shot(law):
    with pytest.raises(RecipeError, match="examples are needed"):
        ask(FewShot(tools=tools(model("Yes."))), law)
    for stage in (FewShot, MultiStep):
        with pytest.raises(RecipeError, match="examples are needed"):
            stage(tools=tools(model("Yes."))).open()
    MultiStep(shots=0, tools=tools(model("Yes."))).open()


# --- provisions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Article 425(1) of the CRR and Article 10 of the LCR DA", ["0575:425(1)", "0061:10"]),
        ("Articles 412 and 425", ["412", "425"]),
        ("Article 10", []),  # two acts have one
        ("CRR applies. Article 10?", ["0575:10"]),
        ("Article 999 CRR, Directive 2009/65/EC", []),
        ("point (a) of Article 425(2) CRR, Article 425(2)(a) CRR", ["0575:425(2)(a)"]),
    ],
)
def test_provisions_that_a_text_names(law, text, found):
    assert [each.id for each in catalogue(law).cited(text)] == found


def test_provisions_of_a_rulebook(corpus_of):
    rows = [{"id": "x", "text": "Keep records.", "number": "3.2.1", "document": "COBS"}]
    rows += [{"id": "y", "text": "Tell.", "number": "3.2.2", "document": "GEN"}]
    known = catalogue(corpus_of(*rows))
    assert [each.id for each in known.cited("What does Rule 3.2.1 say?")] == ["x"]
    assert [each.id for each in known.article(known.cited("Rule 3.2.1")[0])] == ["x"]


def test_catalogues_are_read_once(law):
    assert catalogue(law) is catalogue(law)


# --- many steps


def step(chat, **settings):
    more = {name: settings.pop(name) for name in ("examples", "implicit_of") if name in settings}
    given = {"examples": more.get("examples"), "implicit": more.get("implicit_of")}
    return MultiStep(tools=tools(chat, **given), **{"shots": 0, "implicit": bool(given["implicit"]), **settings})


def test_articles_are_given_whole_and_in_order(law):
    chat = model("Inflows are capped [1]. Hold assets [3].")
    made = ask(step(chat), law, "0575:412(1)", "0575:425(2)(a)", query=ASKED)
    assert [hit.passage_id for hit in made.ranking.hits] == ["0575:425(1)", "0061:10", "0575:412(1)"]  # fmt: skip
    user = prompts(chat)[1]
    assert "Article 425(1): Inflows are capped at 75 %.\nArticle 425(2): Inflows" in user
    assert user.count("Monies due are halved.") == 1
    assert "A cap of the act itself." not in user
    assert user.index("Inflows") < user.index("Covered bonds") < user.index("liquid assets")
    assert [[each.passage_id for each in one.citations] for one in made.sentences] == [["0575:425(1)"], ["0575:412(1)"]]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({"explicit": False}, ["412(1)", "425(1)"]),
        ({"explicit": False, "top": 1}, ["412(1)"]),
        ({"explicit": False, "unit": "passage", "top": 3}, ["412(1)", "425(1)", "425(2)(a)"]),
        ({"passages": False}, ["425(1)", "10"]),
        ({"passages": False, "background": False}, ["425(1)"]),
        ({"passages": False, "most": 1}, ["425(1)"]),
        ({"passages": False, "explicit": False}, []),
    ],
)
def test_switches(law, settings, given):
    kept = ranked(law, "0575:412(1)", "0575:425(1)", "0575:425(2)(a)")
    chat = model("Yes.")
    stage = step(chat, **settings)
    found, notes = stage.gathered(ASKED, kept, law, Traced(chat))
    assert [source.passage.number.removeprefix("Article ") for source in found] == given
    assert notes == (["of 2 provisions that the question names the first 1 were taken"] if "most" in settings else [])


def test_provisions_meant_come_from_the_model_and_into_the_trace(law):
    def meant(query, chat):
        assert query == ASKED
        return chat.reply(step(chat).request("references", "Name them.", query.text)).text.split("; ")

    chat = model("CRR Article 412; Article 999; nonsense", "Hold assets [3].")
    made = ask(step(chat, implicit_of=meant, passages=False), law, query=ASKED)
    assert [call.purpose for call in made.trace] == ["references", "answer"]
    assert [each.passage_id for each in made.sentences[0].citations] == ["0575:412(1)"]
    chat = model(DOWN, "Yes.")
    made = ask(step(chat, implicit_of=meant), law, query=ASKED)
    assert made.notes == ("the provisions that the question does not name are not known: the server is down",)
    assert len(made.trace) == 2
    chat = model("Yes.")
    ask(step(chat, implicit_of=meant, implicit=False), law, query=ASKED)
    assert [each.purpose for each in chat.asked] == ["answer"]


def test_provisions_meant_are_checked_and_those_invented_are_told(law):
    proposals = [{"provision": "CRR Article 412(1)"}, {"provision": "CRR Article 999"}]
    chat = model(json.dumps({"provisions": proposals}), "Hold assets [2].")
    made = ask(step(chat, implicit=True, background=False, passages=False), law, query=ASKED)
    assert [call.purpose for call in made.trace] == ["implicit provisions", "answer"]
    assert [hit.passage_id for hit in made.ranking.hits] == ["0575:425(1)", "0575:412(1)"]
    assert made.notes == ("provisions that the model named and no act has: CRR Article 999",)
    assert ASKED.background not in chat.asked[0].messages[1].text


def test_examples_stand_before_provisions(law):
    chat = model("Yes.")
    ask(step(chat, examples=lambda _query: EXAMPLES, shots=5), law, query=ASKED)
    user = prompts(chat)[1]
    assert user.index("case 1") < user.index("case 5") < user.index("Inflows") < user.index("Question:\nDoes")
    assert "case 6" not in user
    assert chat.asked[0].messages[0].text.count("quoted from documents") == 1


def test_provisions_that_do_not_fit_are_left_out_from_the_end(law):
    chat = model("Yes.")
    ask(step(chat), law, query=ASKED)
    chat = model("Yes.", window=size(chat.asked[0].messages) + 100 - 10)
    made = ask(step(chat, max_tokens=100), law, query=ASKED)
    assert made.notes == ("left out, because the model's window ends: [32013R0575, Article 10]",)
    assert len(made.ranking.hits) == 3
    assert size(chat.asked[0].messages) + 100 <= chat.window


def test_a_failure_has_its_trace(law):
    with pytest.raises(AnswerFailed) as caught:
        ask(step(model(ModelError("gone"))), law, query=ASKED)
    assert [call.purpose for call in caught.value.trace] == ["answer"]
