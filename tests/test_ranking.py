"""Measures worked by hand, and what happens to the missing, the unjudged and the ambiguous."""

from __future__ import annotations

import sys
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.errors import InputError, MissingDependency
from responsa.evaluate.ranking import (
    DEFAULT_MEASURES,
    MISSING,
    NONE_RELEVANT,
    Measure,
    RunScores,
    compare_runs,
    score_run,
    summarise,
)
from responsa.types import Hit, Judgement, Ranking, Run, Score


def run_of(name: str = "system", **found: str) -> Run:
    """A run from one string of one-letter passages per query, best first."""
    return Run(name, {q: Ranking.of(q, [(p, -n) for n, p in enumerate(text)]) for q, text in found.items()})


def gold_of(**passages: str) -> list[Judgement]:
    return [Judgement(query, passage) for query, text in passages.items() for passage in text]


def value(scores: RunScores, measure: str, query: str = "q") -> float | None:
    (score,) = [score for score in scores.scores if (score.query_id, score.measure) == (query, measure)]
    return score.value


def measured(found: str, gold: list[Judgement], measure: str) -> float | None:
    return value(score_run(run_of(q=found), gold, [Measure.parse(measure)]), measure)


# Names ----------------------------------------------------------------------------------------------------


def test_default_measures_print_their_names():
    names = ["recall@5", "recall@10", "recall@20", "recall@100", "MAP@10", "nDCG@10", "MRR"]
    assert [str(measure) for measure in DEFAULT_MEASURES] == names
    assert [Measure.parse(name) for name in names] == list(DEFAULT_MEASURES)


@pytest.mark.parametrize(
    ("text", "name"),
    [("map@7", "MAP@7"), (" NDCG@1 ", "nDCG@1"), ("mrr", "MRR"), ("Recall@999999", "recall@999999")],
)
def test_parse_takes_any_case(text, name):
    assert str(Measure.parse(text)) == name


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("recal@20", "; did you mean 'recall@20'?"),
        ("recall", "; did you mean 'recall@10'?"),
        ("nDGC@10", "; did you mean 'nDCG@10'?"),
        ("MRR@10", "; did you mean 'MRR'?"),
        ("recall@0", "; did you mean 'recall@10'?"),
        ("recall@-5", "; did you mean 'recall@10'?"),
        ("MAP@1.5", "; did you mean 'MAP@10'?"),
        ("bpref", "; known: MAP@10, MRR, nDCG@10, recall@10"),
        ("", "; known: MAP@10, MRR, nDCG@10, recall@10"),
    ],
)
def test_parse_suggests(text, hint):
    with pytest.raises(InputError) as caught:
        Measure.parse(text)
    assert str(caught.value) == f"unknown measure {text!r}{hint}"


# Formulas -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@10", 2 / 3),
        ("MAP@10", (1 / 2 + 2 / 4) / 3),  # precision at each relevant passage found, over all relevant
        ("MAP@2", (1 / 2) / 3),  # over 3 relevant, not over min(2, 3)
        ("MRR", 1 / 2),
        ("nDCG@10", (1 / log2(3) + 1 / log2(5)) / (1 / log2(2) + 1 / log2(3) + 1 / log2(4))),
        ("nDCG@2", (1 / log2(3)) / (1 / log2(2) + 1 / log2(3))),
    ],
)
def test_measures_by_hand(measure, expected):
    # a, b and c are relevant; the ranking is x a y b, so a is second, b fourth and c not found.
    assert measured("xayb", gold_of(q="abc"), measure) == pytest.approx(expected)


def test_ndcg_takes_the_grade_as_gain():
    # Gains 1, 3 in the ranking a b; 3, 1 in the best one.
    gold = [Judgement("q", "a", 1), Judgement("q", "b", 3)]
    assert measured("ab", gold, "nDCG@10") == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


@pytest.mark.parametrize("grade", [0, -1])
def test_grade_zero_or_less_is_not_relevant(grade):
    gold = [Judgement("q", "a", grade), Judgement("q", "b", 1)]
    assert measured("ab", gold, "MRR") == 0.5
    assert measured("ab", gold, "nDCG@10") == pytest.approx(1 / log2(3))


def test_negative_grades_do_not_crash_trec_eval():
    # pytrec_eval writes outside its memory where it is given them as they are; many queries make it crash.
    gold = [Judgement(str(n), passage, -2) for n in range(200) for passage in "abcd"] + gold_of(q="a")
    found = {str(n): Ranking.of(str(n), [(passage, 1.0) for passage in "abcd"]) for n in range(200)}
    scores = score_run(Run("s", found), gold)
    assert {score.value for score in scores.scores} == {0.0}


