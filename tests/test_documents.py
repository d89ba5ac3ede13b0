"""Passages scored with their documents: RIRAG, section 5.1, worked by hand."""

from math import log

import pytest

from responsa.errors import RecipeError
from responsa.retrieval.documents import Documents
from responsa.types import Query, Ranking, Run

# Of three documents harbour is in two, goats in one, fee in one. Each passage of "a" and "b" has two words.
ROWS = [
    {"id": "a1", "document": "a", "text": "harbour fee"},
    {"id": "a2", "document": "a", "text": "harbour harbour"},
    {"id": "b1", "document": "b", "text": "harbour goats"},
    {"id": "c1", "document": "c", "text": "pilots"},
]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*ROWS)


def ranked(stage, corpus, text):
    return dict(stage.rank([Query("q", text)], corpus)["q"].hits)


def fused(stage, corpus, text, **scores):
    run = Run("r", {"q": Ranking.of("q", scores.items())})
    hits = stage(run, [Query("q", text)], corpus).rankings["q"].hits
    return {hit.passage_id: pytest.approx(hit.score) for hit in hits}


def test_a_document_scores_as_one_text(corpus):
    # b = 0: harbour is 3 times in a and once in b; idf ln(1 + (3 - 2 + .5) / 2.5), gain tf / (tf + .9).
    idf = log(1 + 1.5 / 2.5)
    found = ranked(Documents(b=0), corpus, "harbour")
    assert found == {"a": pytest.approx(idf * 3 / 3.9), "b": pytest.approx(idf * 1 / 1.9)}


def test_the_length_of_a_document(corpus):
    # 4, 2 and 1 words, mean 7/3: with b = 1 tf is divided by the length over the mean.
    idf = log(1 + 1.5 / 2.5)
    found = ranked(Documents(b=1), corpus, "harbour")
    assert found["a"] == pytest.approx(idf * 3 / (3 + 0.9 * 12 / 7), rel=1e-5)
    assert found["b"] == pytest.approx(idf * 1 / (1 + 0.9 * 6 / 7), rel=1e-5)


def test_both_are_scaled_and_weighed(corpus):
    # Passages 1, .5, 0; documents a 1, b 0; c shares no word.
    found = fused(Documents(weight=0.25, b=0), corpus, "harbour", c1=5.0, b1=3.0, a1=1.0)
    assert found == {"c1": 0.75 * 1, "b1": 0.75 * 0.5 + 0.25 * 0, "a1": 0.25 * 1}


def test_only_the_first_are_scored(corpus):
    assert fused(Documents(weight=0.0, depth=2), corpus, "harbour", c1=5.0, b1=3.0, a1=1.0) == {"c1": 1.0, "b1": 0.0}


def test_words_that_no_document_has(corpus):
    assert ranked(Documents(), corpus, "zebra") == {}
    assert fused(Documents(weight=0.5), corpus, "zebra", a1=1.0) == {"a1": 0.5}
    assert fused(Documents(), corpus, "harbour") == {}


def test_the_index_is_built_once(corpus_of):
    corpus = corpus_of(*ROWS)
    stage = Documents()
    assert not stage.ready(corpus)
    folder = stage.prepare(corpus)
    assert stage.ready(corpus)
    assert stage.prepare(corpus) == folder
    assert not Documents(k1=1.2).ready(corpus)


@pytest.mark.parametrize("settings", [{"weight": 1.1}, {"weight": -0.1}, {"depth": 0}, {"k1": -1.0}, {"b": 2.0}])
def test_settings(settings):
    with pytest.raises(RecipeError, match="documents: weight and b from 0 to 1, depth of at least 1 and k1"):
        Documents(**settings)
