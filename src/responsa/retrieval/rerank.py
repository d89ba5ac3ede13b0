"""A second look at the first passages: a cross-encoder reads question and passage together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from responsa.analysis import windows
from responsa.corpus.searched import searched
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.models.load import load_reranker
from responsa.retrieval.scale import logistic, minmax
from responsa.types import Hit, Query, Ranking, Run


class Reranker(Protocol):
    """A run to a run in which the passages stand in a better order."""

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run: ...


@runtime_checkable
class Combiner(Protocol):
    """A reranker that looks at what every stage before it found: the retrievers, their fusion, the rerankers so far.

    ``candidates`` is how many passages of each it looks at.
    """

    @property
    def candidates(self) -> int: ...

    def combine(self, runs: Sequence[Run], queries: Sequence[Query], corpus: Corpus) -> Run: ...


@runtime_checkable
class Prepared(Protocol):
    """A stage with an index of its own. ``prepare`` builds what is missing, ``ready`` tells whether nothing is."""

    def prepare(self, corpus: Corpus) -> object: ...

    def ready(self, corpus: Corpus) -> bool: ...


@dataclass(frozen=True)
class CrossEncoder:
    """Rescores the first ``depth`` passages of each ranking with a cross-encoder.

    ``weight`` is the share of the new score: 1 replaces the old one by the model's own (AUEB, section 3.2), less blends
    both, each scaled to 0-1 over the passages reranked. With weight 1 and a model that has a calibration, scores are
    probabilities, so that a threshold means the same across models; only the passages reranked are kept then.
    Otherwise passages below ``depth`` follow in their old order, with scores below all others. A passage longer than
    ``window`` words is read in windows, and the best counts.
    """

    model: str
    depth: int = 30
    weight: float = 1.0
    window: int = 180

    def __post_init__(self) -> None:
        if self.depth < 1 or not 0 < self.weight <= 1 or self.window < 1:
            raise RecipeError(
                "cross-encoder: depth and window of at least 1 and weight above 0 up to 1 are needed, got "
                f"{self.depth}, {self.window} and {self.weight}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        return Run(
            f"{run.name} > {self!r}",
            {query.id: self._rerank(run.rankings[query.id], query, corpus) for query in queries},
        )

    def _rerank(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        head = ranking.hits[: self.depth]
        if not head:
            return ranking
        scored = self._scores(query, [hit.passage_id for hit in head], corpus)
        calibration = getattr(load_reranker(self.model), "calibration", ())
        if self.weight == 1.0 and calibration:
            scale, shift = calibration
            probable = [(hit.passage_id, logistic(scale * hit.score + shift)) for hit in scored.hits]
            return Ranking.of(query.id, probable, "probability")
        new = [*scored.hits] if self.weight == 1.0 else self._blended(scored, Ranking(query.id, head))
        # The tail keeps its order below the head: its old scores, moved under the head's.
        floor = min(hit.score for hit in new) - 1e-3
        top = ranking.hits[self.depth].score if len(ranking.hits) > self.depth else 0.0
        tail = [Hit(hit.passage_id, floor + hit.score - top) for hit in ranking.hits[self.depth :]]
        return Ranking.of(query.id, [*new, *tail])

    def _blended(self, scored: Ranking, head: Ranking) -> list[Hit]:
        new, old = dict(minmax(scored, self.depth).hits), dict(minmax(head, self.depth).hits)
        return [Hit(place, self.weight * new[place] + (1 - self.weight) * old[place]) for place in new]

    def _scores(self, query: Query, ids: Sequence[str], corpus: Corpus) -> Ranking:
        passages = corpus.read(ids)
        pairs, owners = [], []
        for passage_id, passage in passages.items():
            for part in windows(searched(passage), self.window, self.window // 5):
                pairs.append((query.full_text, part))
                owners.append(passage_id)
        best: dict[str, float] = {}
        for passage_id, row in zip(owners, load_reranker(self.model).score(pairs), strict=True):
            best[passage_id] = max(best.get(passage_id, -math.inf), float(row[0]))
        return Ranking.of(query.id, best.items())
