"""One ranking from several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from responsa.errors import RecipeError
from responsa.retrieval.scale import minmax
from responsa.types import Ranking, Run


class Fuser(Protocol):
    """Runs over the same questions to one run."""

    def __call__(self, runs: Sequence[Run]) -> Run: ...


@dataclass(frozen=True)
class Linear:
    """The weighted sum of scores, each scaled to 0-1 within the query over its first ``depth`` hits.

    A passage that a run did not find among them counts 0 there (RIRAG, section 5.1 and equation 5; AUEB, section
    3.1 for three runs). ``weights`` one for each run; empty means equal weights.
    """

    weights: tuple[float, ...] = ()
    depth: int = 100

    def __post_init__(self) -> None:
        _check(self.weights, self.depth, "linear")

    def __call__(self, runs: Sequence[Run]) -> Run:
        weights = _weights(self.weights, runs)
        return _fused(repr(self), runs, lambda ranking: minmax(ranking, self.depth), weights)


@dataclass(frozen=True)
class RRF:
    """Reciprocal rank fusion: the weighted sum of 1 / (constant + rank), ranks from 1 (Cormack et al. 2009)."""

    constant: float = 60
    weights: tuple[float, ...] = ()
    depth: int = 100

    def __post_init__(self) -> None:
        _check(self.weights, self.depth, "rrf")
        if self.constant < 0:
            raise RecipeError(f"rrf: constant of at least 0 is needed, got {self.constant}")

    def __call__(self, runs: Sequence[Run]) -> Run:
        return _fused(repr(self), runs, self._reciprocal, _weights(self.weights, runs))

    def _reciprocal(self, ranking: Ranking) -> Ranking:
        pairs = [(hit.passage_id, 1 / (self.constant + rank)) for rank, hit in enumerate(ranking.hits[: self.depth], 1)]
        return Ranking.of(ranking.query_id, pairs)


@dataclass(frozen=True)
class ZScore:
    """The weighted sum of standard scores within the query, over the first ``depth`` hits.

    A passage that a run did not find gets that run's lowest standard score there: 0, the mean, would
    put what one run alone has found above what both have found late.
    """

    weights: tuple[float, ...] = ()
    depth: int = 100

    def __post_init__(self) -> None:
        _check(self.weights, self.depth, "zscore")

    def __call__(self, runs: Sequence[Run]) -> Run:
        return _fused(repr(self), runs, self._standard, _weights(self.weights, runs), missing_is_lowest=True)

    def _standard(self, ranking: Ranking) -> Ranking:
        hits = ranking.hits[: self.depth]
        if not hits:
            return ranking
        mean = sum(hit.score for hit in hits) / len(hits)
        spread = math.sqrt(sum((hit.score - mean) ** 2 for hit in hits) / len(hits)) or 1.0
        return Ranking.of(ranking.query_id, [(hit.passage_id, (hit.score - mean) / spread) for hit in hits])


def _check(weights: Sequence[float], depth: int, kind: str) -> None:
    if depth < 1 or any(weight < 0 for weight in weights) or (weights and not sum(weights)):
        raise RecipeError(
            f"{kind}: depth of at least 1 and weights of at least 0, not all 0, are needed, got {depth} and {weights}"
        )


def _weights(weights: Sequence[float], runs: Sequence[Run]) -> list[float]:
    if weights and len(weights) != len(runs):
        raise RecipeError(f"fuse: {len(weights)} weights for {len(runs)} retrievers; give one weight for each")
    chosen = list(weights) or [1.0] * len(runs)
    return [weight / sum(chosen) for weight in chosen]


def _fused(
    name: str,
    runs: Sequence[Run],
    scale: Callable[[Ranking], Ranking],
    weights: Sequence[float],
    missing_is_lowest: bool = False,
) -> Run:
    rankings = {}
    for query_id in dict.fromkeys(query_id for run in runs for query_id in run.rankings):
        scaled = [scale(run.rankings.get(query_id, Ranking(query_id, ()))).hits for run in runs]
        floors = [hits[-1].score if hits and missing_is_lowest else 0.0 for hits in scaled]
        found = [dict(hits) for hits in scaled]
        scores = {
            passage_id: sum(
                w * side.get(passage_id, floor) for w, side, floor in zip(weights, found, floors, strict=True)
            )
            for hits in scaled
            for passage_id, _ in hits
        }
        rankings[query_id] = Ranking.of(query_id, scores.items())
    return Run(name, rankings)