def test_grades_beyond_any_scale_are_refused():
    with pytest.raises(InputError, match="grade 1000 of query 'q' is above 999; scale it down"):
        score_run(run_of(q="a"), [Judgement("q", "a", 1000)])
    assert measured("a", [Judgement("q", "a", 999)], "nDCG@10") == 1.0


def test_ties_go_to_the_higher_id():
    run = Run("s", {"q": Ranking.of("q", [("a", 1.0), ("b", 1.0)])})
    measures = [Measure("MRR")]
    assert value(score_run(run, gold_of(q="b"), measures), "MRR") == 1.0
    assert value(score_run(run, gold_of(q="a"), measures), "MRR") == 0.5


def test_cuts_are_independent_of_their_order():
    # 10, 100, 20, 5 is the order of their texts.
    found = "".join(chr(0x4E00 + n) for n in range(200))
    gold = gold_of(q=found[4] + found[9] + found[19] + found[99])
    scores = score_run(run_of(q=found), gold, DEFAULT_MEASURES)
    assert [value(scores, f"recall@{k}") for k in (5, 10, 20, 100)] == [0.25, 0.5, 0.75, 1.0]


@given(found=st.permutations("abcdefgh"), gold=st.sets(st.sampled_from("abcdefghij"), min_size=1))
@settings(max_examples=50, deadline=None)
def test_recall_grows_with_k_and_every_value_is_in_range(found, gold):
    measures = [Measure("recall", k) for k in range(1, 11)] + [
        Measure("MAP", 3),
        Measure("nDCG", 3),
        Measure("MRR"),
    ]
    values = [score.value for score in score_run(run_of(q="".join(found)), gold_of(q="".join(gold)), measures).scores]
    assert values[:10] == sorted(values[:10])
    assert all(0 <= number <= 1 + 1e-12 for number in values)


# The missing ----------------------------------------------------------------------------------------------


def test_partial_run_scores_zero_where_it_has_nothing():
    run = run_of(q="a", nothing="", stray="a")
    scores = score_run(run, gold_of(late="a", q="a", nothing="b"), [Measure("MRR")])
    assert scores.scores == (
        Score("late", "MRR", 0.0, "missing from the run"),
        Score("q", "MRR", 1.0),
        Score("nothing", "MRR", 0.0, "missing from the run"),
    )
    assert scores.missing == ("late", "nothing")
    assert scores.unjudged == ("stray",)
    assert scores.run == "system"
    assert summarise(scores)[0].estimate.mean == pytest.approx(1 / 3)


def test_empty_run():
    scores = score_run(Run("s", {}), gold_of(q="a", p="b"))
    assert {score.value for score in scores.scores} == {0.0}
    assert {score.reason for score in scores.scores} == {MISSING}
    assert len(scores.scores) == 2 * len(DEFAULT_MEASURES)
    assert scores.missing == ("q", "p")


def test_no_judgements():
    scores = score_run(run_of(q="a"), [])
    assert (scores.scores, scores.unjudged, dict(scores.gold)) == ((), ("q",), {})
    assert summarise(scores) == []


def test_partial_judgements_leave_the_rest_out():
    scores = score_run(run_of(q="ab", p="ab"), gold_of(p="b"), [Measure("MRR")])
    assert scores.scores == (Score("p", "MRR", 0.5),)
    assert scores.unjudged == ("q",)


def test_nothing_relevant_scores_zero_and_says_why():
    scores = score_run(run_of(q="a"), [Judgement("q", "a", 0)], [Measure("recall", 5)])
    assert scores.scores == (Score("q", "recall@5", 0.0, NONE_RELEVANT),)
    assert dict(scores.gold) == {"q": 0}
    assert [summary.group for summary in summarise(scores)] == ["all", "0"]


def test_no_measures_and_repeated_measures():
    assert score_run(run_of(q="a"), gold_of(q="a"), []).scores == ()
    assert len(score_run(run_of(q="a"), gold_of(q="a"), [Measure("MRR")] * 2).scores) == 1


# Ambiguous gold -------------------------------------------------------------------------------------------


def test_an_alternative_earns_the_item_at_its_best_place_once():
    # The item is a, b or c; the ranking x c a b meets it second, through c. a and b then
    # count as not relevant.
    gold = [Judgement("q", "a", 1, ("b", "c"))]
    assert measured("xcab", gold, "MRR") == 0.5
    assert measured("xcab", gold, "recall@2") == 1.0
    assert measured("xcab", gold, "MAP@10") == 0.5
    assert score_run(run_of(q="x"), gold).gold == {"q": 1}


def test_other_rows_of_a_found_item_keep_their_places():
    # b stands second though the item is found at a; d is third, as the reader sees it: (1/1 + 2/3) / 2.
    gold = [Judgement("q", "a", 1, ("b",)), Judgement("q", "d")]
    assert measured("abd", gold, "recall@2") == 0.5
    assert measured("abd", gold, "MAP@10") == pytest.approx((1 + 2 / 3) / 2)


