"""The JSON that users build on: the exact keys, and values that JSON can hold."""

from __future__ import annotations

import json
from datetime import date

import pytest

from responsa import questions, recipe, sample, views
from responsa.corpus.answers import CitationCheck, SavedAnswer
from responsa.engine import Engine
from responsa.types import Box, Passage, Query, Ranking, Version

PASSAGE = ["id", "document", "number", "title", "text", "parent", "path", "kind", "page", "boxes", "flags"]
HIT = ["rank", "score", "version", *PASSAGE]


@pytest.fixture(scope="module")
def corpus(sample_library):
    return sample_library.corpus()


@pytest.fixture(scope="module")
def system(sample_library):
    return Engine(sample_library, recipe.load("bm25"))


def ask(system, text):
    return next(system.ask([Query("q7", text)]))


def through_json(value):
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    return value


def test_search(system, corpus):
    (ranking,) = system.search([Query("q", "suspicion of money laundering")], k=2)
    found = through_json(views.search(ranking, corpus))
    assert list(found) == ["hits", "approximate"]
    assert found["approximate"] == []
    assert [list(hit) for hit in found["hits"]] == [HIT, HIT]
    for rank, (item, hit) in enumerate(zip(found["hits"], ranking.hits, strict=True), 1):
        passage = corpus[hit.passage_id]
        assert item["rank"] == rank
        assert item["score"] == hit.score
        assert item["version"] == corpus.version(passage.document_id).digest
        assert (item["id"], item["document"], item["number"], item["text"]) == (
            passage.id,
            passage.document_id,
            passage.number,
            passage.text,
        )


def test_search_without_a_hit(corpus):
    assert views.search(Ranking("q", ()), corpus) == {"hits": [], "approximate": []}


def test_ask(system, corpus):
    answer = ask(system, "What must a firm do when it suspects money laundering?")
    found = through_json(views.answer(answer, corpus))
    assert list(found) == [
        "question",
        "answer",
        "sentences",
        "passages",
        "abstained",
        "confidence",
        "approximate",
        "saved",
        "checked",
        "obligations",
        "contradictions",
    ]
    assert (found["checked"], found["obligations"], found["contradictions"]) == (None, None, None)
    assert (found["approximate"], found["saved"]) == ([], None)
    assert views.answer(answer, corpus, 3)["saved"] == 3
    assert found["abstained"] is False
    assert [list(hit) for hit in found["passages"]] == [HIT] * len(answer.ranking.hits)
    assert found["sentences"]
    for sentence in found["sentences"]:
        assert list(sentence) == ["text", "answer_start", "answer_end", "label", "citations", "grounding"]
        assert sentence["text"] == found["answer"][sentence["answer_start"] : sentence["answer_end"]]
        assert sentence["label"] in ("obligation", "permission", "definition", "other")
        for citation in sentence["citations"]:
            assert list(citation) == ["id", "version", "start", "end"]
            assert corpus[citation["id"]].text[citation["start"] : citation["end"]] == sentence["text"]


def test_ask_where_the_library_has_no_answer(system, corpus):
    found = through_json(views.answer(ask(system, "Xyzzy?"), corpus))
    assert found == {
        "question": "Xyzzy?",
        "answer": "The library holds nothing on this question.",
        "sentences": [],
        "passages": [],
        "abstained": True,
        "confidence": 0.0,
        "approximate": [],
        "saved": None,
        "checked": None,
        "obligations": None,
        "contradictions": None,
    }


def test_submission(system, corpus):
    answer = ask(system, "What must a firm do when it suspects money laundering?")
    found = through_json(views.submission(answer, corpus))
    assert list(found) == [
        "QuestionID", "Question", "RetrievedPassages", "RetrievedIDs", "Answer", "CitedIDs", "Confidence",
    ]  # fmt: skip
    assert found["QuestionID"] == "q7"
    assert found["Answer"] == " ".join(sentence.text for sentence in answer.sentences)
    assert "[" not in found["Answer"]
    assert found["RetrievedPassages"] == [corpus[name].text for name in found["RetrievedIDs"]]


def test_a_submission_lists_every_passage_it_was_written_from(sample_library, corpus):
    # A list item brings its lead-in: that passage was not retrieved, but the answer has its words.
    query = Query("q", "stress tests loss of confidence in the Firm alone")
    kept = Ranking.of("q", [("LIQ/5.1.1(a)", 1.0)], "minmax")
    answer = recipe.load("bm25").answer(query, kept, corpus, recipe.load("bm25").retrieve.idf(corpus), 0.9)
    found = views.submission(answer, corpus)
    assert found["CitedIDs"] == ["LIQ/5.1.1", "LIQ/5.1.1(a)"]
    assert found["RetrievedIDs"] == ["LIQ/5.1.1(a)", "LIQ/5.1.1"]


def test_a_submission_without_an_answer_is_empty(system, corpus):
    found = views.submission(ask(system, "What fee is charged for an application for a licence?"), corpus)
    assert (found["Answer"], found["RetrievedPassages"], found["RetrievedIDs"], found["CitedIDs"]) == ("", [], [], [])
    assert 0 <= found["Confidence"] < 0.3


def test_every_sample_question_has_both_views(system, corpus):
    answers = list(system.ask(questions.read(sample.questions())))
    assert len(answers) >= 10
    for answer in answers:
        through_json(views.answer(answer, corpus))
        found = through_json(views.submission(answer, corpus))
        assert set(found["CitedIDs"]) <= set(found["RetrievedIDs"])


def test_passage_and_version():
    passage = Passage("p", "D", "1", "t", "T", "o", ("a", "b"), "table", 3, (Box(3, 1.0, 2.0, 3.5, 4.0),), ("f",))
    assert through_json(views.passage(passage)) == {
        "id": "p",
        "document": "D",
        "number": "1",
        "title": "T",
        "text": "t",
        "parent": "o",
        "path": ["a", "b"],
        "kind": "table",
        "page": 3,
        "boxes": [[3, 1.0, 2.0, 3.5, 4.0]],
        "flags": ["f"],
    }
    assert views.version(Version("D", "abc")) == {
        "document": "D",
        "digest": "abc",
        "title": "",
        "valid_from": None,
        "valid_to": None,
    }


def test_saved():
    value = SavedAnswer(3, "2025-01-01T00:00:00+00:00", "Q?", date(2024, 6, 1), "bm25", "A.")
    checks = [CitationCheck(3, "D/1", "D", "1", state) for state in ("holds", "holds", "broken")]
    found = through_json(views.saved(value, checks))
    assert list(found) == ["number", "asked_at", "question", "as_of", "recipe", "text", "stale", "citations", "checks"]
    assert found["as_of"] == "2024-06-01"
    assert found["stale"] is False
    assert found["citations"] == {"holds": 2, "superseded": 0, "broken": 1}
    assert found["checks"][2] == {
        "answer": 3, "passage_id": "D/1", "document_id": "D", "number": "1", "state": "broken", "reason": "", "words": [],
    }  # fmt: skip


def test_documents(sample_library):
    states = sample_library.documents()
    listed = [through_json(views.document(state, state.current)) for state in states]
    assert [list(item) for item in listed] == [
        ["document", "digest", "title", "valid_from", "valid_to", "source", "passages", "current", "live", "indexed"]
    ] * len(states)
    assert listed[3]["valid_to"] == "2025-03-31"
