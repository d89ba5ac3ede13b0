"""Candidates chosen and mended: cases worked by hand, each difference between the published and the corrected way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generating import DOWN, FACT, KEEP, TELL, ask, idf, model, tasks, tools, verifier
from responsa.answer.generators.base import AnswerFailed, Failed
from responsa.answer.generators.together import answers
from responsa.answer.generators.vrr import EMPTIED, Vrr
from responsa.models.chat.scripted import ScriptedChat
from responsa.models.chat.window import size
from responsa.types import Detection

GOOD = "Records must be kept."
ALSO = "Banks must talk."
LIE = "Banks lie."
TOLD = {
    (KEEP, GOOD): (0.9, 0.0),
    (GOOD, KEEP): (0.9, 0.0),
    (TELL, ALSO): (0.8, 0.0),
    (ALSO, TELL): (0.9, 0.0),
    (TELL, LIE): (0.0, 0.9),
}


@pytest.fixture(scope="session")
def rules(corpus_of):
    rows = [("a", f"{KEEP} {FACT}", "1.1"), ("b", TELL, "1.2")]
    return corpus_of(*({"id": name, "text": text, "number": number, "document": "R"} for name, text, number in rows))


def vrr(chat, told=None, **settings):
    published = settings.get("behaviour") == "published"
    judge = verifier(TOLD if told is None else told, protocol="reference" if published else "strict")
    return Vrr(tools=tools(chat, verifier=judge), **{"candidates": 1, **settings})


def steps(stage, rules, name="q"):
    ((_, history),) = stage.steps(tasks(rules, name), rules)
    return [text for _, text in history]


def test_the_best_candidate_is_mended(rules):
    # composite of the candidates 1/3 and (.45 - .45 + 1/2 + 1)/3 = .5; without the lie (.9 - 0 + .5 + 1)/3 = .8;
    # with both obligations (.85 - 0 + 1 + 1)/3 = .95
    chat = model("Hm.", f"{GOOD} {LIE}", f"{GOOD} {ALSO}")
    stage = vrr(chat, candidates=2)
    made = ask(stage, rules)
    assert made.text == f"{GOOD} {ALSO}"
    assert [(call.purpose, call.repetition, call.seed) for call in made.trace] == [("answer", 0, 0), ("answer", 1, 1), ("insert", 1, 1)]  # fmt: skip
    assert [each.settings.temperature for each in chat.asked] == [1.0] * 3
    assert [each.settings.top_p for each in chat.asked] == [1.0] * 3
    insertion = chat.asked[2].messages[1].text
    assert TELL in insertion
    assert KEEP not in insertion
    assert insertion.endswith(f"Answer:\n{GOOD}")
    assert steps(vrr(model("Hm.", f"{GOOD} {LIE}", f"{GOOD} {ALSO}"), candidates=2), rules) == [
        "Hm.", f"{GOOD} {LIE}", GOOD, f"{GOOD} {ALSO}", f"{GOOD} {ALSO}", f"{GOOD} {ALSO}",
    ]  # fmt: skip


def test_no_pair_is_asked_twice(rules):
    stage = vrr(model(f"{GOOD} {LIE}", f"{GOOD} {ALSO}"))
    ask(stage, rules)
    for judge in (stage.verifier.nli, stage.verifier.coverage):
        assert len(judge.asked) == len(set(judge.asked))


def test_verification_alone(rules):
    made = ask(vrr(model("Hm.", f"{GOOD} {LIE}", "Hm."), candidates=3, rounds=0), rules)
    assert (made.text, len(made.trace)) == (f"{GOOD} {LIE}", 3)


def test_an_insertion_that_lowers_the_score_is_taken_as_published_only(rules):
    worse = f"{GOOD} {ALSO} {LIE} {LIE[:-1]}!"
    told = {**TOLD, (TELL, f"{LIE[:-1]}!"): (0.0, 1.0), (TELL, LIE): (0.0, 1.0), (KEEP, LIE): (0.0, 1.0)}
    # (.9 + .8)/4 - 2/4 + 1 + 1 over 3 = .64 is less than the .8 before
    assert ask(vrr(model(GOOD, worse), told, rounds=1), rules).text == GOOD
    stage = vrr(model(GOOD, worse), told, rounds=1, behaviour="published")
    assert steps(stage, rules)[-1] == f"{GOOD} {ALSO}  "  # cleared once more, being the last: the bar was 0
    assert steps(vrr(model(GOOD, worse), told, rounds=1, behaviour="published"), rules)[:4][-1] == worse


def test_published_every_copy_of_the_words_goes(rules):
    told = {**TOLD, (TELL, "Lie."): (0.0, 0.9)}
    text = f"{GOOD} Lie. Never call it a Lie. Yes"
    assert ask(vrr(model(text, DOWN), told, rounds=1), rules).text == f"{GOOD} Never call it a Lie. Yes"
    assert steps(vrr(model(text, DOWN), told, rounds=1, behaviour="published"), rules)[2] == f"{GOOD}  Never call it a  Yes"  # fmt: skip


def test_published_what_covers_stays_though_it_is_contradicted(rules):
    told = {**TOLD, (FACT, GOOD): (0.0, 1.0), (KEEP, ALSO): (0.0, 0.95)}
    text = f"{GOOD} {ALSO}"
    # as it is (.9 + .8)/2 - (1 + .95)/2 + 1 + 1 = 1.875 over 3; without the first .8 - .95 + 1.5 = 1.35 over 3
    assert ask(vrr(model(text), told, rounds=1), rules).text == text
    assert steps(vrr(model(text), told, rounds=1, behaviour="published"), rules)[2] == text
    weak = {**told, (KEEP, GOOD): (0.0, 0.0), (FACT, ALSO): (0.0, 0.0), (KEEP, ALSO): (0.0, 0.0)}
    # as it is .4 - .5 + 1 + 1 = 1.9 over 3; without the first .8 - 0 + .5 + 1 = 2.3 over 3
    assert ask(vrr(model(text, "Hm."), weak, rounds=1), rules).text == ALSO
    assert steps(vrr(model(text, "Hm."), weak, rounds=1, behaviour="published"), rules)[2] == text


def scripted(by):
    """A model that answers by the question; what is to be inserted it leaves out."""

    def answer(chat):
        text = chat.messages[1].text
        if chat.purpose == "insert":
            return text.partition("Answer:\n")[2]
        return next(reply for name, reply in by.items() if f"What of {name}?" in text)

    return ScriptedChat(answer)


MILD = "Few lie."
MIXED = {**TOLD, (TELL, MILD): (0.0, 0.5)}


def texts(stage, rules, *names):
    found = list(answers(stage, tasks(rules, *names), rules, idf(rules), 4))
    return [each.reason if isinstance(each, Failed) else each.text for each in found]


def test_an_answer_is_emptied_as_published_only(rules):
    by = {"one": LIE, "two": GOOD}  # the bar is (.9 + 0)/2
    assert texts(vrr(scripted(by)), rules, *by) == [LIE, GOOD]
    stage = vrr(scripted(by), behaviour="published")
    one, two = answers(stage, tasks(rules, *by), rules, idf(rules))
    assert isinstance(one, Failed)
    assert (one.query.id, one.reason, [call.purpose for call in one.trace]) == ("one", EMPTIED, ["answer"])
    assert not isinstance(two, Failed)
    assert two.text == GOOD
    alone = ask(vrr(model(LIE), behaviour="published"), rules)  # nothing is above its own mean
    assert alone.text == LIE


def test_an_answer_of_which_a_mark_is_left_is_emptied_too(rules):
    by = {"one": f"{LIE} [1]", "two": GOOD}
    stage = vrr(scripted(by), behaviour="published")
    one, _ = answers(stage, tasks(rules, *by), rules, idf(rules))
    assert isinstance(one, Failed)
    assert one.reason == EMPTIED


def test_published_the_bar_is_that_of_all_questions(rules):
    by = {"one": f"{GOOD} {MILD}", "two": f"{GOOD} {LIE} {LIE[:-1]}!"}
    told = {**TOLD, (TELL, MILD): (0.0, 0.35), (TELL, f"{LIE[:-1]}!"): (0.0, 0.9)}

    def removed(*names):
        found = vrr(scripted(by), told, behaviour="published", rounds=1).steps(tasks(rules, *names), rules)
        return [history[2] for _, history in found]

    assert removed("one") == [("contradictions removed, 1", f"{GOOD} ")]  # above (0 + .35)/2
    both = [("contradictions removed, 1", f"{GOOD} {MILD}"), ("contradictions removed, 1", f"{GOOD}  ")]
    assert removed("one", "two") == both  # not above (.175 + .6)/2


def test_corrected_no_question_bears_on_another(rules):
    by = {"one": f"{GOOD} {MILD}", "two": f"{GOOD} {LIE}"}
    alone = [texts(vrr(scripted(by), MIXED), rules, name)[0] for name in by]
    assert texts(vrr(scripted(by), MIXED), rules, *by) == alone == [f"{GOOD} {MILD}", GOOD]


def test_published_only_the_last_question_is_cleared_in_the_end(rules):
    bad = f"{GOOD} {LIE}"

    def answer(chat):
        return bad if chat.purpose == "insert" else GOOD

    stage = vrr(ScriptedChat(answer), behaviour="published", rounds=1)
    assert texts(stage, rules, "one", "two", "three") == [bad, bad, GOOD]


def test_a_candidate_that_fails_is_told_of(rules):
    made = ask(vrr(model(DOWN, GOOD, DOWN), candidates=3, rounds=0), rules)
    assert (made.text, made.notes) == (GOOD, ("2 of 3 candidates failed: the server is down",))
    assert len(made.trace) == 3
    with pytest.raises(AnswerFailed, match="the server is down"):
        ask(vrr(model(DOWN), candidates=2), rules)


def test_an_insertion_that_fails_is_told_of(rules):
    made = ask(vrr(model(GOOD, DOWN)), rules)
    assert (made.text, made.notes) == (GOOD, ("obligations left out were not inserted: the server is down",))
    assert [call.purpose for call in made.trace] == ["answer", "insert"]


def test_citations_go_with_their_sentences(rules):
    chat = model(f"{GOOD[:-1]} [1]. {LIE} [2]", f"{GOOD[:-1]} [1]. {ALSO[:-1]} [2, 7].")
    made = ask(vrr(chat, cite=True), rules)
    assert made.text == f"{GOOD} [R, 1.1] {ALSO} [R, 1.2]"
    assert [[each.passage_id for each in one.citations] for one in made.sentences] == [["a"], ["b"]]
    assert chat.asked[1].messages[1].text.endswith(f"Answer:\n{GOOD} [1]")
    assert '<passage id="2"' in chat.asked[1].messages[1].text
    assert made.notes == ("citations of what was not given to the model, dropped: [2, 7]",)


def test_an_obligation_that_the_verifier_alone_sees_is_numbered_behind(rules):
    chat = model(GOOD, DOWN)
    seen = replace(verifier(TOLD), detector=lambda texts: [Detection("obligation", 1.0) for _ in texts])
    ask(Vrr(tools=tools(chat, verifier=seen), candidates=1, cite=True), rules)
    first, insertion = (each.messages[1].text for each in chat.asked)
    assert FACT not in first
    assert f'<passage id="3" mark="{insertion.split(chr(34))[3]}">\nR, 1.1\n{FACT}' in insertion


def test_only_the_nearest_sentences_are_asked(rules):
    told = {(KEEP, "A firm must."): (0.6, 0.0), (TELL, "A firm must."): (0.9, 0.0)}
    near = replace(verifier(told), nearest=1)
    measured = near.against([KEEP, FACT, TELL])(["A firm must.", "Useful."])
    assert near.nli.asked == [(KEEP, "A firm must."), (FACT, "Useful.")]
    assert measured.score.entailment == pytest.approx(0.3)
    assert verifier(told).against([KEEP, FACT, TELL])(["A firm must."]).score.entailment == pytest.approx(0.9)


def test_a_repeated_sentence_counts_once_and_is_told_of_twice(rules):
    against = verifier({(KEEP, GOOD): (0.8, 0.1)}).against([KEEP, KEEP.upper(), "1.2"])
    assert against.sources == [KEEP]
    measured = against([GOOD, GOOD.upper(), FACT])
    assert measured.score.entailment == pytest.approx(0.4)
    assert measured.contradictions == pytest.approx([0.1, 0.0, 0.0])
    assert measured.missing == [0]


def test_an_answer_without_sentences_and_sources_without_any_have_a_score(rules):
    assert verifier({}).against([KEEP])([]).score.composite == 0.0
    assert verifier({}).against([])([GOOD]).score.reason == "no source sentence"
    assert verifier({}).against([]).covers([], KEEP) == 0.0


def test_an_obligation_too_long_for_the_window_is_inserted_shortened(corpus_of):
    long = "A bank must tell " + "and tell again " * 300 + "the regulator."
    chat = model(GOOD, DOWN, window=600)
    made = ask(vrr(chat, max_tokens=100), corpus_of(("a", KEEP), ("b", long)), "a", "b")
    insertion = chat.asked[1]
    assert insertion.purpose == "insert"
    assert "A bank must tell and tell again" in insertion.messages[1].text
    assert "the regulator." not in insertion.messages[1].text
    assert size(insertion.messages) <= 500
    assert any(note.startswith("of [rules, b] only the first") for note in made.notes)
