"""Weights chosen on questions with gold passages."""

from dataclasses import dataclass

import pytest

from responsa import recipe
from responsa.errors import RecipeError
from responsa.evaluate.ranking import Measure
from responsa.retrieval import Hybrid
from responsa.retrieval.fuse import Linear
from responsa.retrieval.scale import Calibrate
from responsa.tuning import calibrate, simplex, tune
from responsa.types import Judgement, Query, Ranking, Run


@dataclass(frozen=True)
class Scripted:
    """A retriever that finds what it is told to."""

    found: tuple[tuple[str, float], ...]

    def __call__(self, queries, corpus, k):
        return Run("scripted", {query.id: Ranking.of(query.id, self.found) for query in queries})

    def prepare(self, corpus):
        raise AssertionError("not needed")

    def ready(self, corpus):
        return True


def recipe_of(*stages, fuse=None):
    from dataclasses import replace

    return replace(recipe.load("bm25"), name="r", retrieve=Hybrid(stages, fuse or Linear()))


GOOD = Scripted((("gold", 2.0), ("b", 1.0), ("c", 0.0)))
BAD = Scripted((("b", 2.0), ("c", 1.0), ("gold", 0.0)))
ASKED = ([Query("q", "text")], [Judgement("q", "gold")])


def test_the_better_retriever_gets_the_weight():
    trials = tune(recipe_of(GOOD, BAD), *ASKED, None, Measure("MRR"), steps=4)
    # gold w, b w/2 + 1-w: gold is first from w above 2/3, so at 3/4 and 1; the former is nearer to equal weights.
    assert trials[0].weights == (0.75, 0.25)
    assert trials[0].value == 1.0
    assert {trial.weights for trial in trials} == {(0, 1), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1, 0)}


def test_questions_that_tell_nothing_apart_recommend_nothing():
    with pytest.raises(RecipeError, match=r"recall@10 is 0 with every choice of weights: none"):
        tune(recipe_of(GOOD, BAD), ASKED[0], [Judgement("q", "elsewhere")], None, Measure("recall", 10), steps=4)


def test_simplex():
    assert list(simplex(1, 5)) == [(1.0,)]
    assert sorted(simplex(3, 2)) == [(0, 0, 1), (0, 0.5, 0.5), (0, 1, 0), (0.5, 0, 0.5), (0.5, 0.5, 0), (1, 0, 0)]
    assert all(sum(weights) == pytest.approx(1) for weights in simplex(3, 10))


def test_nothing_to_weigh():
    with pytest.raises(RecipeError, match="bm25: has one retriever; weights are tuned between two or more"):
        tune(recipe.load("bm25"), *ASKED, None, Measure("MRR"))
    with pytest.raises(RecipeError, match="steps of at least 1 are needed, got 0"):
        tune(recipe_of(GOOD, BAD), *ASKED, None, Measure("MRR"), steps=0)


ASKED_OFTEN = [Query(f"q{n}", "text") for n in range(8)]
GOLD = [Judgement(f"q{n}", "gold" if n < 6 else "b") for n in range(8)]


def test_scores_become_the_share_that_is_gold():
    found = calibrate(recipe_of(Scripted((("gold", 2.0), ("b", 1.0)))), ASKED_OFTEN, GOLD, None)
    assert (found.passages, found.gold) == (16, 8)
    # 6 of 8 passages at score 2 are gold and 2 of 8 at score 1: symmetric, so a half lies between.
    assert -found.stage.shift / found.stage.scale == pytest.approx(1.5, abs=1e-6)
    run = found.stage(Run("r", {"q": Ranking.of("q", [("gold", 2.0)])}), ASKED[0], None)
    # Platt's targets are 9/10 and 1/10 in place of 1 and 0: 6/8 gives .9 * .75 + .1 * .25 = .7.
    assert run.rankings["q"].hits[0].score == pytest.approx(0.7, abs=1e-4)


def test_a_calibration_in_the_recipe_is_left_out():
    plain = recipe_of(Scripted((("gold", 2.0), ("b", 1.0))))
    from dataclasses import replace

    again = replace(plain, retrieve=replace(plain.retrieve, rerank=(Calibrate(5.0, 5.0),)))
    assert calibrate(again, ASKED_OFTEN, GOLD, None) == calibrate(plain, ASKED_OFTEN, GOLD, None)


def test_only_the_first_passages_are_fitted_on():
    found = calibrate(recipe_of(Scripted((("gold", 3.0), ("b", 2.0), ("c", 1.0)))), ASKED_OFTEN, GOLD, None, depth=2)
    assert found.passages == 16


def test_what_cannot_be_calibrated():
    with pytest.raises(RecipeError, match="r: 1 of 1 passages found are gold, and higher scores do not tell them"):
        calibrate(recipe_of(Scripted((("gold", 2.0),))), *ASKED, None)
    with pytest.raises(RecipeError, match="r: 1 of 3 passages found are gold, and higher scores do not tell them"):
        calibrate(recipe_of(BAD), *ASKED, None)
    with pytest.raises(RecipeError, match="depth of at least 1 is needed, got 0"):
        calibrate(recipe_of(GOOD), *ASKED, None, depth=0)
