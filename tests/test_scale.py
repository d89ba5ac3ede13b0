"""Min-max scaling within a query, and probabilities."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.answer.select import ThresholdDrop
from responsa.errors import RecipeError
from responsa.retrieval.scale import Calibrate, logistic, minmax
from responsa.types import Query, Ranking, Run


def scaled(scores, depth=100):
    ranking = Ranking.of("q", [(f"p{n:03}", score) for n, score in enumerate(scores)])
    return minmax(ranking, depth)


@pytest.mark.parametrize(
    ("scores", "depth", "expected"),
    [
        ([8, 6, 4], 100, [1, 0.5, 0]),  # (6 - 4) / (8 - 4)
        ([8, 6, 4], 2, [1, 0]),  # over the first two alone
        ([-1, -2, -5], 100, [1, 0.75, 0]),
        ([3], 100, [1]),
        ([3, 3, 3], 100, [1, 1, 1]),
        ([], 100, []),
        ([5, 4], 0, []),
    ],
)
def test_by_hand(scores, depth, expected):
    ranking = scaled(scores, depth)
    assert [hit.score for hit in ranking.hits] == pytest.approx(expected)
    assert (ranking.scale, ranking.query_id) == ("minmax", "q")


@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=20))
def test_scores_lie_in_0_to_1_and_keep_their_order(scores):
    before = Ranking.of("q", [(f"p{n:03}", score) for n, score in enumerate(scores)])
    after = minmax(before)
    assert all(0 <= hit.score <= 1 for hit in after.hits)
    assert {hit.passage_id for hit in after.hits} == {hit.passage_id for hit in before.hits}
    if scores:
        assert after.hits[0].score == 1
    rank = {hit.passage_id: hit.score for hit in after.hits}
    values = [rank[hit.passage_id] for hit in before.hits]
    assert values == sorted(values, reverse=True)


def calibrated(stage, scores, scale="raw"):
    run = Run("r", {"q": Ranking.of("q", scores.items(), scale)})
    return stage(run, [Query("q", "x")], None).rankings["q"]


def test_probabilities_by_hand():
    found = calibrated(Calibrate(scale=2.0, shift=-1.0), {"a": 3.0, "b": 0.5, "c": -1.0})
    assert dict(found.hits) == {"a": pytest.approx(1 / (1 + exp(-5))), "b": 0.5, "c": pytest.approx(1 / (1 + exp(3)))}
    assert found.scale == "probability"


def test_a_threshold_on_probabilities():
    found = calibrated(Calibrate(scale=2.0, shift=-1.0), {"a": 3.0, "b": 0.6, "c": -1.0})
    kept = ThresholdDrop(threshold=0.5, drop=0.9, scale="probability")(found)
    assert [hit.passage_id for hit in kept.hits] == ["a", "b"]


def test_probabilities_are_not_calibrated_again():
    with pytest.raises(RecipeError, match="calibrate: the scores are probabilities already"):
        calibrated(Calibrate(1.0, 0.0), {"a": 0.5}, "probability")


@pytest.mark.parametrize("settings", [(0.0, 1.0), (-1.0, 1.0), (float("inf"), 0.0), (1.0, float("nan"))])
def test_settings(settings):
    with pytest.raises(RecipeError, match="calibrate: scale above 0 and a finite shift are needed"):
        Calibrate(*settings)


@given(st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.floats(-1e6, 1e6, width=32)))
def test_probabilities_keep_the_order(scores):
    found = dict(calibrated(Calibrate(0.5, 1.0), scores).hits)
    values = [found[passage_id] for passage_id in sorted(scores, key=scores.__getitem__)]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values)


def test_logistic_of_large_numbers():
    assert (logistic(-1e4), logistic(0.0), logistic(1e4)) == (0.0, 0.5, 1.0)
