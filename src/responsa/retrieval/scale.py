"""Putting scores on a scale that can be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.types import Query, Ranking, Run


def minmax(ranking: Ranking, depth: int = 100) -> Ranking:
    """The first ``depth`` hits with scores from 0 (the last of them) to 1 (the first): RIRAG, equation 5.

    All equal scores become 1. An empty ranking stays empty.
    """
    hits = ranking.hits[:depth]
    if not hits:
        return Ranking(ranking.query_id, (), "minmax")
    high, low = hits[0].score, hits[-1].score
    span = high - low
    scaled = ((hit.passage_id, (hit.score - low) / span if span else 1.0) for hit in hits)
    return Ranking.of(ranking.query_id, scaled, "minmax")


@dataclass(frozen=True)
class Calibrate:
    """Scores to probabilities that a passage is relevant: 1 / (1 + exp(-(``scale`` x score + ``shift``))).

    Platt 1999. ``responsa tune --calibrate`` fits both on questions with gold passages, for the stages before this
    one; with other stages or another model they have to be fitted again. A threshold of [select] then means the same
    whatever made the scores. Probabilities are refused: they need no second calibration.
    """

    scale: float
    shift: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf or not math.isfinite(self.shift):
            raise RecipeError(
                f"calibrate: scale above 0 and a finite shift are needed, got {self.scale} and {self.shift}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:  # noqa: ARG002
        """The same order, but where scores are so far apart that both probabilities are 0 or 1."""
        return Run(f"{run.name} > {self!r}", {query.id: self._probable(run.rankings[query.id]) for query in queries})

    def _probable(self, ranking: Ranking) -> Ranking:
        if ranking.scale == "probability":
            raise RecipeError("calibrate: the scores are probabilities already; leave this stage out")
        scored = [(hit.passage_id, logistic(self.scale * hit.score + self.shift)) for hit in ranking.hits]
        return Ranking.of(ranking.query_id, scored, "probability")


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), for any finite value."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return (small := math.exp(value)) / (1 + small)
