"""Fusion, worked by hand: equations of RIRAG section 5.1, Cormack et al. 2009."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.errors import RecipeError
from responsa.retrieval import FUSERS
from responsa.retrieval.fuse import RRF, Linear, ZScore
from responsa.types import Ranking, Run


def run(name, **scores):
    return Run(name, {"q": Ranking.of("q", scores.items())})


def fused(fuser, *runs):
    return {hit.passage_id: pytest.approx(hit.score, abs=1e-6) for hit in fuser(runs).rankings["q"].hits}


LEFT = run("left", a=10.0, b=6.0, c=2.0)  # scaled: 1, .5, 0
RIGHT = run("right", b=0.9, d=0.5, a=0.1)  # scaled: 1, .5, 0


def test_linear_scales_each_side_and_counts_a_missing_one_as_zero():
    # .7 and .3: a .7*1 + 0, b .7*.5 + .3*1, c 0, d .3*.5
    assert fused(Linear((0.7, 0.3)), LEFT, RIGHT) == {"a": 0.7, "b": 0.65, "d": 0.15, "c": 0.0}


def test_weights_are_shares():
    assert fused(Linear((7.0, 3.0)), LEFT, RIGHT) == fused(Linear((0.7, 0.3)), LEFT, RIGHT)
    assert fused(Linear(), LEFT, RIGHT) == fused(Linear((0.5, 0.5)), LEFT, RIGHT)


def test_linear_of_three():
    third = run("third", c=1.0, b=0.0)
    # .5, .25, .25: a .5, b .25 + .25 + 0, c 0 + .25, d .125
    assert fused(Linear((0.5, 0.25, 0.25)), LEFT, RIGHT, third) == {"a": 0.5, "b": 0.5, "c": 0.25, "d": 0.125}


def test_only_the_first_hits_are_fused():
    # Over the first two, left is a 1, b 0 and right b 1, d 0.
    assert fused(Linear(depth=2), LEFT, RIGHT) == {"a": 0.5, "b": 0.5, "d": 0.0}


def test_rrf():
    # Ranks: a 1 and 3, b 2 and 1, c 3, d 2; each side weighs one half.
    expected = {"b": (1 / 62 + 1 / 61) / 2, "a": (1 / 61 + 1 / 63) / 2, "d": 1 / 124, "c": 1 / 126}
    assert fused(RRF(), LEFT, RIGHT) == expected
    assert fused(RRF(constant=0), LEFT, RIGHT)["b"] == (1 / 2 + 1) / 2


def test_zscore_gives_the_missing_the_lowest():
    # Both sides have mean 0 and, e.g. left, deviations 4, 0, -4 over sqrt(32/3): 1.2247, 0, -1.2247.
    z = 1.5**0.5
    assert fused(ZScore(), LEFT, RIGHT) == {"a": 0.0, "b": z / 2, "c": -z, "d": -z / 2}


def test_a_run_without_hits_and_a_question_in_one_run_only():
    empty = Run("empty", {"q": Ranking("q", ()), "r": Ranking("r", ())})
    other = Run("other", {"r": Ranking.of("r", [("x", 3.0)])})
    for fuser in (Linear(), RRF(), ZScore()):
        rankings = fuser([empty, other]).rankings
        assert rankings["q"].hits == ()
        assert [hit.passage_id for hit in rankings["r"].hits] == ["x"]


def test_equal_scores_and_one_hit():
    assert fused(Linear(), run("l", a=3.0, b=3.0), run("r", a=1.0)) == {"a": 1.0, "b": 0.5}


@pytest.mark.parametrize("kind", FUSERS)
def test_settings_are_checked(kind):
    with pytest.raises(RecipeError, match=f"{kind}: depth of at least 1 and weights of at least 0"):
        FUSERS[kind](depth=0)
    with pytest.raises(RecipeError, match="not all 0"):
        FUSERS[kind](weights=(0.0, 0.0))
    with pytest.raises(RecipeError, match="2 weights for 3 retrievers"):
        FUSERS[kind](weights=(0.5, 0.5))([LEFT, RIGHT, LEFT])


def test_rrf_constant():
    with pytest.raises(RecipeError, match="constant of at least 0 is needed, got -1"):
        RRF(constant=-1)


_RUNS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-100, 100, width=32), max_size=8), min_size=1, max_size=4
)


@given(_RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter_to_rrf(tables, random):
    runs = [run("r", **table) for table in tables]
    shuffled = random.sample(runs, len(runs))
    first, second = (RRF()(each).rankings["q"].hits for each in (runs, shuffled))
    assert dict(first) == pytest.approx(dict(second), rel=1e-5)


@given(_RUNS)
def test_nothing_is_lost_or_invented(tables):
    runs = [run("r", **table) for table in tables]
    found = {hit.passage_id for each in runs for hit in each.rankings["q"].hits}
    for fuser in (Linear(), RRF(), ZScore()):
        assert {hit.passage_id for hit in fuser(runs).rankings["q"].hits} == found
