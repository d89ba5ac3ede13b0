"""Weights chosen on questions with gold passages."""

from dataclasses import dataclass

import pytest

from responsa import recipe
from responsa.errors import RecipeError
from responsa.evaluate.ranking import Measure
from responsa.retrieval import Hybrid
from responsa.retrieval.fuse import Linear
from responsa.tuning import simplex, tune
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

    return replace(recipe.load(), name="r", retrieve=Hybrid(stages, fuse or Linear()))


GOOD = Scripted((("gold", 2.0), ("b", 1.0), ("c", 0.0)))
BAD = Scripted((("b", 2.0), ("c", 1.0), ("gold", 0.0)))
ASKED = ([Query("q", "text")], [Judgement("q", "gold")])


def test_the_better_retriever_gets_the_weight():
    trials = tune(recipe_of(GOOD, BAD), *ASKED, None, Measure("MRR"), steps=4)
    # gold w, b w/2 + 1-w: gold is first from w above 2/3, so at 3/4 and 1; the former is nearer to equal weights.
    assert trials[0].weights == (0.75, 0.25)
    assert trials[0].value == 1.0
    assert {trial.weights for trial in trials} == {(0, 1), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1, 0)}


def test_simplex():
    assert list(simplex(1, 5)) == [(1.0,)]
    assert sorted(simplex(3, 2)) == [(0, 0, 1), (0, 0.5, 0.5), (0, 1, 0), (0.5, 0, 0.5), (0.5, 0.5, 0), (1, 0, 0)]
    assert all(sum(weights) == pytest.approx(1) for weights in simplex(3, 10))


def test_nothing_to_weigh():
    with pytest.raises(RecipeError, match="bm25: has one retriever; weights are tuned between two or more"):
        tune(recipe.load(), *ASKED, None, Measure("MRR"))
    with pytest.raises(RecipeError, match="steps of at least 1 are needed, got 0"):
        tune(recipe_of(GOOD, BAD), *ASKED, None, Measure("MRR"), steps=0)
