"""Passages lifted by citations, worked by hand."""

import pytest

from responsa.errors import RecipeError
from responsa.retrieval.cited import Cited
from responsa.types import Query, Ranking, Run

# 1.1 cites 1.2 and 1.3; 1.4 cites 1.1.
ROWS = [("1.1", "See Rules 1.2 and 1.3."), ("1.2", "Two."), ("1.3", "Three."), ("1.4", "Under Rule 1.1."), ("1.5", "x")]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*({"id": n, "document": "d", "number": n, "text": text} for n, text in ROWS))


def lifted(stage, corpus, scores):
    run = Run("r", {"q": Ranking.of("q", scores.items())})
    hits = stage(run, [Query("q", "x")], corpus).rankings["q"].hits
    return {hit.passage_id: pytest.approx(hit.score) for hit in hits}


def test_cited_passages_are_lifted_and_enter(corpus):
    # Scaled: 1.5 1, 1.1 .5, 1.2 0. 1.1 cites 1.2, which gains .2 * .5, and 1.3, which enters with that.
    found = lifted(Cited(weight=0.2, citing=False), corpus, {"1.5": 4.0, "1.1": 3.0, "1.2": 2.0})
    assert found == {"1.5": 1.0, "1.1": 0.5, "1.2": 0.1, "1.3": 0.1}


def test_citing_passages_too(corpus):
    # 1.4 cites 1.1 and enters; 1.2 at 0 lifts 1.1, which cites it, by nothing.
    found = lifted(Cited(weight=0.2), corpus, {"1.5": 4.0, "1.1": 3.0, "1.2": 2.0})
    assert found == {"1.5": 1.0, "1.1": 0.5, "1.2": 0.1, "1.3": 0.1, "1.4": 0.1}


def test_only_the_first_are_looked_at(corpus):
    scores = {"1.5": 4.0, "1.1": 3.0, "1.2": 2.0}
    assert lifted(Cited(weight=0.2, first=1), corpus, scores) == {"1.5": 1.0, "1.1": 0.5, "1.2": 0.0}
    assert lifted(Cited(weight=0.2, depth=2), corpus, scores) == {"1.5": 1.0, "1.1": 0.0}


def test_nothing_is_lifted_by_no_weight_and_nothing_found(corpus):
    assert lifted(Cited(weight=0.0), corpus, {"1.1": 1.0}) == {"1.1": 1.0}
    assert lifted(Cited(), corpus, {}) == {}


def test_the_citations_are_read_once(corpus_of):
    corpus = corpus_of({"id": "p", "number": "1.1", "text": "See Rule 1.2."})
    assert not Cited().ready(corpus)
    Cited().prepare(corpus)
    assert Cited().ready(corpus)


@pytest.mark.parametrize("settings", [{"weight": -1.0}, {"first": 0}, {"depth": 0}])
def test_settings(settings):
    with pytest.raises(RecipeError, match="cited: weight of at least 0 and first and depth of at least 1"):
        Cited(**settings)
