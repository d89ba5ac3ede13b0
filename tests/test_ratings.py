"""Agreement of raters and the tables of ratings, worked by hand; people's ratings from a file."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.errors import InputError
from responsa.evaluate.ratings import (
    Rated,
    agreement,
    between,
    by_rater,
    confusion,
    consensus,
    consensus_of,
    half_down,
    kendall,
    read_ratings,
    summarise,
    weighted_kappa,
)

pytest.importorskip("scipy", reason="needs responsa[eval]")

ratings = st.integers(1, 4)
pairs = st.lists(st.tuples(ratings, ratings), min_size=2, max_size=30)


def test_kappa_by_hand():
    # Disagreement 1 + 1 + 1 + 0. Expected, from rows 1 1 1 1 and columns 0 1 1 2: (4 + 4 + 12) / 4 and (6 + 6 + 28) / 4.
    found = agreement([1, 2, 3, 4], [2, 3, 4, 4])
    assert found.linear == pytest.approx(1 - 3 / 5)
    assert found.quadratic == pytest.approx(1 - 3 / 10)
    assert (found.exact, found.correct, found.n) == (1 / 4, 3 / 4, 4)
    assert found.confusion == ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 1))


def test_kappa_of_chance_is_zero():
    found = agreement([1, 1, 4, 4], [1, 4, 1, 4])
    assert (found.linear, found.quadratic) == (0.0, 0.0)
    assert (found.correlation.tau, found.exact) == (0.0, 0.5)


def test_a_single_rating_throughout_has_no_agreement_beyond_chance():
    found = agreement([4, 4, 4], [4, 4, 4])
    assert (found.linear, found.quadratic, found.exact) == (None, None, 1.0)
    assert (found.correlation.tau, found.correlation.p_value) == (None, None)
    constant = agreement([4, 4, 4, 4], [1, 2, 3, 4])
    assert (constant.linear, constant.quadratic) == (0.0, 0.0)
    assert constant.correlation.tau is None


def test_tau_by_hand():
    # 1 2 3 against 1 3 2: two pairs agree, one does not: 1 / 3. With ties 1 1 2 and 1 2 2: 1 / sqrt(2 x 2).
    assert kendall([1, 2, 3], [1, 3, 2]).tau == pytest.approx(1 / 3)
    assert kendall([1, 1, 2], [1, 2, 2]).tau == pytest.approx(1 / 2)


@given(pairs)
def test_tau_counts_pairs(given):
    first, second = zip(*given, strict=True)
    score, untied, other = 0, 0, 0
    for i in range(len(given)):
        for j in range(i):
            one, two = first[i] - first[j], second[i] - second[j]
            score += (one * two > 0) - (one * two < 0)
            untied += one != 0
            other += two != 0
    found = kendall(first, second).tau
    if untied and other:
        assert found == pytest.approx(score / sqrt(untied * other))
    else:
        assert found is None


@given(pairs)
def test_kappa_by_weights_of_agreement(given):
    # The form (po - pe) / (1 - pe), with 1 for agreement and 0 for the extremes.
    first, second = zip(*given, strict=True)
    matrix, n = confusion(first, second), len(given)
    for name, power in (("linear", 1), ("quadratic", 2)):
        weight = {(i, j): 1 - (abs(i - j) / 3) ** power for i in range(1, 5) for j in range(1, 5)}
        observed = sum(weight[pair] for pair in given) / n
        one, two = Counter(first), Counter(second)
        expected = sum(weight[i, j] * one[i] * two[j] for i, j in weight) / n**2
        found = weighted_kappa(matrix, name)
        if found is None:
            assert expected == pytest.approx(1)
        else:
            assert found == pytest.approx((observed - expected) / (1 - expected))


@given(pairs)
def test_agreement_has_no_side_and_no_order(given):
    first, second = zip(*given, strict=True)
    found, turned = agreement(first, second), agreement(second, first)
    assert (found.linear, found.quadratic, found.exact, found.correct) == (
        turned.linear, turned.quadratic, turned.exact, turned.correct
    )  # fmt: skip
    assert found.confusion == tuple(zip(*turned.confusion, strict=True))
    assert agreement(first[::-1], second[::-1]).quadratic == found.quadratic
    assert sum(map(sum, found.confusion)) == len(given)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [1, 2]), ([5], [1]), ([0], [1])])
def test_what_cannot_be_compared(first, second):
    with pytest.raises(ValueError, match="rating"):
        agreement(first, second)


def test_the_tables_of_the_papers():
    # Counts 6 18 19 3 of CLiC-it, table 3, zero-shot: mean 111 / 46, 22 correct.
    values = [1] * 6 + [2] * 18 + [3] * 19 + [4] * 3
    found = summarise(values)
    assert (found.n, found.counts, found.correct_count) == (46, (6, 18, 19, 3), 22)
    assert found.average.mean == pytest.approx(111 / 46)
    squares = sum((value - 111 / 46) ** 2 for value in values)
    assert found.deviation == pytest.approx(sqrt(squares / 45))
    assert found.correct.mean == pytest.approx(22 / 46)
    assert found.average.low < 111 / 46 < found.average.high
    assert summarise(values) == found


def test_a_mean_of_judges_is_counted_at_the_lower_rating_and_correct_above_two():
    found = summarise([2.5, 2.0, 3.25])
    assert (found.counts, found.correct_count) == ((0, 2, 1, 0), 2)
    assert [half_down(value) for value in (1.0, 1.5, 1.51, 3.5, 4.0)] == [1, 1, 2, 3, 4]
    assert summarise([3]).deviation is None


@pytest.mark.parametrize("values", [[], [0.5], [4.1]])
def test_no_ratings_and_ratings_off_the_scale(values):
    with pytest.raises(ValueError, match=r"no values|from 1 to 4"):
        summarise(values)


def test_consensus():
    assert [consensus(given) for given in ([3], [4, 4, 1], [4, 1], [2, 3, 3, 2])] == [3, 4, 1, 2]
    raters = {"a": {("", "1"): 4, ("", "2"): 1}, "b": {("", "1"): 3}}
    assert consensus_of(raters) == {("", "1"): 3, ("", "2"): 1}
    with pytest.raises(ValueError, match="no ratings"):
        consensus([])


def test_only_what_both_rated_is_compared():
    assert between({("", "1"): 4}, {("", "2"): 4}) is None
    found = between({("", "1"): 4, ("", "2"): 1}, {("", "2"): 2, ("", "3"): 3})
    assert (found.n, found.exact) == (1, 0.0)


@pytest.fixture
def file(tmp_path):
    def write(text: str):
        path = tmp_path / "people.csv"
        path.write_bytes(text.encode())
        return path

    return write


def test_a_line_for_each_rating(file):
    path = file("\ufeffid,rater,rating,approach\r\nq1,Ada,4,zero\r\n\r\nq1,Ben, 2 ,zero\r\nq1,,3,few\r\n")
    assert read_ratings(path) == (
        Rated(("zero", "q1"), "Ada", 4, 2),
        Rated(("zero", "q1"), "Ben", 2, 4),
        Rated(("few", "q1"), "people", 3, 5),
    )


@pytest.mark.parametrize("mark", [";", "\t"])
def test_as_spreadsheets_write_it(file, mark):
    text = "\ufeffid,rater,rating\nq1,Ada,4\n".replace(",", mark)
    assert read_ratings(file(text)) == (Rated(("", "q1"), "Ada", 4, 2),)


def test_a_column_for_each_rater(file):
    found = by_rater(read_ratings(file("id,Ada,Ben\nq1,4,3\nq2,1,2\n")))
    assert found == {"Ada": {("", "q1"): 4, ("", "q2"): 1}, "Ben": {("", "q1"): 3, ("", "q2"): 2}}


def test_an_empty_cell_is_not_rated_and_counted(file):
    said = []
    path = file("id;anna;ben\nq1;3;\nq2;;\nq3\nq4;2;4\n")
    assert by_rater(read_ratings(path, said.append)) == {
        "anna": {("", "q1"): 3, ("", "q4"): 2}, "ben": {("", "q4"): 4}
    }  # fmt: skip
    assert said == [f"{path}: 5 cells are empty: not rated"]
    read_ratings(file("id,anna\nq1,4\nq2,\n"), said.append)
    assert said[1:] == [f"{path}: 1 cell is empty: not rated"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,rating\nq1,\nq2,good\nq3,3.5\n", "line 2: the rating is missing; line 3: 'good' is no rating; line 4: '3.5' is no rating: write 1, 2, 3 or 4"),
        ("id,rating\nq1\n", "line 2: the rating is missing"),
        ("id,Ada,Ben\nq1,,0\n", "line 2: '0' is no rating by Ben"),
        ("id,Ada,Ben\nq1,,good\n", "line 2: 'good' is no rating by Ben"),
        ("id,Ada,Ben\nq1,,\n", "holds no rating"),
        ("id,rating\nq1,5\n", "line 2: '5' is no rating"),
        ("id,rating\nq1,4\nq1,3\n", "line 3: 'q1' is rated again by people (line 2)"),
        ("id,rating\n,4\n", "line 2: no id"),
        ("id,rating\nq1,4,3\n", "line 2: more cells than the head"),
        ("question,rating\nq1,4\n", "line 1: the head is 'question', 'rating'"),
        ("id,rating,Rating\nq1,4,4\n", "each once"),
        ("id\nq1\n", "no column holds ratings"),
        ("id,rating\n", "holds no rating"),
        ("", "is empty"),
        ("id,rating\n" + "q,bad\n" * 8, "and 3 more"),
        ('id,rating\n"q1,4\n', "cannot be read"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(file, text, told):
    with pytest.raises(InputError) as error:
        read_ratings(file(text))
    assert told in str(error.value)
    assert "people.csv" in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_ratings(tmp_path / "none.csv")
