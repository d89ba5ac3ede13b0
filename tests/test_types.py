"""The order that `Ranking.of` keeps."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.types import Hit, Ranking

pairs = st.lists(
    st.tuples(st.text("abcABC012é-", min_size=1, max_size=3), st.floats(-1e6, 1e6)),
    max_size=20,
    unique_by=lambda pair: pair[0],
)


def ids(ranking):
    return [hit.passage_id for hit in ranking.hits]


def test_score_descending_then_id_descending():
    ranking = Ranking.of("q", [("a", 1), ("c", 2), ("b", 2), ("d", 0.5), ("e", -1)])
    assert ids(ranking) == ["c", "b", "a", "d", "e"]
    assert (ranking.query_id, ranking.scale) == ("q", "raw")


def test_ids_compare_as_trec_eval_compares_bytes():
    # UTF-8 keeps the order of code points: capitals before small letters, "10" before "9", "é" after "z".
    given = ["a10", "a9", "A", "z", "é", "Ω", "😀"]
    ranking = Ranking.of("q", [(name, 1.0) for name in given])
    assert ids(ranking) == sorted(given, key=lambda name: name.encode(), reverse=True)


def test_scores_that_differ_only_beyond_32_bits_are_ties():
    # 1 and 1 + 1e-9 are the same 32-bit float: the id decides.
    assert ids(Ranking.of("q", [("a", 1 + 1e-9), ("b", 1.0)])) == ["b", "a"]
    assert Ranking.of("q", [("a", 0.1)]).hits == (Hit("a", array("f", [0.1])[0]),)


@pytest.mark.parametrize(("k", "kept"), [(None, "cba"), (0, ""), (1, "c"), (2, "cb"), (3, "cba"), (9, "cba")])
def test_k_keeps_the_best(k, kept):
    assert "".join(ids(Ranking.of("q", [("a", 1), ("b", 2), ("c", 3)], k=k))) == kept


def test_empty_and_scale():
    assert Ranking.of("q", [], "probability") == Ranking("q", (), "probability")


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), 1e300])
def test_scores_that_are_no_finite_single_are_refused(score):
    with pytest.raises(ValueError, match=r"of passage 'P7' for query 'Q3' is not finite"):
        Ranking.of("Q3", [("P6", 1.0), ("P7", score)])


@given(pairs, st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(scores, shuffler: random.Random):
    shuffled = list(scores)
    shuffler.shuffle(shuffled)
    assert Ranking.of("q", shuffled) == Ranking.of("q", scores)


@given(pairs, st.integers(0, 25))
def test_ordering_again_changes_nothing_and_k_is_a_head(scores, k):
    ranking = Ranking.of("q", scores)
    assert Ranking.of("q", ranking.hits) == ranking
    assert Ranking.of("q", scores, k=k).hits == ranking.hits[:k]


def test_a_passage_may_not_come_twice():
    with pytest.raises(ValueError, match="a passage comes twice in the ranking for query 'q'"):
        Ranking.of("q", [("a", 1.0), ("b", 0.5), ("a", 0.2)])
