"""Choosing the weights of a fusion, and what scores mean, on questions with gold passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.evaluate.ranking import Measure, score_run
from responsa.learn.calibrate import platt
from responsa.recipe import Recipe
from responsa.retrieval import Hybrid, Retriever
from responsa.retrieval.fuse import RRF, Linear, ZScore
from responsa.retrieval.hybrid import DEPTH
from responsa.retrieval.listwise import refuse_asking
from responsa.retrieval.scale import Calibrate
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

    Each retriever searches once. What reranks is left out: the weights are those of the first stage. Of equal
    choices the one nearest to equal weights comes first. RecipeError where there is nothing to weigh, and where no
    choice finds anything.
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
    if not any(trial.value for trial in trials):
        raise RecipeError(
            f"{recipe.name}: {measure} is 0 with every choice of weights: none of the gold passages is found; give "
            "other questions, or another --measure"
        )
    return sorted(trials, key=lambda trial: (-trial.value, sum(weight**2 for weight in trial.weights)))


@dataclass(frozen=True)
class Calibration:
    """The stage fitted, the passages that it was fitted on, and how many of them are gold."""

    stage: Calibrate
    passages: int
    gold: int


def calibrate(
    recipe: Recipe, queries: Sequence[Query], judgements: Sequence[Judgement], corpus: Corpus, depth: int = 10
) -> Calibration:
    """What makes probabilities of the recipe's scores, fitted on the first ``depth`` passages of each question.

    A `Calibrate` stage of the recipe is left out with what follows it. RecipeError where a stage asks a language model,
    where the scores are probabilities already, or higher ones do not mean more gold.
    """
    if depth < 1:
        raise RecipeError(f"depth of at least 1 is needed, got {depth}")
    gold = {
        (judged.query_id, passage_id)
        for judged in judgements
        if judged.grade > 0
        for passage_id in (judged.passage_id, *judged.alternatives)
    }
    retrieve = _uncalibrated(recipe.retrieve)
    refuse_asking(retrieve, "calibration")
    run = retrieve(queries, corpus, depth)
    scales = {ranking.scale for ranking in run.rankings.values() if ranking.hits}
    if "probability" in scales:
        raise RecipeError(f"{recipe.name}: the scores are probabilities already; there is nothing to calibrate")
    pairs = [(hit.score, (name, hit.passage_id) in gold) for name, row in run.rankings.items() for hit in row.hits]
    fitted = platt([score for score, _ in pairs], [int(right) for _, right in pairs])
    if not fitted:
        raise RecipeError(
            f"{recipe.name}: {sum(right for _, right in pairs)} of {len(pairs)} passages found are gold, and higher"
            " scores do not tell them; give more questions, or mend the recipe first"
        )
    return Calibration(Calibrate(*fitted), len(pairs), sum(right for _, right in pairs))


def _uncalibrated(retrieve: Retriever) -> Retriever:
    if not isinstance(retrieve, Hybrid):
        return retrieve
    kinds = [isinstance(stage, Calibrate) for stage in retrieve.rerank]
    return replace(retrieve, rerank=retrieve.rerank[: kinds.index(True)]) if any(kinds) else retrieve


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
