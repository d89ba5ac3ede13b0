"""Threshold and drop (RIRAG, section 5.2): which passages an answer is written from."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.answer.select import ThresholdDrop
from responsa.errors import RecipeError
from responsa.types import Ranking


def kept(scores, select, scale="minmax"):
    # Multiples of 1/8 and 1/16 are exact as 32-bit floats, so that "equal" means equal.
    ranking = Ranking.of("q", [(f"p{100 - n}", score) for n, score in enumerate(scores)], scale)
    return [hit.score for hit in select(ranking).hits]


@pytest.mark.parametrize(
    ("scores", "count"),
    [
        ([], 0),
        ([1.0], 1),
        ([0.0], 1),  # the first always
        ([0.5, 0.5], 1),  # the first always, the second is below the threshold
        ([1.0, 0.75], 1),  # a fall of .25 reaches the drop: stops
        ([1.0, 0.8125], 2),  # a fall of .1875 does not
        ([1.0, 0.875, 0.75], 3),  # the threshold itself is kept
        ([1.0, 0.875, 0.75, 0.6875], 3),  # below it is not
        ([1.0, 0.9375, 0.875, 0.8125, 0.8125], 4),  # at the most four
        ([1.0, 0.625, 0.9], 2),  # sorted first: 1, .9, then .625
    ],
)
def test_by_hand(scores, count):
    select = ThresholdDrop(threshold=0.75, drop=0.25, most=4)
    assert kept(scores, select) == pytest.approx(sorted(scores, reverse=True)[:count])


def test_what_comes_after_the_stop_is_lost():
    # After the gap no later passage is taken up again.
    assert kept([1.0, 0.5, 0.5], ThresholdDrop(0.0, 0.25)) == [1.0]


@pytest.mark.parametrize("scale", ["raw", "probability"])
def test_another_scale_is_refused(scale):
    with pytest.raises(RecipeError, match=f"the scores are '{scale}', the threshold is for 'minmax'"):
        kept([0.9], ThresholdDrop(), scale)


def test_a_scale_of_its_own():
    select = ThresholdDrop(0.9, 0.1, scale="probability")
    assert len(kept([0.99, 0.95, 0.5], select, "probability")) == 2
    with pytest.raises(RecipeError):
        kept([0.9], select)


@given(st.lists(st.floats(0, 1, width=32), max_size=20), st.floats(0, 1), st.floats(0.01, 1), st.integers(1, 10))
def test_a_head_that_obeys_and_could_not_be_longer(scores, threshold, drop, most):
    ranking = Ranking.of("q", [(f"p{n}", score) for n, score in enumerate(scores)], "minmax")
    select = ThresholdDrop(threshold, drop, most)
    head = select(ranking).hits
    assert head == ranking.hits[: len(head)]
    assert len(head) <= most
    assert bool(head) == bool(scores)
    for before, hit in pairwise(head):
        assert hit.score >= threshold
        assert before.score - hit.score < drop
    if len(head) < min(most, len(scores)):
        following = ranking.hits[len(head)]
        assert following.score < threshold or head[-1].score - following.score >= drop
