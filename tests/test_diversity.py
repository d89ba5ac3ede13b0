"""Maximal marginal relevance, worked by hand: Carbonell and Goldstein 1998."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.errors import RecipeError
from responsa.retrieval.diversity import Diversity, cosines
from responsa.types import Query, Ranking, Run

# All four words occur twice: the same idf, so a shared word of two makes a cosine of 1/2.
ROWS = (("a", "harbour fee"), ("b", "harbour pilot"), ("c", "goat fence"), ("d", "goat fence"), ("e", "pilot fee"))


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*ROWS)


def spread(stage, corpus, **scores):
    run = Run("r", {"q": Ranking.of("q", scores.items())})
    return stage(run, [Query("q", "x")], corpus).rankings["q"].hits


def test_unlike_passages_come_first(corpus):
    # Scaled: a 1, b .75, c .5, e 0. Taken: a .5; then b .375 - .5/2 = .125 against c .25: c; then b .125; then e
    # 0 - .25 (half like a and like b).
    hits = spread(Diversity(relevance=0.5), corpus, a=5.0, b=4.0, c=3.0, e=1.0)
    assert [hit.passage_id for hit in hits] == ["a", "c", "b", "e"]
    assert [hit.score for hit in hits] == pytest.approx([0.5, 0.25, 0.125, -0.25])


def test_with_relevance_alone_the_order_stays(corpus):
    hits = spread(Diversity(relevance=1.0), corpus, a=5.0, b=4.0, c=3.0, e=1.0)
    assert [hit.passage_id for hit in hits] == ["a", "b", "c", "e"]


def test_a_repeated_text_goes_below_the_others(corpus):
    scores = {"d": 5.0, "c": 4.0, "b": 3.0, "a": 2.0}
    assert [hit.passage_id for hit in spread(Diversity(relevance=1.0), corpus, **scores)] == ["d", "b", "a", "c"]
    kept = spread(Diversity(relevance=1.0, repeats=True), corpus, **scores)
    assert [hit.passage_id for hit in kept] == ["d", "c", "b", "a"]


def test_what_is_below_the_depth_follows(corpus):
    hits = spread(Diversity(relevance=1.0, depth=3), corpus, d=9.0, c=8.0, b=7.0, a=6.0, e=5.0)
    assert [hit.passage_id for hit in hits] == ["d", "b", "c", "a", "e"]


def test_equal_scores_and_nothing(corpus):
    hits = spread(Diversity(relevance=1.0), corpus, c=1.0, d=1.0, a=1.0)
    assert [hit.passage_id for hit in hits] == ["d", "a", "c"]
    assert spread(Diversity(), corpus) == ()


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(-50, 50, width=32)), st.floats(0, 1), st.integers(1, 6))
def test_nothing_is_lost(corpus, scores, relevance, depth):
    hits = spread(Diversity(relevance=relevance, depth=depth), corpus, **scores)
    assert {hit.passage_id for hit in hits} == set(scores)


def test_cosines():
    vectors = np.array([[1, 0], [1, 1], [0, 0], [-1, 0]], dtype=np.float32)
    half = 0.5**0.5
    expected = [[1, half, 0, 0], [half, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(cosines(vectors), expected, atol=1e-6)


def test_settings():
    with pytest.raises(RecipeError, match="diversity: relevance from 0 to 1 and depth of at least 1 are needed"):
        Diversity(relevance=1.5)
    with pytest.raises(RecipeError, match=r"got 0.8 and 0"):
        Diversity(depth=0)
