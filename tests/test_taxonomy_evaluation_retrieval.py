"""mAP, mAR, UDR and filter thresholds: worked by hand, and against another way of counting."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.taxonomy.evaluation.retrieval import found_in, score, sweep, udr, udr_matrix
from responsa.types import Ranking, Run

GOLD = {"r1": [{"a"}, {"b"}], "r2": [{"c", "c2"}], "r3": []}

sets = st.sets(st.sampled_from("abcdef"))
golds = st.dictionaries(st.sampled_from(["r1", "r2", "r3"]), sets, min_size=1)
founds = st.dictionaries(st.sampled_from(["r1", "r2", "r3"]), sets)


def run_of(**rows):
    return Run("x", {row: Ranking.of(row, scores) for row, scores in rows.items()})


def test_map_and_mar_by_hand():
    # r1: 1 right of 4 found, 1 of 2 right found; r2: 1 of 2, 1 of 1. r3 has nothing right.
    found = score({"r1": ["a", "x", "y", "z"], "r2": ["c", "x"], "r3": ["x"]}, GOLD)
    assert found.precision == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert found.recall == pytest.approx((1 / 2 + 1) / 2)
    assert (found.documents, found.right, found.gold, found.rows, found.without) == (3.0, 2, 3, 2, 1)


def test_a_row_for_which_nothing_is_found_counts_zero():
    found = score({"r1": ["a", "b"]}, GOLD)
    assert (found.precision, found.recall, found.documents) == (0.5, 0.5, 1.0)


def test_two_chunks_that_hold_the_same_quote_are_one_document_and_both_right():
    found = score({"r2": ["c", "c2"]}, {"r2": GOLD["r2"]})
    assert (found.precision, found.recall, found.right) == (1.0, 1.0, 1)


def test_nothing_right_anywhere_is_no_mean():
    with pytest.raises(ValueError, match="no row has"):
        score({"r1": ["a"]}, {"r1": []})


def test_udr_by_hand():
    one = {"r1": ["a", "b", "x"], "r2": ["c"]}
    other = {"r1": ["b", "y"], "r2": ["c2"]}
    # a of r1 is right and one's alone; x is wrong; c and c2 are the same document.
    assert udr(one, other, GOLD) == 1
    assert udr(other, one, GOLD) == 0
    assert udr(one, {}, GOLD) == 3
    assert udr_matrix({"A": one, "B": other}, GOLD) == {"A": {"A": 0, "B": 1}, "B": {"A": 0, "B": 0}}


def test_thresholds_by_hand():
    run = run_of(r1=[("a", 0.9), ("b", 0.3), ("x", 0.1)], r2=[("c", 0.2), ("y", 0.6)])
    whole, third, last = sweep(run, (0.3, 0.95), GOLD)
    assert whole.threshold == 0.0
    assert whole.scores.precision == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert (whole.scores.recall, whole.scores.documents, whole.lost) == (1.0, 2.5, 0.0)
    # .3 keeps a and b of r1, y of r2: c is lost, one document of two rows.
    assert (third.scores.precision, third.scores.recall, third.scores.documents, third.lost) == (0.5, 0.5, 1.5, 0.5)
    assert (last.scores.recall, last.scores.documents, last.lost) == (0.0, 0.0, 1.5)


@pytest.mark.parametrize("threshold", [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_a_score_at_the_threshold_stays_though_files_hold_32_bits(threshold):
    run = run_of(r1=[("a", threshold), ("b", threshold - 0.001)])
    assert found_in(run, threshold) == {"r1": {"a"}}


def test_probabilities_of_zero_stay_where_nothing_is_filtered():
    assert sweep(run_of(r1=[("a", 0.0)], r2=[]), (0.1,), GOLD)[0].scores.right == 1


@given(founds, golds)
def test_the_equations_counted_another_way(found, gold):
    items = {row: [{name} for name in sorted(own)] for row, own in gold.items()}
    rows = [row for row, own in gold.items() if own]
    if not rows:
        return
    precision = recall = Fraction(0)
    for row in rows:
        true = sum(1 for name in "abcdef" if name in gold[row] and name in found.get(row, ()))
        false = sum(1 for name in "abcdef" if name not in gold[row] and name in found.get(row, ()))
        missed = sum(1 for name in "abcdef" if name in gold[row] and name not in found.get(row, ()))
        precision += Fraction(true, true + false) if true + false else 0
        recall += Fraction(true, true + missed)
    told = score(found, items)
    assert told.precision == pytest.approx(float(precision / len(rows)))
    assert told.recall == pytest.approx(float(recall / len(rows)))


@given(founds, founds, golds)
def test_what_one_finds_rightly_is_its_own_or_shared(one, other, gold):
    items = {row: [{name} for name in own] for row, own in gold.items()}
    right = sum(len(one.get(row, set()) & own) for row, own in gold.items())
    shared = sum(len(one.get(row, set()) & other.get(row, set()) & own) for row, own in gold.items())
    assert udr(one, other, items) == right - shared


scores = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1, width=32), max_size=6)


@given(st.dictionaries(st.sampled_from(["r1", "r2"]), scores), st.lists(st.floats(0.01, 1), min_size=1, max_size=4))
def test_a_filter_takes_away_alone_and_what_it_loses_is_the_difference(rows, thresholds):
    run = Run("x", {row: Ranking.of(row, own.items()) for row, own in rows.items()})
    cuts = sweep(run, sorted(thresholds), {"r1": [{"a"}, {"b"}], "r2": [{"c"}]})
    for before, after in itertools.pairwise(cuts):
        assert after.scores.documents <= before.scores.documents
        assert after.scores.recall <= before.scores.recall
        assert after.lost == pytest.approx((cuts[0].scores.right - after.scores.right) / 2)
