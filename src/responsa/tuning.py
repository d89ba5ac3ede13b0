"""Choosing the weights of a fusion on questions with gold passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.evaluate.ranking import Measure, score_run
from responsa.recipe import Recipe
from responsa.retrieval import Hybrid
from responsa.retrieval.fuse import RRF, Linear, ZScore
from responsa.retrieval.hybrid import DEPTH
from responsa.types import Judgement, Query


@dataclass(frozen=True)
class Trial:
    """Weights in the order of the recipe's retrievers, and the mean of the measure with them."""

    weights: tuple[float, ...]
    value: float


def tune(
    recipe: Recipe,
    queries: Sequence[Query],
    judgements: Sequence[Judgement],
    corpus: Corpus,
    measure: Measure,
    steps: int = 20,
) -> list[Trial]:
    """Every choice of weights that are multiples of 1/steps and add up to 1, best first.

    Each retriever searches once. A reranker is left out: the weights are those of the first stage. Of equal
    choices the one nearest to equal weights comes first. RecipeError where there is nothing to weigh.
    """
    retrieve = recipe.retrieve
    if not isinstance(retrieve, Hybrid) or len(retrieve.stages) < 2:
        raise RecipeError(f"{recipe.name}: has one retriever; weights are tuned between two or more")
    fuse = retrieve.fuse
    if not isinstance(fuse, Linear | RRF | ZScore):
        raise RecipeError(f"{recipe.name}: the fusion {fuse!r} has no weights")
    if steps < 1:
        raise RecipeError(f"steps of at least 1 are needed, got {steps}")
    runs = [stage(queries, corpus, DEPTH) for stage in retrieve.stages]
    trials = []
    for weights in simplex(len(runs), steps):
        scored = score_run(replace(fuse, weights=weights)(runs), judgements, [measure])
        values = scored.values(measure)
        trials.append(Trial(weights, sum(values) / len(values)))
    return sorted(trials, key=lambda trial: (-trial.value, sum(weight**2 for weight in trial.weights)))


def simplex(parts: int, steps: int) -> Iterator[tuple[float, ...]]:
    """All ways to share 1 among ``parts`` in multiples of 1/steps."""

    def shares(left: int, parts: int) -> Iterator[tuple[int, ...]]:
        if parts == 1:
            yield (left,)
            return
        for first in range(left + 1):
            for rest in shares(left - first, parts - 1):
                yield (first, *rest)

    return (tuple(share / steps for share in each) for each in shares(steps, parts))
