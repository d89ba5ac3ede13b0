"""Min-max scaling within a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.retrieval.scale import minmax
from responsa.types import Ranking


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