def test_a_passage_judged_itself_earns_its_own_item_first():
    # b is gold itself and an alternative of a: alone it earns one item, not two; with a it earns both.
    gold = [Judgement("q", "a", 1, ("b",)), Judgement("q", "b")]
    assert measured("b", gold, "recall@10") == 0.5
    assert measured("ba", gold, "recall@10") == 1.0


def test_two_items_sharing_alternatives_are_earned_by_two_passages():
    gold = [Judgement("q", "a", 1, ("c", "d")), Judgement("q", "b", 1, ("c", "d"))]
    assert measured("c", gold, "recall@10") == 0.5
    assert measured("cd", gold, "recall@10") == 1.0


def test_repeated_judgements_are_one_item_of_the_highest_grade():
    gold = [Judgement("q", "a", 0), Judgement("q", "a", 2, ("b",)), Judgement("q", "a", 1)]
    scores = score_run(run_of(q="b"), gold, [Measure("recall", 1)])
    assert value(scores, "recall@1") == 1.0
    assert dict(scores.gold) == {"q": 1}


def test_a_passage_found_twice_earns_once():
    run = Run("s", {"q": Ranking("q", (Hit("a", 3.0), Hit("a", 2.0), Hit("b", 1.0)))})
    scores = score_run(run, gold_of(q="ab"), [Measure("MAP", 10)])
    assert value(scores, "MAP@10") == pytest.approx((1 + 2 / 3) / 2)


def test_ids_are_never_read_by_the_scorer():
    odd = "\ud800 \0 gold0"
    run = Run("s", {odd: Ranking.of(odd, [("gold1", 2.0), (odd, 1.0)])})
    assert value(score_run(run, [Judgement(odd, odd)], [Measure("MRR")]), "MRR", odd) == 0.5


# Summaries and comparison ---------------------------------------------------------------------------------


def test_summaries_by_number_of_gold_passages():
    gold = gold_of(one="a", two="ab", three="abc", four="abcd")
    scores = score_run(run_of(one="a", two="a", three="a", four="a"), gold, [Measure("recall", 5), Measure("MRR")])
    table = {(summary.measure, summary.group): summary.estimate for summary in summarise(scores, resamples=100)}
    assert [group for measure, group in table if measure == "MRR"] == ["all", "1", "2", "3+", "2+"]
    means = {group: estimate.mean for (measure, group), estimate in table.items() if measure == "recall@5"}
    assert means == pytest.approx({
        "all": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4,
        "1": 1,
        "2": 1 / 2,
        "3+": (1 / 3 + 1 / 4) / 2,
        "2+": (1 / 2 + 1 / 3 + 1 / 4) / 3,
    })  # fmt: skip
    assert [table["MRR", group].n for group in ("all", "1", "2", "3+", "2+")] == [4, 1, 1, 2, 3]
    assert summarise(scores, seed=1) == summarise(scores, seed=1)


def test_values_come_in_query_order():
    scores = score_run(run_of(q="xa", p="a"), gold_of(q="a", p="ab"), [Measure("MRR")])
    assert scores.values(Measure("MRR")) == [0.5, 1.0]
    assert scores.values(Measure("MRR"), "2+") == [1.0]


def test_compare_runs():
    gold = gold_of(q="a", p="a", r="a")
    mrr = Measure("MRR")
    first = score_run(run_of(q="a", p="a", r="xa"), gold, [mrr])
    second = score_run(run_of(q="xa", p="a"), gold, [mrr])
    result = compare_runs(first, second, mrr)
    # 1 - 1/2, 1 - 1 and 1/2 - 0 (missing): two wins of a half.
    assert result.difference.mean == pytest.approx(1 / 3)
    assert (result.wins, result.losses, result.ties) == (2, 0, 1)
    assert result.p_value == pytest.approx(0.5)


def test_compare_runs_refuses():
    mrr = Measure("MRR")
    first = score_run(run_of("one", q="a"), gold_of(q="a"), [mrr])
    with pytest.raises(InputError, match="'one' and 'two' were scored on different gold"):
        compare_runs(first, score_run(run_of("two", q="a"), gold_of(p="a"), [mrr]), mrr)
    with pytest.raises(InputError, match="run 'one' was not scored with 'MAP@10'; known: MRR"):
        compare_runs(first, first, Measure("MAP", 10))
    empty = score_run(run_of(q="a"), [], [mrr])
    with pytest.raises(InputError, match="no query is judged"):
        compare_runs(empty, empty, mrr)


def test_without_pytrec_eval_the_message_has_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    with pytest.raises(MissingDependency, match=r"scoring runs needs .* pip install 'responsa\[eval\]'"):
        score_run(run_of(q="a"), gold_of(q="a"))
