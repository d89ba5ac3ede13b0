"""Explanations of scores: what supports, contradicts and covers, where it stands, worked by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa import views
from responsa.entailment import protocol
from responsa.evaluate.explain import Match, Span, explain, verdict, weightiest
from responsa.evaluate.repass import ScoringModels, score_answers
from responsa.evaluate.repass_files import SubmittedAnswer, read_answers
from responsa.evaluate.repass_sentences import splitter
from responsa.obligations import RuleObligationDetector
from responsa.types import Detection

NAMES = ("reference", "paper", "strict")
KEEP = "A firm must keep records."
TELL = "A bank must tell nobody."
FACT = "Records are useful."


class Table:
    """Probabilities of entailment and contradiction as told, by pair; (.1, .2) for any other. It counts its calls."""

    name = "table@1"

    def __init__(self, **told):
        self.told, self.asked = told.get("told", {}), []

    def __call__(self, pairs, progress=None):
        self.asked += pairs
        rows = [self.told.get(pair, (0.1, 0.2)) for pair in pairs]
        return np.array([(one, 1 - one - two, two) for one, two in rows], np.float32).reshape(-1, 3)


def explained(name, answer, *passages, told=None, detector=None, ids=()):
    judge, made = Table(told=told or {}), []
    judges = ScoringModels(judge, judge, detector or RuleObligationDetector(), "rules@1")
    item = SubmittedAnswer("q", "Why?", passages, answer, "" if answer.strip() else "the answer is blank", ids)
    chosen = protocol(name)
    split = splitter(chosen.splitter)
    score_answers([item], chosen, judges, "zero", show=lambda working: made.append(explain(working, chosen, split)))
    return made[0], judge


@pytest.mark.parametrize("name", NAMES)
def test_by_hand(name):
    answer = f"Firms keep records. {FACT}"
    told = {
        (KEEP, "Firms keep records."): (0.9, 0.05),
        (TELL, "Firms keep records."): (0.3, 0.6),
        (TELL, FACT): (0.2, 0.4),
        ("Firms keep records.", KEEP): (0.8, 0),
        ("Firms keep records.", TELL): (0.65, 0),
    }
    every = lambda texts: [Detection("obligation" if text != FACT else "other", 0.5) for text in texts]  # noqa: E731
    found, judge = explained(name, answer, f"{KEEP} {TELL}", told=told, detector=every)
    first, second = found.sentences
    assert (first.support, first.conflict) == (Match(0, pytest.approx(0.9)), Match(1, pytest.approx(0.6)))
    assert (second.support, second.conflict) == (Match(1, pytest.approx(0.2)), Match(1, pytest.approx(0.4)))
    assert (first.verdict, second.verdict) == ("both", "neither")
    assert (first.spans, second.spans) == (((0, 19),), ((20, 39),))
    assert [(each.text, each.spans) for each in found.sources] == [
        (KEEP, (Span(0, 0, 25),)),
        (TELL, (Span(0, 26, 50),)),
    ]
    open_one, covered = found.obligations
    assert found.uncovered == (open_one,)
    assert (open_one.source, open_one.covered, open_one.by) == (1, False, 0)
    assert open_one.probability == pytest.approx(0.65)
    assert (covered.source, covered.covered, covered.by) == (0, True, 0)
    assert covered.probability == pytest.approx(0.8)
    # The sentence that shares most words is asked first, and covers: the other is not asked.
    assert covered.asked == (0,)
    assert found.may_cover == ((0,) if name == "reference" else (0, 1))
    assert open_one.asked == found.may_cover
    assert (FACT, KEEP) not in judge.asked
    assert np.allclose(found.entails, [[0.9, 0.3], [0.1, 0.2]])
    assert np.allclose(found.contradicts, [[0.05, 0.6], [0.2, 0.4]])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_more_is_asked_than_for_the_score(name):
    passages = (f"{KEEP} {FACT}", TELL)
    found, judge = explained(name, f"{KEEP} {TELL}", *passages)
    alone = Table()
    judges = ScoringModels(alone, alone, RuleObligationDetector(), "rules@1")
    item = SubmittedAnswer("q", "Why?", passages, f"{KEEP} {TELL}")
    scored = score_answers([item], protocol(name), judges)
    assert judge.asked == alone.asked
    assert found.score == scored.scores[0]


@pytest.mark.parametrize(
    ("support", "conflict", "expected"),
    [
        (0.51, 0.5, "supported"),
        (0.5, 0.51, "contradicted"),
        (0.5, 0.5, "neither"),
        (0.9, 0.9, "both"),
    ],
)
def test_verdicts(support, conflict, expected):
    assert verdict(Match(0, support), Match(3, conflict)) == expected
    assert verdict(None, None) == "neither"


def test_sentences_that_run_over_passages_are_told_piece_by_piece():
    found, _ = explained("reference", "Banks lend.", "Records of firms", "Banks lend. See", "more.")
    assert [each.text for each in found.sources] == ["Records of firms Banks lend.", "See more."]
    assert [each.spans for each in found.sources] == [
        (Span(0, 0, 16), Span(1, 0, 11)),
        (Span(1, 12, 15), Span(2, 0, 5)),
    ]
    assert found.ids == ("#1", "#2", "#3")
    apart, _ = explained("strict", "Banks lend.", "Records of firms", "Banks lend. See", "more.", ids=("a", "b", "c"))
    assert [each.spans for each in apart.sources] == [(Span(0, 0, 16),), (Span(1, 0, 11),), (Span(1, 12, 15),), (Span(2, 0, 5),)]  # fmt: skip
    assert apart.ids == ("a", "b", "c")


def test_twins_are_one_sentence_of_strict_with_all_its_places():
    found, _ = explained("strict", f"{KEEP} 1. {FACT} {KEEP.upper()}", f"{KEEP} {FACT}", f"{FACT}\n{KEEP}")
    assert [(each.text, each.spans) for each in found.sentences] == [(KEEP, ((0, 25), (49, 74))), (f"1. {FACT}", ((26, 48),))]  # fmt: skip
    keep, fact = found.sources
    assert (keep.spans, keep.repeats) == ((Span(0, 0, 25),), (Span(1, 20, 45),))
    assert (fact.spans, fact.repeats) == ((Span(0, 26, 45),), (Span(1, 0, 19),))
    assert len(found.obligations) == 1
    plain, _ = explained("paper", KEEP, f"{KEEP} {KEEP}")
    assert [each.spans for each in plain.sources] == [(Span(0, 0, 25),), (Span(0, 26, 51),)]
    assert len(plain.obligations) == 2


def test_where_nothing_may_cover():
    found, _ = explained("reference", FACT, KEEP)
    (duty,) = found.obligations
    assert (duty.covered, duty.by, duty.probability, duty.asked, found.may_cover) == (False, None, None, (), ())
    assert found.score.coverage == 0


def test_sentences_that_may_not_cover_keep_their_places():
    found, judge = explained(
        "reference", f"{FACT} {TELL}", KEEP, told={(TELL, KEEP): (0.9, 0), (FACT, KEEP): (0.95, 0)}
    )
    (duty,) = found.obligations
    assert (duty.covered, duty.by, duty.asked, found.may_cover) == (True, 1, (1,), (1,))
    assert (FACT, KEEP) not in judge.asked


@pytest.mark.parametrize("name", NAMES)
def test_no_sources_and_no_sentence(name):
    found, _ = explained(name, FACT)
    assert (found.sources, found.obligations, found.passages) == ((), (), ())
    assert [(each.verdict, each.support, each.conflict) for each in found.sentences] == [("neither", None, None)]
    assert found.entails.shape == (1, 0)
    blank, _ = explained("strict", "1. --", KEEP)
    assert (blank.sentences, len(blank.obligations), weightiest(blank, 5)) == ((), 1, [0])
    json.dumps([views.explanation(found), views.explanation(blank)], allow_nan=False)


sentence = st.sampled_from([KEEP, TELL, FACT, "See Rule 3.1 for more.", "Penguins swim!", "and so on"])


@given(st.lists(sentence, min_size=1, max_size=5), st.lists(st.lists(sentence, min_size=1, max_size=3), max_size=3))
def test_an_explanation_adds_up_to_the_score(said, written):
    passages = [" ".join(row) for row in written]
    for name in NAMES:
        pairs = {(a, b): (len(a) % 7 / 10, len(b) % 3 / 10) for row in (said, *written) for a in row for b in said}
        found, _ = explained(name, " ".join(said), *passages, told=pairs)
        digits = 5 if name == "reference" else 12
        if found.sources:
            for field, told in (("support", found.score.entailment), ("conflict", found.score.contradiction)):
                best = [getattr(each, field).probability for each in found.sentences]
                assert sum(best) / len(best) == pytest.approx(told, abs=10**-digits)
        if found.obligations:
            assert 1 - len(found.uncovered) / len(found.obligations) == pytest.approx(found.score.coverage)
        same = splitter(protocol(name).splitter).split
        for each in found.sentences:
            for start, end in each.spans:
                assert same(found.answer[start:end]) == [each.text]
        for each in found.sources:
            told = " ".join(found.passages[at][start:end] for at, start, end in each.spans)
            assert " ".join(told.split()) == each.text


def test_the_weightiest_sources_are_kept_in_their_order():
    told = {(KEEP, FACT): (0.4, 0), (TELL, FACT): (0, 0.9), (FACT, FACT): (0.6, 0)}
    found, _ = explained("strict", FACT, f"{KEEP} {TELL} Penguins swim! {FACT}", told=told)
    assert [weightiest(found, most) for most in (1, 2, 3, 9)] == [[1], [1, 3], [0, 1, 3], [0, 1, 2, 3]]


def test_the_json_form():
    found, _ = explained("strict", f"{KEEP} {FACT}", KEEP, told={(KEEP, KEEP): (1.0, 0.0)}, ids=("R/1",))
    told = views.explanation(found)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["passages"] == [{"id": "R/1", "text": KEEP}]
    assert told["obligations"] == [
        {"source": 0, "covered": True, "by": 0, "probability": 1.0, "asked": [0], "not_asked": [1]}
    ]
    assert told["sentences"][0] == {
        "text": KEEP,
        "places": [{"start": 0, "end": 25}],
        "obligation": True,
        "verdict": "supported",
        "support": {"source": 0, "probability": 1.0},
        "contradiction": {"source": 0, "probability": 0.0},
    }
    assert told["sources"] == [
        {"text": KEEP, "places": [{"passage": 0, "start": 0, "end": 25}], "repeats": [], "obligation": True}
    ]
    assert told["matrix"] == {"entailment": [[1.0], [0.1]], "contradiction": [[0.0], [0.2]]}


@pytest.mark.parametrize(
    ("keys", "ids"),
    [
        ({"RetrievedIDs": ["a", "b", "c"]}, ("a", "c")),
        ({"RetrievedIDs": ["a", "b"]}, ("#1", "#3")),
        ({"RetrievedIDs": ["a", "b", 3]}, ("a", "#3")),
        ({"RetrievedIDs": "abc"}, ("#1", "#3")),
        ({}, ("#1", "#3")),
    ],
)
def test_passages_are_named_as_the_file_does(tmp_path, keys, ids):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{"QuestionID": "q", "RetrievedPassages": [KEEP, " ", FACT], "Answer": "Yes.", **keys}]))
    assert read_answers(path)[0].ids == ids
