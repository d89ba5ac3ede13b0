"""The check of an answer: what it cites supports it, passages found contradict it, obligations are left out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from responsa import questions, recipe, sample, views
from responsa.answer.ground import EntailmentCheck
from responsa.engine import Engine
from responsa.errors import RecipeError
from responsa.obligations import RuleObligationDetector
from responsa.types import Answer, AnswerSentence, Citation, Query, Ranking

KEEP = "A firm must keep records."
TELL = "A bank must tell nobody of the report."
FACT = "Records are useful."
MAY = "A bank may tell its auditor of the report."


class Table:
    """Probabilities of entailment and contradiction as told, by pair; (.1, .2) for any other. It notes what it was
    asked."""

    name = "table@1"

    def __init__(self, told=None):
        self.told, self.asked = told or {}, []

    def __call__(self, pairs):
        assert len(pairs) == len(set(pairs)) > 0
        self.asked += pairs
        rows = [self.told.get(pair, (0.1, 0.2)) for pair in pairs]
        return np.array([(one, 1 - one - two, two) for one, two in rows], np.float32)


def drafted(corpus, *said, found=()):
    """An answer of (text, passage ids cited) pairs, each citing whole passages."""
    sentences, text = [], ""
    for sentence, names in said:
        start, end = len(text), len(text) + len(sentence)
        citations = tuple(Citation(name, corpus.version(corpus[name].document_id).digest, 0, len(corpus[name].text), start, end) for name in names)  # fmt: skip
        sentences.append(AnswerSentence(sentence, start, end, citations))
        text += sentence + " "
    ranking = Ranking.of("q", [(name, 1.0) for name in found])
    return Answer(Query("q", "What?"), text, tuple(sentences), ranking, 0.9)


def check(answer, corpus, told=None, **settings):
    judge = Table(told)
    return EntailmentCheck(**settings)(answer, corpus, judge, RuleObligationDetector(), "rules@1"), judge


def test_grounding_is_the_best_of_what_is_cited(corpus_of):
    corpus = corpus_of(("a", f"{KEEP} {FACT}"), ("b", TELL))
    told = {(FACT, "Records help."): (0.8, 0), (TELL, "Banks talk."): (0.4, 0), (KEEP, "Banks talk."): (0.9, 0)}
    answer = drafted(corpus, ("Records help.", ["a"]), ("Banks talk.", ["b"]), ("Penguins swim.", []))
    found, judge = check(answer, corpus, told)
    assert [sentence.grounding for sentence in found.answer.sentences] == [pytest.approx(0.8), pytest.approx(0.4), 0.0]
    assert (KEEP, "Banks talk.") not in judge.asked  # of a passage that this sentence does not cite
    assert (found.nli, found.detector) == ("table@1", "rules@1")
    assert [sentence.grounding for sentence in answer.sentences] == [None] * 3


@pytest.mark.parametrize("said", [KEEP, "a  firm must keep\nrecords.", f"{KEEP} {FACT}"])
def test_what_is_copied_is_grounded_and_not_asked(corpus_of, said):
    corpus = corpus_of(("a", f"{KEEP} {FACT}"))
    found, _ = check(drafted(corpus, (said, ["a"])), corpus, {(KEEP, said): (0.3, 0), (FACT, said): (0.3, 0)})
    assert found.answer.sentences[0].grounding == 1.0


def test_one_wording_alone_asks_nothing(corpus_of):
    corpus = corpus_of(("a", KEEP), ("b", KEEP.upper()))
    found, judge = check(drafted(corpus, (KEEP, ["a"]), found=("a", "b")), corpus)
    assert (judge.asked, found.contradictions, found.left_out, found.obligations) == ([], (), (), 1)


def test_contradictions_by_any_passage_found(corpus_of):
    corpus = corpus_of(("a", TELL), ("b", f"{FACT} {MAY}"), ("c", "A bank may tell."))
    said = TELL[:-1] + ", always."
    told = {(MAY, said): (0, 0.95), ("A bank may tell.", said): (0, 0.97)}
    found, _ = check(drafted(corpus, (said, ["a"]), found=("a", "b")), corpus, told)
    (warning,) = found.contradictions  # c was not found
    assert (warning.sentence, warning.source.passage_id, warning.source.text) == (0, "b", MAY)
    assert corpus["b"].text[warning.source.start : warning.source.end] == MAY
    assert warning.source.version == corpus.version(corpus["b"].document_id).digest
    assert warning.probability == pytest.approx(0.95)
    both, _ = check(drafted(corpus, (said, ["a"]), found=("a", "b", "c")), corpus, told)
    assert [each.source.passage_id for each in both.contradictions] == ["c", "b"]  # the surest first
    none, _ = check(drafted(corpus, (said, ["a"]), found=("a", "b")), corpus, told, conflict=0.96)
    assert none.contradictions == ()
    quoted, judge = check(drafted(corpus, (TELL, ["a"]), found=("a", "b", "c")), corpus, {(MAY, TELL): (0, 0.95)})
    assert (quoted.contradictions, judge.asked) == ((), [])  # a rule against a rule


def test_obligations_left_out(corpus_of):
    third = "An auditor must sign the accounts."
    corpus = corpus_of(("a", f"{KEEP} {TELL} {FACT}"), ("b", third))
    said = "Banks must be silent about the report."
    covered, _ = check(
        drafted(corpus, (KEEP, ["a"]), (said, ["a"]), found=("a", "b")), corpus, {(said, TELL): (0.71, 0)}
    )
    assert (covered.left_out, covered.obligations) == ((), 2)  # b is found, but not cited
    open_one, _ = check(drafted(corpus, (KEEP, ["a"]), (said, ["a"]), found=("b",)), corpus, {(said, TELL): (0.7, 0)})
    (left,) = open_one.left_out
    assert (left.source.passage_id, left.source.text, left.probability) == ("a", TELL, pytest.approx(0.7))
    assert corpus["a"].text[left.source.start : left.source.end] == TELL
    alone, judge = check(drafted(corpus, ("Penguins swim.", ["b"])), corpus)
    assert [(each.source.text, each.probability) for each in alone.left_out] == [(third, None)]
    assert all(third != hypothesis for _, hypothesis in judge.asked)


LIST = (
    {"id": "1", "number": "1", "text": "Shops must have doors. A shop must:"},
    {"id": "1a", "number": "1(a)", "text": "keep a register; and", "parent": "1"},
    {"id": "1b", "number": "1(b)", "text": "in spring:", "parent": "1"},
    {"id": "1bi", "number": "1(b)(i)", "text": "send it to the office. The office may copy it.", "parent": "1b"},
    {"id": "1e", "number": "1, closing words", "text": "A shop must be kind.", "parent": "1"},
    {"id": "1g", "number": "Guidance 1", "text": "A shop must be polite.", "parent": "1"},
    {"id": "2", "number": "2", "text": "A bar must:"},
    {"id": "2a", "number": "2(a)", "text": "keep a register; and", "parent": "2"},
)
DOORS, ITEM = "Shops must have doors.", "send it to the office."
READ = f"A shop must: in spring: {ITEM}"


def test_items_of_a_list_that_is_cited_are_obligations_with_their_lead_ins(corpus_of):
    corpus = corpus_of(*LIST)
    said = "Each spring the register goes to the office."
    quoted = (DOORS, ["1"]), ("A shop must:", ["1"]), ("keep a register; and", ["1a"])
    found, judge = check(drafted(corpus, *quoted), corpus)
    assert [(each.source.passage_id, each.source.text) for each in found.left_out] == [("1bi", ITEM)]
    assert found.obligations == 3  # none of what announces items, closing words and guidance
    covered, _ = check(drafted(corpus, *quoted, (said, ["1bi"])), corpus, {(said, READ): (0.71, 0)})
    assert (covered.left_out, covered.obligations) == ((), 3)
    assert all("keep a register" not in hypothesis for _, hypothesis in judge.asked)
    alone, _ = check(drafted(corpus, (said, ["1bi"])), corpus, {(said, READ): (0.71, 0)})
    assert (alone.left_out, alone.obligations) == ((), 1)  # of items that nobody cites nothing is asked


def test_an_item_quoted_from_one_list_does_not_cover_that_of_another(corpus_of):
    corpus = corpus_of(*LIST)
    found, _ = check(drafted(corpus, ("A bar must:", ["2"]), ("keep a register; and", ["1a"])), corpus)
    assert [each.source.passage_id for each in found.left_out] == ["2a"]


@pytest.mark.parametrize(
    "text",
    [
        "A shop must do as follows, namely what it wants to do:", "A shop must do either:", "The following shall apply:",
        "A shop may:", "A shop shall be:",
    ],
)  # fmt: skip
def test_items_that_are_no_duties_of_their_own_are_not_counted(corpus_of, text):
    rows = {"id": "1", "number": "1", "text": text}, {"id": "1a", "number": "1(a)", "text": "open.", "parent": "1"}
    found, _ = check(drafted(corpus_of(*rows), ("Shops act.", ["1"])), corpus_of(*rows))
    assert {each.source.passage_id for each in found.left_out} <= {"1"}


def test_a_lead_in_without_items_is_what_it_says(corpus_of):
    corpus = corpus_of(("a", "A shop must do this:"))
    found, _ = check(drafted(corpus, ("Shops act.", ["a"])), corpus)
    assert [each.source.text for each in found.left_out] == ["A shop must do this:"]


def test_only_the_nearest_are_asked(corpus_of):
    said = [f"A firm must keep {word}." for word in ("books", "files", "notes", "records and books")]
    corpus = corpus_of(("a", KEEP), *((name, text) for name, text in zip("bcde", said, strict=True)))
    answer = drafted(corpus, *((text, [name]) for text, name in zip(said, "bcde", strict=True)), ("See a rule.", ["a"]))
    for nearest in (1, 2):
        _, judge = check(answer, corpus, nearest=nearest)
        covering = [pair for pair in judge.asked if pair[1] == KEEP]
        assert len(covering) == nearest
    for nearest in (1, 2):
        other = "A firm must keep all books."
        _, judge = check(drafted(corpus, (other, ["b"]), found="abcde"), corpus, nearest=nearest)
        assert len([pair for pair in judge.asked if pair[1] == other]) == nearest
    assert [premise for premise, _ in covering] == [said[3], said[0]]  # most words shared; of equal ones the first


def test_an_answer_without_a_sentence_asks_nothing(corpus_of):
    corpus = corpus_of(("a", KEEP))
    found, judge = check(drafted(corpus, found=("a",)), corpus)
    assert (judge.asked, found.contradictions, found.left_out, found.obligations) == ([], (), (), 0)


def test_answers_of_the_sample_are_grounded_and_cheap(sample_library):
    # Extractive answers copy: their sentences are grounded without a model, and what is left to ask is bounded.
    corpus = sample_library.corpus()
    chosen = recipe.load("bm25")
    answers = list(Engine(sample_library, chosen).ask(questions.read(sample.questions()), corpus=corpus))
    assert len(answers) >= 10
    for answer in answers:
        found, judge = check(answer, corpus)
        assert {sentence.grounding for sentence in found.answer.sentences} <= {1.0}
        assert len(judge.asked) <= 3 * (len(answer.sentences) + found.obligations)


def test_the_json_form(corpus_of):
    corpus = corpus_of(("a", f"{TELL} {KEEP}"), ("b", MAY))
    said = TELL[:-1] + ", always."
    told = {(MAY, said): (0, 0.95), (TELL, said): (0.9, 0), (said, TELL): (1.0, 0)}
    found, _ = check(drafted(corpus, (said, ["a"]), found=("a", "b")), corpus, told)
    read = views.answer(found.answer, corpus, None, found)
    assert json.loads(json.dumps(read, allow_nan=False)) == read
    digest = corpus.version(corpus["a"].document_id).digest
    assert read["checked"] == {"nli": "table@1", "obligations": "rules@1"}
    assert read["obligations"] == [
        {"id": "a", "version": digest, "start": 39, "end": 64, "text": KEEP, "probability": 0.1}
    ]
    assert read["contradictions"] == [
        {"sentence": 0, "id": "b", "version": digest, "start": 0, "end": 42, "text": MAY, "probability": 0.95}
    ]
    assert read["sentences"][0]["grounding"] == pytest.approx(0.9)


@pytest.mark.parametrize("settings", [{"nearest": 0}, {"conflict": 1.1}, {"conflict": -0.1}])
def test_settings_out_of_range(settings):
    with pytest.raises(RecipeError, match="nearest of at least 1 and conflict from 0 to 1"):
        EntailmentCheck(**settings)


def test_a_recipe_may_name_the_check():
    table = {"retrieve": {"kind": "bm25"}}
    assert recipe.parse(table, "r", "r").check is None
    named = recipe.parse({**table, "check": {"kind": "entailment", "nli": "onnx:nli", "nearest": 5}}, "r", "r")
    assert named.check == EntailmentCheck(nli="onnx:nli", nearest=5)
    with pytest.raises(RecipeError, match=r"\[check\]: unknown kind 'entail'"):
        recipe.parse({**table, "check": {"kind": "entail"}}, "r", "r")
