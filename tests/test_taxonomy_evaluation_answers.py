"""Scores of steps, logic holes, chain types and correlations: by hand, against other formulas, against the print."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from responsa.taxonomy.evaluation import answers
from responsa.taxonomy.evaluation.answers import (
    CHAINS,
    EQUATIONS,
    HOLES,
    Annotated,
    agreements,
    chain,
    chains,
    correlation,
    counts,
    disagreement,
    holes,
    pearson,
    raters,
)
from responsa.taxonomy.evaluation.tables import published
from responsa.taxonomy.values import Method

EQUATION = {each.name: each for each in EQUATIONS}


def rated(row="r", generation=0, method: Method = "zero-shot-cot", scores=(2, 2, 2), links=(1, 1, 1), **more):
    given = dict(enumerate(scores, 1)) if method != "traditional" else {3: scores[2]}
    return Annotated(row, method, generation, given, links if method != "traditional" else None, **more)


def test_scores_are_counted_and_zeros_are_told():
    own = [rated(scores=(2, -1, 3)), rated(scores=(0, 2, 3)), rated(method="traditional", scores=(0, 0, -1))]
    assert counts(own, 1) == {-1: 0, 0: 1, 1: 0, 2: 1}
    assert counts(own, 2) == {-1: 1, 0: 0, 1: 0, 2: 1}
    assert counts(own, 3) == {-1: 1, 0: 0, 1: 0, 2: 0, 3: 2}


def test_holes_are_counted_and_low_conclusions_without_one_too():
    own = [
        rated(scores=(2, 2, 0), hole="criteria"),
        rated(scores=(2, 2, 1), hole="criteria"),
        rated(scores=(2, 2, -1), hole="hallucination"),
        rated(scores=(2, 2, 1)),
        rated(),
    ]
    found = holes(own)
    assert [name for name, count in found.items() if count] == ["criteria", "hallucination", ""]
    assert (found["criteria"], found["hallucination"], found[""]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("links", "name"),
    [
        ((1, 1, 1), "I"),
        ((0, 1, 1), "II"),
        ((1, 0, 1), "III"),
        ((1, 1, 0), "IV"),
        ((0, 0, 1), "V"),
        ((0, 1, 0), "VI"),
        ((1, 0, 0), "VII"),
        ((0, 0, 0), "none"),
    ],
)
def test_chain_types(links, name):
    assert chain(links) == name


def test_chain_types_are_what_the_thesis_says_of_them():
    assert len(CHAINS) == 7
    assert set(CHAINS.values()) == set(itertools.product((0, 1), repeat=3)) - {(0, 0, 0)}
    assert [3 - sum(CHAINS[name]) for name in CHAINS] == [0, 1, 1, 1, 2, 2, 2]
    assert CHAINS["V"] == (0, 0, 1)  # step 1 is used by neither step 2 nor step 3


def test_chains_are_counted_without_the_traditional_method():
    own = [rated(), rated(links=(0, 0, 0)), rated(links=(0, 0, 1)), rated(method="traditional")]
    found = chains(own)
    assert {name: count for name, count in found.items() if count} == {"I": 1, "V": 1, "none": 1}


def test_disagreement_of_rows():
    own = [
        *(rated("alike", at, conclusion="true") for at in range(5)),
        *(rated("apart", at, conclusion="true" if at else "false") for at in range(5)),
        rated("single", conclusion="true"),
        rated("unknown", 0, conclusion="true"),
        rated("unknown", 1),
    ]
    assert disagreement(own) == {"alike": 0, "apart": 1}


def test_correlation_of_a_metric_with_a_step_by_hand():
    # x 1 2 3 4 (tenths), y 0 1 1 2: r = sum xy deviations / sqrt: 3 / sqrt(5 * 2) = .948683
    own = [
        rated(generation=at, scores=(score, 2, 2), metrics={"BE_SCC": (at + 1) / 10})
        for at, score in enumerate((0, 1, 1, 2))
    ]
    found = correlation([*own, rated(generation=9, scores=(0, 2, 2))], EQUATION["(5.7)"])
    assert found.r == pytest.approx(3 / math.sqrt(10))
    assert found.n == 4
    # t = r sqrt(2 / (1 - r^2)) = 4.2426; with 2 degrees of freedom p = 1 - t / sqrt(2 + t^2)
    assert found.p == pytest.approx(1 - math.sqrt(18) / math.sqrt(20))


def test_correlation_with_disagreement_is_over_rows():
    metrics = {"a": (0.2, 0.4), "b": (0.8, 0.8), "c": (0.9, 0.7), "d": (0.5, 0.1)}
    said = {"a": ("true", "false"), "b": ("true", "true"), "c": ("false", "false"), "d": ("true", "false")}
    own = [
        rated(row, at, conclusion=said[row][at], metrics={"BL_3": value})
        for row, values in metrics.items()
        for at, value in enumerate(values)
    ]
    found = correlation(own, EQUATION["(5.12)"])
    # means .3 .8 .8 .3 against 1 0 0 1
    assert (found.r, found.n) == (pytest.approx(-1.0), 4)
    assert (
        correlation([*own, rated("e", 0, conclusion="true"), rated("e", 1, conclusion="true")], EQUATION["(5.12)"]).n
        == 4
    )


@pytest.mark.parametrize(
    ("first", "second", "reason"), [([1, 2], [1, 2], "2 pairs; 3"), ([1, 1, 1], [0, 1, 2], "all the same")]
)
def test_no_correlation_says_why(first, second, reason):
    found = pearson(first, second)
    assert (found.r, found.p) == (None, None)
    assert reason in found.reason


values = st.integers(-50, 50).map(lambda value: value / 50)


@given(st.lists(st.tuples(values, st.integers(-1, 3)), min_size=3, max_size=30))
def test_pearson_from_sums(pairs):
    first, second = [x for x, _ in pairs], [y for _, y in pairs]
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    n = len(pairs)
    over = n * sum(x * y for x, y in pairs) - sum(first) * sum(second)
    under = (n * sum(x * x for x in first) - sum(first) ** 2) * (n * sum(y * y for y in second) - sum(second) ** 2)
    found = pearson(first, second)
    assert found.r == pytest.approx(over / math.sqrt(under), abs=1e-9)
    assert pearson(second, first).p == pytest.approx(found.p)


@pytest.mark.parametrize("method", list(answers.METHODS))
def test_printed_p_values_follow_from_printed_correlations(method):
    """430 generations and 86 rows: what the thesis prints is of one piece, and was copied right."""
    stats = pytest.importorskip("scipy.stats")
    half = 0.00005  # of the last digit printed

    def p_of(r: float, n: int) -> float:
        return float(2 * stats.t.sf(r * math.sqrt((n - 2) / (1 - r * r)), n - 2))

    for name, (r, p) in published()["correlations"][method].items():
        n = 86 if name in ("(5.11)", "(5.12)") else 430
        assert p_of(abs(r) + half, n) - half <= p <= p_of(abs(r) - half, n) + half, name


def test_printed_counts_are_of_430_generations_each():
    printed = published()
    for step in printed["scores"].values():
        assert {sum(own.values()) for own in step.values()} == {430}
    assert {sum(own.values()) for own in printed["chains"].values()} == {430}
    for own in printed["holes"].values():
        assert list(own) == list(HOLES)
    for method, own in printed["holes"].items():  # 9 of 54 and 9 of 68 low conclusions have none noted
        low = sum(printed["scores"]["3"][method][score] for score in ("-1", "0", "1"))
        assert low - sum(own.values()) == {"traditional": 9, "zero-shot-cot": 0, "few-shot-cot": 9}[method]


def test_raters_and_how_they_agree():
    one = [rated(generation=at, scores=(score, 2, 2), rater="A") for at, score in enumerate((0, 1, 2, 2))]
    two = [rated(generation=at, scores=(score, 2, 2), rater="B") for at, score in enumerate((0, 2, 2, 2))]
    assert raters([*one, *two]) == ["A", "B"]
    found = {each.column: each for each in agreements([*one, *two, rated(generation=8, rater="B")])}
    assert list(found) == ["HE1", "HE2", "HE3", "C21", "C31", "C32"]
    assert (found["HE1"].n, found["HE1"].exact) == (4, 0.75)
    # disagreement seen 1; expected with margins (0: 1, 1: 1, 2: 2) and (0: 1, 2: 3): (1*3*4 + 1*1 + 1*3*1 + 2*1*4) / 4 = 6
    assert found["HE1"].kappa == pytest.approx(1 - 1 / 6)
    assert found["HE2"].kappa is None
    assert agreements(one) == []
