"""What judges said, put together by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic", reason="needs responsa[llm]")
pytest.importorskip("scipy", reason="needs responsa[eval]")

from responsa.errors import InputError
from responsa.evaluate.judge import Case, Rating
from responsa.evaluate.judge_files import Submission
from responsa.evaluate.judge_report import agreements, chosen, people_of, report
from responsa.evaluate.ratings import Rated


def submission(approach, count, unanswered=()):
    cases = tuple(Case(f"q{n}", "Q?", "R.", "A " * n, approach=approach) for n in range(1, count + 1))
    return Submission(approach, cases, dict.fromkeys(unanswered, "no answer"), ())


def rated(approach, judge, *values, repetition=0):
    return [Rating((approach, f"q{n}"), judge, repetition, value, "r") for n, value in enumerate(values, 1)]


def test_judges_are_averaged_and_each_is_shown():
    ratings = [*rated("a", "one", 4, 3, None), *rated("a", "two", 2, 3, None)]
    made = report([submission("a", 3)], ratings, {})
    (approach,) = made.approaches
    assert approach.summary.average.mean == 3.0
    assert {name: each.average.mean for name, each in approach.by_judge.items()} == {"one": 3.5, "two": 2.5}
    assert approach.unscored == ("q3",)
    assert [(each.first, each.second, each.agreement.n) for each in made.agreements] == [("one", "two", 2)]


def test_unanswered_questions_count_as_one_or_are_left_out():
    ratings = rated("a", "one", 4, 4)
    given = [submission("a", 2, ("q3",))]
    assert report(given, ratings, {}).approaches[0].summary.counts == (1, 0, 0, 2)
    assert report(given, ratings, {}, unanswered="skip").approaches[0].summary.counts == (0, 0, 0, 2)
    nothing = report(given, rated("a", "one", None, None), {}, unanswered="skip").approaches[0]
    assert (nothing.summary, nothing.by_judge) == (None, {})


def test_approaches_are_compared_on_the_questions_that_both_have():
    ratings = [*rated("a", "one", 1, 2, 4), *rated("b", "one", 3, 4)]
    made = report([submission("a", 3), submission("b", 2)], ratings, {})
    (gap,) = made.comparisons.values()
    assert (gap.difference.mean, gap.difference.n, gap.wins) == (2.0, 2, 2)


def test_repetitions_are_one_rating_for_agreement():
    ratings = [*rated("a", "one", 4, 1), *rated("a", "one", 4, 2, repetition=1), *rated("a", "one", 1, 2, repetition=2)]
    made = report([submission("a", 2)], ratings, {"Ada": {("a", "q1"): 4, ("a", "q2"): 2}})
    (found,) = made.agreements
    assert (found.agreement.exact, found.agreement.n) == (1.0, 2)
    assert made.lengths["one"].n == 2


def test_who_is_compared_with_whom():
    judges = {"one": {("", "1"): 4}, "two": {("", "1"): 3}}
    people = {"Ada": {("", "1"): 4}, "Ben": {("", "1"): 2}, "Eve": {("", "2"): 2}}
    assert [(each.first, each.second) for each in agreements(judges, people)] == [
        ("one", "Ada"), ("two", "Ada"), ("all judges", "Ada"), ("one", "Ben"), ("two", "Ben"), ("all judges", "Ben"),
        ("one", "all people"), ("two", "all people"), ("all judges", "all people"), ("Ada", "Ben"), ("one", "two"),
    ]  # fmt: skip
    assert [(each.first, each.second) for each in agreements(judges, {})] == [("one", "two")]


def test_flags():
    made = report([submission("a", 6)], rated("a", "one", 4, 4, 4, 4, 4, 4), {})
    assert made.flags == ("one always says 4 (6 ratings): it may not tell answers apart",)
    assert made.lengths["one"].tau is None


def test_the_same_bytes_twice():
    ratings = [*rated("a", "one", 1, 2, 4), *rated("b", "one", 3, 4)]
    given = ([submission("a", 3), submission("b", 2)], ratings, {})
    assert report(*given) == report(*given)


def test_people_under_the_approaches():
    plain = [Rated(("", "q1"), "Ada", 4, 2)]
    assert people_of(plain, ["only"], "p.csv") == {"Ada": {("only", "q1"): 4}}
    with pytest.raises(InputError, match="add a column 'approach' with 'a', 'b'"):
        people_of(plain, ["a", "b"], "p.csv")
    with pytest.raises(InputError, match=r"p\.csv: line 3: the approach 'c' is not judged"):
        people_of([Rated(("c", "q1"), "Ada", 4, 3)], ["a", "b"], "p.csv")


def test_cases_are_chosen_evenly():
    cases = submission("a", 10).cases
    assert [case.id for case in chosen(cases, 4)] == ["q1", "q3", "q6", "q8"]
    assert chosen(cases, 99) == list(cases)
    assert chosen(cases, 0) == chosen([], 3) == []
